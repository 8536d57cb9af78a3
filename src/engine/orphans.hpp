// Orphans: the rule that seats chosen by hand leave no single free seat behind.
//
// Purpose: API.md section 3, "Orphan rule for manual choice". A free seat becomes an orphan if the
//   claim takes a neighbour that was free and leaves it none. Not an orphan:
//   * a seat that was single before, or beside an aisle, another category, a staff block or a seat
//     not for sale: what stands there was meant to be an end (the end of a row was not);
//   * lenient: the one seat left of a run of N+1 from which N are taken;
//   * any seat of a section of which less than orphan_endgame_pct is free by the hints.
//   A run is a stretch of seats that were free, of one category, with no aisle between. Candidates
//   count as chosen by hand, too: otherwise writing a claim the other way would evade the rule.
// Thread safety: any thread. Invariants: the rule is advisory. It looks before the claim and not in
//   the same step, so two claims at one time may together leave an orphan; neither is undone. But
//   it refuses only for what was so at one instant: it looks a second time before it does.
//   An expired hold's seats count as free, to the millisecond. Where a wanted seat is taken the
//   rule says nothing: the claim itself will be refused for that.
// Cost: linear in the seats chosen by hand, wherever they lie: two looks a seat and side. Only when
//   a gap was found: two looks more, steps along seats chosen by hand (each at most twice), and one
//   count of the hints of its section, which ends when enough are free; once a section. If refused
//   all that a second time (more often only while others change those seats), also allocation for
//   the report, and the walk of engine/orphan_alternatives.hpp, which is bounded.
#pragma once

#include "engine/sale.hpp"

#include <optional>
#include <span>

namespace holdfast::engine {

/// What a claim would take, all ascending.
struct OrphanQuestion {
    std::span<SeatIndex const> hand_picked;  // part of `places`
    std::span<SeatIndex const> places;       // all lines together
    std::span<SeatIndex const> given_back;   // the claimer's own, free as soon as it has the others
};

/// The refusal, if there is one; `report` may be null. Only if the event's rule is not `off`.
[[nodiscard]] std::optional<Refusal> find_orphans(Sale const& sale, OrphanQuestion const& question,
                                                  TimePoint now, OrphanReport* report);

}  // namespace holdfast::engine
