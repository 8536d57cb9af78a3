// Refused seats: what a claim or an exchange could not get, for the answer.
//
// Purpose: the engine names the one seat that decided; a buyer wants to know all that are gone.
// Thread safety: pure but for looks at the event. Cost: a look at each seat named.
#pragma once

#include "api/problems.hpp"

#include <holdfast/engine/engine.hpp>

#include <span>
#include <vector>

namespace holdfast::api {

/// Fills `refused` with the seats of the lines that cannot be had, but for those of `kept`, which
/// is ascending. Answers whether the same request may succeed later: some seat is held, and every
/// one that must be had is only held.
[[nodiscard]] bool list_refused(engine::LiveEvent const& event,
                                std::span<engine::ClaimLine const> lines,
                                std::span<SeatIndex const> kept, Refusal const& refusal,
                                TimePoint now, std::vector<RefusedSeat>& refused);

}  // namespace holdfast::api
