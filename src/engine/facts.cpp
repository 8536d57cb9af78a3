#include "engine/fact_codec.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/engine/facts.hpp>
#include <holdfast/journal/record.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace holdfast::engine {
namespace {

constexpr std::uint8_t mark_tag = 0x49;
constexpr std::uint8_t edit_extend = 1;
constexpr std::uint8_t clock_restart_grace = 1;
constexpr std::int64_t order_total_max =
    limits::price_max * limits::seats_per_claim_max * limits::holds_per_order_max;

static_assert(claim_fact_bytes(limits::seats_per_claim_max) <= journal::payload_bytes_max);

/// Reads numbers; after the first thing that does not fit everything reads as zero and finished()
/// is false.
class FactReader {
public:
    explicit FactReader(std::span<std::byte const> payload) noexcept : rest_(payload) {}

    template <std::integral T>
    [[nodiscard]] T number() noexcept {
        if (rest_.size() < sizeof(T)) {
            refuse();
            return 0;
        }
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            value |= std::uint64_t{std::to_integer<std::uint8_t>(rest_[i])} << (8 * i);
        }
        rest_ = rest_.subspan(sizeof(T));
        return static_cast<T>(value);
    }
    template <class T>
        requires std::is_enum_v<T>
    [[nodiscard]] T choice(T first, T last) noexcept {
        auto const value = static_cast<T>(number<std::underlying_type_t<T>>());
        require(first <= value);
        require(value <= last);
        return value;
    }
    [[nodiscard]] EventId event() noexcept {
        EventId const event{number<std::uint32_t>()};
        require(event != EventId{});
        return event;
    }
    [[nodiscard]] HoldKey hold() noexcept {
        HoldKey key{.event = event(), .ref = HoldRef{number<std::uint64_t>()}};
        require(key.ref.generation() != 0);
        require(key.ref.slot() != SlotIndex{});
        return key;
    }
    [[nodiscard]] OrderId order() noexcept {
        OrderId order;
        order.high = number<std::uint64_t>();
        order.low = number<std::uint64_t>();
        require(order != OrderId{});
        return order;
    }
    [[nodiscard]] TimePoint time() noexcept {
        TimePoint const time{Milliseconds{number<std::int64_t>()}};
        require(time >= TimePoint{});
        return time;
    }
    void seats(std::vector<SeatIndex>& seats) {
        seats.clear();
        auto const count = number<std::uint32_t>();
        require(count >= 1);
        require(count <= limits::seats_per_claim_max);
        require(count <= rest_.size() / 4);
        for (std::uint32_t i = 0; good_ && i < count; ++i) {
            seats.emplace_back(number<std::uint32_t>());
        }
    }
    void holds(std::vector<HoldKey>& holds) {
        holds.clear();
        auto const count = number<std::uint16_t>();
        require(count >= 1);
        require(count <= limits::holds_per_order_max);
        for (std::uint16_t i = 0; good_ && i < count; ++i) holds.push_back(hold());
    }
    void require(bool fact) noexcept {
        if (!fact) refuse();
    }
    /// Skips an idempotency mark; true if all was good and nothing else is left.
    [[nodiscard]] bool finished() noexcept {
        if (!good_) return false;
        if (rest_.empty()) return true;
        require(number<std::uint8_t>() == mark_tag);
        auto const length = number<std::uint16_t>();
        require(rest_.size() == length);
        return good_;
    }

private:
    void refuse() noexcept {
        good_ = false;
        rest_ = {};
    }
    std::span<std::byte const> rest_;
    bool good_{true};
};

class FactWriter {
public:
    template <std::integral T>
    void number(T value) {
        auto const bits = static_cast<std::uint64_t>(value);
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            bytes_.push_back(static_cast<std::byte>((bits >> (8 * i)) & 0xFFU));
        }
    }
    template <class T>
        requires std::is_enum_v<T>
    void choice(T value) {
        number(static_cast<std::underlying_type_t<T>>(value));
    }
    void hold(HoldKey const& key) {
        HOLDFAST_ASSERT(key.ref.slot() != SlotIndex{});
        number(key.event.value());
        number(key.ref.bits());
    }
    void order(OrderId const& order) {
        HOLDFAST_ASSERT(order != OrderId{});
        number(order.high);
        number(order.low);
    }
    void time(TimePoint time) { number(std::int64_t{time.time_since_epoch().count()}); }
    void holds(std::span<HoldKey const> holds) {
        HOLDFAST_ASSERT(!holds.empty());
        HOLDFAST_ASSERT(holds.size() <= limits::holds_per_order_max);
        number(static_cast<std::uint16_t>(holds.size()));
        for (HoldKey const& key : holds) hold(key);
    }
    [[nodiscard]] std::vector<std::byte> take() && { return std::move(bytes_); }

private:
    std::vector<std::byte> bytes_;
};

template <class Fact>
[[nodiscard]] std::optional<Fact> decode(std::span<std::byte const> payload) {
    std::optional<Fact> fact{std::in_place};
    if (!decode_into(payload, *fact)) fact.reset();
    return fact;
}

}  // namespace

