// Sleeper: lets one thread sleep until others have work for it; they pay a system call only if it
// really sleeps.
//
// Thread safety: sleep() by the one owner; wake() by any thread. The owner goes
//   announce(); if (no work) sleep(timeout); else stay_awake();
// and producers publish their work with a seq_cst operation before wake(). Either the producer sees
// the announcement or the owner sees the work, so no wake-up is lost.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace holdfast::journal {

class Sleeper {
public:
    void announce() noexcept { asleep_.store(1); }
    void stay_awake() noexcept { asleep_.store(0); }
    /// Returns on a wake-up, at the end of the time, or for no reason.
    void sleep(std::optional<std::chrono::nanoseconds> timeout) noexcept;
    void wake() noexcept {
        if (asleep_.load() != 0) wake_now();
    }

private:
    void wake_now() noexcept;
    std::atomic<std::uint32_t> asleep_{0};
};

}  // namespace holdfast::journal
