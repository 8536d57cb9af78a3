#include <holdfast/api/overload.hpp>

#include <algorithm>

namespace holdfast::api {
namespace {

constexpr unsigned calm_looks = 10;        // then one rung down
constexpr Milliseconds forgotten{1'000};   // without a look: nobody asked
constexpr std::uint32_t least_share = 16;  // so that it shows when there is room again
constexpr std::uint32_t more_share = 32;   // a look
constexpr unsigned retry_seconds = 4;      // the most that is said
constexpr std::uint64_t steps = 8;         // of the bound; the first rung is at half of it
constexpr std::uint64_t steps_below = steps - OverloadLadder::top;

}  // namespace

/// `times`: how much more is called for than there is, to leave a rung later than it was reached.
/// Waiting jobs call for no more than searches: what is behind the other rungs asks no worker.
unsigned OverloadLadder::wanted(Signals const& signals, unsigned times) const noexcept {
    auto const rung = [times](std::uint64_t is, std::uint64_t most) {
        std::uint64_t const step = most == 0 ? 0 : std::min(times * is * steps / most, steps);
        return static_cast<unsigned>(std::max(step, steps_below) - steps_below);
    };
    unsigned const by_io = rung(static_cast<std::uint64_t>(signals.io_wait.count()),
                                static_cast<std::uint64_t>(bounds_.io_wait_max.count()));
    return std::max(by_io, std::min(searches, rung(signals.jobs_waiting, bounds_.jobs_max)));
}

void OverloadLadder::look(Signals const& signals, TimePoint now) noexcept {
    if (bounds_.io_wait_max.count() == 0) return;
    bool const fresh = now - looked_at_ > forgotten;
    looked_at_ = now;
    if (fresh) {
        newest_ = {};
        calm_ = rung_ = 0;
        share_ = whole;
    }
    newest_[looks_++ % newest_.size()] = wanted(signals, 1);
    rung_ = std::max(rung_, *std::ranges::min_element(newest_));
    calm_ = wanted(signals, 2) < rung_ ? calm_ + 1 : 0;
    if (rung_ == top) change_share(signals);
    if (calm_ >= calm_looks && share_ == whole) {
        --rung_;
        calm_ = 0;
    }
}

/// Gives way fast and comes back slowly, so that what is admitted finds short lines; where hardly
/// anything waits, as fast.
void OverloadLadder::change_share(Signals const& signals) noexcept {
    if (signals.io_wait >= bounds_.io_wait_max) {
        share_ = std::max(least_share, share_ - share_ / 4);
    } else {
        bool const idle = signals.io_wait < bounds_.io_wait_max / 4;
        share_ = std::min(whole, share_ + std::max(more_share, idle ? share_ / 4 : 0));
    }
}

unsigned Overload::rung(TimePoint now) {
    if (!is_on_) return 0;
    std::int64_t const now_ms = now.time_since_epoch().count();
    // Another thread may have looked at a later time than this request's.
    auto const is_due = [this, now_ms] {
        return now_ms - looked_at_ms_.get() >= OverloadLadder::interval.count();
    };
    if (!is_due()) return rung_.get();
    std::unique_lock const lock(mutex_, std::try_to_lock);
    if (lock.owns_lock() && is_due()) {
        signals_ = read_();
        ladder_.look(signals_, now);
        rung_.set(ladder_.rung());
        looked_at_ms_.set(now_ms);
    }
    return rung_.get();
}

bool Overload::refuses(unsigned from_rung, TimePoint now) {
    if (from_rung == 0 || rung(now) < from_rung) return false;
    std::scoped_lock const lock(mutex_);
    if (from_rung < OverloadLadder::top) {
        ++refused_searches_;
        return true;
    }
    admitted_part_ += ladder_.share();
    if (admitted_part_ >= OverloadLadder::whole) {
        admitted_part_ -= OverloadLadder::whole;
        return false;
    }
    ++refused_holds_;
    return true;
}

unsigned Overload::retry_after_s() {
    std::scoped_lock const lock(mutex_);
    return 1 + static_cast<unsigned>((refused_holds_ + refused_searches_) % retry_seconds);
}

Overload::Counts Overload::counts(TimePoint now) {
    unsigned const at = rung(now);
    std::scoped_lock const lock(mutex_);
    return {signals_, at, ladder_.share(), refused_searches_, refused_holds_};
}

}  // namespace holdfast::api
