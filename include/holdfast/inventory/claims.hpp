// Claims: the protocol that takes and frees places, after PROTOCOL.md section 3.
//
// Purpose: all-or-nothing claims of any places of one event by any thread, without a lock and
//   without a place ever left behind; and the ends of holds.
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
#include <holdfast/inventory/freeing.hpp>
#include <holdfast/inventory/places.hpp>

#include <cstdint>
#include <span>

namespace holdfast::inventory {

template <class A, class Facts>
class Claims {
public:
    /// `accounts`: the limits of the event's accounts; none by default.
    Claims(Places<A>& places, Facts& facts, AccountRules<A> const& accounts = {})
        : places_(places), facts_(facts), freeing_(places), accounts_(places.pool(), accounts) {}

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
        places_.free_counts().take(seats);
        // Places cannot be freed while the state is `won`, so the look that a loser must take after
        // clearing a hint would find them taken: clearing is enough.
        places_.clear_hints(seats);
        Lsn const lsn = facts_.claim(ref, terms, seats);
        // release: whoever sees `held` sees the whole payload. Only now may others end the hold.
        word.store(HoldWord(ref.generation(), State::held, 0).bits(), A::release);
        if (terms.expires_at != no_deadline) facts_.arm(ref.slot());
        return {ClaimOutcome::Kind::won, ref, lsn, {}, {}};
    }

