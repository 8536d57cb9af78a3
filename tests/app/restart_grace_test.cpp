#include "app/restart_grace.hpp"

#include <holdfast/engine/engine.hpp>

#include <catch2/catch.hpp>
#include <vector>

using namespace holdfast;
using namespace holdfast::app;

TEST_CASE("a clock that lets names of holds come twice is told of", "[app][restart]") {
    using namespace std::chrono_literals;
    TimePoint const now{std::chrono::sys_days{std::chrono::year{2027} / 5 / 1}};
    std::uint64_t const first = engine::first_generation(now);
    std::map<EventId, engine::RestoredEvent> events;
    events[EventId{1}].generations = {0, first - 1};
    CHECK(why_names_may_repeat(first, events).empty());
    events[EventId{2}].generations = {first};
    CHECK_FALSE(why_names_may_repeat(first, events).empty());
    CHECK_FALSE(why_names_may_repeat(engine::first_generation(now + 40 * 365 * 24h), {}).empty());
}

TEST_CASE("the restart grace raises live deadlines that come before it and nothing else",
          "[app][restart]") {
    auto const at = [](int ms) { return TimePoint{Milliseconds{ms}}; };
    auto const hold = [&](std::uint64_t slot, TimePoint expires_at, OrderId order) {
        return engine::RestoredHold{.ref = HoldRef{slot},
                                    .holder = 0,
                                    .created_at = at(0),
                                    .expires_at = expires_at,
                                    .order = order,
                                    .seats = {}};
    };
    std::map<EventId, engine::RestoredEvent> events;
    events[EventId{1}].holds = {hold(1, at(99), {}), hold(2, at(100), {}), hold(3, at(101), {}),
                                hold(4, no_deadline, {}), hold(5, at(5), OrderId{1, 2})};
    events[EventId{2}].holds = {hold(6, at(1), {})};
    CHECK(raise_deadlines(events, at(100)));
    std::vector<TimePoint> deadlines;
    for (auto const& restored : events[EventId{1}].holds) deadlines.push_back(restored.expires_at);
    CHECK(deadlines == std::vector{at(100), at(100), at(101), no_deadline, at(5)});
    CHECK(events[EventId{2}].holds[0].expires_at == at(100));
    CHECK_FALSE(raise_deadlines(events, at(100)));
}
