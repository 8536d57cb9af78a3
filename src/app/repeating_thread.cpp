#include "app/repeating_thread.hpp"

#include <holdfast/base/log.hpp>

#include <new>
#include <pthread.h>
#include <utility>

namespace holdfast::app {

RepeatingThread::RepeatingThread(char const* name, Milliseconds pause, Work work)
    : work_(std::move(work)), thread_([this, name, pause] { run(name, pause); }) {}

RepeatingThread::~RepeatingThread() {
    stop();
}

void RepeatingThread::stop() {
    {
        std::lock_guard const lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

bool RepeatingThread::rest(Milliseconds time) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, time, [this] { return stopping_; });
}

void RepeatingThread::run(char const* name, Milliseconds pause) {
    pthread_setname_np(pthread_self(), name);
    while (rest(pause)) {
        try {
            pause = work_();
        } catch (std::bad_alloc const&) {
            // What it does is whole or not at all, and there may be memory the next time.
            log::error("no memory for what is done again and again", {{"thread", name}});
        }
    }
}

}  // namespace holdfast::app
