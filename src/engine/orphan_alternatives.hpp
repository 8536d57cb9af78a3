// What a buyer could have instead of seats that leave orphans.
//
// Purpose: for each run with an orphan, as many neighbouring seats of it as were chosen there, at
//   most `reach` seats away from them, that leave no single seat, halve no group and take as many
//   accessible places; those that move the buyer least come first.
// Thread safety: one question, one thread. Invariants: an alternative has just as many seats as
//   were chosen by hand, and what leaves no orphan stays.
// Cost: linear in the seats walked along; without an answer after limits::orphan_walk_max of them.
#pragma once

#include "engine/surroundings.hpp"

#include <vector>

namespace holdfast::engine {

/// `orphans`: ascending, at least one. At most limits::orphan_alternatives_max lists; none if some
/// run has no such place.
[[nodiscard]] std::vector<std::vector<SeatIndex>> orphan_alternatives(
    inventory::Geometry const& geometry, OrphanQuestion const& question, Surroundings const& around,
    std::span<SeatIndex const> orphans);

}  // namespace holdfast::engine
