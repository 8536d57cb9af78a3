#include "app/background_work.hpp"

#include "app/clock_watch.hpp"

#include <holdfast/base/log.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <utility>

namespace holdfast::app {
namespace {

constexpr int rests_per_look = 4;  // a look that takes long takes a fifth of a core, not all
constexpr std::chrono::minutes between_drops{1};

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

RepeatingThread::Work stream_work(api::SeatStreams& streams, api::EventMaps& maps,
                                  Clock const& clock) {
    return [&streams, &maps, &clock, drop_at = TimePoint{}]() mutable {
        TimePoint const before = clock.now();
        streams.look(before);
        if (before >= drop_at) {
            drop_at = before + between_drops;
            maps.drop_unread(before);
        }
        return std::max(stream_pause, rests_per_look * (clock.now() - before));
    };
}

namespace {

struct MapsToMake {
    std::vector<engine::LiveEvent*> events;  // the next one last
    api::EventMaps& maps;
    Clock const& clock;
    std::function<bool(std::function<void()>)> submit;
};

void make_next(std::shared_ptr<MapsToMake> const& work) {
    auto& events = work->events;
    while (!events.empty() && is_over(events.back()->state(work->clock.now()))) events.pop_back();
    if (events.empty()) return;
    static_cast<void>(work->submit([work] {
        engine::LiveEvent const& event = *work->events.back();
        work->events.pop_back();
        try {
            work->maps.make(event, work->clock.now());
        } catch (std::bad_alloc const&) {
            log::warn("no memory for the map of an event", {{"event", event.spec().slug}});
        }
        make_next(work);
    }));
}

}  // namespace

void make_maps(std::vector<engine::LiveEvent*> events, api::EventMaps& maps, Clock const& clock,
               std::function<bool(std::function<void()>)> submit) {
    std::ranges::reverse(events);
    make_next(std::make_shared<MapsToMake>(
        MapsToMake{std::move(events), maps, clock, std::move(submit)}));
}

}  // namespace holdfast::app
