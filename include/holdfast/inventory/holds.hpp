// Holds: what happens to a hold after its claim. Reads, extensions, sales, cancellations, expiry.
//
// Purpose: the edit moves of PROTOCOL.md section 3 on whole holds, and consistent looks at them.
//   What changes the list of a hold is in edits.hpp.
// Thread safety: every function by any thread; what needs the owner of an edit takes a ticket
//   (Edit) that only the thread that entered the edit holds, and that it must leave exactly once.
// Invariants: every change of a live hold raises its version, so that nobody acts on an older look;
//   an expired hold is never extended or sold.
// Cost: one or two atomic read-modify-writes a step.
#pragma once

#include <holdfast/inventory/claims.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace holdfast::inventory {

/// A consistent look at one taken hold.
struct HoldLook {
    HoldWord word;
    TimePoint expires_at{no_deadline};  // no_deadline for a sold hold
    TimePoint asked{};                  // when it was claimed; unset for a sold hold
    std::uint64_t holder{};
    OrderId order{};  // of a sold hold
};

/// A hold in state editing or confirming that the holder of this ticket must move on.
struct Edit {
    HoldRef ref{};
    HoldWord word{};  // as it is now: editing or confirming
    State from{};     // as it was before: held or sold
};

template <class A, class Facts>
class Holds {
public:
    explicit Holds(Claims<A, Facts>& claims) : claims_(claims), places_(claims.places()) {}

    /// Nothing if the reference names no taken hold any more. `seats` ascending. Of a hold in state
    /// confirming only the seats and the holder mean anything (its deadline may be an order's half
    /// already), of one in state editing only the holder (its list may be half a new one).
    [[nodiscard]] std::optional<HoldLook> look(HoldRef ref, std::vector<SeatIndex>& seats) const {
        return look(ref, &seats);
    }
    /// Without the list if `seats` is null.
    [[nodiscard]] std::optional<HoldLook> look(HoldRef ref, std::vector<SeatIndex>* seats) const {
        if (!places_.pool().contains(ref.slot().value())) return std::nullopt;
        auto& slot = places_.slot_of(ref);
        for (;;) {
            // acquire: status read; payload loads are acquire too, then the word again (relaxed).
            HoldWord const word{slot.word.load(A::acquire)};
            if (!names(ref, word) || !is_taken(word.state())) return std::nullopt;
            HoldLook look{word, no_deadline, {}, slot.holder.load(A::acquire), {}};
            std::int64_t const first = slot.expires_at.load(A::acquire);
            std::int64_t const second = slot.asked.load(A::acquire);
            if (word.state() == State::sold) {
                look.order = {static_cast<std::uint64_t>(first),
                              static_cast<std::uint64_t>(second)};
            } else {
                look.expires_at = from_ms(first);
                look.asked = from_ms(second);
            }
            if (seats != nullptr) copy_seats(ref, *seats);
            // relaxed: after acquire loads; the payload must belong to this very word.
            if (HoldWord{slot.word.load(A::relaxed)} == word) return look;
        }
    }

    /// What a newcomer sees of one place: nothing if it is free now.
    /// A place of a sold hold that is being edited looks like one of a held hold meanwhile.
    [[nodiscard]] std::optional<HoldLook> display(std::uint32_t place, TimePoint now) const {
        auto& owner_word = places_.owner(place);
        for (;;) {
            HoldRef const owner{owner_word.load(A::acquire)};  // acquire: the reference's payload
            if (owner == HoldRef{}) return std::nullopt;
            auto& slot = places_.slot_of(owner);
            HoldWord const word{slot.word.load(A::acquire)};
            if (inventory::is_free(owner, word) || word.state() == State::pending) {
                // Free only if the place was not moved to another hold in between (F12).
                if (owner_word.load(A::acquire) == owner.bits()) return std::nullopt;
                continue;
            }
            HoldLook look{word, no_deadline, {}, slot.holder.load(A::acquire), {}};
            if (word.state() != State::sold)  // acquire: payload load; then the word again
                look.expires_at = from_ms(slot.expires_at.load(A::acquire));
            if (HoldWord{slot.word.load(A::relaxed)} != word) continue;
            if (word.state() == State::held && look.expires_at <= now) return std::nullopt;
            return look;
        }
    }

    /// Whether display() shows nothing.
    [[nodiscard]] bool is_free(std::uint32_t place, TimePoint now) const noexcept {
        auto& owner_word = places_.owner(place);
        for (;;) {  // the orders are those of display()
            HoldRef const owner{owner_word.load(A::acquire)};
            if (owner == HoldRef{}) return true;
            auto& slot = places_.slot_of(owner);
            HoldWord const word{slot.word.load(A::acquire)};
            if (inventory::is_free(owner, word) || word.state() == State::pending) {
                if (owner_word.load(A::acquire) == owner.bits()) return true;  // F12
                continue;
            }
            if (word.state() != State::held) return false;
            std::int64_t const deadline = slot.expires_at.load(A::acquire);
            if (HoldWord{slot.word.load(A::relaxed)} == word) return deadline <= to_ms(now);
        }
    }

    /// What says whose a place is, and how: while both stay the same, so does what was seen of it.
    struct Stamp {
        std::uint64_t owner{}, word{};
        friend bool operator==(Stamp const&, Stamp const&) = default;
    };
    [[nodiscard]] Stamp stamp(std::uint32_t place) const {
        HoldRef const owner{places_.owner(place).load(A::acquire)};  // acquire: as in display()
        HoldWord const word{owner == HoldRef{} ? 0 : places_.slot_of(owner).word.load(A::acquire)};
        // Of a dead hold the reference says all; the word may be another hold's by now.
        return {owner.bits(), inventory::is_free(owner, word) ? 0 : word.bits()};
    }

