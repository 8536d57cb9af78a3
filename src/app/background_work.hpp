// Background work: what the expiry thread and the stream thread do at each turn.
//
// Purpose: the loops around Engine::expire and SeatStreams::look, each for a thread of its own.
// Thread safety: what is passed must outlive the work. Cost: the expiry looks at each event's wheel
//   a tick; the streams wake every 50 ms and take a fifth of a core at most, however many places
//   are watched.
#pragma once

#include "app/repeating_thread.hpp"

#include <holdfast/api/seat_streams.hpp>
#include <holdfast/base/clock.hpp>
#include <holdfast/domain/limits.hpp>
#include <holdfast/engine/engine.hpp>

namespace holdfast::app {

inline constexpr Milliseconds expiry_pause = limits::timer_tick;
inline constexpr Milliseconds stream_pause{50};

/// Ends what is due, and looks whether the wall clock went apart.
[[nodiscard]] RepeatingThread::Work expiry_work(engine::Engine& engine, Clock const& clock);

/// Makes the deltas of the events that somebody watches.
[[nodiscard]] RepeatingThread::Work stream_work(api::SeatStreams& streams, Clock const& clock);

}  // namespace holdfast::app
