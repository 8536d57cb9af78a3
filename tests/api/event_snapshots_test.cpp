// Documents of an event that are ready, while places change and another thread looks at them.
#include "tests/api/watched_house.hpp"

namespace holdfast::test {
namespace {

using api::EventSnapshots;
using api::SnapshotPointer;

/// The state as an io thread may hand it out of a large event, `later` than the last one.
SnapshotPointer ready(WatchedHouse& house, Milliseconds later = 0ms) {
    return house.snapshots.ready_state(*house.event, house.now += later);
}
SnapshotPointer made(WatchedHouse& house) {
    return house.snapshots.state(*house.event, house.now);
}

}  // namespace

TEST_CASE("one reader makes the new state, and the others get the old one meanwhile",
          "[snapshots]") {
    WatchedHouse house;
    CHECK(ready(house) == nullptr);
    CHECK(ready(house) == nullptr);  // there is none before
    auto const first = made(house);
    CHECK(ready(house) == first);
    static_cast<void>(house.take({"A-1-1"}));
    CHECK(ready(house, 10ms) == nullptr);
    CHECK(ready(house, 50ms) == first);
    auto const second = made(house);
    REQUIRE(second != nullptr);
    CHECK(second->body != first->body);
    CHECK(ready(house) == second);
    CHECK(ready(house, 1ms) == nullptr);
}

TEST_CASE("whoever was to make the new state and did not is replaced", "[snapshots]") {
    WatchedHouse house;
    auto const first = made(house);
    CHECK(ready(house, 1ms) == nullptr);
    CHECK(ready(house, EventSnapshots::making_max - 1ms) == first);
    CHECK(ready(house, 1ms) == nullptr);
    CHECK(ready(house) == first);
}

TEST_CASE("a state that is old is nobody's, though a new one is being made", "[snapshots]") {
    WatchedHouse house;
    auto const first = made(house);
    CHECK(ready(house, EventSnapshots::age_while_made - 1ms) == nullptr);
    CHECK(ready(house) == first);
    CHECK(ready(house, 1ms) == nullptr);
    CHECK(ready(house) == nullptr);
}

TEST_CASE("a state that lacks what a stream has told is nobody's", "[snapshots]") {
    WatchedHouse house;
    auto const stream = house.open();
    house.look();
    auto const first = made(house);
    CHECK(ready(house, 1ms) == nullptr);
    CHECK(ready(house) == first);
    static_cast<void>(house.take({"A-1-1"}));
    CHECK(ready(house) == first);
    house.look();
    CHECK(ready(house) == nullptr);
    CHECK(ready(house) == nullptr);
}

TEST_CASE("the view is kept apart from the state", "[snapshots]") {
    WatchedHouse house;
    auto const state = made(house);
    CHECK(house.snapshots.ready_view(*house.event, house.now) == nullptr);
    auto const view = house.snapshots.view(*house.event, house.now);
    CHECK(house.snapshots.ready_view(*house.event, house.now) == view);
    CHECK(ready(house) == state);
}

TEST_CASE("before its seats are built nothing of an event is ready", "[snapshots]") {
    engine::test::SaleFixture fixture;
    auto spec = std::make_shared<EventSpec>(fixture.event->spec());
    spec->id = EventId{8};
    spec->slug = "later";
    auto* const later = fixture.engine.add(spec);
    REQUIRE(later != nullptr);
    EventSnapshots snapshots(fixture.journal, [](TimePoint) { return 0ms; }, nullptr);
    TimePoint const now = engine::test::at(0ms);
    static_cast<void>(snapshots.state(*later, now));
    CHECK(snapshots.ready_state(*later, now) == nullptr);
    CHECK(snapshots.ready_view(*later, now) == nullptr);
    fixture.engine.build(*later, {});
    static_cast<void>(snapshots.state(*later, now));
    CHECK(snapshots.ready_state(*later, now) != nullptr);
}

}  // namespace holdfast::test
