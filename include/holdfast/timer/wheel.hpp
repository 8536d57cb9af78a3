// Wheel: reminds of slots whose hold may be due. One ring of ticks; it only reminds, the hold's
// word is the truth.
//
// Purpose: expiry in O(1) a hold, with memory bounded by the slots, never by traffic.
// Thread safety: every function by any thread; one at a time drives the wheel, and whoever meets
//   another driver leaves it to that one.
// Invariants: a slot is in the wheel (inbox or ring) at most once; no entry lies further ahead than
//   the horizon, so that a slot's next, shorter hold is never reminded of late (PROTOCOL.md F5,
//   F6).
// Cost: arm is one exchange and, if the slot was not armed, one CAS; 5 bytes a slot. settle() is
//   one load if somebody drove the wheel to the same time before.
//
// `fire(slot)` answers the time of the next reminder, or nothing. A time that is not after `now`
//   says that the slot is due and could not be seen to yet. `needs_timer(slot)` is the second look
//   before a slot is dropped.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/domain/ids.hpp>
#include <holdfast/domain/limits.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace holdfast::timer {

template <class A>
class Wheel {
public:
    /// Slots 1 ... `slots`; `horizon`: the shortest hold time of the server.
    Wheel(std::uint32_t slots, Milliseconds horizon)
        : horizon_ticks_(horizon / tick > 0 ? horizon / tick : 1),
          armed_(std::make_unique<Atomic<std::uint8_t>[]>(std::size_t{slots} + 1)),
          next_(std::make_unique<Atomic<std::uint32_t>[]>(std::size_t{slots} + 1)),
          ring_(static_cast<std::size_t>(horizon_ticks_) + 1, 0) {}

    /// Has the slot looked at within a tick, and from then on until it needs no reminder.
    void arm(SlotIndex slot) noexcept {
        // acq_rel: if the wheel drops this slot now, either it sees our hold or we see its 0 (F5).
        if (armed_[slot.value()].exchange(1, A::acq_rel) != 0) return;
        std::uint32_t head = inbox_.load(A::relaxed);  // relaxed: the CAS decides
        do {
            // relaxed: published by the CAS.
            next_[slot.value()].store(head, A::relaxed);
            // release: the expiry thread must see the link.
        } while (!inbox_.compare_exchange_weak(head, slot.value(), A::release, A::relaxed));
    }

    /// The timer's tick: visits everything due up to the last full tick. Bounded: what was in the
    /// ring and the inbox when it began.
    template <class Fire, class NeedsTimer>
    void advance(TimePoint now, Fire fire, NeedsTimer needs_timer) {
        if (driven_.exchange(1, A::acquire) != 0) return;  // acquire: the ring as it was left
        Visits visits{now, newest_tick(now), ~std::size_t{0}};
        drive(visits, fire, needs_timer);
        if (visits.complete) raise_settled(std::min(full_tick(now) * tick.count(), to_ms(now)));
        driven_.store(0, A::release);  // release: the ring for the next driver
    }

    /// For a thread that must not refuse for what is due and has not been noticed: after true
    /// nothing in the wheel is due at `now`, or another thread is just seeing to it. At most about
    /// `most` visits; false: something due is left.
    template <class Fire, class NeedsTimer>
    [[nodiscard]] bool settle(TimePoint now, std::size_t most, Fire fire, NeedsTimer needs_timer) {
        std::int64_t const ms = to_ms(now);
        // acquire: what the one who drove it so far has ended.
        if (settled_.load(A::acquire) >= ms) return true;
        if (driven_.exchange(1, A::acquire) != 0) return true;  // acquire: as in advance()
        Visits visits{now, newest_tick(now), most};
        drive(visits, fire, needs_timer);
        // And what is due within the tick that has begun.
        if (visits.left > 0) visit(take(ring_[bucket(visits.tick + 1)]), visits, fire, needs_timer);
        bool const complete = visits.complete;
        if (complete) raise_settled(ms);
        driven_.store(0, A::release);  // release: as in advance()
        return complete;
    }

    /// Nothing in the wheel is due at `now`, nor is anybody just seeing to it.
    [[nodiscard]] bool settled(TimePoint now) const noexcept {
        return settled_.load(A::acquire) >= to_ms(now);  // acquire: as in settle()
    }

private:
    template <class T>
    using Atomic = typename A::template Atomic<T>;
    static constexpr auto tick = std::chrono::duration_cast<Milliseconds>(limits::timer_tick);
    static constexpr std::int64_t unset = INT64_MIN;

    [[nodiscard]] std::size_t bucket(std::int64_t at) const noexcept {
        std::int64_t const size = static_cast<std::int64_t>(ring_.size());
        return static_cast<std::size_t>((at % size + size) % size);  // ticks before 1970 too
    }

    /// One drive of the wheel.
    struct Visits {
        TimePoint now;
        std::int64_t tick;    // the newest that is visited; new entries lie after it
        std::size_t left;     // so many visits more
        bool complete{true};  // nothing due is left
    };

