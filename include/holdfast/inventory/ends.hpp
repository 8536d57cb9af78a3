// Ends: the part of the protocol that frees places, after PROTOCOL.md section 3, end and
// finish_end.
//
// Purpose: ends of holds by their owners, by staff and by time; and the slots they leave.
// Thread safety: every function by any thread.
// Invariants: no place is free before an END of its hold has an LSN; of several threads that end or
//   finish an end one makes the hold dead, and only that one sets hints and gives the slot back.
// Cost: an end is about 6 atomic read-modify-writes. No allocation.
//
// The policy `Facts` is told in claims.hpp.
#pragma once

#include <holdfast/base/assert.hpp>
#include <holdfast/base/clock.hpp>
#include <holdfast/inventory/accounts.hpp>
#include <holdfast/inventory/claim_terms.hpp>
#include <holdfast/inventory/freeing.hpp>
#include <holdfast/inventory/places.hpp>

#include <cstdint>

namespace holdfast::inventory {

template <class A, class Facts>
class Ends {
public:
    Ends(Places<A>& places, Facts& facts, Accounts<A>& accounts)
        : places_(places), facts_(facts), freeing_(places), accounts_(accounts) {}

    /// Ends a hold seen as `word` in state held; `lost` if it has changed since. It was held until
    /// `now`, or until its deadline if that was earlier. `journal_end` appends the END, in the room
    /// that is reserved here and what the caller has.
    template <class JournalEnd>
    [[nodiscard]] EndOutcome end(HoldRef ref, HoldWord word, State cause, TimePoint now,
                                 JournalEnd journal_end) {
        HOLDFAST_ASSERT(word.state() == State::held && is_ending(cause));
        if (!facts_.reserve_end()) return {EndOutcome::Kind::no_space, {}};
        // Read first: the CAS makes sure that it was all of this hold.
        auto const leaver = accounts_.leaver(ref, now);
        auto const gift = promise(ref);
        std::uint64_t expected = word.bits();
        HoldWord const ending = word.in(cause);
        // acq_rel: acquire for the payload; release for a helper that goes on from `ending`.
        if (!places_.slot_of(ref).word.compare_exchange_strong(expected, ending.bits(), A::acq_rel,
                                                               A::relaxed)) {
            places_.free_counts().take_back(gift);
            facts_.give_back_end();
            return {EndOutcome::Kind::lost, {}};
        }
        Lsn const lsn = journal_end();
        // A helper that overtakes us frees the places first, and the account's count trails for a
        // moment; it never runs ahead (PROTOCOL.md F11).
        accounts_.see_off(ref, ending, leaver);
        bury(ref, ending);
        return {EndOutcome::Kind::ended, lsn};
    }

    /// Finishes an end that another thread began. False: no journal space, the hold stays `ending`.
    [[nodiscard]] bool finish_end(HoldRef ref, HoldWord ending, TimePoint now) {
        if (!facts_.reserve_end()) return false;
        // A second END of the same hold: replay ignores it, and nothing is free before one is
        // there.
        facts_.end(ref, ending.state());
        accounts_.see_off_helped(ref, ending, now);
        bury(ref, ending);
        return true;
    }

    using Gift = typename Freeing<A>::Gift;
    /// Counts the places of a hold that is about to end, before it is (free_counts.hpp): once, by
    /// whoever takes it into the state in which it dies. end() does it by itself.
    Gift promise(HoldRef ref) { return freeing_.promise(ref); }
    /// Makes a taken hold free whose end is promised and journaled: frees, dead, hints, recycling.
    /// `dying` is its word (ending, or editing by the thread that entered it); of several callers
    /// one wins.
    void bury(HoldRef ref, HoldWord dying) {
        auto& slot = places_.slot_of(ref);
        // acquire: payload loads; a stale list is bounded and then the CAS below fails.
        ListShape const shape{slot.shape.load(A::acquire)};
        count_frees(ref, shape);
        std::uint64_t expected = dying.bits();
        // release: who sees `dead` sees the count of frees; acquire: the payload is ours to
        // recycle. LINEARIZATION POINT of the end.
        if (!slot.word.compare_exchange_strong(expected,
                                               HoldWord(ref.generation(), State::dead, 0).bits(),
                                               A::acq_rel, A::relaxed))
            return;
        show_free(ref, shape);        // after dead (F8)
        recycle(ref, shape.count());  // last: the list was still needed
    }

    /// Gives the slots of a hold back; only for the thread that made it dead.
    void recycle(HoldRef ref, std::uint32_t count) {
        auto& pool = places_.pool();
        std::uint32_t slot = ref.slot().value();
        for (std::uint32_t left = count;;) {
            // relaxed: the slot is ours. Read before push, which reuses the link.
            std::uint32_t const more = pool[slot].more.load(A::relaxed);
            // A head whose generation would wrap is retired; its later slots live on.
            if (slot != ref.slot().value() || ref.generation() != HoldRef::generation_max)
                pool.push(slot);
            if (left <= seats_inline) return;
            left -= seats_inline;
            slot = more;
        }
    }

private:
    void show_free(HoldRef ref, ListShape shape) { freeing_.show(ref, shape); }
    void count_frees(HoldRef ref, ListShape shape) { freeing_.count_frees(ref, shape); }

    Places<A>& places_;
    Facts& facts_;
    Freeing<A> freeing_;
    Accounts<A>& accounts_;
};

}  // namespace holdfast::inventory
