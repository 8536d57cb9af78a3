#include "app/clock_watch.hpp"

#include <catch2/catch.hpp>

namespace holdfast::app::test {
namespace {

using namespace std::chrono_literals;

struct SetClock final : Clock {
    TimePoint time{Milliseconds{1'800'000'000'000}};
    Milliseconds ahead{0};
    [[nodiscard]] TimePoint now() const noexcept override { return time; }
    [[nodiscard]] Milliseconds wall_ahead() const noexcept override { return ahead; }
};

}  // namespace

TEST_CASE("P7: a wall clock that is apart from the server's time is told once", "[app][clock]") {
    SetClock clock;
    SECTION("at a start") {
        ClockWatch watch(clock);
        clock.ahead = -365 * 24h;
        CHECK(watch.look(clock.now()) == clock.ahead);
        clock.time += ClockWatch::interval;
        CHECK_FALSE(watch.look(clock.now()).has_value());
    }
    SECTION("while it runs, within a minute") {
        ClockWatch watch(clock);
        CHECK_FALSE(watch.look(clock.now()).has_value());
        for (Milliseconds const ahead : {2'001ms, -3'600'000ms, 0ms}) {
            clock.ahead = ahead;
            clock.time += ClockWatch::interval - 1ms;
            CHECK_FALSE(watch.look(clock.now()).has_value());
            clock.time += 1ms;
            CHECK(watch.look(clock.now()) == ahead);
        }
        clock.ahead = 2s;
        clock.time += ClockWatch::interval;
        CHECK_FALSE(watch.look(clock.now()).has_value());
    }
}

}  // namespace holdfast::app::test
