// Tape: feeds a Replay one record after another, for tests.
#pragma once

#include "tests/engine/fact_samples.hpp"

#include <holdfast/engine/replay.hpp>

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::engine::test {

using journal::RecordType;

inline constexpr EventId event{1};
inline constexpr EventId other_event{2};
inline constexpr std::uint32_t place_count = 10;

inline HoldKey key(std::uint32_t slot, std::uint64_t generation, EventId of = event) {
    return {of, HoldRef{generation, SlotIndex{slot}}};
}
inline std::vector<SeatIndex> seats(std::vector<std::uint32_t> const& numbers) {
    std::vector<SeatIndex> list;
    for (std::uint32_t const number : numbers) list.emplace_back(number);
    return list;
}

/// Feeds a Replay one record after another.
class Tape {
public:
    bool raw(RecordType type, std::uint8_t version, std::span<std::byte const> payload) {
        ++lsn_;
        return replay_.record({Lsn{lsn_}, type, version, payload});
    }
    bool put(RecordType type, std::vector<std::byte> const& payload) {
        return raw(type, fact_version, payload);
    }
    bool claim(HoldKey hold, std::vector<std::uint32_t> const& numbers, TimePoint until = at(900)) {
        return put(RecordType::claim, encode(ClaimFact{hold, 5, at(100), until, seats(numbers)}));
    }
    bool edit(HoldKey hold, std::uint64_t holder, TimePoint until) {
        return put(RecordType::edit, encode(EditFact{hold, holder, until}));
    }
    bool exchange(HoldKey hold, std::vector<std::uint32_t> const& dropped,
                  std::vector<std::uint32_t> const& added) {
        return put(RecordType::edit, encode(ExchangeFact{hold, seats(dropped), seats(added)}));
    }
    bool reseat(OrderId id, std::vector<ReseatFact::Part> parts) {
        return put(RecordType::edit, encode(ReseatFact{id, at(250), std::move(parts)}));
    }
    bool refund(OrderId id, std::vector<RefundFact::Part> parts) {
        return put(RecordType::edit, encode(RefundFact{id, at(250), std::move(parts)}));
    }
    bool end(HoldKey hold) {
        return put(RecordType::end, encode(EndFact{hold, EndCause::released}));
    }
    bool sell(OrderId id, std::vector<HoldKey> holds) {
        return put(RecordType::order,
                   encode(OrderFact{id, at(200), PaymentMethod::none, 1, std::move(holds)}));
    }
    bool cancel(OrderId id, std::vector<HoldKey> holds) {
        return put(RecordType::cancel, encode(CancelFact{id, at(300), std::move(holds)}));
    }
    bool step(EventId of, LifeStep step) {
        return put(RecordType::event, encode(EventFact{of, step, at(1)}));
    }
    bool clock(TimePoint time) { return put(RecordType::clock, encode(ClockFact{time})); }
    Replay& replay() { return replay_; }
    std::string const& breach() { return replay_.breach(); }

private:
    Replay replay_{{{event, place_count}, {other_event, place_count}}};
    std::uint64_t lsn_{};
};

inline auto contains(std::string const& text) {
    return Catch::Matchers::Contains(text);
}

}  // namespace holdfast::engine::test
