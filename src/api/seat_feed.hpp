// SeatFeed: the deltas of one event, made by one thread and read by all its streams.
//
// Purpose: a bounded ring of encoded pieces. Thread safety: look() by one thread, the rest by any;
//   a mutex, held to store or to find one piece.
// Invariants: a delta has two numbers of the journal: `from`, read before its look, up to which who
//   has applied it knows every fact (its id), and `upto`, read after it, by which every fact that
//   it tells was there. So who knows all facts up to N lacks nothing but deltas with upto > N:
//   every fact above `upto` was met by a later look.
// Cost: a reader without news makes one load.
#pragma once

#include <holdfast/api/sequence.hpp>
#include <holdfast/base/published.hpp>
#include <holdfast/engine/following.hpp>
#include <holdfast/http/stream.hpp>
#include <holdfast/journal/journal.hpp>

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace holdfast::api {

class SeatFeed {
public:
    /// Where a stream is in the feed.
    struct Reader {
        std::optional<Lsn> after;  // all facts up to here are known
        bool placed{};
        std::uint64_t at{};  // the next piece, counted from the first there ever was
    };

    SeatFeed(engine::LiveEvent const& event, Sequence const& sequence)
        : event_(event), sequence_(sequence) {}

    [[nodiscard]] EventId event() const noexcept { return event_.spec().id; }
    /// One look at the places. True: streams have news.
    [[nodiscard]] bool look(journal::Journal const& journal);
    /// It has not begun, or has a delta that waits for the disk.
    [[nodiscard]] bool is_urgent() const noexcept { return !begun_.get() || waiting_; }
    [[nodiscard]] http::Stream::Piece next(Reader& reader);
    [[nodiscard]] Lsn told() const noexcept { return told_.get(); }
    /// Deltas there ever were.
    [[nodiscard]] std::uint64_t deltas() const noexcept { return end_.get(); }

private:
    using Bytes = std::shared_ptr<std::string const>;
    struct Delta {
        Lsn from{}, upto{};
        Bytes bytes;
    };

    void publish(Delta const& delta);
    [[nodiscard]] http::Stream::Piece resync(bool last);
    [[nodiscard]] std::uint64_t first() const noexcept { return end_.get() - ring_.size(); }

    engine::LiveEvent const& event_;
    Sequence const sequence_;

    // Of the thread that looks.
    engine::SeatFollower follower_;
    Lsn looked_{};                  // the newest fact before the last look
    std::optional<Delta> waiting_;  // until all it tells is on disk

    Published<bool> begun_{false};
    Published<std::uint64_t> end_{0};  // one past the newest piece
    Published<Lsn> told_{no_lsn};      // `upto` of the newest look that was told

    std::mutex mutex_;  // of what follows
    std::deque<Delta> ring_;
    std::size_t ring_bytes_{};
    Lsn floor_{};  // who knows less lacks what is not in the ring
    Lsn resync_of_{};
    Bytes resync_;
};

}  // namespace holdfast::api
