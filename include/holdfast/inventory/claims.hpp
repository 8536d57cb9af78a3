// Claims: the protocol that takes and frees places, after PROTOCOL.md section 3.
//
// Purpose: all-or-nothing claims of any places of one event by any thread, without a lock and
//   without a place ever left behind; how they are decided is in taking.hpp, the ends of holds are
//   in ends.hpp.
// Thread safety: every function by any thread.
// Invariants: owner[k] names the only live hold of place k; an owner CAS is never made from a taken
//   value; nobody ends a hold before its CLAIM has an LSN, and no place is free before its END has
//   one; a refusal names a place that was taken and not past its deadline within the call.
// Cost: a claim of n places is about n + 4 atomic read-modify-writes, an end about 6. No
//   allocation.
//
// In an event with limits for each account (accounts.hpp) a claim reserves before it touches a
//   place, and whoever begins an end gives back before the places are free.
//
// The policy `Facts` is the journal and the timer as this event sees them:
//   bool reserve_claim(n); void give_back_claim(n); Lsn claim(HoldRef, ClaimTerms const&, seats);
//   bool reserve_end(); void give_back_end(); Lsn end(HoldRef, State cause);
//   void arm(SlotIndex);
// A reserved fact never fails. arm() may be called for a slot that is armed already.
#pragma once

#include <holdfast/base/assert.hpp>
#include <holdfast/base/clock.hpp>
#include <holdfast/domain/limits.hpp>
#include <holdfast/inventory/accounts.hpp>
#include <holdfast/inventory/claim_terms.hpp>
#include <holdfast/inventory/ends.hpp>
#include <holdfast/inventory/places.hpp>
#include <holdfast/inventory/taking.hpp>

#include <cstdint>
#include <span>

namespace holdfast::inventory {

template <class A, class Facts>
class Claims {
public:
    /// `accounts`: the limits of the event's accounts; none by default.
    Claims(Places<A>& places, Facts& facts, AccountRules<A> const& accounts = {})
        : places_(places),
          facts_(facts),
          accounts_(places.pool(), accounts),
          ends_(places, facts, accounts_),
          taking_(places, facts, ends_) {}
    Claims(Claims const&) = delete;
    Claims& operator=(Claims const&) = delete;

    [[nodiscard]] Places<A>& places() noexcept { return places_; }
    [[nodiscard]] Facts& facts() noexcept { return facts_; }
    [[nodiscard]] Accounts<A>& accounts() noexcept { return accounts_; }

    /// `seats` ascending, unique, 1 ... limits::seats_per_claim_max, all inside the event.
    [[nodiscard]] ClaimOutcome claim(std::span<SeatIndex const> seats, ClaimTerms const& terms) {
        auto const count = static_cast<std::uint32_t>(seats.size());
        HOLDFAST_ASSERT(count > 0 && count <= limits::seats_per_claim_max);
        HOLDFAST_ASSERT(seats.back().value() < places_.count());
        // Space first: the append after the win must not fail.
        if (!facts_.reserve_claim(count)) return {ClaimOutcome::Kind::busy, {}, {}, {}, {}};
        typename UserLimits<A>::Ticket user;  // of nobody, unless the event counts accounts
        UserVerdict const admitted = accounts_.reserve(terms.holder, count, user);
        ClaimOutcome const decided =
            admitted == UserVerdict::granted
                ? win(seats, terms)
                : ClaimOutcome{ClaimOutcome::Kind::limited, {}, {}, {}, admitted};
        if (decided.kind != ClaimOutcome::Kind::won) {
            accounts_.lose(user);
            facts_.give_back_claim(count);
            return decided;
        }
        HoldRef const ref = decided.ref;
        auto& word = places_.slot_of(ref).word;
        accounts_.win(ref, user);  // nobody can end the hold before it is `held`
        count_taken(ref, seats);
        Lsn const lsn = facts_.claim(ref, terms, seats);
        // release: whoever sees `held` sees the whole payload. Only now may others end the hold.
        word.store(HoldWord(ref.generation(), State::held, 0).bits(), A::release);
        if (terms.expires_at != no_deadline) facts_.arm(ref.slot());
        return {ClaimOutcome::Kind::won, ref, lsn, {}, {}};
    }

    /// The claim without its fact: takes the places under a fresh reference and leaves it `won`,
    /// which only the caller may leave. A hold of its own only in claim(); the new places of an
    /// edit are first won like this (edits.hpp). The caller calls count_taken() then.
    [[nodiscard]] ClaimOutcome win(std::span<SeatIndex const> seats, ClaimTerms const& terms) {
        HoldRef const ref = publish(seats, terms);
        if (ref == HoldRef{}) return {ClaimOutcome::Kind::busy, {}, {}, {}, {}};
        if (!taking_.finish(ref, seats, terms.now)) abandon(ref);
        // acquire: pairs with the release of the CAS that decided, whoever made it.
        HoldWord const decided{places_.slot_of(ref).word.load(A::acquire)};
        if (decided.state() == State::dead) {
            recycle(ref, static_cast<std::uint32_t>(seats.size()));
            if (decided.x() == abandoned_mark) return {ClaimOutcome::Kind::busy, {}, {}, {}, {}};
            return {ClaimOutcome::Kind::lost, {}, {}, seats[decided.x()], {}};
        }
        HOLDFAST_ASSERT(decided == HoldWord(ref.generation(), State::won, 0));
        return {ClaimOutcome::Kind::won, ref, {}, {}, {}};
    }

