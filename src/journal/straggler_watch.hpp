// StragglerWatch: how long another thread has been waited for while this process ran.
//
// Purpose: a producer that never finishes its copy must stop the server loudly; a server that was
//   stopped itself (SIGSTOP, a frozen container, a paused machine) must go on. Both look like a
//   long time since the last look, so one step counts for 100 ms at most.
// Thread safety: one thread. Cost: trivial; the caller reads the clock.
#pragma once

#include <algorithm>
#include <chrono>

namespace holdfast::journal {

class StragglerWatch {
public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr std::chrono::milliseconds step_max{100};
    static constexpr std::chrono::seconds patience{30};

    explicit StragglerWatch(Time now) noexcept : last_(now) {}

    /// Whether it may still be waited for.
    [[nodiscard]] bool lasts(Time now) noexcept {
        waited_ += std::min<std::chrono::nanoseconds>(now - last_, step_max);
        last_ = now;
        return waited_ < patience;
    }

private:
    Time last_;
    std::chrono::nanoseconds waited_{};
};

}  // namespace holdfast::journal
