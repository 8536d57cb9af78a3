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

RunningClock::RunningClock(TimePoint not_before) noexcept
    : offset_ms_(std::max(wall_ms(), not_before.time_since_epoch().count()) - monotonic_ms()) {}

TimePoint RunningClock::now() const noexcept {
    return TimePoint{Milliseconds{monotonic_ms() + offset_ms_}};
}

Milliseconds RunningClock::wall_ahead() const noexcept {
    return Milliseconds{wall_ms() - (monotonic_ms() + offset_ms_)};
}

}  // namespace holdfast
