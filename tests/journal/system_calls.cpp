#include "tests/journal/system_calls.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
#include <utility>

namespace {

using holdfast::journal::test::Call;
using holdfast::journal::test::Scripted;

thread_local Scripted* script = nullptr;
std::atomic<int> early_sleeps{0};

template <class Function>
Function* kernels(Function*, char const* name) noexcept {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// What the call gives instead of the kernel's answer; errno is set.
int ended(Scripted::End const& end) noexcept {
    errno = end.error;
    return end.error != 0 ? -1 : 0;
}

bool is_early_sleep(long number, long operation) noexcept {
    if (number != SYS_futex || (operation & FUTEX_CMD_MASK) != FUTEX_WAIT) return false;
    int left = early_sleeps.load();
    while (left > 0 && !early_sleeps.compare_exchange_weak(left, left - 1)) {
    }
    return left > 0;
}

}  // namespace

namespace holdfast::journal::test {

Scripted::Scripted(std::vector<End> ends) : ends_(std::move(ends)) {
    script = this;
}

Scripted::~Scripted() {
    script = nullptr;
}

Scripted::End const* Scripted::next(Call call) noexcept {
    if (script == nullptr || script->all_came()) return nullptr;
    if (script->ends_[script->next_].call != call) return nullptr;
    return &script->ends_[script->next_++];
}

void end_sleeps_early(int count) noexcept {
    early_sleeps.store(count);
}

int sleeps_to_end_early() noexcept {
    return early_sleeps.load();
}

}  // namespace holdfast::journal::test

extern "C" {

int open(char const* path, int flags, ...) {
    std::va_list list;
    va_start(list, flags);
    mode_t const mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
    va_end(list);
    if (auto const* const end = Scripted::next(Call::open)) return ended(*end);
    static auto* const real = kernels(&::open, "open");
    return real(path, flags, mode);
}
ssize_t pread(int fd, void* bytes, std::size_t count, off_t offset) {
    auto const* const end = Scripted::next(Call::pread);
    if (end != nullptr && end->result <= 0) return ended(*end);
    if (end != nullptr) count = std::min(count, static_cast<std::size_t>(end->result));
    static auto* const real = kernels(&::pread, "pread");
    return real(fd, bytes, count, offset);
}
ssize_t pwrite(int fd, void const* bytes, std::size_t count, off_t offset) {
    auto const* const end = Scripted::next(Call::pwrite);
    if (end != nullptr && end->result <= 0) return ended(*end);
    if (end != nullptr) count = std::min(count, static_cast<std::size_t>(end->result));
    static auto* const real = kernels(&::pwrite, "pwrite");
    return real(fd, bytes, count, offset);
}
int fdatasync(int fd) {
    if (auto const* const end = Scripted::next(Call::fdatasync)) return ended(*end);
    static auto* const real = kernels(&::fdatasync, "fdatasync");
    return real(fd);
}
int fsync(int fd) {
    if (auto const* const end = Scripted::next(Call::fsync)) return ended(*end);
    static auto* const real = kernels(&::fsync, "fsync");
    return real(fd);
}
int fstat(int fd, struct stat* status) noexcept {
    if (auto const* const end = Scripted::next(Call::fstat)) return ended(*end);
    static auto* const real = kernels(&::fstat, "fstat");
    return real(fd, status);
}
int fcntl(int fd, int command, ...) {
    std::va_list list;
    va_start(list, command);
    void* const argument = va_arg(list, void*);
    va_end(list);
    if (auto const* const end = Scripted::next(Call::fcntl)) return ended(*end);
    static auto* const real = kernels(&::fcntl, "fcntl");
    return real(fd, command, argument);
}
dirent* readdir(DIR* folder) {
    if (auto const* const end = Scripted::next(Call::readdir)) {
        ended(*end);
        return nullptr;
    }
    static auto* const real = kernels(&::readdir, "readdir");
    return real(folder);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
    if (auto const* const end = Scripted::next(Call::aligned_alloc)) {
        ended(*end);
        return nullptr;
    }
    static auto* const real = kernels(&::aligned_alloc, "aligned_alloc");
    return real(alignment, bytes);
}
long syscall(long number, ...) noexcept {
    std::va_list list;
    va_start(list, number);
    long arguments[6];
    for (long& each : arguments) each = va_arg(list, long);
    va_end(list);
    if (is_early_sleep(number, arguments[1])) return 0;
    static auto* const real = kernels(&::syscall, "syscall");
    return real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                arguments[5]);
}

}  // extern "C"
