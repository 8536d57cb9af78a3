// Stop signals: how a server hears that it is to stop, and what ends a stop that takes too long.
//
// Purpose: SIGTERM, SIGINT and SIGHUP are waited for by the main thread and reach no other one;
//   once a stop has begun a second wish ends the process at once, and so does its time limit.
// Thread safety: the main thread; block_awaited_signals() before any other one is started. The
//   handlers may run on any thread that does not block them.
// Invariants: an end in the middle of a stop is like kill -9: what was acknowledged is durable.
#pragma once

#include <holdfast/base/clock.hpp>

namespace holdfast::app {

/// From here on they wait to be asked for, in this thread and all that it starts.
void block_awaited_signals();

/// Recovery may take long and can be killed at any point, so there the stop signals do what they
/// always do; only threads of a running server have to be stopped in order.
class StopSignalsActive {
public:
    StopSignalsActive();
    ~StopSignalsActive();
    StopSignalsActive(StopSignalsActive const&) = delete;
    StopSignalsActive& operator=(StopSignalsActive const&) = delete;
};

/// One of them that came; with `looks_again` 0 if none did for a quarter of a second.
[[nodiscard]] int wait_for_signal(bool looks_again);

/// From here on a stop signal of another wish than the one that was just heard, if `heard`, ends
/// the process with 1, and `limit`, rounded up to seconds, with 75: then the disk hangs.
void let_signals_end_the_stop(bool heard, Milliseconds limit);

/// What is left is the log, which nobody may read any more: another `limit` from now ends the
/// process with `exit_code`.
void note_that_all_is_sealed(int exit_code, Milliseconds limit);

}  // namespace holdfast::app
