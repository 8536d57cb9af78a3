// Time as holdfast reckons it.
//
// Purpose: one time line for deadlines, records and answers: milliseconds since 1970 that advance
//   with CLOCK_MONOTONIC. The wall clock is read once, at start (never earlier than the last time
//   in the journal); a later step of the wall clock moves nothing (RELIABILITY.md 3.9).
// Thread safety: TimePoint is a value; RunningClock may be read by any thread.
// Invariants: now() never goes back, also across restarts.
// Cost: now() is one clock_gettime in the vDSO, about 25 ns. Pure code takes `now` as an argument.
#pragma once

#include <chrono>
#include <cstdint>

namespace holdfast {

using Milliseconds = std::chrono::milliseconds;
/// Milliseconds since 1970-01-01T00:00Z on the server's own, monotonic line.
using TimePoint = std::chrono::sys_time<Milliseconds>;
/// "No deadline": staff blocks and sold seats. Later than every real time.
inline constexpr TimePoint no_deadline = TimePoint::max();

/// The injected clock. Read only by the edges: http, app and the loops of the own threads.
class Clock {
public:
    virtual ~Clock() = default;
    [[nodiscard]] virtual TimePoint now() const noexcept = 0;
    /// How far the wall clock is ahead of this line now (negative: behind); for logs and metrics.
    [[nodiscard]] virtual Milliseconds wall_ahead() const noexcept { return {}; }
};

/// Where a RunningClock reads the time, in milliseconds.
struct TimeSources {
    std::int64_t (*monotonic)() noexcept;
    std::int64_t (*wall)() noexcept;
};
[[nodiscard]] TimeSources system_time() noexcept;

class RunningClock final : public Clock {
public:
    /// Starts the line at max(wall clock, `not_before`).
    explicit RunningClock(TimePoint not_before, TimeSources sources = system_time()) noexcept;
    [[nodiscard]] TimePoint now() const noexcept override;
    [[nodiscard]] Milliseconds wall_ahead() const noexcept override;

private:
    TimeSources sources_;
    std::int64_t offset_ms_;  // added to CLOCK_MONOTONIC
};

}  // namespace holdfast
