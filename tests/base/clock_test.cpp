// The time line of the server, while somebody sets the wall clock.
#include <holdfast/base/clock.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace holdfast;
using namespace std::chrono_literals;

// A source is a plain function, so what it reads is static; each test sets both.
std::int64_t monotonic_now;
std::int64_t wall_now;
TimeSources const by_hand{[]() noexcept { return monotonic_now; },
                          []() noexcept { return wall_now; }};

constexpr std::int64_t day_one = 1'800'000'000'000;

TimePoint at(std::int64_t ms) {
    return TimePoint{Milliseconds{ms}};
}

}  // namespace

TEST_CASE("P7: a step of the wall clock moves the server's time by nothing", "[base][clock]") {
    for (Milliseconds const step : {1'000ms, Milliseconds{1h}, Milliseconds{365 * 24h}}) {
        for (int const sign : {-1, 1}) {
            CAPTURE(step.count(), sign);
            monotonic_now = 5'000;
            wall_now = day_one;
            RunningClock const clock(TimePoint{}, by_hand);
            CHECK(clock.now() == at(day_one));
            CHECK(clock.wall_ahead() == 0ms);
            wall_now += sign * step.count();
            CHECK(clock.now() == at(day_one));
            CHECK(clock.wall_ahead() == sign * step);
            monotonic_now += 250;
            CHECK(clock.now() == at(day_one + 250));
            CHECK(clock.wall_ahead() == sign * step - 250ms);
        }
    }
}

TEST_CASE("P7: a restart never takes the time back", "[base][clock]") {
    monotonic_now = 70'000;
    wall_now = day_one;
    RunningClock const later(at(day_one + 3'600'000), by_hand);
    CHECK(later.now() == at(day_one + 3'600'000));
    CHECK(later.wall_ahead() == -1h);
    RunningClock const earlier(at(day_one - 1), by_hand);
    CHECK(earlier.now() == at(day_one));
    // A machine that was suspended: the monotonic clock of the next boot begins anew.
    monotonic_now = 1;
    wall_now += 86'400'000;
    RunningClock const rebooted(at(day_one + 3'600'000), by_hand);
    CHECK(rebooted.now() == at(day_one + 86'400'000));
}
