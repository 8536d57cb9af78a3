// Slot: the record of one hold, and the pool of free ones.
//
// Purpose: all memory a hold needs, made when the event is built. A list of more than seats_inline
//   places goes on in further slots of the same pool, linked by `more`.
// Thread safety: pop and push: any thread. The fields of a popped slot are written by the popper
//   alone, but late helpers may still read them, so every field is atomic: payload stores are
//   release and payload loads acquire, and a reader checks the word afterwards (PROTOCOL.md 2).
// Invariants: slot 0 is never used; a slot whose generation would wrap is never pushed again; no
//   generation is given that is not above all that its slot has had, here or, by begin_generations,
//   in a life of the server that a restored backup knows nothing of.
// Cost: one cache line a slot; pop and push are one CAS.
#pragma once

#include <holdfast/base/assert.hpp>
#include <holdfast/domain/ids.hpp>
#include <holdfast/domain/limits.hpp>
#include <holdfast/inventory/atomics.hpp>
#include <holdfast/inventory/hold_word.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace holdfast::inventory {

inline constexpr std::uint32_t seats_inline = limits::seats_per_slot;

template <class A>
struct alignas(64) Slot {
    template <class T>
    using Atomic = typename A::template Atomic<T>;
    Atomic<std::uint64_t> word{0};
    Atomic<std::int64_t> expires_at{0};  // ms; once sold: the order's high half
    Atomic<std::int64_t> asked{0};       // ms of the claim; once sold: the order's low half
    Atomic<std::uint64_t> holder{0};
    Atomic<std::uint32_t> shape{0};  // of the whole list: ListShape
    Atomic<std::uint32_t> more{0};   // next slot of the list; of the free list while free
    Atomic<std::uint32_t> seats[seats_inline]{};
};
static_assert(sizeof(Slot<StdAtomics>) == 64, "a look at a hold touches one line");

template <class A>
class SlotPool {
public:
    template <class T>
    using Atomic = typename A::template Atomic<T>;

    /// `count` usable slots, numbered 1 ... count; none is on the free list yet.
    explicit SlotPool(std::uint32_t count)
        : count_(count), slots_(std::make_unique<Slot<A>[]>(std::size_t{count} + 1)) {
        HOLDFAST_ASSERT(count < (1U << HoldRef::slot_bits));
    }

    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
    [[nodiscard]] Slot<A>& operator[](std::uint32_t slot) const noexcept { return slots_[slot]; }
    /// A number read from a payload that may be stale: only this makes it safe to use as an index.
    [[nodiscard]] bool contains(std::uint32_t slot) const noexcept {
        return slot != 0 && slot <= count_;
    }
    /// No hold made from now on has a generation below `first`. Before the pool is shared.
    void begin_generations(std::uint64_t first) noexcept { first_generation_ = first; }
    /// The next hold of a slot that is the caller's since pop().
    [[nodiscard]] HoldRef next_ref(std::uint32_t slot) const noexcept {
        HoldWord const last{slots_[slot].word.load(A::relaxed)};  // relaxed: the caller's
        HOLDFAST_ASSERT(last.state() == State::dead);
        HOLDFAST_ASSERT(last.generation() < HoldRef::generation_max);
        return {std::max(last.generation() + 1, first_generation_), SlotIndex{slot}};
    }

    /// A free slot, now the caller's; 0 if there is none.
    [[nodiscard]] std::uint32_t pop() noexcept {
        // acquire: the payload stores of the last hold of this slot are ours to overwrite now.
        std::uint64_t head = head_.load(A::acquire);
        while (slot_of(head) != 0) {
            // relaxed: if the slot was popped meanwhile the tag has moved and the CAS fails.
            std::uint32_t const next = slots_[slot_of(head)].more.load(A::relaxed);
            // acq_rel: acquire as above; release keeps earlier pushes of ours visible to the next
            // popper.
            if (head_.compare_exchange_weak(head, with_next_tag(head, next), A::acq_rel,
                                            A::acquire)) {
                __builtin_prefetch(&slots_[next], 1);  // for the next popper, often this thread
                return slot_of(head);
            }
        }
        return 0;
    }

    void push(std::uint32_t slot) noexcept {
        HOLDFAST_ASSERT(contains(slot));
        std::uint64_t head = head_.load(A::relaxed);  // relaxed: the CAS decides
        do {
            // release: the link lies where a list goes on, so a late helper may read it; it must
            // then see that the hold of this slot is dead.
            slots_[slot].more.store(slot_of(head), A::release);
            // release: the next popper must see all we did to this slot.
        } while (
            !head_.compare_exchange_weak(head, with_next_tag(head, slot), A::release, A::relaxed));
    }

private:
    // {tag: 40, slot: 24}: the tag makes a CAS fail if the list changed and changed back.
    [[nodiscard]] static std::uint32_t slot_of(std::uint64_t head) noexcept {
        return static_cast<std::uint32_t>(head & ((1U << HoldRef::slot_bits) - 1));
    }
    [[nodiscard]] static std::uint64_t with_next_tag(std::uint64_t head,
                                                     std::uint32_t slot) noexcept {
        return (((head >> HoldRef::slot_bits) + 1) << HoldRef::slot_bits) | slot;
    }

    std::uint32_t count_;
    std::uint64_t first_generation_{1};
    std::unique_ptr<Slot<A>[]> slots_;
    alignas(64) Atomic<std::uint64_t> head_{0};
};

}  // namespace holdfast::inventory
