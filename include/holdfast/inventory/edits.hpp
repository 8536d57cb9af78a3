// Edits: changes of the list of a hold that lives on. Exchange, partial release, reseat, refund.
//
// Purpose: "edit" of PROTOCOL.md section 3. New places are claimed under a fresh reference N, which
//   any thread may help and which stays `won`; places that go are moved to a fresh dying reference
//   D. Owner words are only moved between references that count as taken, so no place is free in
//   between, and none is ever written back to an old value.
// Thread safety: every function by any thread. A Change belongs to the thread that entered its
//   holds (Holds::enter, state editing); it calls prepare, and if that says `ready` it journals the
//   change and calls apply. In any other case nothing has changed and it leaves the holds as they
//   were.
// Invariants: between `ready` and the end of apply nothing can fail; slots of lists that shrink are
//   given back after the last reader's check would fail.
// Limits: what an account has more after a change is reserved by prepare, what it has less is given
//   back by apply (accounts.hpp).
// Cost: a claim of the new places, two stores a place that moves, and an end of those that go.
#pragma once

#include <holdfast/inventory/holds.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

namespace holdfast::inventory {

/// One hold of a change: its list as it is and as it will be, both ascending and not empty.
struct ListChange {
    Edit edit{};
    std::vector<SeatIndex> before;
    std::vector<SeatIndex> after;
};

/// A change of one or more holds of one event that happens to all of them at once. A place may
/// move from one of them to another.
struct Change {
    std::vector<ListChange> lists;
    std::vector<SeatIndex> added;      // of no list before; made by plan()
    std::vector<SeatIndex> dropped;    // of no list after; made by plan()
    HoldRef fresh{};                   // N, if places are added
    HoldRef dying{};                   // D, if places are dropped
    std::uint32_t slots{};             // taken for the change, linked; or to be given back after it
    std::vector<AccountShift> shifts;  // made by prepare(), in room made by plan()
    TimePoint now{};                   // set by prepare()

    /// What comes and what goes; before the holds are entered, because it allocates.
    void plan() {
        std::vector<SeatIndex> before;
        std::vector<SeatIndex> after;
        for (ListChange const& list : lists) {
            HOLDFAST_ASSERT(!list.before.empty() && !list.after.empty());
            before.insert(before.end(), list.before.begin(), list.before.end());
            after.insert(after.end(), list.after.begin(), list.after.end());
        }
        std::ranges::sort(before);
        std::ranges::sort(after);
        HOLDFAST_ASSERT(std::ranges::adjacent_find(after) == after.end());
        added.clear();
        dropped.clear();
        std::ranges::set_difference(after, before, std::back_inserter(added));
        std::ranges::set_difference(before, after, std::back_inserter(dropped));
        shifts.reserve(lists.size());
    }
};

struct ChangeOutcome {
    enum class Kind : std::uint8_t { ready, lost, busy, limited } kind{};
    SeatIndex seat{};     // lost: a new place that was taken
    UserVerdict limit{};  // limited: which limit of an account, or busy
};

template <class A, class Facts>
class Edits {
public:
    Edits(Claims<A, Facts>& claims, Holds<A, Facts>& holds)
        : claims_(claims), holds_(holds), places_(claims.places()) {}

    /// Takes all that the change needs. `terms`: the holder and deadline of a hold of it, and now.
    [[nodiscard]] ChangeOutcome prepare(Change& change, ClaimTerms const& terms) {
        change.now = terms.now;
        count_shifts(change);
        UserVerdict const verdict = claims_.accounts().reserve(change.shifts);
        if (verdict != UserVerdict::granted) return {ChangeOutcome::Kind::limited, {}, verdict};
        ChangeOutcome const outcome = take(change, terms);
        if (outcome.kind != ChangeOutcome::Kind::ready) claims_.accounts().cancel(change.shifts);
        return outcome;
    }