bool decode_into(std::span<std::byte const> payload, ClaimFact& fact) {
    FactReader reader{payload};
    fact.hold = reader.hold();
    fact.holder = reader.number<std::uint64_t>();
    fact.created_at = reader.time();
    fact.expires_at = reader.time();
    reader.seats(fact.seats);
    return reader.finished();
}

bool decode_into(std::span<std::byte const> payload, EditFact& fact) {
    FactReader reader{payload};
    fact.hold = reader.hold();
    reader.require(reader.number<std::uint8_t>() == edit_extend);
    fact.holder = reader.number<std::uint64_t>();
    fact.expires_at = reader.time();
    return reader.finished();
}

bool decode_into(std::span<std::byte const> payload, EndFact& fact) {
    FactReader reader{payload};
    fact.hold = reader.hold();
    fact.cause = reader.choice(EndCause::released, EndCause::closed);
    return reader.finished();
}

bool decode_into(std::span<std::byte const> payload, OrderFact& fact) {
    FactReader reader{payload};
    fact.order = reader.order();
    fact.created_at = reader.time();
    fact.method = reader.choice(PaymentMethod::none, PaymentMethod::external);
    fact.total = reader.number<std::int64_t>();
    reader.require(fact.total >= 0);
    reader.require(fact.total <= order_total_max);
    reader.holds(fact.holds);
    return reader.finished();
}

bool decode_into(std::span<std::byte const> payload, CancelFact& fact) {
    FactReader reader{payload};
    fact.order = reader.order();
    fact.at = reader.time();
    reader.holds(fact.holds);
    return reader.finished();
}

bool decode_into(std::span<std::byte const> payload, EventFact& fact) {
    FactReader reader{payload};
    fact.event = reader.event();
    fact.step = reader.choice(LifeStep::drafted, LifeStep::cancelled);
    fact.at = reader.time();
    return reader.finished();
}

bool decode_into(std::span<std::byte const> payload, ClockFact& fact) {
    FactReader reader{payload};
    fact.at = reader.time();
    reader.require(reader.number<std::uint8_t>() == clock_restart_grace);
    return reader.finished();
}

std::optional<ClaimFact> decode_claim(std::span<std::byte const> payload) {
    return decode<ClaimFact>(payload);
}
std::optional<EditFact> decode_edit(std::span<std::byte const> payload) {
    return decode<EditFact>(payload);
}
std::optional<EndFact> decode_end(std::span<std::byte const> payload) {
    return decode<EndFact>(payload);
}
std::optional<OrderFact> decode_order(std::span<std::byte const> payload) {
    return decode<OrderFact>(payload);
}
std::optional<CancelFact> decode_cancel(std::span<std::byte const> payload) {
    return decode<CancelFact>(payload);
}
std::optional<EventFact> decode_event(std::span<std::byte const> payload) {
    return decode<EventFact>(payload);
}
std::optional<ClockFact> decode_clock(std::span<std::byte const> payload) {
    return decode<ClockFact>(payload);
}

std::vector<std::byte> encode(ClaimFact const& fact) {
    HOLDFAST_ASSERT(!fact.seats.empty());
    HOLDFAST_ASSERT(fact.seats.size() <= limits::seats_per_claim_max);
    FactWriter writer;
    writer.hold(fact.hold);
    writer.number(fact.holder);
    writer.time(fact.created_at);
    writer.time(fact.expires_at);
    writer.number(static_cast<std::uint32_t>(fact.seats.size()));
    for (SeatIndex const seat : fact.seats) writer.number(seat.value());
    return std::move(writer).take();
}

std::vector<std::byte> encode(EditFact const& fact) {
    FactWriter writer;
    writer.hold(fact.hold);
    writer.number(edit_extend);
    writer.number(fact.holder);
    writer.time(fact.expires_at);
    return std::move(writer).take();
}

std::vector<std::byte> encode(EndFact const& fact) {
    FactWriter writer;
    writer.hold(fact.hold);
    writer.choice(fact.cause);
    return std::move(writer).take();
}

std::vector<std::byte> encode(OrderFact const& fact) {
    FactWriter writer;
    writer.order(fact.order);
    writer.time(fact.created_at);
    writer.choice(fact.method);
    writer.number(fact.total);
    writer.holds(fact.holds);
    return std::move(writer).take();
}

std::vector<std::byte> encode(CancelFact const& fact) {
    FactWriter writer;
    writer.order(fact.order);
    writer.time(fact.at);
    writer.holds(fact.holds);
    return std::move(writer).take();
}

std::vector<std::byte> encode(EventFact const& fact) {
    FactWriter writer;
    writer.number(fact.event.value());
    writer.choice(fact.step);
    writer.time(fact.at);
    return std::move(writer).take();
}

std::vector<std::byte> encode(ClockFact const& fact) {
    FactWriter writer;
    writer.time(fact.at);
    writer.number(clock_restart_grace);
    return std::move(writer).take();
}

}  // namespace holdfast::engine
