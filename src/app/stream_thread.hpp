// Stream thread: makes the deltas of the events that somebody watches.
//
// Purpose: the loop around SeatStreams::look. Thread safety: made and stopped by its owner. Cost:
// a wake-up every 50 ms, and a fifth of a core at most, however many places are watched.
#pragma once

#include <holdfast/api/seat_streams.hpp>
#include <holdfast/base/clock.hpp>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace holdfast::app {

class StreamThread {
public:
    StreamThread(api::SeatStreams& streams, Clock const& clock);
    ~StreamThread();
    StreamThread(StreamThread const&) = delete;
    StreamThread& operator=(StreamThread const&) = delete;
    void stop();

private:
    void run();
    [[nodiscard]] bool rest(Milliseconds time);

    api::SeatStreams& streams_;
    Clock const& clock_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool stopping_{};
    std::thread thread_;  // last: it uses the others
};

}  // namespace holdfast::app
