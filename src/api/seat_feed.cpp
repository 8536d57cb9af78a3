#include "api/seat_feed.hpp"

#include "api/seat_delta.hpp"

#include <holdfast/domain/limits.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::api {

bool SeatFeed::look(journal::Journal const& journal) {
    if (waiting_) {
        if (journal.durable_lsn() < waiting_->upto) return false;
        publish(*waiting_);
        waiting_.reset();
        return true;
    }
    Lsn const from = journal.appended_lsn();
    bool const begun = begun_.get();
    if (begun && from == looked_) return false;
    if (!event_.follow(follower_)) return false;
    Lsn const upto = journal.appended_lsn();
    if (!begun) {
        looked_ = from;
        // What was there before is in every state document from now on.
        follower_.forget();
        floor_ = upto;
        told_.set(upto);
        begun_.set(true);
        return true;
    }
    if (!follower_.any_touched()) {
        looked_ = from;
        told_.set(upto);
        return false;
    }
    auto text =
        std::make_shared<std::string const>(seat_delta(event_, follower_, sequence_.number(from)));
    // Only now: without memory for it the next look finds the same.
    follower_.forget();
    looked_ = from;
    waiting_ = Delta{from, upto, std::move(text)};
    return look(journal);
}

void SeatFeed::publish(Delta const& delta) {
    std::lock_guard const lock(mutex_);
    ring_.push_back(delta);  // first, for it may lack memory
    told_.set(delta.upto);
    ring_bytes_ += delta.bytes->size();
    end_.set(end_.get() + 1);
    while (ring_.size() > 1 && (ring_bytes_ > limits::stream_ring_bytes_max ||
                                ring_.size() > limits::stream_ring_deltas_max)) {
        floor_ = ring_.front().upto;
        ring_bytes_ -= ring_.front().bytes->size();
        ring_.pop_front();
    }
}

http::Stream::Piece SeatFeed::next(Reader& reader) {
    if (!begun_.get() || (reader.placed && reader.at == end_.get())) return {};
    std::lock_guard const lock(mutex_);
    if (!std::exchange(reader.placed, true)) {
        if (!reader.after || *reader.after < floor_) {
            reader.at = end_.get();
            return resync(false);
        }
        auto const lacks = [&](Delta const& delta) { return delta.upto > *reader.after; };
        auto const begin = std::ranges::find_if(ring_, lacks);
        reader.at = first() + static_cast<std::uint64_t>(begin - ring_.begin());
    }
    if (reader.at < first()) {
        reader.at = end_.get();
        return resync(true);
    }
    if (reader.at == end_.get()) return {};
    return {ring_[reader.at++ - first()].bytes, false};
}

/// The hint is the same for all who get it between two deltas.
http::Stream::Piece SeatFeed::resync(bool last) {
    Lsn const told = told_.get();
    if (resync_ == nullptr || resync_of_ != told) {
        resync_ = std::make_shared<std::string const>(resync_hint(sequence_.number(told)));
        resync_of_ = told;
    }
    return {resync_, last};
}

}  // namespace holdfast::api
