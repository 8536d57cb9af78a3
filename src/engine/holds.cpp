// Engine: read, release and extend a hold.

#include "engine/account_gate.hpp"
#include "engine/engine_core.hpp"
#include "engine/entered.hpp"
#include "engine/hold_view.hpp"
#include "engine/marking.hpp"

#include <algorithm>

namespace holdfast::engine {
namespace {

using inventory::EndOutcome;
using inventory::State;

}  // namespace

Result<FoundHold> find_hold(Engine::Core& core, HoldName const& hold, TimePoint now,
                            std::vector<SeatIndex>* seats, Patience& patience) {
    Sale* const sale = core.registry.find(hold.event);
    if (sale == nullptr || !sale->ready()) return refuse(RefusalCode::not_found);
    do {
        auto const look = sale->inventory().holds.look(hold.ref, seats);
        if (look && is_ending(look->word.state())) {
            // Its places are free before anybody hears that it has ended.
            if (!sale->inventory().claims.finish_end(hold.ref, look->word, now))
                return no_space(core.journal);
            continue;
        }
        if (!look)
            return refuse(sale->inventory().facts.was_released(hold.ref)
                              ? RefusalCode::already_released
                              : RefusalCode::hold_expired);
        if (look->word.state() == State::sold) return FoundHold{sale, *look};
        if (look->word.state() != State::held) continue;  // another verb is at work on it
        if (look->expires_at > now) return FoundHold{sale, *look};
        auto const outcome =
            sale->inventory().claims.end(hold.ref, look->word, State::ending_expired);
        if (outcome.kind == EndOutcome::Kind::no_space) return no_space(core.journal);
        if (outcome.kind == EndOutcome::Kind::lost) continue;
        Refusal refusal = refuse(RefusalCode::hold_expired);
        refusal.at = look->expires_at;
        return refusal;
    } while (patience.lasts());
    return refuse(RefusalCode::busy);
}

Result<HoldView> Engine::read(HoldName const& hold, TimePoint now,
                              std::vector<SeatIndex>& seats) const {
    Patience patience(core_->options.turn_wait);
    auto const found = find_hold(*core_, hold, now, &seats, patience);
    if (found) return view_of(*found->sale, hold, found->look, seats);
    // An expired hold that cannot be ended now is expired all the same; reads need no journal.
    bool const no_room = found.error().code == RefusalCode::overloaded ||
                         found.error().code == RefusalCode::read_only;
    return no_room ? refuse(RefusalCode::hold_expired) : found.error();
}

EndOutcome end_as_seen(FoundHold const& found, HoldRef ref, TimePoint now, Marking& marking) {
    State const cause =
        Holder{found.look.holder}.is_block() ? State::ending_staff : State::ending_released;
    SaleInventory& inventory = found.sale->inventory();
    MarkBytes mark;
    if (marking.wanted()) mark = marking.of(EndAnswer{{found.sale->spec().id, ref}});
    if (!marking.take_room()) return {EndOutcome::Kind::no_space, {}};
    auto const outcome = inventory.claims.end(
        ref, found.look.word, cause, now, [&] { return inventory.facts.end(ref, cause, mark); });
    if (outcome.kind == EndOutcome::Kind::ended)
        marking.written(outcome.lsn);
    else
        marking.give_room_back();
    return outcome;
}

Result<Lsn> end_hold(Engine::Core& core, HoldName const& hold, TimePoint now,
                     std::optional<Refusal> (*objection)(inventory::HoldLook const&),
                     Mark const* mark) {
    Marking marking(core, mark, now);
    Patience patience(core.options.turn_wait);
    do {
        auto const found = find_hold(core, hold, now, nullptr, patience);
        if (!found) {
            bool const ended = found.error().code == RefusalCode::hold_expired ||
                               found.error().code == RefusalCode::already_released;
            if (!ended) return found.error();
            // Said again it is so again: a mark would only take room from those that matter.
            return no_lsn;
        }
        if (auto refusal = objection(found->look)) return *refusal;
        auto const outcome = end_as_seen(*found, hold.ref, now, marking);
        if (outcome.kind == EndOutcome::Kind::ended) return outcome.lsn;
        if (outcome.kind == EndOutcome::Kind::no_space) return no_space(core.journal);
    } while (patience.lasts());
    return refuse(RefusalCode::busy);
}

Result<Lsn> Engine::release(HoldName const& hold, TimePoint now, Mark const* mark) {
    auto const objection = [](inventory::HoldLook const& look) -> std::optional<Refusal> {
        if (look.word.state() != State::sold) return std::nullopt;
        Refusal refusal = refuse(RefusalCode::already_confirmed);
        refusal.order = look.order;
        return refusal;
    };
    return end_hold(*core_, hold, now, objection, mark);
}

namespace {

/// No edit of this hold is possible any more, however often somebody tries.
Refusal worn_out_extension() {
    Refusal refusal = refuse(RefusalCode::extension_refused);
    refusal.extension_reason = ExtensionReason::used_up;
    return refusal;
}

/// What an extension comes to, or why it is refused.
Result<TimePoint> extended_deadline(EventPolicy const& policy, inventory::HoldLook const& look,
                                    Milliseconds by, TimePoint now) {
    Refusal refusal = refuse(RefusalCode::extension_refused);
    if (Holder{look.holder}.extensions() >= policy.max_extensions) {
        refusal.extension_reason = ExtensionReason::used_up;
        return refusal;
    }
    TimePoint const wanted = std::min(now + by, look.asked + policy.hold_max_life);
    if (look.expires_at >= look.asked + policy.hold_max_life) {
        refusal.extension_reason = ExtensionReason::max_life;
        return refusal;
    }
    return std::max(wanted, look.expires_at);
}

}  // namespace

Result<HoldView> Engine::extend(HoldName const& hold, Milliseconds by, TimePoint now,
                                std::vector<SeatIndex>& seats, Mark const* mark) {
    Marking marking(*core_, mark, now);
    Patience patience(core_->options.turn_wait);
    do {
        auto const found = find_hold(*core_, hold, now, &seats, patience);
        if (!found) return found.error();
        Sale& sale = *found->sale;
        inventory::HoldLook look = found->look;
        if (look.word.state() == State::sold) {
            Refusal refusal = refuse(RefusalCode::already_confirmed);
            refusal.order = look.order;
            return refusal;
        }
        if (auto refusal = refuse_block(look, HeldAs::held)) return *refusal;
        // To hold longer is bound by what binds a claim.
        if (EventState const state = sale.state(now); state != EventState::open)
            return sale_is_shut(sale, state, now);
        AccountGate const gate(sale, inventory::account_of(look.holder), now, patience);
        if (auto const refusal = gate.spent()) return *refusal;
        if (sale.inventory().holds.is_worn_out(look.word)) return worn_out_extension();
        auto const deadline = extended_deadline(sale.spec().policy, look, by, now);
        if (!deadline) return deadline.error();
        // Asked for less than is left: nothing moves, so none is used up.
        if (*deadline == look.expires_at) {
            auto const marked = marking.unchanged(hold, look, seats);
            if (!marked) return marked.error();
            HoldView view = view_of(sale, hold, look, seats);
            view.lsn = *marked;
            return view;
        }
        look.expires_at = *deadline;
        look.holder = Holder{look.holder}.extended().bits();
        // Encoded first: nothing may fail once the hold is in `editing`.
        auto const payload = encode(EditFact{
            {hold.event, hold.ref}, look.holder, look.expires_at, marking.of(hold, look, seats)});
        Space space(core_->journal, payload.size());
        if (!space.held()) return no_space(core_->journal);
        auto const edit = sale.inventory().holds.enter(hold.ref, look.word, State::editing);
        if (!edit) continue;
        Lsn const lsn = space.append(journal::RecordType::edit, payload);
        sale.inventory().holds.leave_extended(*edit, look.expires_at, look.holder);
        marking.written(lsn);
        HoldView view = view_of(sale, hold, look, seats);
        view.lsn = lsn;
        return view;
    } while (patience.lasts());
    return refuse(RefusalCode::busy);
}

}  // namespace holdfast::engine