    /// Says of places just won that they are taken. They cannot be freed while the state is `won`,
    /// so the look that a loser must take after clearing a hint would find them taken: clearing is
    /// enough. First the hints, then the counts: who finds counts that he knows, and with them what
    /// he once saw by the hints, knows that nobody was between the two (FitVerdicts::renew).
    void count_taken(HoldRef ref, std::span<SeatIndex const> seats) {
        places_.clear_hints(seats);
        // relaxed: ours, as the hold is `won`.
        ListShape const shape{places_.slot_of(ref).shape.load(A::relaxed)};
        places_.free_counts().take(shape, seats);
    }

    /// Ends a hold seen as `word` in state held; `lost` if it has changed since. It was held until
    /// `now`, or until its deadline if that was earlier.
    [[nodiscard]] EndOutcome end(HoldRef ref, HoldWord word, State cause,
                                 TimePoint now = no_deadline) {
        return end(ref, word, cause, now, [&] { return facts_.end(ref, cause); });
    }
    /// As in ends.hpp, these five.
    template <class JournalEnd>
    [[nodiscard]] EndOutcome end(HoldRef ref, HoldWord word, State cause, TimePoint now,
                                 JournalEnd journal_end) {
        return ends_.end(ref, word, cause, now, journal_end);
    }
    [[nodiscard]] bool finish_end(HoldRef ref, HoldWord ending, TimePoint now) {
        return ends_.finish_end(ref, ending, now);
    }
    using Gift = typename Ends<A, Facts>::Gift;
    Gift promise(HoldRef ref) { return ends_.promise(ref); }
    void bury(HoldRef ref, HoldWord dying) { ends_.bury(ref, dying); }
    void recycle(HoldRef ref, std::uint32_t count) { ends_.recycle(ref, count); }

    /// As in taking.hpp, both.
    using Sight = typename Taking<A, Facts>::Sight;
    void expect_look(std::uint32_t place) noexcept { taking_.expect_look(place); }
    [[nodiscard]] Sight settle(std::uint32_t place, TimePoint now, bool ends = true) {
        return taking_.settle(place, now, ends);
    }

    /// Clears the hint of a place that turned out taken, unless a look says that it is not.
    void unhint(std::uint32_t place) {
        places_.clear_hint(place);
        // acquire: owner and word as in every look.
        HoldRef const owner{places_.owner(place).load(A::acquire)};
        if (owner != HoldRef{}) {
            HoldWord const word{places_.slot_of(owner).word.load(A::acquire)};
            // `pending` counts as free here: its claim may still be lost (PROTOCOL.md D14).
            if (names(owner, word) && is_taken(word.state())) return;
        }
        places_.set_hint(place);
    }

private:
    static constexpr std::uint32_t abandoned_mark = HoldWord::x_max;
    static_assert(limits::seats_per_claim_max < abandoned_mark);

    /// The claimer gives up for want of journal space, unless somebody has decided meanwhile.
    void abandon(HoldRef ref) { taking_.lose(ref, abandoned_mark); }

    /// Fills slots with the list and publishes the claim as pending; an empty reference if the pool
    /// is empty.
    [[nodiscard]] HoldRef publish(std::span<SeatIndex const> seats, ClaimTerms const& terms) {
        auto& pool = places_.pool();
        std::uint32_t const head = pool.pop();
        if (head == 0) return {};
        std::uint32_t slot = head;
        std::uint32_t in_slot = 0;
        for (std::size_t i = 0; i < seats.size(); ++i) {
            if (in_slot == seats_inline) {
                std::uint32_t const more = pool.pop();
                if (more == 0) {
                    recycle_partial(head, i);
                    return {};
                }
                // release: payload stores; a late helper that reads one must see the old word dead.
                pool[slot].more.store(more, A::release);
                slot = more;
                in_slot = 0;
            }
            pool[slot].seats[in_slot++].store(seats[i].value(), A::release);
        }
        auto& record = pool[head];
        HoldRef const ref = pool.next_ref(head);
        // release: payload stores, as the list above.
        record.shape.store(ListShape::of(places_.geometry(), seats).bits(), A::release);
        record.asked.store(to_ms(terms.now), A::release);
        record.expires_at.store(to_ms(terms.expires_at), A::release);
        record.holder.store(terms.holder, A::release);
        // release: publishes the payload.
        record.word.store(Taking<A, Facts>::pending_word(ref).bits(), A::release);
        return ref;
    }

    /// Returns the slots of a list of which only the first `filled` places were written.
    void recycle_partial(std::uint32_t head, std::size_t filled) {
        auto& pool = places_.pool();
        std::uint32_t slot = head;
        for (std::size_t slots = (filled + seats_inline - 1) / seats_inline; slots > 0; --slots) {
            std::uint32_t const more = pool[slot].more.load(A::relaxed);  // ours, as in recycle()
            pool.push(slot);
            slot = more;
        }
    }

    Places<A>& places_;
    Facts& facts_;
    Accounts<A> accounts_;
    Ends<A, Facts> ends_;
    Taking<A, Facts> taking_;
};

}  // namespace holdfast::inventory
