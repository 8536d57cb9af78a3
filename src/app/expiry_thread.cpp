#include "app/expiry_thread.hpp"

#include "app/clock_watch.hpp"

#include <holdfast/domain/limits.hpp>

#include <pthread.h>

namespace holdfast::app {

ExpiryThread::ExpiryThread(engine::Engine& engine, Clock const& clock)
    : engine_(engine), clock_(clock), thread_([this] { run(); }) {}

ExpiryThread::~ExpiryThread() {
    stop();
}

void ExpiryThread::stop() {
    {
        std::lock_guard const lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

bool ExpiryThread::wait_for_tick() {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, limits::timer_tick, [this] { return stopping_; });
}

void ExpiryThread::run() {
    pthread_setname_np(pthread_self(), "expiry");
    // What one call leaves over comes with the next tick; until then whoever meets a hold past its
    // deadline treats it as ended.
    ClockWatch watch(clock_);
    while (wait_for_tick()) {
        TimePoint const now = clock_.now();
        engine_.expire(now);
        watch.look(now);
    }
}

}  // namespace holdfast::app
