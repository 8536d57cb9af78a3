// Background work: what the expiry thread and the stream thread do at each turn, and what workers
// do after a start.
//
// Purpose: the loops around Engine::expire, SeatStreams::look and EventMaps::make.
// Thread safety: what is passed must outlive the work. Cost: the expiry looks at each event's wheel
//   a tick; the streams wake every 50 ms and take a fifth of a core at most, however many places
//   are watched; a map takes a worker 0.2 us a place.
#pragma once

#include "app/repeating_thread.hpp"

#include <holdfast/api/event_maps.hpp>
#include <holdfast/api/seat_streams.hpp>
#include <holdfast/base/clock.hpp>
#include <holdfast/domain/limits.hpp>
#include <holdfast/engine/engine.hpp>

#include <functional>
#include <vector>

namespace holdfast::app {

inline constexpr Milliseconds expiry_pause = limits::timer_tick;
inline constexpr Milliseconds stream_pause{50};

/// Ends what is due, and looks whether the wall clock went apart.
[[nodiscard]] RepeatingThread::Work expiry_work(engine::Engine& engine, Clock const& clock);

/// Makes the deltas of the events that somebody watches, and drops maps that nobody reads.
[[nodiscard]] RepeatingThread::Work stream_work(api::SeatStreams& streams, api::EventMaps& maps,
                                                Clock const& clock);

/// Makes the maps of the events that are not over, one a job, so that what waits for a worker comes
/// in between. Where the queue is full it ends: then the maps are made for who asks first.
void make_maps(std::vector<engine::LiveEvent*> events, api::EventMaps& maps, Clock const& clock,
               std::function<bool(std::function<void()>)> submit);

}  // namespace holdfast::app
