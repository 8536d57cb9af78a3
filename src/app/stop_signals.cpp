#include "app/stop_signals.hpp"

#include "app/exit_codes.hpp"

#include <holdfast/base/published.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <initializer_list>
#include <poll.h>
#include <signal.h>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace holdfast::app {
namespace {

sigset_t set_of(std::initializer_list<int> signals) {
    sigset_t set;
    sigemptyset(&set);
    for (int const signal : signals) sigaddset(&set, signal);
    return set;
}

sigset_t awaited_signals() {
    return set_of({SIGTERM, SIGINT, SIGHUP});
}

sigset_t stop_signals() {
    return set_of({SIGTERM, SIGINT});
}

void mask(int how, sigset_t const& set) {
    int const error = pthread_sigmask(how, &set, nullptr);
    if (error != 0) throw std::system_error(error, std::generic_category(), "pthread_sigmask");
}

/// Between two signals of one wish to stop: a supervisor signals the process and then its group, a
/// shell hands on a Ctrl-C that the group has got already.
constexpr std::int64_t one_wish_ms = 1'000;

/// When the first stop signal came; 0: none has, as when the server stops by itself. Only the main
/// thread uses it: before it lets these signals in, and in the handler, which neither interrupts.
std::int64_t first_stop_ms = 0;

std::int64_t ms_since_boot() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * std::int64_t{1'000} + now.tv_nsec / 1'000'000;
}

/// What a stop that took too long ends with: once all is sealed only the log can keep it.
Published<int> code_at_limit{exit_temporary};
Published<bool> is_sealed{false};

/// Calls only what a signal handler may. Nobody may read standard error any more: a write into a
/// full pipe would keep the process for ever, so then there is no line.
[[noreturn]] void end_now(std::string_view line, int exit_code) noexcept {
    pollfd error_output{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    bool const has_room = ::poll(&error_output, 1, 0) == 1 && (error_output.revents & POLLOUT) != 0;
    if (has_room) {
        [[maybe_unused]] auto const written = ::write(STDERR_FILENO, line.data(), line.size());
    }
    ::_exit(exit_code);
}

void end_at_second_wish(int) {
    std::int64_t const now = ms_since_boot();
    if (first_stop_ms == 0) first_stop_ms = now;
    if (now - first_stop_ms < one_wish_ms) return;
    end_now("holdfast: stopped at once by a second signal\n", exit_failed);
}

void end_late_stop(int) {
    end_now(is_sealed.get()
                ? "holdfast: stopped, but for lines of the log, which hangs\n"
                : "holdfast: the stop took too long: a write or sync hangs, or is slow\n",
            code_at_limit.get());
}

void ring_after(Milliseconds limit) {
    ::alarm(static_cast<unsigned>(std::chrono::ceil<std::chrono::seconds>(limit).count()));
}

void handle(int signal, void (*handler)(int)) {
    struct sigaction action{};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    action.sa_mask = stop_signals();
    if (::sigaction(signal, &action, nullptr) != 0)
        throw std::system_error(errno, std::generic_category(), "sigaction");
}

}  // namespace

void block_awaited_signals() {
    mask(SIG_BLOCK, awaited_signals());
}

StopSignalsActive::StopSignalsActive() {
    mask(SIG_UNBLOCK, stop_signals());
}

StopSignalsActive::~StopSignalsActive() {
    mask(SIG_BLOCK, stop_signals());
}

int wait_for_signal(bool looks_again) {
    constexpr timespec between_looks{0, 250'000'000};
    sigset_t const set = awaited_signals();
    int const signal = ::sigtimedwait(&set, nullptr, looks_again ? &between_looks : nullptr);
    return std::max(signal, 0);  // interrupted, too, is no signal of these
}

void let_signals_end_the_stop(bool heard, Milliseconds limit) {
    if (heard) first_stop_ms = ms_since_boot();
    for (int const stop : {SIGTERM, SIGINT}) handle(stop, end_at_second_wish);
    handle(SIGALRM, end_late_stop);
    // Whoever started us may have blocked it.
    mask(SIG_UNBLOCK, set_of({SIGTERM, SIGINT, SIGALRM}));
    ring_after(limit);
}

void note_that_all_is_sealed(int exit_code, Milliseconds limit) {
    code_at_limit.set(exit_code);
    is_sealed.set(true);
    ring_after(limit);
}

}  // namespace holdfast::app
