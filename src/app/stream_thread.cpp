#include "app/stream_thread.hpp"

#include <algorithm>
#include <pthread.h>

namespace holdfast::app {
namespace {

constexpr Milliseconds stream_pause{50};
constexpr int rests_per_look = 4;

}  // namespace

StreamThread::StreamThread(api::SeatStreams& streams, Clock const& clock)
    : streams_(streams), clock_(clock), thread_([this] { run(); }) {}

StreamThread::~StreamThread() {
    stop();
}

void StreamThread::stop() {
    {
        std::lock_guard const lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

bool StreamThread::rest(Milliseconds time) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, time, [this] { return stopping_; });
}

void StreamThread::run() {
    pthread_setname_np(pthread_self(), "streams");
    Milliseconds pause = stream_pause;
    while (rest(pause)) {
        TimePoint const before = clock_.now();
        streams_.look(before);
        pause = std::max(stream_pause, rests_per_look * (clock_.now() - before));
    }
}

}  // namespace holdfast::app
