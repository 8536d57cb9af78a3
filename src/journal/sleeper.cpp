#include "journal/sleeper.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace holdfast::journal {
namespace {

static_assert(sizeof(Futex::Word) == sizeof(std::uint32_t));
static_assert(Futex::Word::is_always_lock_free);

// std::atomic::wait has no timeout, so the kernel's own call is used.
long futex(Futex::Word& word, int operation, std::uint32_t value,
           timespec const* timeout) noexcept {
    return ::syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, timeout, nullptr, 0);
}

}  // namespace

void Futex::sleep_while_one(Word& word, std::optional<std::chrono::nanoseconds> timeout) noexcept {
    timespec time{};
    if (timeout) {
        auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(*timeout);
        time.tv_sec = static_cast<time_t>(seconds.count());
        time.tv_nsec = static_cast<long>((*timeout - seconds).count());
    }
    // Woken, value changed, time over, signal: it does not matter.
    static_cast<void>(futex(word, FUTEX_WAIT, 1, timeout ? &time : nullptr));
}

void Futex::wake_one(Word& word) noexcept {
    static_cast<void>(futex(word, FUTEX_WAKE, 1, nullptr));
}

}  // namespace holdfast::journal
