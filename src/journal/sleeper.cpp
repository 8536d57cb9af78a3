#include "journal/sleeper.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace holdfast::journal {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

// std::atomic::wait has no timeout, so the kernel's own call is used.
long futex(std::atomic<std::uint32_t>* word, int operation, std::uint32_t value,
           timespec const* timeout) noexcept {
    return ::syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, timeout, nullptr, 0);
}

}  // namespace

void Sleeper::sleep(std::optional<std::chrono::nanoseconds> timeout) noexcept {
    timespec time{};
    if (timeout) {
        auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(*timeout);
        time.tv_sec = static_cast<time_t>(seconds.count());
        time.tv_nsec = static_cast<long>((*timeout - seconds).count());
    }
    // All outcomes (woken, value changed, time over, signal) mean the same: the caller looks again.
    static_cast<void>(futex(&asleep_, FUTEX_WAIT, 1, timeout ? &time : nullptr));
    asleep_.store(0);
}

void Sleeper::wake_now() noexcept {
    if (asleep_.exchange(0) != 0) {
        static_cast<void>(futex(&asleep_, FUTEX_WAKE, 1, nullptr));
    }
}

}  // namespace holdfast::journal
