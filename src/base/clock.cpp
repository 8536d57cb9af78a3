#include <holdfast/base/clock.hpp>

#include <algorithm>

namespace holdfast {
namespace {

std::int64_t monotonic_ms() noexcept {
    auto const since_boot = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<Milliseconds>(since_boot).count();
}

std::int64_t wall_ms() noexcept {
    auto const since_1970 = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<Milliseconds>(since_1970).count();
}

}  // namespace

TimeSources system_time() noexcept {
    return {monotonic_ms, wall_ms};
}

RunningClock::RunningClock(TimePoint not_before, TimeSources sources) noexcept
    : sources_(sources),
      offset_ms_(std::max(sources.wall(), not_before.time_since_epoch().count()) -
                 sources.monotonic()) {}

TimePoint RunningClock::now() const noexcept {
    return TimePoint{Milliseconds{sources_.monotonic() + offset_ms_}};
}

Milliseconds RunningClock::wall_ahead() const noexcept {
    return Milliseconds{sources_.wall() - (sources_.monotonic() + offset_ms_)};
}

}  // namespace holdfast