    /// The claim without its fact: takes the places under a fresh reference and leaves it `won`,
    /// which only the caller may leave. A hold of its own only in claim(); the new places of an
    /// edit are first won like this (edits.hpp). The caller counts them (free_counts.hpp).
    [[nodiscard]] ClaimOutcome win(std::span<SeatIndex const> seats, ClaimTerms const& terms) {
        HoldRef const ref = publish(seats, terms);
        if (ref == HoldRef{}) return {ClaimOutcome::Kind::busy, {}, {}, {}, {}};
        if (!help(ref, terms.now)) abandon(ref);
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

    /// Ends a hold seen as `word` in state held; `lost` if it has changed since. It was held until
    /// `now`, or until its deadline if that was earlier.
    [[nodiscard]] EndOutcome end(HoldRef ref, HoldWord word, State cause,
                                 TimePoint now = no_deadline) {
        return end(ref, word, cause, now, [&] { return facts_.end(ref, cause); });
    }
    /// The same with an END that says more: `journal_end` appends it, in the room that is reserved
    /// here and what the caller has.
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
        // acquire: payload loads; a stale count is bounded and then the CAS below fails.
        std::uint32_t const count = Freeing<A>::bounded(slot.count.load(A::acquire));
        count_frees(ref, count);
        std::uint64_t expected = dying.bits();
        // release: who sees `dead` sees the count of frees; acquire: the payload is ours to
        // recycle. LINEARIZATION POINT of the end.
        if (!slot.word.compare_exchange_strong(expected,
                                               HoldWord(ref.generation(), State::dead, 0).bits(),
                                               A::acq_rel, A::relaxed))
            return;
        show_free(ref, count);  // after dead (F8)
        recycle(ref, count);    // last: the list was still needed
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

    /// What a look at a place found, after helping whatever was undecided.
    struct Sight {
        enum class Kind : std::uint8_t { free, taken, maybe, no_space, due } kind{};
        HoldRef owner{};          // taken, maybe
        HoldWord word{};          // taken, maybe
        std::int64_t deadline{};  // taken, due: ms; of states without one the far future
    };

    /// A look at this place comes soon: starts to fetch the hold that it will look at.
    void expect_look(std::uint32_t place) noexcept {
        if (place >= places_.count()) return;
        // relaxed: only a guess; the look itself loads it again.
        __builtin_prefetch(&places_.slot_of(HoldRef{places_.owner(place).load(A::relaxed)}));
    }

    /// Looks at a place as a claim made at `now` does: helps pending claims, finishes ends, ends
    /// holds past their deadline. `maybe`: an edit is going on that may free the place. Who does
    /// not end holds (`ends`) is told `due` instead: a claim made at `now` gets the place.
    [[nodiscard]] Sight settle(std::uint32_t place, TimePoint now, bool ends = true) {
        for (;;) {
            // acquire: who sees a reference must see its word and payload.
            HoldRef const owner{places_.owner(place).load(A::acquire)};
            if (owner == HoldRef{}) return {Sight::Kind::free, owner, {}, 0};
            auto& slot = places_.slot_of(owner);
            // acquire: pairs with publish and with dead.
            HoldWord const word{slot.word.load(A::acquire)};
            if (is_free(owner, word)) return {Sight::Kind::free, owner, word, 0};
            if (word.state() == State::pending) {
                if (!help(owner, now)) return {Sight::Kind::no_space, owner, word, 0};
                continue;
            }
            Sight const sight = judge(owner, word, now, ends);
            if (sight.kind != Sight::Kind::free) return sight;
        }
    }

    /// Brings a pending claim to its end, and all pending claims in its way. False: an expired hold
    /// in the way could not be ended for want of journal space.
    [[nodiscard]] bool help(HoldRef first, TimePoint now) {
        Frame stack[limits::threads_max + 1];  // trivial: not initialized
        std::size_t depth = 0;
        if (enter(stack[0], first, to_ms(now))) depth = 1;
        while (depth > 0) {
            HoldRef blocker{};
            switch (advance(stack[depth - 1], blocker)) {
                case Progress::decided:
                    --depth;
                    break;
                case Progress::blocked:
                    // Ascending order keeps the chain of waits free of cycles. Claims below may be
                    // decided meanwhile and their threads claim anew, so its length has no strict
                    // bound: when the stack is full the help begins afresh.
                    if (depth == std::size(stack)) {
                        depth = enter(stack[0], first, to_ms(now)) ? 1 : 0;
                    } else if (enter(stack[depth], blocker, stack[depth - 1].now)) {
                        ++depth;
                    }
                    break;
                case Progress::no_space:
                    return false;
            }
        }
        return true;
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
    static constexpr std::uint32_t abandoned_mark = HoldWord::x_max;
    static_assert(limits::seats_per_claim_max < abandoned_mark);

    enum class Progress : std::uint8_t { decided, blocked, no_space };

    /// How far the help of one pending claim has come. Trivial on purpose.
    struct Frame {
        HoldRef::Bits ref;
        std::int64_t now;  // max(helper's now, claim's now): PROTOCOL.md F9c
        std::uint32_t index, count, place;
        SeatCursor<A> cursor;
    };

    [[nodiscard]] static HoldWord pending_word(HoldRef ref) noexcept {
        return {ref.generation(), State::pending, 0};
    }
    /// Whether the claim is still pending; ordered after the caller's acquire loads, so that a
    /// payload of the slot's next hold is noticed.
    [[nodiscard]] bool still_pending(HoldRef ref) noexcept {
        // relaxed: the loads before it are acquire (PROTOCOL.md 2).
        return HoldWord{places_.slot_of(ref).word.load(A::relaxed)} == pending_word(ref);
    }

    /// Starts the help of `ref`; false if there is nothing to help any more.
    [[nodiscard]] bool enter(Frame& frame, HoldRef ref, std::int64_t now) {
        auto& slot = places_.slot_of(ref);
        // acquire: status read; then the payload, acquire too, then the word again.
        if (HoldWord{slot.word.load(A::acquire)} != pending_word(ref)) return false;
        frame.ref = ref.bits();
        frame.index = 0;
        frame.count = slot.count.load(A::acquire);
        std::int64_t const asked = slot.asked.load(A::acquire);
        frame.now = now > asked ? now : asked;
        frame.cursor.start(places_.pool(), ref.slot().value());
        frame.place = frame.cursor.next();
        return still_pending(ref);
    }

    /// Takes the places of one pending claim, from where the frame stands.
    [[nodiscard]] Progress advance(Frame& frame, HoldRef& blocker) {
        HoldRef const ref{frame.ref};
        while (frame.index < frame.count) {
            if (frame.place >= places_.count()) {  // read from a payload that is not this claim's
                HOLDFAST_ASSERT(!still_pending(ref));
                return Progress::decided;
            }
            auto& owner_word = places_.owner(frame.place);
            std::uint64_t current = owner_word.load(A::acquire);  // as in settle()
            if (current == ref.bits()) {
                step(frame);
                continue;
            }
            if (HoldRef const owner{current}; owner != HoldRef{}) {
                HoldWord const word{
                    places_.slot_of(owner).word.load(A::acquire)};  // as in settle()
                if (!is_free(owner, word)) {
                    if (word.state() == State::pending) {
                        blocker = owner;
                        return Progress::blocked;
                    }
                    Sight const sight = judge(owner, word, from_ms(frame.now));
                    if (sight.kind == Sight::Kind::no_space) return Progress::no_space;
                    if (sight.kind == Sight::Kind::free) continue;  // it has changed: look again
                    lose(ref, frame.index);
                    return Progress::decided;
                }
            }
            // Mandatory (F4): a late helper must not install a claim that is decided.
            if (!still_pending(ref)) return Progress::decided;
            // release: who sees the reference must see its word; acquire: continues the chain of
            // frees.
            if (owner_word.compare_exchange_strong(current, ref.bits(), A::acq_rel, A::relaxed))
                step(frame);
        }
        std::uint64_t expected = pending_word(ref).bits();
        // acq_rel: a helper's knowledge of the ends it saw must reach the claimer.
        // LINEARIZATION POINT of a successful claim.
        places_.slot_of(ref).word.compare_exchange_strong(
            expected, HoldWord(ref.generation(), State::won, 0).bits(), A::acq_rel, A::relaxed);
        return Progress::decided;
    }

    void step(Frame& frame) {
        if (++frame.index < frame.count) frame.place = frame.cursor.next();
    }

    /// The claim is refused by the place at `index` of its list.
    void lose(HoldRef ref, std::uint32_t index) {
        std::uint64_t expected = pending_word(ref).bits();
        // acq_rel: relaxed would do (PROTOCOL.md 2); it costs nothing on x86.
        places_.slot_of(ref).word.compare_exchange_strong(
            expected, HoldWord(ref.generation(), State::dead, index).bits(), A::acq_rel,
            A::relaxed);
    }
    /// The claimer gives up for want of journal space, unless somebody has decided meanwhile.
    void abandon(HoldRef ref) { lose(ref, abandoned_mark); }

    /// Judges a place whose owner was seen in a decided state that is not dead: `free` means that
    /// it changed and must be looked at again.
    [[nodiscard]] Sight judge(HoldRef owner, HoldWord word, TimePoint now, bool ends = true) {
        Sight const again{Sight::Kind::free, owner, word, 0};
        if (is_ending(word.state()))
            return finish_end(owner, word, now) ? again
                                                : Sight{Sight::Kind::no_space, owner, word, 0};
        if (word.state() == State::editing) return {Sight::Kind::maybe, owner, word, 0};
        std::int64_t deadline = to_ms(no_deadline);
        // `confirming` too: it may go back to held. Once its order is written there it never does.
        if (word.state() == State::held || word.state() == State::won ||
            word.state() == State::confirming) {
            auto& slot = places_.slot_of(owner);
            deadline = slot.expires_at.load(A::acquire);  // acquire: payload load
            // relaxed: after an acquire load; the deadline must belong to this very word (F9d).
            if (HoldWord{slot.word.load(A::relaxed)} != word) return again;
            if (word.state() == State::held && deadline <= to_ms(now)) {
                if (!ends) return {Sight::Kind::due, owner, word, deadline};
                auto const outcome = end(owner, word, State::ending_expired);
                return outcome.kind == EndOutcome::Kind::no_space
                           ? Sight{Sight::Kind::no_space, owner, word, 0}
                           : again;
            }
        }
        return {Sight::Kind::taken, owner, word, deadline};
    }

    /// Fills slots with the list and publishes the claim as pending; an empty reference if the pool
    /// is empty.
    [[nodiscard]] HoldRef publish(std::span<SeatIndex const> seats, ClaimTerms const& terms) {
        auto& pool = places_.pool();
        std::uint32_t const head = pool.pop();
        if (head == 0) return {};
        std::uint32_t slot = head;
        for (std::size_t i = 0; i < seats.size(); ++i) {
            if (i != 0 && i % seats_inline == 0) {
                std::uint32_t const more = pool.pop();
                if (more == 0) {
                    recycle_partial(head, i);
                    return {};
                }
                // release: payload stores; a late helper that reads one must see the old word dead.
                pool[slot].more.store(more, A::release);
                slot = more;
            }
            pool[slot].seats[i % seats_inline].store(seats[i].value(), A::release);
        }
        auto& record = pool[head];
        HoldRef const ref = pool.next_ref(head);
        // release: payload stores, as the list above.
        record.count.store(static_cast<std::uint32_t>(seats.size()), A::release);
        record.asked.store(to_ms(terms.now), A::release);
        record.expires_at.store(to_ms(terms.expires_at), A::release);
        record.holder.store(terms.holder, A::release);
        // release: publishes the payload.
        record.word.store(pending_word(ref).bits(), A::release);
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

    void show_free(HoldRef ref, std::uint32_t count) { freeing_.show(ref, count); }
    void count_frees(HoldRef ref, std::uint32_t count) { freeing_.count_frees(ref, count); }

    Places<A>& places_;
    Facts& facts_;
    Freeing<A> freeing_;
    Accounts<A> accounts_;
};

}  // namespace holdfast::inventory
