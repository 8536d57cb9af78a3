#include "app/background_work.hpp"

#include "app/clock_watch.hpp"

#include <algorithm>

namespace holdfast::app {
namespace {

constexpr int rests_per_look = 4;  // a look that takes long takes a fifth of a core, not all

}  // namespace

RepeatingThread::Work expiry_work(engine::Engine& engine, Clock const& clock) {
    return [&engine, &clock, watch = ClockWatch(clock)]() mutable {
        TimePoint const now = clock.now();
        // What one call leaves over comes with the next tick; until then whoever meets a hold past
        // its deadline treats it as ended.
        engine.expire(now);
        watch.look(now);
        return expiry_pause;
    };
}

RepeatingThread::Work stream_work(api::SeatStreams& streams, Clock const& clock) {
    return [&streams, &clock] {
        TimePoint const before = clock.now();
        streams.look(before);
        return std::max(stream_pause, rests_per_look * (clock.now() - before));
    };
}

}  // namespace holdfast::app
