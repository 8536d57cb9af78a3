// A library to preload: clocks that jump while the program runs.
//
// Purpose: what a suspended machine, a moved virtual one or a hand at the wall clock does to a
//   server, under the unchanged release program and without touching the clocks of the machine.
// CLOCK_SHIM names a file of two 64-bit integers, milliseconds: how far the monotonic clock is
//   ahead of the machine's, and how far the wall clock is. Whoever writes to it moves them at once.
// A wait until a moment of the monotonic clock ends by the clock of the machine all the same: what
//   waits when the clock jumps is woken then no sooner than without a jump, as after a suspend.
// Thread safety: the file is mapped by the first call and never unmapped.

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

namespace {

using Offset = std::atomic<std::int64_t>;
static_assert(Offset::is_always_lock_free && sizeof(Offset) == sizeof(std::int64_t));
using Offsets = std::array<Offset, 2>;

Offsets* map_offsets() {
    char const* const path = std::getenv("CLOCK_SHIM");
    int const fd = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC);
    void* const mapped =
        fd < 0 ? MAP_FAILED : ::mmap(nullptr, sizeof(Offsets), PROT_READ, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) std::abort();
    ::close(fd);
    return static_cast<Offsets*>(mapped);
}

std::int64_t ahead_ms(clockid_t clock) {
    static Offsets* const offsets = map_offsets();
    switch (clock) {
        case CLOCK_MONOTONIC:
        case CLOCK_MONOTONIC_COARSE:
        case CLOCK_MONOTONIC_RAW:
            return (*offsets)[0].load();
        case CLOCK_REALTIME:
        case CLOCK_REALTIME_COARSE:
            return (*offsets)[1].load();
        default:
            return 0;
    }
}

/// `time` so many milliseconds later.
void shift(timespec& time, std::int64_t by_ms) {
    constexpr std::int64_t second = 1'000'000'000;
    std::int64_t nanoseconds = time.tv_nsec + by_ms % 1'000 * 1'000'000;
    std::int64_t seconds = time.tv_sec + by_ms / 1'000;
    if (nanoseconds < 0) {
        nanoseconds += second;
        --seconds;
    }
    time.tv_sec = static_cast<time_t>(seconds + nanoseconds / second);
    time.tv_nsec = static_cast<long>(nanoseconds % second);
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
    long const result = ::syscall(SYS_clock_gettime, clock, time);
    if (result == 0) shift(*time, ahead_ms(clock));
    return static_cast<int>(result);
}

int gettimeofday(timeval* time, void*) noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = static_cast<suseconds_t>(now.tv_nsec / 1'000);
    return 0;
}

time_t time(time_t* result) noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    if (result != nullptr) *result = now.tv_sec;
    return now.tv_sec;
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           timespec const* until) {
    using Wait = int (*)(pthread_cond_t*, pthread_mutex_t*, clockid_t, timespec const*);
    static auto const real = reinterpret_cast<Wait>(::dlsym(RTLD_NEXT, "pthread_cond_clockwait"));
    timespec machine = *until;
    shift(machine, -ahead_ms(clock));
    return real(condition, mutex, clock, &machine);
}

}  // extern "C"
