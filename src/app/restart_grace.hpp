// Restart grace: buyers who were paying are not cut off by an outage.
//
// Purpose: after a restart every live hold keeps at least some time (RELIABILITY.md 3.9), and the
//   operator hears of a clock that took the names of holds with it.
// Thread safety: one thread, at start. Cost: linear in the live holds.
#pragma once

#include <holdfast/engine/replay.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace holdfast::app {

/// Moves every live deadline before `at` to `at`; tells whether there was one.
[[nodiscard]] bool raise_deadlines(std::map<EventId, engine::RestoredEvent>& events, TimePoint at);

/// Why the holds of this start may get names that holds of a life before a restored backup have
/// had, whose tokens then fit (engine::first_generation); empty: they do not.
[[nodiscard]] std::string why_names_may_repeat(
    std::uint64_t first_generation, std::map<EventId, engine::RestoredEvent> const& events);

}  // namespace holdfast::app