    [[nodiscard]] static std::int64_t to_ms(TimePoint time) noexcept {
        return time.time_since_epoch().count();
    }
    [[nodiscard]] static std::int64_t full_tick(TimePoint now) noexcept {
        return now.time_since_epoch() / tick;
    }
    /// Not before the last tick that was visited: a driver's clock may trail another's.
    [[nodiscard]] std::int64_t newest_tick(TimePoint now) const noexcept {
        return next_tick_ == unset ? full_tick(now) : std::max(full_tick(now), next_tick_ - 1);
    }
    [[nodiscard]] static std::uint32_t take(std::uint32_t& list) noexcept {
        return std::exchange(list, 0);
    }
    void raise_settled(std::int64_t ms) noexcept {
        // relaxed: only the driver writes it. release: pairs with settle().
        if (settled_.load(A::relaxed) < ms) settled_.store(ms, A::release);
    }

    template <class Fire, class NeedsTimer>
    void drive(Visits& visits, Fire& fire, NeedsTimer& needs_timer) {
        visit(take(backlog_), visits, fire, needs_timer);
        if (visits.left > 0) visit(take(due_), visits, fire, needs_timer);
        // First call, or the clock jumped by more than the ring: visit every bucket once.
        std::int64_t const span = static_cast<std::int64_t>(ring_.size());
        std::int64_t from = next_tick_;
        if (from == unset || visits.tick - from >= span) from = visits.tick - span + 1;
        for (std::int64_t at = from; at <= visits.tick && visits.left > 0; ++at) {
            next_tick_ = at + 1;
            visit(take(ring_[bucket(at)]), visits, fire, needs_timer);
        }
        // acquire: pairs with arm(); the links and the holds behind them.
        if (visits.left > 0) visit(inbox_.exchange(0, A::acquire), visits, fire, needs_timer);
        if (visits.left == 0) visits.complete = false;
    }

    /// Fires each slot of a list that is the driver's own now; what is not visited any more goes to
    /// the backlog, which is empty whenever a list is left over.
    template <class Fire, class NeedsTimer>
    void visit(std::uint32_t slot, Visits& visits, Fire& fire, NeedsTimer& needs_timer) {
        for (; slot != 0 && visits.left > 0; --visits.left) {
            // relaxed: the list is ours. Read before the slot is touched, which may link it anew.
            std::uint32_t const rest = next_[slot].load(A::relaxed);
            auto const again = fire(SlotIndex{slot});
            if (!again)
                drop(slot, visits, needs_timer);
            else if (*again <= visits.now)
                keep_due(slot, visits);
            else
                insert(slot, *again, visits);
            slot = rest;
        }
        if (slot != 0) backlog_ = slot;
        if (visits.left == 0) visits.complete = false;
    }

    void insert(std::uint32_t slot, TimePoint at, Visits const& visits) {
        // Rounded up, so that the visit finds the deadline passed.
        std::int64_t due = (at.time_since_epoch() + tick - Milliseconds{1}) / tick;
        if (due <= visits.tick) due = visits.tick + 1;
        if (due > visits.tick + horizon_ticks_) due = visits.tick + horizon_ticks_;
        // relaxed: private to the driver.
        next_[slot].store(ring_[bucket(due)], A::relaxed);
        ring_[bucket(due)] = slot;
    }

    /// What is due and could not be seen to is visited by each drive until it is, so that none says
    /// without it that what is due is settled: not by its tick, which may be after that of a drive
    /// at the same time.
    void keep_due(std::uint32_t slot, Visits& visits) {
        visits.complete = false;
        // relaxed: private to the driver.
        next_[slot].store(due_, A::relaxed);
        due_ = slot;
    }

    template <class NeedsTimer>
    void drop(std::uint32_t slot, Visits const& visits, NeedsTimer& needs_timer) {
        // acq_rel, and only then a second look: a hold made meanwhile found the slot armed and did
        // not push it, so its reminder is ours to keep (F5).
        armed_[slot].exchange(0, A::acq_rel);
        if (needs_timer(SlotIndex{slot}) && armed_[slot].exchange(1, A::acq_rel) == 0)
            insert(slot, visits.now, visits);
    }

    std::int64_t horizon_ticks_;
    std::unique_ptr<Atomic<std::uint8_t>[]> armed_;
    std::unique_ptr<Atomic<std::uint32_t>[]> next_;
    alignas(64) Atomic<std::uint32_t> inbox_{0};
    Atomic<std::uint32_t> driven_{0};  // 1: a thread drives the wheel; it alone touches the rest
    Atomic<std::int64_t> settled_{unset};  // ms: what was due then is ended
    std::vector<std::uint32_t> ring_;      // first slot of each tick's list
    std::uint32_t backlog_{0};             // first slot of a list that a driver did not finish
    std::uint32_t due_{0};                 // first slot of those that were due and are left
    std::int64_t next_tick_{unset};        // first tick not visited yet
};

}  // namespace holdfast::timer
