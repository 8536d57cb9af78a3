// SeatStreams: the live changes of the places of events, for everybody who watches.
//
// Purpose: GET …/stream. Each event that somebody watches is looked at every now and then, and what
//   was touched since the look before becomes one delta, encoded once for all its streams.
// Thread safety: look() by one thread; all else by any. A mutex that no claim takes.
// Invariants: who has a state document and applies, in order, every delta of a stream that began
//   with its number (or that began before the document was asked for) has the true state. A delta
//   leaves when all it tells is on disk. Memory is bounded: limits::stream_ring_* for each event
//   that is watched, 12 bytes for each of its places, and nothing for a slow client.
// Cost: a look reads two words a place, and only if there are new facts. Looks are
//   limits::stream_period apart, more with many streams (period()), so that sending to all takes a
//   tenth of a core at most.
#pragma once

#include <holdfast/api/rate_limits.hpp>
#include <holdfast/api/sequence.hpp>
#include <holdfast/engine/engine.hpp>
#include <holdfast/http/stream.hpp>
#include <holdfast/journal/journal.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace holdfast::api {

class SeatFeed;

class SeatStreams : public std::enable_shared_from_this<SeatStreams> {
public:
    struct Bounds {
        std::size_t streams_max{10'000};
        std::size_t per_network_max{256};
        bool limit_loopback{};
    };
    struct Counts {
        std::size_t events{};  // that are watched, or were a minute ago
        std::uint64_t refused{}, deltas{};
    };
    struct Watcher {
        Network network{};
        bool loopback{};
    };
    enum class Refused : std::uint8_t { none, network, all };
    struct Opened {
        std::shared_ptr<http::Stream> stream;  // null: refused
        Refused refused{};
    };

    SeatStreams(journal::Journal const& journal, Sequence const& sequence, Bounds const& bounds);
    ~SeatStreams();
    SeatStreams(SeatStreams const&) = delete;
    SeatStreams& operator=(SeatStreams const&) = delete;

    [[nodiscard]] Sequence const& sequence() const noexcept { return sequence_; }
    /// What is called when streams have news; before the first look().
    void announce_with(std::function<void()> announce) { announce_ = std::move(announce); }

    /// A stream of what comes after the number `after`. Without one, and if not all of that is
    /// there any more, it begins with the hint to take a state document first.
    [[nodiscard]] Opened open(engine::LiveEvent const& event, Watcher const& watcher,
                              std::optional<std::uint64_t> after);
    /// Looks at what is due at `now`; to be called every few hundredths of a second.
    void look(TimePoint now);
    /// A state document that is handed out must have this fact: a stream may have told somebody to
    /// take one with it.
    [[nodiscard]] Lsn told(EventId event) const;
    [[nodiscard]] Counts counts() const;

    /// Between two looks while so many streams are open.
    [[nodiscard]] static Milliseconds period(std::size_t streams) noexcept;

private:
    class Seat;
    struct Watched {
        std::shared_ptr<SeatFeed> feed;
        std::size_t streams{};
        std::optional<TimePoint> left;  // when the last stream was found gone
    };

    [[nodiscard]] Refused refusal_of(Watcher const& watcher) const;
    [[nodiscard]] Watched& watched_event(engine::LiveEvent const& event);
    void leave(EventId event, Watcher const& watcher) noexcept;
    [[nodiscard]] bool is_limited(Watcher const& watcher) const noexcept {
        return bounds_.limit_loopback || !watcher.loopback;
    }
    [[nodiscard]] std::vector<std::shared_ptr<SeatFeed>> watched(TimePoint now);

    journal::Journal const& journal_;
    Sequence sequence_;
    Bounds bounds_;
    std::function<void()> announce_;
    TimePoint due_{TimePoint::min()};  // of the thread that looks
    mutable std::mutex mutex_;         // of what follows
    std::map<EventId, Watched> events_;
    std::map<Network, std::size_t> networks_;
    std::size_t streams_{};
    std::uint64_t refused_{}, deltas_{};
};

}  // namespace holdfast::api
