// Clock watch: tells the operator when the wall clock and the server's time are apart.
//
// Purpose: a step of the wall clock moves no deadline (RELIABILITY.md 3.9), so nothing else shows
//   it; and a start with a clock far ahead moves the server's time for good.
// Thread safety: one thread. Cost: one reading of the clocks a minute.
#pragma once

#include <holdfast/base/clock.hpp>

#include <optional>

namespace holdfast::app {

class ClockWatch {
public:
    static constexpr Milliseconds interval{60'000};
    static constexpr Milliseconds worth_a_word{2'000};

    explicit ClockWatch(Clock const& clock) : clock_(clock) {}

    /// Call it often. How far the wall clock is ahead, if that has changed by more than two seconds
    /// since it was last told (at first: since never); it is logged, too.
    std::optional<Milliseconds> look(TimePoint now);

private:
    Clock const& clock_;
    std::optional<TimePoint> looked_;
    Milliseconds told_{0};
};

}  // namespace holdfast::app
