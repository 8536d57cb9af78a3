// Planted orders: the accesses whose order the protocol needs, each to be weakened in turn.
//
// Purpose: tests/planted/run.sh demands that a suite finds a fault with each. The access is found
// by its text in the header, so a change of the header that loses it is noticed.
// Thread safety: constants.
#pragma once

#include "tests/memory_model/weak_order.hpp"

#include <array>

namespace holdfast::test {

struct PlantedOrder {
    char const* name;
    char const* file;   // below include/holdfast
    char const* after;  // a text before the access, or ""
    char const* code;   // the line on which the call begins
    Order from, to;
};

inline constexpr Order rlx = Order::relaxed;
inline constexpr Order acq = Order::acquire;
inline constexpr Order rel = Order::release;
inline constexpr Order both = Order::acq_rel;

inline constexpr std::array planted_orders{
    // A claim: publication, payload, owners, decision.
    PlantedOrder{"relaxed_publish", "inventory/claims.hpp", "",
                 "record.word.store(Taking<A, Facts>::pending_word(ref)", rel, rlx},
    PlantedOrder{"relaxed_owner_read", "inventory/taking.hpp", "Step take(",
                 "owner_word.load(A::acquire)", acq, rlx},
    PlantedOrder{"relaxed_word_read", "inventory/taking.hpp", "Step take(",
                 "places_.slot_of(owner).word.load(A::acquire)", acq, rlx},
    PlantedOrder{"relaxed_owner_cas", "inventory/taking.hpp", "Step take(",
                 "owner_word.compare_exchange_strong(current", both, acq},
    PlantedOrder{"relaxed_won", "inventory/taking.hpp", "LINEARIZATION POINT of a successful claim",
                 "word.compare_exchange_strong(", both, acq},
    PlantedOrder{"relaxed_decision_read", "inventory/claims.hpp", "ClaimOutcome win(",
                 "word.load(A::acquire)", acq, rlx},
    PlantedOrder{"relaxed_held", "inventory/claims.hpp", "ClaimOutcome claim(",
                 "word.store(HoldWord(ref.generation(), State::held", rel, rlx},
    PlantedOrder{"relaxed_settled_word", "inventory/taking.hpp", "Sight settle(",
                 "slot.word.load(A::acquire)", acq, rlx},
    // An end.
    PlantedOrder{"relaxed_dead", "inventory/ends.hpp", "void bury(",
                 "slot.word.compare_exchange_strong(expected", both, acq},
    PlantedOrder{"relaxed_fired_word", "inventory/holds.hpp", "fire(SlotIndex",
                 "slot.word.load(A::acquire)", acq, rlx},
    // Slots used again.
    PlantedOrder{"relaxed_pop", "inventory/slot.hpp", "std::uint32_t pop()",
                 "head_.compare_exchange_weak(", both, rel},
    PlantedOrder{"relaxed_pop_look", "inventory/slot.hpp", "std::uint32_t pop()",
                 "head_.load(A::acquire)", acq, rlx},
    PlantedOrder{"relaxed_pop_again", "inventory/slot.hpp", "std::uint32_t pop()",
                 "head_.compare_exchange_weak(", acq, rlx},
    PlantedOrder{"relaxed_push", "inventory/slot.hpp", "void push(", "head_.compare_exchange_weak(",
                 rel, rlx},
    // Hints and verdicts.
    PlantedOrder{"relaxed_hint_set", "inventory/places.hpp", "void set_hints(",
                 "fetch_or(bits, A::release)", rel, rlx},
    PlantedOrder{"relaxed_hint_clear", "inventory/places.hpp", "void clear_hint(",
                 "fetch_and(~bit(place), A::acquire)", acq, rlx},
    PlantedOrder{"relaxed_frees_read", "inventory/places.hpp", "section_frees(std::uint32_t",
                 "value.load(A::acquire)", acq, rlx},
    PlantedOrder{"relaxed_frees_count", "inventory/places.hpp", "void count_section_free(",
                 "value.fetch_add(places, A::release)", rel, rlx},
    // Sums of free counts.
    PlantedOrder{"relaxed_counted_change", "inventory/free_counts.hpp", "void add(",
                 "count.value.fetch_add(places, A::acq_rel)", both, rel},
    PlantedOrder{"relaxed_watched_count", "inventory/free_counts.hpp", "most_watched(",
                 "count.value.fetch_add(0, A::acq_rel)", both, acq},
    // Verdicts that nothing fits.
    PlantedOrder{"relaxed_fit_look", "inventory/fit_verdicts.hpp", "refuses(std::uint32_t",
                 "entry.verdict.load(A::acquire)", acq, rlx},
    PlantedOrder{"relaxed_fit_deadline", "inventory/fit_verdicts.hpp", "refuses(std::uint32_t",
                 "entry.until.load(A::acquire)", acq, rlx},
    PlantedOrder{"relaxed_fit_words", "inventory/fit_verdicts.hpp", "refuses(std::uint32_t",
                 "entry.words.load(A::acquire)", acq, rlx},
    PlantedOrder{"relaxed_fit_kept_deadline", "inventory/fit_verdicts.hpp", "void keep(",
                 "entry.until.store(", rel, rlx},
    PlantedOrder{"relaxed_fit_kept_words", "inventory/fit_verdicts.hpp", "void keep(",
                 "entry.words.store(", rel, rlx},
    PlantedOrder{"relaxed_fit_kept", "inventory/fit_verdicts.hpp", "void keep(",
                 "entry.verdict.store(", rel, rlx},
    // Notes on rows.
    PlantedOrder{"relaxed_row_frees", "inventory/row_notes.hpp", "frees(std::uint32_t",
                 "states_.get()[rank].load(A::acquire)", acq, rlx},
    PlantedOrder{"relaxed_row_freed", "inventory/row_notes.hpp", "void freed(",
                 "fetch_add(1U << kind_bits, A::acq_rel)", both, acq},
    PlantedOrder{"relaxed_mark", "inventory/row_notes.hpp", "void mark(std::uint32_t",
                 "fetch_or(of, A::acq_rel)", both, acq},
    PlantedOrder{"relaxed_mark_look", "inventory/row_notes.hpp", "void mark(std::uint32_t",
                 "fetch_or(of, A::acq_rel)", both, rel},
    PlantedOrder{"relaxed_look_for_takers", "inventory/places.hpp", "hint_word_in_order(",
                 "fetch_or(0, A::acq_rel)", both, acq},
    PlantedOrder{"relaxed_taker", "inventory/places.hpp", "void clear_hints(",
                 "fetch_and(~mask, A::acquire)", acq, rlx},
    // Changes of live holds.
    PlantedOrder{"relaxed_move", "inventory/edits.hpp", "void move(", "owner.store(to.bits()", rel,
                 rlx},
    PlantedOrder{"relaxed_fresh_dead", "inventory/edits.hpp", "void bury_fresh(",
                 ".word.store(HoldWord(change.fresh", rel, rlx},
    PlantedOrder{"relaxed_leave", "inventory/holds.hpp", "void leave(", "word.store(", rel, rlx},
    PlantedOrder{"relaxed_new_deadline", "inventory/holds.hpp", "void leave_extended(",
                 "slot.expires_at.store(", rel, rlx},
    PlantedOrder{"relaxed_new_holder", "inventory/holds.hpp", "void leave_extended(",
                 "slot.holder.store(", rel, rlx},
    PlantedOrder{"relaxed_look", "inventory/holds.hpp", "look(HoldRef",
                 "word{slot.word.load(A::acquire)}", acq, rlx},
    PlantedOrder{"relaxed_look_at_holder", "inventory/holds.hpp", "look(HoldRef",
                 "slot.holder.load(A::acquire)", acq, rlx},
    PlantedOrder{"relaxed_look_at_deadline", "inventory/holds.hpp", "look(HoldRef",
                 "slot.expires_at.load(A::acquire)", acq, rlx},
    PlantedOrder{"relaxed_shown_word", "inventory/holds.hpp", "display(std::uint32_t",
                 "slot.word.load(A::acquire)", acq, rlx},
    // The wheel.
    PlantedOrder{"relaxed_arm", "timer/wheel.hpp", "void arm(", "exchange(1, A::acq_rel)", both,
                 acq},
    PlantedOrder{"relaxed_drop", "timer/wheel.hpp", "void drop(", "exchange(0, A::acq_rel)", both,
                 rel},
    PlantedOrder{"relaxed_inbox_push", "timer/wheel.hpp", "void arm(",
                 "inbox_.compare_exchange_weak(head", rel, rlx},
    PlantedOrder{"relaxed_inbox_take", "timer/wheel.hpp", "void drive(", "inbox_.exchange(0", acq,
                 rlx},
    PlantedOrder{"relaxed_driver", "timer/wheel.hpp", "void advance(", "driven_.exchange(1", acq,
                 rlx},
    PlantedOrder{"relaxed_driver_in_passing", "timer/wheel.hpp", "bool settle(",
                 "driven_.exchange(1", acq, rlx},
    PlantedOrder{"relaxed_driver_done", "timer/wheel.hpp", "void advance(", "driven_.store(0", rel,
                 rlx},
    PlantedOrder{"relaxed_driver_done_in_passing", "timer/wheel.hpp", "bool settle(",
                 "driven_.store(0", rel, rlx},
    PlantedOrder{"relaxed_settled", "timer/wheel.hpp", "void raise_settled(", "settled_.store(ms",
                 rel, rlx},
    PlantedOrder{"relaxed_settled_look", "timer/wheel.hpp", "bool settled(",
                 "settled_.load(A::acquire)", acq, rlx},
    // Accounts.
    PlantedOrder{"relaxed_note_load", "inventory/cool_downs.hpp", "void note(",
                 "word.load(A::acquire)", acq, rlx},
    PlantedOrder{"relaxed_note", "inventory/cool_downs.hpp", "void note(",
                 "compare_exchange_weak(seen, noted", both, rlx},
    PlantedOrder{"relaxed_note_again", "inventory/cool_downs.hpp", "void note(",
                 "compare_exchange_weak(seen, noted", acq, rlx},
    PlantedOrder{"relaxed_give_back", "inventory/user_limits.hpp", "void change(",
                 "word.fetch_add(", both, acq},
    PlantedOrder{"relaxed_reserve", "inventory/user_limits.hpp", "UserVerdict fly(",
                 "word.compare_exchange_weak(", both, rel},
};

}  // namespace holdfast::test
