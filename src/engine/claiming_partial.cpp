// Partial claims: what is left of the seats that they name.

#include "engine/claiming.hpp"

#include <holdfast/base/assert.hpp>

#include <algorithm>

namespace holdfast::engine {

void Claiming::choose_those_free(ClaimLine const& line) {
    for (SeatIndex const seat : line.seats) {
        bool const cools = gate_.cools() && gate_.cooling(seat).has_value();
        if (!cools && sale_.reason(seat, now_) == SeatReason::none) places_.push_back(seat);
    }
    std::ranges::sort(places_);
}

/// Leaves out what is chosen of groups that cannot be had whole.
void Claiming::keep_whole_groups() {
    Layout const& layout = sale_.spec().layout;
    if (layout.largest_group() <= 1) return;
    scratch_.chosen.clear();
    for (std::size_t i = 0; i < places_.size();) {
        SeatGroup const group = layout.group_of(places_[i]);
        std::uint32_t const end = group.first.value() + group.count;
        std::size_t const first = i;
        while (i < places_.size() && places_[i].value() < end) ++i;
        if (i - first != group.count) continue;
        for (std::size_t at = first; at < i; ++at) scratch_.chosen.push_back(places_[at]);
    }
    places_ = scratch_.chosen;
}

/// Of a partial claim that gets nothing.
Refusal Claiming::refuse_all_named() const {
    HOLDFAST_ASSERT(command_.partial);
    for (ClaimLine const& line : command_.lines) {
        if (line.kind != ClaimLine::Kind::seats) continue;
        for (SeatIndex const seat : line.seats) {
            if (sale_.reason(seat, now_) != SeatReason::none) return unavailable(sale_, seat, now_);
            if (!gate_.cools()) continue;
            if (auto const refusal = gate_.refuse_named(seat)) return *refusal;
        }
    }
    return refuse(RefusalCode::busy);  // they are free by now
}

}  // namespace holdfast::engine
