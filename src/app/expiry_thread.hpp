// Expiry thread: ends what is due, every tick.
//
// Purpose: the loop around engine.expire. Thread safety: made and stopped by its owner. Cost: one
// look at each event's wheel a tick.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/engine/engine.hpp>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace holdfast::app {

class ExpiryThread {
public:
    ExpiryThread(engine::Engine& engine, Clock const& clock);
    ~ExpiryThread();
    ExpiryThread(ExpiryThread const&) = delete;
    ExpiryThread& operator=(ExpiryThread const&) = delete;
    void stop();

private:
    void run();
    [[nodiscard]] bool wait_for_tick();

    engine::Engine& engine_;
    Clock const& clock_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool stopping_{};
    std::thread thread_;  // last: it uses the others
};

}  // namespace holdfast::app