    /// Does what prepare() made ready; its record has an LSN already. The holds go on in `state`
    /// (held or sold) with the deadline that is in their payload.
    void apply(Change& change, State state) {
        claims_.accounts().settle(change.shifts);
        if (state == State::held) part_unbought(change);
        for (ListChange const& list : change.lists) rewrite(list, change.slots);
        // Plain stores: the owner word of a taken place belongs to whoever may leave the state of
        // the hold it names, and that is this thread for all of them. release: who sees the new
        // reference must see its word.
        for (SeatIndex const seat : change.dropped) move(change, seat, change.dying);
        for (ListChange const& list : change.lists) {
            for (SeatIndex const seat : list.after) {
                if (!std::ranges::binary_search(list.before, seat))
                    move(change, seat, list.edit.ref);
            }
        }
        if (change.dying != HoldRef{}) static_cast<void>(claims_.promise(change.dying));
        // First, because verbs wait for them. A search needs no order here: it sees that the places
        // of D become free by the count of frees, which moves before D dies (PROTOCOL.md F1).
        for (ListChange const& list : change.lists) holds_.leave(list.edit, state);
        if (change.fresh != HoldRef{}) bury_fresh(change);
        if (change.dying != HoldRef{}) claims_.bury(change.dying, dying_word(change.dying));
        give_slots_back(change);
    }

    /// Undoes prepare() of a change that adds nothing; what adds places must happen once it is
    /// ready, because it may have refused others.
    void give_up(Change& change) {
        HOLDFAST_ASSERT(change.fresh == HoldRef{});
        claims_.accounts().cancel(change.shifts);
        if (change.dying != HoldRef{}) {
            // release: as every word that ends a hold. No place has named it.
            places_.slot_of(change.dying)
                .word.store(HoldWord(change.dying.generation(), State::dead, 0).bits(), A::release);
            claims_.recycle(change.dying, static_cast<std::uint32_t>(change.dropped.size()));
            change.dying = {};
        }
        give_slots_back(change);
    }

private:
    [[nodiscard]] static std::size_t slots_for(std::size_t places) noexcept {
        return (places + seats_inline - 1) / seats_inline;
    }
    [[nodiscard]] static HoldWord dying_word(HoldRef ref) noexcept {
        return {ref.generation(), State::editing, 0};
    }

    /// All of prepare() but the limits.
    [[nodiscard]] ChangeOutcome take(Change& change, ClaimTerms const& terms) {
        // Slots first: once the new places are won they may refuse others, so the change must then
        // happen.
        if (!take_slots(change)) return {ChangeOutcome::Kind::busy, {}, {}};
        if (!change.added.empty()) {
            ClaimOutcome const won = claims_.win(change.added, terms);
            if (won.kind != ClaimOutcome::Kind::won) {
                give_slots_back(change);
                bool const lost = won.kind == ClaimOutcome::Kind::lost;
                return {lost ? ChangeOutcome::Kind::lost : ChangeOutcome::Kind::busy, won.seat, {}};
            }
            claims_.count_taken(won.ref, change.added);
            change.fresh = won.ref;
        }
        if (!change.dropped.empty()) change.dying = make_dying(change);
        return {ChangeOutcome::Kind::ready, {}, {}};
    }

    void count_shifts(Change& change) {
        change.shifts.clear();
        for (ListChange const& list : change.lists) {
            std::uint64_t const account = claims_.accounts().counted(list.edit.ref);
            if (account == 0) continue;
            auto shift = std::ranges::find(change.shifts, account, &AccountShift::account);
            if (shift == change.shifts.end()) {
                change.shifts.push_back({account, 0, false});
                shift = change.shifts.end() - 1;
            }
            shift->units += static_cast<std::int64_t>(list.after.size()) -
                            static_cast<std::int64_t>(list.before.size());
            if (list.edit.from == State::held && !std::ranges::includes(list.before, list.after))
                shift->takes = true;
        }
    }
    /// What an open hold gives up cools down, and the time of places that it has fewer is spent.
    void part_unbought(Change const& change) {
        for (ListChange const& list : change.lists) {
            claims_.accounts().resize(list.edit.ref, list.before.size(), list.after.size(),
                                      change.now);
            for (SeatIndex const seat : list.before)
                if (std::ranges::binary_search(change.dropped, seat))
                    claims_.accounts().drop(list.edit.ref, seat, change.now);
        }
    }

