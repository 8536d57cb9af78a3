// LoadMeter: how long what is ready waits for its io thread.
//
// Purpose: the measure of overload. A turn is the work from one moment at which the thread had
// taken all that was ready to the next; what becomes ready meanwhile waits for that work. If there
// is always more than a round takes, a turn ends when every connection can have had its event.
// Thread safety: its io thread. Invariants: a thread that sleeps does not wait, and what it handles
// after that has not waited. Cost: a few additions a round.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace holdfast::http {

class LoadMeter {
public:
    using Time = std::chrono::nanoseconds;

    void set_connections(std::size_t open) noexcept { connections_ = open; }
    /// Work that no socket's readiness asked for: replies that the disk let go.
    void worked(Time took) noexcept { turn_ += took; }
    /// A round of the poller; `all`: nothing more was ready when it began.
    void round(std::size_t events, bool all, Time took) noexcept {
        turn_ += took;
        turn_events_ += events;
        if (!all && turn_events_ < connections_) return;
        waited_ += turn_ * static_cast<std::int64_t>(turn_events_);
        events_ += turn_events_;
        turn_ = Time{0};
        turn_events_ = 0;
    }
    /// Mean over the events of all turns that ended since the last call; 0 if there were none.
    [[nodiscard]] Time take_mean() noexcept {
        Time const mean = events_ == 0 ? Time{0} : waited_ / static_cast<std::int64_t>(events_);
        waited_ = Time{0};
        events_ = 0;
        return mean;
    }

private:
    std::size_t connections_{};
    Time turn_{};
    std::size_t turn_events_{};
    Time waited_{};
    std::size_t events_{};
};

/// Work outside the rounds, for as long as it lives.
class Measured {
public:
    explicit Measured(LoadMeter& meter) noexcept : meter_(meter) {}
    ~Measured() { meter_.worked(std::chrono::steady_clock::now() - began_); }
    Measured(Measured const&) = delete;
    Measured& operator=(Measured const&) = delete;

private:
    LoadMeter& meter_;
    std::chrono::steady_clock::time_point began_{std::chrono::steady_clock::now()};
};

}  // namespace holdfast::http
