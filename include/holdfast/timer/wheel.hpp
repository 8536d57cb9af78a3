// Wheel: reminds of slots whose hold may be due. One ring of ticks; it only reminds, the hold's
// word is the truth.
//
// Purpose: expiry in O(1) a hold, with memory bounded by the slots, never by traffic.
// Thread safety: arm: any thread. advance: the expiry thread only.
// Invariants: a slot is in the wheel (inbox or ring) at most once; no entry lies further ahead than
//   the horizon, so that a slot's next, shorter hold is never reminded of late (PROTOCOL.md F5,
//   F6).
// Cost: arm is one exchange and, if the slot was not armed, one CAS; 5 bytes a slot.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/domain/ids.hpp>
#include <holdfast/domain/limits.hpp>

#include <cstdint>
#include <memory>
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
        std::uint32_t head = inbox_.load(A::relaxed);
        do {
            // relaxed: published by the CAS.
            next_[slot.value()].store(head, A::relaxed);
            // release: the expiry thread must see the link.
        } while (!inbox_.compare_exchange_weak(head, slot.value(), A::release, A::relaxed));
    }

    /// Visits everything due up to `now`. `fire(slot)` answers the time of the next reminder or
    /// nothing; `needs_timer(slot)` is the second look before a slot is dropped. Bounded: what was
    /// in the ring and the inbox when it began.
    template <class Fire, class NeedsTimer>
    void advance(TimePoint now, Fire fire, NeedsTimer needs_timer) {
        std::int64_t const now_tick = now.time_since_epoch() / tick;
        // First call, or the clock jumped by more than the ring: visit every bucket once.
        std::int64_t const span = static_cast<std::int64_t>(ring_.size());
        std::int64_t from = next_tick_;
        if (from == unset || now_tick - from >= span) from = now_tick - span + 1;
        for (std::int64_t at = from; at <= now_tick; ++at) {
            std::uint32_t slot = ring_[bucket(at)];
            ring_[bucket(at)] = 0;
            next_tick_ = at + 1;
            visit(slot, now, fire, needs_timer);
        }
        // acquire: pairs with arm(); the links and the holds behind them.
        visit(inbox_.exchange(0, A::acquire), now, fire, needs_timer);
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

    /// Fires each slot of a list that is the wheel's own now.
    template <class Fire, class NeedsTimer>
    void visit(std::uint32_t slot, TimePoint now, Fire& fire, NeedsTimer& needs_timer) {
        while (slot != 0) {
            // relaxed: the list is ours. Read before the slot is touched, which may link it anew.
            std::uint32_t const rest = next_[slot].load(A::relaxed);
            auto const again = fire(SlotIndex{slot});
            if (again)
                insert(slot, *again, now);
            else
                drop(slot, now, needs_timer);
            slot = rest;
        }
    }

    void insert(std::uint32_t slot, TimePoint at, TimePoint now) {
        std::int64_t const now_tick = now.time_since_epoch() / tick;
        // Rounded up, so that the visit finds the deadline passed.
        std::int64_t due = (at.time_since_epoch() + tick - Milliseconds{1}) / tick;
        if (due <= now_tick) due = now_tick + 1;
        if (due > now_tick + horizon_ticks_) due = now_tick + horizon_ticks_;
        next_[slot].store(ring_[bucket(due)], A::relaxed);  // private to the expiry thread
        ring_[bucket(due)] = slot;
    }

    template <class NeedsTimer>
    void drop(std::uint32_t slot, TimePoint now, NeedsTimer& needs_timer) {
        // acq_rel, and only then a second look: a hold made meanwhile found the slot armed and did
        // not push it, so its reminder is ours to keep (F5).
        armed_[slot].exchange(0, A::acq_rel);
        if (needs_timer(SlotIndex{slot}) && armed_[slot].exchange(1, A::acq_rel) == 0)
            insert(slot, now, now);
    }

    std::int64_t horizon_ticks_;
    std::unique_ptr<Atomic<std::uint8_t>[]> armed_;
    std::unique_ptr<Atomic<std::uint32_t>[]> next_;
    alignas(64) Atomic<std::uint32_t> inbox_{0};
    std::vector<std::uint32_t> ring_;  // first slot of each tick's list
    std::int64_t next_tick_{unset};    // first tick not visited yet
};

}  // namespace holdfast::timer
