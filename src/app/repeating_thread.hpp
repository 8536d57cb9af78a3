// Repeating thread: does one piece of work again and again until it is stopped.
//
// Purpose: the loop of the threads that look at something every so often. Thread safety: made and
//   stopped by its owner; the work runs on the thread alone. Invariants: after stop() the work is
//   not running and will not run. Cost: one thread; a wake-up a pause.
#pragma once

#include <holdfast/base/clock.hpp>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace holdfast::app {

class RepeatingThread {
public:
    /// One piece of work; returns how long to rest before the next.
    using Work = std::function<Milliseconds()>;

    /// The first piece comes after `pause`. `name`: what the system shows, 15 characters at most.
    RepeatingThread(char const* name, Milliseconds pause, Work work);
    ~RepeatingThread();
    RepeatingThread(RepeatingThread const&) = delete;
    RepeatingThread& operator=(RepeatingThread const&) = delete;
    /// Waits for the end of the piece under way; cuts a rest short.
    void stop();

private:
    void run(char const* name, Milliseconds pause);
    [[nodiscard]] bool rest(Milliseconds time);

    Work work_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool stopping_{};
    std::thread thread_;  // last: it uses the others
};

}  // namespace holdfast::app