    /// No edit of this held hold is possible any more: its versions are used up (F3).
    [[nodiscard]] static bool is_worn_out(HoldWord seen) noexcept {
        return seen.x() >= HoldWord::x_max - versions_kept;
    }
    /// Enters an edit of a hold seen as `seen` (held: editing or confirming; sold: editing).
    /// Nothing if it has changed since, or its version is used up.
    [[nodiscard]] std::optional<Edit> enter(HoldRef ref, HoldWord seen, State into) {
        HOLDFAST_ASSERT(seen.state() == State::held || seen.state() == State::sold);
        // Edits of a held hold leave the last versions to its sale and what may follow on it.
        bool const edits_held = seen.state() == State::held && into == State::editing;
        if (edits_held ? is_worn_out(seen) : seen.x() >= HoldWord::x_max) return std::nullopt;
        HoldWord const entered = seen.in(into);
        std::uint64_t expected = seen.bits();
        // acq_rel: acquire for the payload that we are about to change.
        if (!places_.slot_of(ref).word.compare_exchange_strong(expected, entered.bits(), A::acq_rel,
                                                               A::relaxed))
            return std::nullopt;
        return Edit{ref, entered, seen.state()};
    }

    /// Leaves an edit without a change of its deadline: back to `state`, one version later.
    void leave(Edit const& edit, State state) {
        // release: publishes what the edit changed.
        places_.slot_of(edit.ref).word.store(edit.word.next_version(state).bits(), A::release);
    }
    /// Leaves an extension.
    void leave_extended(Edit const& edit, TimePoint expires_at, std::uint64_t holder) {
        auto& slot = places_.slot_of(edit.ref);
        slot.expires_at.store(to_ms(expires_at), A::release);  // release: payload stores
        slot.holder.store(holder, A::release);
        leave(edit, State::held);
    }
    /// Leaves a confirmation: the hold is sold for good. Its ORDER is journaled already.
    void leave_sold(Edit const& edit, OrderId const& order) {
        auto& slot = places_.slot_of(edit.ref);
        claims_.accounts().sell(edit.ref);  // before anybody can give the order back
        slot.expires_at.store(static_cast<std::int64_t>(order.high), A::release);
        slot.asked.store(static_cast<std::int64_t>(order.low), A::release);
        leave(edit, State::sold);
    }
    /// Leaves a cancellation: the places are free. Its CANCEL is journaled already.
    void leave_dead(Edit const& edit) {
        claims_.accounts().refund(edit.ref);
        static_cast<void>(claims_.promise(edit.ref));
        claims_.bury(edit.ref, edit.word);
    }

    /// The wheel reminds of a slot: ends its hold if it is due. Answers when to remind again, or
    /// nothing if the slot needs no reminder now; `retry_at` if that cannot be told yet, or if the
    /// hold is due and the caller does not end holds.
    [[nodiscard]] std::optional<TimePoint> fire(SlotIndex slot_index, TimePoint now,
                                                TimePoint retry_at, std::size_t& ended,
                                                bool ends = true) {
        auto& slot = places_.pool()[slot_index.value()];
        for (;;) {
            HoldWord const word{slot.word.load(A::acquire)};  // acquire: status read
            HoldRef const ref{word.generation(), slot_index};
            if (is_ending(word.state())) {  // its ender was stopped half way
                if (!claims_.finish_end(ref, word, now)) return retry_at;
                continue;
            }
            if (!has_deadline(word.state())) return std::nullopt;
            // Somebody is at work on it; the field may hold an order's half already.
            if (word.state() != State::held) return retry_at;
            TimePoint const deadline = from_ms(slot.expires_at.load(A::acquire));
            if (HoldWord{slot.word.load(A::relaxed)} != word) continue;  // F9d
            if (deadline == no_deadline) return std::nullopt;
            if (deadline > now) return deadline;
            if (!ends) return retry_at;
            auto const outcome = claims_.end(ref, word, State::ending_expired);
            if (outcome.kind == EndOutcome::Kind::no_space) return retry_at;
            if (outcome.kind == EndOutcome::Kind::ended) ++ended;
        }
    }
    /// Whether the slot holds something that may need a reminder; for the second look of F5.
    [[nodiscard]] bool needs_timer(SlotIndex slot_index) const {
        auto& slot = places_.pool()[slot_index.value()];
        HoldWord const word{slot.word.load(A::acquire)};  // acquire: status read
        if (is_ending(word.state())) return true;
        // A deadline of the slot's next hold may be read here; then that hold is what needs the
        // timer.
        return has_deadline(word.state()) &&
               from_ms(slot.expires_at.load(A::acquire)) != no_deadline;
    }

private:
    static constexpr std::uint32_t versions_kept = 1'024;

    /// States whose hold may come (back) to a deadline.
    [[nodiscard]] static bool has_deadline(State state) noexcept {
        return state == State::won || state == State::held || state == State::editing ||
               state == State::confirming;
    }

    /// Copies a list that may be rewritten meanwhile; the caller checks the word afterwards.
    void copy_seats(HoldRef ref, std::vector<SeatIndex>& seats) const {
        seats.clear();
        // acquire: payload load, as those of the cursor.
        ListShape const shape{places_.slot_of(ref).shape.load(A::acquire)};
        SeatCursor<A> cursor;
        cursor.start(places_.pool(), ref.slot().value());
        for (std::uint32_t i = 0; i < shape.count(); ++i) {
            std::uint32_t const place = cursor.next();
            if (place >= places_.count()) return;
            seats.push_back(SeatIndex{place});
        }
    }

    Claims<A, Facts>& claims_;
    Places<A>& places_;
};

}  // namespace holdfast::inventory
