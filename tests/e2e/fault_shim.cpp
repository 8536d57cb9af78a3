// A library to preload: makes the n-th system call of one kind fail, or kills the process at it.
//
// Purpose: exact faults of the disk under the unchanged release program, for any user; strace can
//   inject them too, but counts the calls of each thread by itself, and needs ptrace.
// Thread safety: counters are atomic; everything else is read once, before main.
// FAULT_SHIM=CALL:N:WHAT[:PART_OF_PATH]
//   CALL: fdatasync, fsync, pread, pwrite, rename, unlink, create (of a file), open (of one
//         there is), thread, epoll, eventfd; change: any of fdatasync, fsync, pwrite, rename,
//         unlink and create
//   WHAT: kill_before, kill_after: the process ends there by SIGKILL
//         once=ERRNO, from=ERRNO: the N-th call fails, or all from it on
//         while=ERRNO: all from it on, as long as the file FAULT_SHIM_MARK exists
//         hang: the N-th call never returns
//         short: every write from it on writes half of what it was given
//   PART_OF_PATH: only files whose path holds it are counted
// FAULT_SHIM_FROM: if there is such a variable, calls count once this file exists.
// FAULT_SHIM_MARK: for the others a file that is made when the fault is met.

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

struct Plan {
    std::string call;
    long nth{};
    std::string what;
    int error{};
    std::string part;
    std::string mark;
    std::string from;
};

std::string take_word(std::string& text) {
    auto const end = text.find(':');
    std::string word = text.substr(0, end);
    text.erase(0, end == std::string::npos ? end : end + 1);
    return word;
}

