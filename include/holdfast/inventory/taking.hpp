// Taking: the part of the protocol that decides pending claims, after PROTOCOL.md section 3, help.
//
// Purpose: brings any thread's published claim to its end, with all that is in its way: other
//   pending claims, ends half made, holds past their deadline. And looks at places in that way.
// Thread safety: every function by any thread.
// Invariants: owner[k] names the only live hold of place k; an owner CAS is never made from a taken
//   value, nor for a claim that is decided.
// Cost: an atomic read-modify-write a place and one for the decision. No allocation.
//
// The policy `Facts` is told in claims.hpp.
#pragma once

#include <holdfast/base/assert.hpp>
#include <holdfast/base/clock.hpp>
#include <holdfast/domain/limits.hpp>
#include <holdfast/inventory/claim_terms.hpp>
#include <holdfast/inventory/ends.hpp>
#include <holdfast/inventory/places.hpp>

#include <cstdint>
#include <iterator>
#include <span>

namespace holdfast::inventory {

template <class A, class Facts>
class Taking {
public:
    Taking(Places<A>& places, Facts& facts, Ends<A, Facts>& ends)
        : places_(places), facts_(facts), ends_(ends) {}

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

    /// Brings the caller's own claim to its end, whose list it need not read back. What is not
    /// plainly free it leaves to help(), which answers the same.
    [[nodiscard]] bool finish(HoldRef ref, std::span<SeatIndex const> seats, TimePoint now) {
        HoldRef owner{};
        HoldWord word{};
        for (SeatIndex const seat : seats) {
            if (take(ref, seat.value(), owner, word) != Step::taken) return help(ref, now);
        }
        decide_won(ref);
        return true;
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

    /// The claim is refused by the place at `index` of its list.
    void lose(HoldRef ref, std::uint32_t index) {
        std::uint64_t expected = pending_word(ref).bits();
        // acq_rel: relaxed would do (PROTOCOL.md 2); it costs nothing on x86.
        places_.slot_of(ref).word.compare_exchange_strong(
            expected, HoldWord(ref.generation(), State::dead, index).bits(), A::acq_rel,
            A::relaxed);
    }
    [[nodiscard]] static HoldWord pending_word(HoldRef ref) noexcept {
        return {ref.generation(), State::pending, 0};
    }

private:
    enum class Progress : std::uint8_t { decided, blocked, no_space };

    /// How far the help of one pending claim has come. Trivial on purpose.
    struct Frame {
        HoldRef::Bits ref;
        std::int64_t now;  // max(helper's now, claim's now): PROTOCOL.md F9c
        std::uint32_t index, count, place;
        SeatCursor<A> cursor;
    };

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
        frame.count = ListShape{slot.shape.load(A::acquire)}.count();
        std::int64_t const asked = slot.asked.load(A::acquire);
        frame.now = now > asked ? now : asked;
        frame.cursor.start(places_.pool(), ref.slot().value());
        frame.place = frame.cursor.next();
        return still_pending(ref);
    }

    enum class Step : std::uint8_t { taken, changed, occupied, decided };
    /// One attempt to take one place. `occupied`: `owner` is not free, its word was `word`.
    [[nodiscard, gnu::always_inline]] Step take(HoldRef ref, std::uint32_t place, HoldRef& owner,
                                                HoldWord& word) {
        auto& owner_word = places_.owner(place);
        std::uint64_t current = owner_word.load(A::acquire);  // as in settle()
        if (current == ref.bits()) return Step::taken;
        if (owner = HoldRef{current}; owner != HoldRef{}) {
            word = HoldWord{places_.slot_of(owner).word.load(A::acquire)};  // as in settle()
            if (!is_free(owner, word)) return Step::occupied;
        }
        // Mandatory (F4): a late helper must not install a claim that is decided.
        if (!still_pending(ref)) return Step::decided;
        // release: who sees the reference must see its word; acquire: continues the chain of
        // frees.
        return owner_word.compare_exchange_strong(current, ref.bits(), A::acq_rel, A::relaxed)
                   ? Step::taken
                   : Step::changed;
    }

    /// Takes the places of one pending claim, from where the frame stands.
    [[nodiscard]] Progress advance(Frame& frame, HoldRef& blocker) {
        HoldRef const ref{frame.ref};
        while (frame.index < frame.count) {
            if (frame.place >= places_.count()) {  // read from a payload that is not this claim's
                HOLDFAST_ASSERT(!still_pending(ref));
                return Progress::decided;
            }
            HoldRef owner{};
            HoldWord word{};
            Step const step = take(ref, frame.place, owner, word);
            if (step == Step::decided) return Progress::decided;
            if (step == Step::taken && ++frame.index < frame.count)
                frame.place = frame.cursor.next();
            if (step != Step::occupied) continue;
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
        decide_won(ref);
        return Progress::decided;
    }
    void decide_won(HoldRef ref) {
        std::uint64_t expected = pending_word(ref).bits();
        // acq_rel: a helper's knowledge of the ends it saw must reach the claimer.
        // LINEARIZATION POINT of a successful claim.
        places_.slot_of(ref).word.compare_exchange_strong(
            expected, HoldWord(ref.generation(), State::won, 0).bits(), A::acq_rel, A::relaxed);
    }

    /// Judges a place whose owner was seen in a decided state that is not dead: `free` means that
    /// it changed and must be looked at again.
    [[nodiscard]] Sight judge(HoldRef owner, HoldWord word, TimePoint now, bool ends = true) {
        Sight const again{Sight::Kind::free, owner, word, 0};
        if (is_ending(word.state()))
            return ends_.finish_end(owner, word, now)
                       ? again
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
                auto const outcome =
                    ends_.end(owner, word, State::ending_expired, no_deadline,
                              [&] { return facts_.end(owner, State::ending_expired); });
                return outcome.kind == EndOutcome::Kind::no_space
                           ? Sight{Sight::Kind::no_space, owner, word, 0}
                           : again;
            }
        }
        return {Sight::Kind::taken, owner, word, deadline};
    }

    Places<A>& places_;
    Facts& facts_;
    Ends<A, Facts>& ends_;
};

}  // namespace holdfast::inventory
