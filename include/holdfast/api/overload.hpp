// Overload: what is refused when there is more work than the server can do (API.md 15).
//
// Purpose: the ladder, as rungs that are climbed while signals stay high and left one by one:
//   1 documents of events may be a second old, 2 no previews, dry runs and lists, 3 polls of the
//   waiting room are slowed and 4 nobody joins it (there is none yet, so these two only stand in
//   between), 5 new holds are refused, as many of them as it takes. Orders, what gives places back
//   and health are never refused.
// Thread safety: OverloadLadder one thread; Overload any thread.
// Invariants: nothing changes without three looks in a row that agree, so a thread that was late
//   once is no overload. A server that nobody asks is at rung 0.
// Cost: a load; each 100 ms one caller looks at the signals, under a mutex that nobody waits for.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/base/published.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

namespace holdfast::api {

class OverloadLadder {
public:
    static constexpr unsigned top = 5;
    static constexpr unsigned searches = 2;  // the rung at which they are refused
    static constexpr Milliseconds interval{100};
    static constexpr std::uint32_t whole = 1'024;  // a share of 1

    struct Signals {
        std::chrono::microseconds io_wait{};  // of what is ready, for its io thread
        std::size_t jobs_waiting{};           // for a worker
    };
    struct Bounds {
        std::chrono::microseconds io_wait_max{};  // at which new holds are refused; 0: no ladder
        std::size_t jobs_max{};                   // that may wait for a worker
    };

    explicit OverloadLadder(Bounds const& bounds) noexcept : bounds_(bounds) {}
    /// Once each interval.
    void look(Signals const& signals, TimePoint now) noexcept;
    [[nodiscard]] unsigned rung() const noexcept { return rung_; }
    /// Of new holds, how many are admitted, in parts of `whole`.
    [[nodiscard]] std::uint32_t share() const noexcept { return share_; }

private:
    [[nodiscard]] unsigned wanted(Signals const& signals, unsigned times) const noexcept;
    void change_share(Signals const& signals) noexcept;

    Bounds bounds_;
    std::array<unsigned, 3> newest_{};  // rungs that the last looks called for
    std::size_t looks_{};
    unsigned calm_{};  // looks in a row that called for less than the rung
    unsigned rung_{};
    std::uint32_t share_{whole};
    TimePoint looked_at_{};
};

class Overload {
public:
    using Read = std::function<OverloadLadder::Signals()>;

    Overload(OverloadLadder::Bounds const& bounds, Read read)
        : is_on_(bounds.io_wait_max.count() > 0), read_(std::move(read)), ladder_(bounds) {}

    [[nodiscard]] unsigned rung(TimePoint now);
    /// Whether this request, which is refused from that rung on (0: never), is refused; counts it.
    [[nodiscard]] bool refuses(unsigned from_rung, TimePoint now);
    /// Seconds until it may come again, other ones for each, so that not all come at once.
    [[nodiscard]] unsigned retry_after_s();
    /// How old a document of an event may be.
    [[nodiscard]] Milliseconds document_age(TimePoint now) {
        return rung(now) == 0 ? Milliseconds{0} : Milliseconds{1'000};
    }

    struct Counts {
        OverloadLadder::Signals signals;  // as of the last look
        unsigned rung{};
        std::uint32_t share{};
        std::uint64_t refused_searches{};
        std::uint64_t refused_holds{};
    };
    [[nodiscard]] Counts counts(TimePoint now);

private:
    bool is_on_;
    Read read_;
    Published<std::int64_t> looked_at_ms_{0};
    Published<unsigned> rung_{0};
    std::mutex mutex_;
    OverloadLadder ladder_;                               // guarded by mutex_
    OverloadLadder::Signals signals_;                     // guarded by mutex_
    std::uint32_t admitted_part_{};                       // guarded by mutex_
    std::uint64_t refused_searches_{}, refused_holds_{};  // guarded by mutex_
};

}  // namespace holdfast::api
