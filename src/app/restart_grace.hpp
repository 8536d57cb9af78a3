// Restart grace: buyers who were paying are not cut off by an outage.
//
// Purpose: after a restart every live hold keeps at least some time (RELIABILITY.md 3.9).
// Thread safety: one thread, at start. Cost: linear in the live holds.
#pragma once

#include <holdfast/engine/replay.hpp>

#include <map>

namespace holdfast::app {

/// Moves every live deadline before `at` to `at`; tells whether there was one.
[[nodiscard]] bool raise_deadlines(std::map<EventId, engine::RestoredEvent>& events, TimePoint at);

}  // namespace holdfast::app
