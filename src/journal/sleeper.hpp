// Sleeper: lets one thread sleep until others have work for it; they pay a system call only if it
// really sleeps.
//
// Thread safety: wait() by the one owner; wake() by any thread. The owner goes
//   announce(); if (no work) wait(timeout); else stay_awake();
// and producers publish their work with a seq_cst operation before wake(). Either the producer sees
// the announcement or the owner sees the work, so no wake-up is lost.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace holdfast::journal {

/// The kernel's part.
struct Futex {
    using Word = std::atomic<std::uint32_t>;
    /// Returns at once if the word is not 1 any more, else on a wake-up, at the end of the time, or
    /// for no reason.
    static void sleep_while_one(Word& word,
                                std::optional<std::chrono::nanoseconds> timeout) noexcept;
    static void wake_one(Word& word) noexcept;
};

/// The kernel is an argument so that the model test runs this very source.
template <class Kernel>
class SleeperOn {
public:
    void announce() noexcept { asleep_.store(1, std::memory_order_seq_cst); }
    void stay_awake() noexcept { asleep_.store(0, std::memory_order_seq_cst); }
    /// Returns on a wake-up, at the end of the time, or for no reason.
    void wait(std::optional<std::chrono::nanoseconds> timeout) noexcept {
        // All outcomes mean the same: the caller looks again.
        Kernel::sleep_while_one(asleep_, timeout);
        asleep_.store(0, std::memory_order_seq_cst);
    }
    void wake() noexcept {
        if (asleep_.load(std::memory_order_seq_cst) == 0) return;
        if (asleep_.exchange(0, std::memory_order_seq_cst) != 0) Kernel::wake_one(asleep_);
    }

private:
    typename Kernel::Word asleep_{0};
};

using Sleeper = SleeperOn<Futex>;

}  // namespace holdfast::journal