    [[nodiscard]] bool take_slots(Change& change) {
        std::size_t wanted = slots_for(change.dropped.size());
        for (ListChange const& list : change.lists) {
            std::size_t const has = slots_for(list.before.size());
            wanted += std::max(slots_for(list.after.size()), has) - has;
        }
        change.slots = 0;
        for (; wanted > 0; --wanted) {
            std::uint32_t const slot = places_.pool().pop();
            if (slot == 0) {
                give_slots_back(change);
                return false;
            }
            keep_slot(change.slots, slot);
        }
        return true;
    }
    /// Puts a slot that is ours before a chain of such slots.
    void keep_slot(std::uint32_t& chain, std::uint32_t slot) {
        // release: payload store, a late helper that reads it must see the old word dead.
        places_.pool()[slot].more.store(chain, A::release);
        chain = slot;
    }
    [[nodiscard]] std::uint32_t next_slot(std::uint32_t& chain) {
        HOLDFAST_ASSERT(chain != 0);
        std::uint32_t const slot = chain;
        chain = places_.pool()[slot].more.load(A::relaxed);  // relaxed: ours
        return slot;
    }
    void give_slots_back(Change& change) {
        while (change.slots != 0) places_.pool().push(next_slot(change.slots));
    }

    /// Writes a list into the chain that begins with `head` and has `has` slots, goes on in `chain`
    /// where it needs more, and puts there what it needs no longer.
    void write_list(std::uint32_t head, std::size_t has, std::span<SeatIndex const> seats,
                    std::uint32_t& chain) {
        auto& pool = places_.pool();
        std::size_t const needs = slots_for(seats.size());
        std::uint32_t slot = head;
        for (std::size_t i = 0; i < seats.size(); ++i) {
            if (i != 0 && i % seats_inline == 0) {
                std::uint32_t more = 0;
                if (i / seats_inline < has) {
                    more = pool[slot].more.load(A::relaxed);  // relaxed: ours
                } else {
                    more = next_slot(chain);
                    pool[slot].more.store(more, A::release);  // release: payload store
                }
                slot = more;
            }
            pool[slot].seats[i % seats_inline].store(seats[i].value(), A::release);
        }
        // relaxed: the chain is ours while its hold is being edited.
        std::uint32_t surplus = has > needs ? pool[slot].more.load(A::relaxed) : 0;
        for (std::size_t left = has > needs ? has - needs : 0; left > 0; --left) {
            std::uint32_t const more = pool[surplus].more.load(A::relaxed);
            keep_slot(chain, surplus);
            surplus = more;
        }
        // release: payload store, as the places.
        ListShape const shape = ListShape::of(places_.geometry(), seats);
        pool[head].shape.store(shape.bits(), A::release);
    }
    void rewrite(ListChange const& list, std::uint32_t& chain) {
        if (list.before == list.after) return;
        write_list(list.edit.ref.slot().value(), slots_for(list.before.size()), list.after, chain);
    }

    /// D: counts as taken and nobody may help it.
    [[nodiscard]] HoldRef make_dying(Change& change) {
        std::uint32_t const head = next_slot(change.slots);
        auto& record = places_.pool()[head];
        HoldRef const ref = places_.pool().next_ref(head);
        write_list(head, 1, change.dropped, change.slots);
        // The deadline of nothing: the wheel may still look at this slot.
        record.expires_at.store(to_ms(no_deadline), A::release);  // release: payload stores
        record.holder.store(0, A::release);
        record.word.store(dying_word(ref).bits(), A::release);  // release: publishes the payload
        return ref;
    }

    void move(Change const& change, SeatIndex seat, HoldRef to) {
        auto& owner = places_.owner(seat.value());
        // relaxed: nobody else may write it now.
        HOLDFAST_ASSERT(is_ours(change, HoldRef{owner.load(A::relaxed)}));
        owner.store(to.bits(), A::release);
    }
    [[nodiscard]] static bool is_ours(Change const& change, HoldRef owner) noexcept {
        return owner == change.fresh ||
               std::ranges::any_of(change.lists,
                                   [owner](auto const& list) { return list.edit.ref == owner; });
    }

    /// N has nothing left. Nobody was told of it, and none of its places becomes free by this.
    void bury_fresh(Change const& change) {
        // release: who sees it dead sees that its places have moved on, so a CAS made from this
        // reference fails, and a look at the owner word again finds the other (PROTOCOL.md F12).
        places_.slot_of(change.fresh)
            .word.store(HoldWord(change.fresh.generation(), State::dead, 0).bits(), A::release);
        claims_.recycle(change.fresh, static_cast<std::uint32_t>(change.added.size()));
    }

    Claims<A, Facts>& claims_;
    Holds<A, Facts>& holds_;
    Places<A>& places_;
};

}  // namespace holdfast::inventory
