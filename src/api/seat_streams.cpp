#include "api/seat_feed.hpp"

#include <holdfast/api/seat_streams.hpp>
#include <holdfast/base/assert.hpp>
#include <holdfast/domain/limits.hpp>

#include <algorithm>

namespace holdfast::api {

/// One open stream.
class SeatStreams::Seat final : public http::Stream {
public:
    Seat(std::shared_ptr<SeatFeed> feed, Watcher const& watcher, std::optional<Lsn> after)
        : feed_(std::move(feed)), watcher_(watcher) {
        reader_.after = after;
    }
    ~Seat() override {
        if (house_ != nullptr) house_->leave(feed_->event(), watcher_);
    }
    Seat(Seat const&) = delete;
    Seat& operator=(Seat const&) = delete;

    /// It has its place in the house, and gives it back.
    void take(std::shared_ptr<SeatStreams> house) noexcept { house_ = std::move(house); }
    [[nodiscard]] Piece next() override { return feed_->next(reader_); }

private:
    std::shared_ptr<SeatStreams> house_;
    std::shared_ptr<SeatFeed> feed_;
    Watcher watcher_;
    SeatFeed::Reader reader_;
};

SeatStreams::SeatStreams(journal::Journal const& journal, Sequence const& sequence,
                         Bounds const& bounds)
    : journal_(journal), sequence_(sequence), bounds_(bounds) {}

SeatStreams::~SeatStreams() = default;

Milliseconds SeatStreams::period(std::size_t streams) noexcept {
    // About 10 us to send to one: a tenth of a core.
    return std::max<Milliseconds>(limits::stream_period,
                                  Milliseconds{static_cast<std::int64_t>(streams / 10)});
}

SeatStreams::Refused SeatStreams::refusal_of(Watcher const& watcher) const {
    if (streams_ >= bounds_.streams_max) return Refused::all;
    if (is_limited(watcher)) {
        auto const known = networks_.find(watcher.network);
        std::size_t const has = known == networks_.end() ? 0 : known->second;
        if (has >= bounds_.per_network_max) return Refused::network;
    }
    return Refused::none;
}

SeatStreams::Watched& SeatStreams::watched_event(engine::LiveEvent const& event) {
    EventId const id = event.spec().id;
    if (auto const known = events_.find(id); known != events_.end()) return known->second;
    auto feed = std::make_shared<SeatFeed>(event, sequence_);
    return events_.emplace(id, Watched{std::move(feed), 0, {}}).first->second;
}

SeatStreams::Opened SeatStreams::open(engine::LiveEvent const& event, Watcher const& watcher,
                                      std::optional<std::uint64_t> after) {
    std::optional<Lsn> known = after ? sequence_.fact(*after) : std::nullopt;
    // A number that nobody can have been given.
    if (known && *known > journal_.appended_lsn()) known.reset();
    std::lock_guard const lock(mutex_);
    if (Refused const refused = refusal_of(watcher); refused != Refused::none) {
        ++refused_;
        return {nullptr, refused};
    }
    Watched& watched = watched_event(event);
    auto seat = std::make_shared<Seat>(watched.feed, watcher, known);
    if (is_limited(watcher)) ++networks_[watcher.network];
    // Nothing fails from here on.
    seat->take(shared_from_this());
    ++streams_;
    ++watched.streams;
    watched.left.reset();
    return {std::move(seat), Refused::none};
}

void SeatStreams::leave(EventId event, Watcher const& watcher) noexcept {
    std::lock_guard const lock(mutex_);
    auto const watched = events_.find(event);
    HOLDFAST_ASSERT(watched != events_.end());
    HOLDFAST_ASSERT(watched->second.streams > 0);
    --watched->second.streams;
    --streams_;
    if (!is_limited(watcher)) return;
    auto const network = networks_.find(watcher.network);
    HOLDFAST_ASSERT(network != networks_.end());
    if (--network->second == 0) networks_.erase(network);
}

/// Feeds to be looked at; those that nobody has read for a while are given up.
std::vector<std::shared_ptr<SeatFeed>> SeatStreams::watched(TimePoint now) {
    std::vector<std::shared_ptr<SeatFeed>> feeds;
    std::vector<std::shared_ptr<SeatFeed>> given_up;  // end after the lock: some have megabytes
    std::lock_guard const lock(mutex_);
    for (auto at = events_.begin(); at != events_.end();) {
        Watched& event = at->second;
        if (event.streams == 0 && !event.left) event.left = now;
        if (event.streams == 0 && now - *event.left >= limits::stream_feed_kept) {
            given_up.push_back(std::move(event.feed));
            at = events_.erase(at);
            continue;
        }
        feeds.push_back(event.feed);
        ++at;
    }
    return feeds;
}

void SeatStreams::look(TimePoint now) {
    bool const due = now >= due_;
    bool news = false;
    std::uint64_t made = 0;
    for (auto const& feed : watched(now)) {
        if (!due && !feed->is_urgent()) continue;
        std::uint64_t const before = feed->deltas();
        if (feed->look(journal_)) news = true;
        made += feed->deltas() - before;
    }
    {
        std::lock_guard const lock(mutex_);
        deltas_ += made;
        if (due) due_ = now + period(streams_);
    }
    if (news && announce_) announce_();
}

Lsn SeatStreams::told(EventId event) const {
    std::lock_guard const lock(mutex_);
    auto const watched = events_.find(event);
    return watched == events_.end() ? no_lsn : watched->second.feed->told();
}

SeatStreams::Counts SeatStreams::counts() const {
    std::lock_guard const lock(mutex_);
    return {events_.size(), refused_, deltas_};
}

}  // namespace holdfast::api
