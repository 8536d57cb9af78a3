#include <holdfast/inventory/atomics.hpp>
#include <holdfast/timer/wheel.hpp>

#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <random>

namespace holdfast::timer {
namespace {

using namespace std::chrono_literals;
using TestWheel = Wheel<inventory::StdAtomics>;

TimePoint at(std::int64_t ms) {
    return TimePoint{Milliseconds{ms}};
}

/// The holds of a test: a deadline a slot, or none; remembers when each was ended.
struct Deadlines {
    std::map<std::uint32_t, TimePoint> live;
    std::map<std::uint32_t, TimePoint> ended;

    std::optional<TimePoint> fire(std::uint32_t slot, TimePoint now) {
        ++visits;
        auto const found = live.find(slot);
        if (found == live.end()) return std::nullopt;
        if (found->second > now) return found->second;
        ended[slot] = now;
        live.erase(found);
        return std::nullopt;
    }
    void run(TestWheel& wheel, TimePoint now) {
        wheel.advance(
            now, [&](SlotIndex slot) { return fire(slot.value(), now); },
            [&](SlotIndex slot) { return live.contains(slot.value()); });
    }
    bool settle(TestWheel& wheel, TimePoint now, std::size_t most = 1'000) {
        return wheel.settle(
            now, most, [&](SlotIndex slot) { return fire(slot.value(), now); },
            [&](SlotIndex slot) { return live.contains(slot.value()); });
    }
    std::size_t visits{0};
};

TEST_CASE("a slot fires within a tick of its deadline and never before", "[timer]") {
    TestWheel wheel(10, 30s);
    Deadlines holds;
    auto const deadline = GENERATE(1, 9, 10, 11, 29'999, 30'000, 30'001, 95'003);
    std::int64_t const start = 1'000'000;
    holds.live[3] = at(start + deadline);
    wheel.arm(SlotIndex{3});
    for (std::int64_t now = start; holds.ended.empty(); now += 10) {
        REQUIRE(now <= start + deadline + 20);
        holds.run(wheel, at(now));
    }
    CHECK(holds.ended[3] >= at(start + deadline));
    CHECK(holds.ended[3] <= at(start + deadline + 10));
}

TEST_CASE("a slot that is reused for a shorter hold is not reminded late", "[timer]") {
    TestWheel wheel(10, 1s);
    Deadlines holds;
    holds.live[1] = at(3'600'000);
    wheel.arm(SlotIndex{1});
    holds.run(wheel, at(0));
    holds.live[1] = at(2'000);  // released and claimed again, armed already
    wheel.arm(SlotIndex{1});
    for (std::int64_t now = 0; now <= 2'020; now += 10) holds.run(wheel, at(now));
    CHECK(holds.ended.count(1) == 1);
}

TEST_CASE("a hold made while its slot is being dropped is kept", "[timer]") {
    TestWheel wheel(10, 1s);
    wheel.arm(SlotIndex{1});
    bool claimed = false;
    int fired = 0;
    auto const fire = [&](SlotIndex) -> std::optional<TimePoint> {
        ++fired;
        if (!claimed) {  // the new hold's arm() finds the slot armed and does not push it
            claimed = true;
            wheel.arm(SlotIndex{1});
        }
        return std::nullopt;
    };
    auto const live_once = [&](SlotIndex) { return fired == 1; };
    wheel.advance(at(0), fire, live_once);
    wheel.advance(at(10), fire, live_once);
    CHECK(fired == 2);
}

TEST_CASE("a clock that jumps by more than the ring still fires everything due", "[timer]") {
    TestWheel wheel(100, 1s);
    Deadlines holds;
    for (std::uint32_t slot = 1; slot <= 100; ++slot) {
        holds.live[slot] = at(slot * 37);
        wheel.arm(SlotIndex{slot});
    }
    holds.run(wheel, at(0));
    holds.run(wheel, at(100'000'000));
    CHECK(holds.ended.size() == 100);
}

TEST_CASE("50,000 holds with one deadline fire in one visit", "[timer]") {
    TestWheel wheel(50'000, 30s);
    Deadlines holds;
    for (std::uint32_t slot = 1; slot <= 50'000; ++slot) {
        holds.live[slot] = at(5'000);
        wheel.arm(SlotIndex{slot});
    }
    holds.run(wheel, at(4'990));
    CHECK(holds.ended.empty());
    holds.run(wheel, at(5'000));
    CHECK(holds.ended.size() == 50'000);
}

TEST_CASE("settling ends what is due within the tick that has begun", "[timer]") {
    TestWheel wheel(10, 1s);
    Deadlines holds;
    auto const deadline = GENERATE(1'000'001, 1'000'009, 1'000'010, 1'000'995);
    holds.live[3] = at(deadline);
    wheel.arm(SlotIndex{3});
    auto const ticked = GENERATE(false, true);
    if (ticked)
        for (std::int64_t now = 999'000; now <= deadline / 10 * 10 - 10; now += 10)
            holds.run(wheel, at(now));
    CHECK_FALSE(wheel.settled(at(deadline - 1)));
    CHECK(holds.settle(wheel, at(deadline - 1)));
    CHECK(wheel.settled(at(deadline - 1)));
    CHECK_FALSE(wheel.settled(at(deadline)));
    CHECK(holds.ended.empty());
    CHECK(holds.settle(wheel, at(deadline)));
    CHECK(holds.ended[3] == at(deadline));
    // Once a millisecond is enough, and a clock that trails asks for nothing.
    auto const visits = holds.visits;
    CHECK(holds.settle(wheel, at(deadline)));
    CHECK(holds.settle(wheel, at(deadline - 5)));
    CHECK(holds.visits == visits);
}

TEST_CASE("settling is bounded, says so, and loses nothing", "[timer]") {
    TestWheel wheel(1'000, 1s);
    Deadlines holds;
    for (std::uint32_t slot = 1; slot <= 1'000; ++slot) {
        holds.live[slot] = at(slot < 900 ? 500 : 777);
        wheel.arm(SlotIndex{slot});
        if (slot == 300) holds.run(wheel, at(0));  // some in the ring, some in the inbox
    }
    std::size_t calls = 1;
    for (; !holds.settle(wheel, at(505), 64); ++calls) {
        std::size_t const visits = holds.visits;
        REQUIRE(calls < 100);
        REQUIRE(visits <= 300 + calls * 64);
    }
    CHECK(calls > 10);
    CHECK(holds.ended.size() == 899);
    // A timer that trails, and then the rest.
    holds.run(wheel, at(500));
    for (std::int64_t now = 510; now <= 780; now += 10) holds.run(wheel, at(now));
    CHECK(holds.ended.size() == 1'000);
}

TEST_CASE("settling goes on with the tick in which it ran out of visits", "[timer]") {
    TestWheel wheel(10, 1s);
    Deadlines holds;
    for (std::uint32_t const slot : {1U, 2U, 3U}) {
        holds.live[slot] = at(100 * slot);
        wheel.arm(SlotIndex{slot});
    }
    holds.run(wheel, at(0));
    for (std::size_t const ended : {1U, 2U}) {
        CHECK_FALSE(holds.settle(wheel, at(505), 1));
        CHECK(holds.ended.size() == ended);
    }
    CHECK(holds.settle(wheel, at(505), 3));
    CHECK(holds.ended.size() == 3);
}

TEST_CASE("a hold time below a tick is a tick to the wheel", "[timer]") {
    TestWheel wheel(10, 5ms);
    Deadlines holds;
    holds.live[1] = at(95);
    wheel.arm(SlotIndex{1});
    for (std::int64_t now = 0; now <= 90; now += 10) holds.run(wheel, at(now));
    CHECK(holds.ended.empty());
    holds.run(wheel, at(100));
    CHECK(holds.ended[1] == at(100));
}

TEST_CASE("what is due and cannot be seen to is not settled", "[timer]") {
    TestWheel wheel(10, 1s);
    bool locked = true;
    auto const settle = [&](std::int64_t now) {
        return wheel.settle(
            at(now), 100,
            [&](SlotIndex) -> std::optional<TimePoint> {
                if (locked) return at(now);
                return std::nullopt;
            },
            [](SlotIndex) { return false; });
    };
    wheel.arm(SlotIndex{1});
    CHECK_FALSE(settle(100));
    CHECK_FALSE(settle(100));
    CHECK_FALSE(settle(103));
    locked = false;
    CHECK(settle(103));
}

TEST_CASE("what is due and left is not settled by another drive at the same time", "[timer]") {
    TestWheel wheel(10, 30s);
    std::int64_t const now = 40'000;  // a whole tick
    auto const needs_timer = [](SlotIndex) { return true; };
    auto const leave = [&](SlotIndex) { return std::optional{at(now)}; };
    wheel.arm(SlotIndex{3});
    CHECK_FALSE(wheel.settle(at(now), 1'000, leave, needs_timer));
    wheel.advance(at(now), leave, needs_timer);
    CHECK_FALSE(wheel.settled(at(now)));
    CHECK_FALSE(wheel.settle(at(now), 1'000, leave, needs_timer));
    bool ended = false;
    auto const end = [&](SlotIndex) -> std::optional<TimePoint> {
        ended = true;
        return std::nullopt;
    };
    CHECK(wheel.settle(at(now), 1'000, end, [](SlotIndex) { return false; }));
    CHECK(ended);
    CHECK(wheel.settled(at(now)));
}

TEST_CASE("the wheel agrees with a sorted list on random holds", "[timer][model]") {
    auto const seed = std::random_device{}();
    CAPTURE(seed);
    std::mt19937 random(seed);
    constexpr int steps = 20'000;
    constexpr std::int64_t tick_ms = 10;
    constexpr std::int64_t half = steps * tick_ms / 4;  // of the time that goes by
    // Over the ends of narrower counters of ticks and of milliseconds, and close to the last ones.
    std::int64_t const start =
        GENERATE(std::int64_t{0}, (std::int64_t{1} << 31) * tick_ms - half,
                 (std::int64_t{1} << 32) * tick_ms - half, (std::int64_t{1} << 32) - half,
                 (std::int64_t{1} << 53) - half, INT64_MAX - steps * tick_ms - 4'000);
    CAPTURE(start);
    TestWheel wheel(64, 500ms);
    Deadlines holds;
    std::int64_t now = start / tick_ms * tick_ms;
    std::map<std::uint32_t, TimePoint> wanted;
    for (int step = 0; step < steps; ++step) {
        auto const slot = std::uniform_int_distribution<std::uint32_t>(1, 64)(random);
        switch (random() % 4) {
            case 0:
                if (holds.live.contains(slot)) break;
                holds.live[slot] = wanted[slot] =
                    at(now + 500 + std::uniform_int_distribution<int>(0, 3'000)(random));
                wheel.arm(SlotIndex{slot});
                break;
            case 1:
                holds.live.erase(slot);
                wanted.erase(slot);
                break;
            default:
                now += 10;
                holds.run(wheel, at(now));
                for (auto const& [ended, when] : holds.ended) {
                    REQUIRE(wanted.contains(ended));
                    REQUIRE(when >= wanted[ended]);
                    REQUIRE(when <= wanted[ended] + 10ms);
                    wanted.erase(ended);
                }
                holds.ended.clear();
                for (auto const& [waiting, deadline] : wanted) REQUIRE(deadline + 10ms > at(now));
        }
    }
}

}  // namespace
}  // namespace holdfast::timer
