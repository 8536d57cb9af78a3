// Restore: puts recovered holds back into a fresh event before anybody else sees it.
//
// Purpose: each hold gets its old slot and generation, so that ids given out before the restart go
//   on to name it; every other slot starts above the generations it has had, and above those that
//   it may have had in a life of the server that is lost.
// Thread safety: one thread, before the event is published.
// Invariants: restored holds share no place and no slot (replay has proved it).
// Cost: linear in slots and places.
#pragma once

#include <holdfast/inventory/claims.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace holdfast::inventory {

struct StoredHold {
    HoldRef ref{};
    std::uint64_t holder{};
    TimePoint created_at{};
    TimePoint expires_at{};
    OrderId order{};                   // not zero: sold
    std::span<SeatIndex const> seats;  // ascending
};

template <class A>
class Restore {
public:
    /// `generations[slot]`: newest generation of that slot, 0 or missing = never used. `first`: the
    /// least generation of any hold to come.
    Restore(Places<A>& places, std::span<std::uint64_t const> generations, std::uint64_t first = 1)
        : places_(places), used_(std::size_t{places.pool().count()} + 1) {
        places.pool().begin_generations(first);
        for (std::uint32_t slot = 1; slot <= places.pool().count(); ++slot) {
            std::uint64_t const generation = slot < generations.size() ? generations[slot] : 0;
            // relaxed stores in this class: the event is not shared yet.
            places.pool()[slot].word.store(HoldWord(generation, State::dead, 0).bits(), A::relaxed);
        }
    }

    /// First all heads, so that no later slot of a list lands in a head's place.
    void reserve_heads(std::span<StoredHold const> holds) {
        for (StoredHold const& hold : holds) used_[hold.ref.slot().value()] = true;
    }

    void put(StoredHold const& hold) {
        auto& pool = places_.pool();
        std::uint32_t const head = hold.ref.slot().value();
        HOLDFAST_ASSERT(used_[head] && !hold.seats.empty());
        auto& record = pool[head];
        bool const sold = hold.order != OrderId{};
        record.expires_at.store(
            sold ? static_cast<std::int64_t>(hold.order.high) : to_ms(hold.expires_at), A::relaxed);
        record.asked.store(
            sold ? static_cast<std::int64_t>(hold.order.low) : to_ms(hold.created_at), A::relaxed);
        record.holder.store(hold.holder, A::relaxed);
        ListShape const shape = ListShape::of(places_.geometry(), hold.seats);
        record.shape.store(shape.bits(), A::relaxed);
        std::uint32_t slot = head;
        for (std::size_t i = 0; i < hold.seats.size(); ++i) {
            if (i != 0 && i % seats_inline == 0) {
                std::uint32_t const more = next_unused();
                pool[slot].more.store(more, A::relaxed);
                slot = more;
            }
            std::uint32_t const place = hold.seats[i].value();
            pool[slot].seats[i % seats_inline].store(place, A::relaxed);
            places_.owner(place).store(hold.ref.bits(), A::relaxed);
            places_.clear_hint(place);
        }
        places_.free_counts().take(shape, hold.seats);
        record.word.store(
            HoldWord(hold.ref.generation(), sold ? State::sold : State::held, 0).bits(),
            A::relaxed);
    }

    /// Puts every slot that is not in use on the free list, lowest on top.
    void finish() {
        for (std::uint32_t slot = places_.pool().count(); slot > 0; --slot) {
            HoldWord const word{places_.pool()[slot].word.load(A::relaxed)};
            if (!used_[slot] && word.generation() < HoldRef::generation_max)
                places_.pool().push(slot);
        }
    }

private:
    [[nodiscard]] std::uint32_t next_unused() {
        while (cursor_ < used_.size() && used_[cursor_]) ++cursor_;
        HOLDFAST_ASSERT(cursor_ < used_.size());
        used_[cursor_] = true;
        return cursor_;
    }

    Places<A>& places_;
    std::vector<bool> used_;
    std::uint32_t cursor_{1};
};

}  // namespace holdfast::inventory
