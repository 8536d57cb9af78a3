// SaleModel: what a sale is after some records, in plain maps; engine and replay must agree.
//
// Purpose: a second, plain reading of the journal's facts, and the judge of P1, P2, P7.
// Thread safety: one thread.
#pragma once

#include "tests/sim/sim_journal.hpp"

#include <holdfast/engine/engine.hpp>
#include <holdfast/engine/facts.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace holdfast::sim {

class SaleModel {
public:
    struct Hold {
        std::set<std::uint32_t> places;
        TimePoint expires{};
        bool sold{};
        bool block{};
        OrderId order{};
    };
    using Holds = std::map<std::uint64_t, Hold>;  // by HoldRef::bits()

    /// Takes the record in; `now`: when it was appended, or no_deadline for one read back.
    /// Says what cannot be.
    [[nodiscard]] std::string apply(TapeRecord const& record, TimePoint now);

    [[nodiscard]] engine::PlaceState place(std::uint32_t place, TimePoint now) const;
    [[nodiscard]] bool is_free(std::uint32_t seat, TimePoint now) const {
        return place(seat, now) == engine::PlaceState::free;
    }
    /// Null if it has ended: by a record, or by its deadline.
    [[nodiscard]] Hold const* alive(std::uint64_t ref, TimePoint now) const;
    [[nodiscard]] Holds const& holds() const { return holds_; }

private:
    [[nodiscard]] std::string claim(TapeRecord const& record);
    [[nodiscard]] std::string edit(TapeRecord const& record);
    [[nodiscard]] std::string exchange(TapeRecord const& record);
    [[nodiscard]] std::string reseat(TapeRecord const& record);
    [[nodiscard]] std::string refund(TapeRecord const& record);
    [[nodiscard]] std::string end(TapeRecord const& record, TimePoint now);
    [[nodiscard]] std::string order(TapeRecord const& record, TimePoint now);
    [[nodiscard]] std::string cancel(TapeRecord const& record);
    [[nodiscard]] std::string take(std::uint64_t ref, std::uint32_t place);
    [[nodiscard]] std::string leave(std::uint64_t ref, std::uint32_t place);
    void forget(std::uint64_t ref);

    Holds holds_;
    std::map<std::uint32_t, std::uint64_t> owners_;
};

}  // namespace holdfast::sim