std::string variable(char const* name) {
    char const* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

Plan read_plan() {
    std::string text = variable("FAULT_SHIM");
    Plan plan;
    plan.call = take_word(text);
    plan.nth = std::atol(take_word(text).c_str());
    plan.what = take_word(text);
    plan.part = text;
    plan.mark = variable("FAULT_SHIM_MARK");
    plan.from = variable("FAULT_SHIM_FROM");
    auto const equals = plan.what.find('=');
    if (equals == std::string::npos) return plan;
    plan.error = std::atoi(plan.what.c_str() + equals + 1);
    plan.what.erase(equals);
    return plan;
}

// Libraries may call before main, so it is made by the first call and never destroyed.
Plan const& plan() {
    static Plan const* const made = new Plan(read_plan());
    return *made;
}

std::atomic<long> calls{0};
std::array<std::atomic<bool>, 65'536> counted{};  // by file descriptor

/// A path below a folder that is held open, by way of where that is.
std::string place_of(char const* path) {
    constexpr char const* open_files = "/proc/self/fd/";
    std::string name = path;
    if (name.rfind(open_files, 0) != 0) return name;
    auto const end = std::min(name.find('/', std::strlen(open_files)), name.size());
    std::array<char, 4'096> place{};
    ssize_t const got = ::readlink(name.substr(0, end).c_str(), place.data(), place.size());
    return got < 0 ? name
                   : std::string(place.data(), static_cast<std::size_t>(got)) + name.substr(end);
}

bool counts(char const* path) {
    return path != nullptr && place_of(path).find(plan().part) != std::string::npos;
}

[[noreturn]] void die() {
    ::syscall(SYS_kill, ::getpid(), SIGKILL);
    for (;;) ::pause();
}

void make_mark() {
    int const fd = static_cast<int>(
        ::syscall(SYS_openat, AT_FDCWD, plan().mark.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    if (fd >= 0) ::syscall(SYS_close, fd);
}

bool exists(std::string const& file) {
    return ::syscall(SYS_faccessat, AT_FDCWD, file.c_str(), F_OK) == 0;
}

bool is_planned(std::string const& call) {
    bool const is_change = call == "fdatasync" || call == "fsync" || call == "pwrite" ||
                           call == "rename" || call == "unlink" || call == "create";
    std::string const& planned = plan().call;
    return planned == call || (planned == "change" && is_change);
}

/// True: the call is not made, errno is set. `kills` is set if the process is to end after it.
bool fails(char const* call, bool is_counted, bool& kills) {
    Plan const& the = plan();
    if (!is_counted || !is_planned(call)) return false;
    if (!the.from.empty() && !exists(the.from)) return false;
    long const number = calls.fetch_add(1) + 1;
    if (the.what == "kill_before" && number == the.nth) die();
    if (the.what == "hang" && number == the.nth) {
        make_mark();
        for (;;) ::pause();
    }
    kills = the.what == "kill_after" && number == the.nth;
    bool const hit =
        (the.what == "once" && number == the.nth) || (the.what == "from" && number >= the.nth);
    bool const held = the.what == "while" && number >= the.nth && exists(the.mark);
    if (hit) make_mark();
    if (hit || held) errno = the.error;
    return hit || held;
}

template <class... Words>
long faulty(char const* call, bool is_counted, long number, Words... words) {
    bool kills = false;
    if (fails(call, is_counted, kills)) return -1;
    long const result = ::syscall(number, words...);
    if (kills) die();
    return result;
}

bool counts(int fd) {
    return fd >= 0 && static_cast<std::size_t>(fd) < counted.size() && counted[fd].load();
}

int opened(char const* path, int flags, unsigned mode) {
    char const* const call = (flags & O_CREAT) != 0 ? "create" : "open";
    long const fd = faulty(call, counts(path), SYS_openat, AT_FDCWD, path, flags, mode);
    if (fd >= 0 && static_cast<std::size_t>(fd) < counted.size())
        counted[static_cast<std::size_t>(fd)].store(counts(path));
    return static_cast<int>(fd);
}

unsigned mode_of(int flags, std::va_list& list) {
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, unsigned) : 0;
}

ssize_t written(int fd, void const* bytes, std::size_t count, off_t offset) {
    bool const shorter =
        plan().what == "short" && counts(fd) && count > 1 && calls.fetch_add(1) + 1 >= plan().nth;
    if (shorter) {
        make_mark();
        count /= 2;
    }
    return faulty("pwrite", counts(fd), SYS_pwrite64, fd, bytes, count, offset);
}

}  // namespace

extern "C" {

int open(char const* path, int flags, ...) {
    std::va_list list;
    va_start(list, flags);
    unsigned const mode = mode_of(flags, list);
    va_end(list);
    return opened(path, flags, mode);
}
int open64(char const* path, int flags, ...) {
    std::va_list list;
    va_start(list, flags);
    unsigned const mode = mode_of(flags, list);
    va_end(list);
    return opened(path, flags, mode);
}
ssize_t pwrite(int fd, void const* bytes, std::size_t count, off_t offset) {
    return written(fd, bytes, count, offset);
}
ssize_t pwrite64(int fd, void const* bytes, std::size_t count, off_t offset) {
    return written(fd, bytes, count, offset);
}
ssize_t pread(int fd, void* bytes, std::size_t count, off_t offset) {
    return faulty("pread", counts(fd), SYS_pread64, fd, bytes, count, offset);
}
ssize_t pread64(int fd, void* bytes, std::size_t count, off_t offset) {
    return faulty("pread", counts(fd), SYS_pread64, fd, bytes, count, offset);
}
int fdatasync(int fd) {
    return static_cast<int>(faulty("fdatasync", counts(fd), SYS_fdatasync, fd));
}
int fsync(int fd) {
    return static_cast<int>(faulty("fsync", counts(fd), SYS_fsync, fd));
}
int rename(char const* from, char const* to) noexcept {
    return static_cast<int>(faulty("rename", counts(from), SYS_rename, from, to));
}
int unlink(char const* path) noexcept {
    return static_cast<int>(faulty("unlink", counts(path), SYS_unlink, path));
}
int epoll_create1(int flags) noexcept {
    return static_cast<int>(faulty("epoll", true, SYS_epoll_create1, flags));
}
int eventfd(unsigned count, int flags) noexcept {
    return static_cast<int>(faulty("eventfd", true, SYS_eventfd2, count, flags));
}
int pthread_create(pthread_t* thread, pthread_attr_t const* attributes, void* (*run)(void*),
                   void* with) noexcept {
    using Create = int (*)(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*);
    static auto const real = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
    bool kills = false;
    if (fails("thread", true, kills)) return errno;
    return real(thread, attributes, run, with);
}

}  // extern "C"
