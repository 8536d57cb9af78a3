// Engine::claim: lines become places, places become one claim.

#include "engine/account_gate.hpp"
#include "engine/claiming.hpp"
#include "engine/engine_core.hpp"
#include "engine/marking.hpp"

#include <holdfast/base/assert.hpp>

#include <algorithm>

namespace holdfast::engine {

Refusal unavailable(Sale const& sale, SeatIndex seat, TimePoint now) {
    Refusal refusal = refuse(RefusalCode::seats_unavailable);
    refusal.seat = seat;
    refusal.seat_reason = sale.reason(seat, now);
    // Free by now: it was held within the call.
    if (refusal.seat_reason == SeatReason::none) refusal.seat_reason = SeatReason::held;
    return refusal;
}

Refusal sale_is_shut(Sale const& sale, EventState state, TimePoint now) {
    HOLDFAST_ASSERT(state != EventState::open);
    Refusal refusal;
    refusal.at = no_deadline;
    switch (state) {
        case EventState::open:
            break;
        case EventState::draft:
            refusal.code = RefusalCode::not_found;
            break;
        case EventState::preparing:
        case EventState::scheduled:
            refusal.code = RefusalCode::sale_not_open;
            if (sale.spec().opens_at) refusal.at = sale.spec().opens_at->at;
            break;
        case EventState::paused:
            refusal.code = RefusalCode::sale_not_open;
            break;
        case EventState::closed:
        case EventState::cancelled:
            refusal.code = RefusalCode::sale_closed;
            if (sale.spec().closes_at) refusal.at = std::min(now, sale.spec().closes_at->at);
            break;
    }
    return refusal;
}

namespace {

using inventory::ClaimOutcome;
using Search = decltype(SaleInventory::search);

/// Engine::sold_out for wishes without any filter: the answer of nearly every request of a sold-out
/// sale, so a few loads on one straight path without a call.
[[gnu::always_inline]] inline std::uint32_t refused_anywhere(ClaimCommand const& command,
                                                             TimePoint now) {
    static_assert(Search::not_refused == Engine::not_refused);
    auto const* const inventory = static_cast<Sale const*>(command.event)->if_open(now);
    if (inventory == nullptr || command.lines.size() != 1) return Engine::not_refused;
    ClaimLine const& line = *command.lines.data();
    BestWish const& best = line.best;
    if (line.kind != ClaimLine::Kind::best || best.accessible != 0) return Engine::not_refused;
    if (!best.sections.empty() || !best.categories.empty() || best.zone) return Engine::not_refused;
    return inventory->search.refused(best.quantity, best.together, now);
}

/// The same for the other wishes. Out of line, because its frame would be that of all.
[[gnu::noinline]] std::uint32_t refused_in_part(ClaimCommand const& command, TimePoint now) {
    auto const* const inventory = static_cast<Sale const*>(command.event)->if_open(now);
    if (inventory == nullptr || command.lines.size() != 1) return Engine::not_refused;
    Search const& search = inventory->search;
    ClaimLine const& line = command.lines[0];
    if (line.kind == ClaimLine::Kind::general) return search.refused(line.section, line.count, now);
    BestWish const& best = line.best;
    if (line.kind != ClaimLine::Kind::best || best.accessible != 0) return Engine::not_refused;
    return search.refused(best.sections, best.categories, best.zone, best.quantity, best.together,
                          now);
}

Refusal sold_out_with(std::uint32_t left) {
    Refusal refusal;
    refusal.code = RefusalCode::sold_out;
    refusal.number = left;
    return refusal;
}

std::uint32_t places_asked(ClaimCommand const& command) {
    std::size_t places = 0;
    for (ClaimLine const& line : command.lines) {
        if (line.kind == ClaimLine::Kind::seats)
            places += line.seats.size();
        else
            places += line.kind == ClaimLine::Kind::best ? line.best.quantity : line.count;
    }
    return static_cast<std::uint32_t>(places);
}

/// Chooses and claims until the choice is won or refused. Kept out of Engine::claim, whose usual
/// answer in a sold-out sale needs none of this frame.
[[gnu::noinline]] Result<HoldView> claim_places(journal::Journal const& journal,
                                                ClaimCommand const& command, TimePoint now,
                                                std::vector<SeatIndex>& seats, Marking* marking,
                                                MarkBytes mark) {
    Sale& sale = *static_cast<Sale*>(command.event);
    if (EventState const state = sale.state(now); state != EventState::open)
        return sale_is_shut(sale, state, now);
    std::uint32_t const left = refused_in_part(command, now);
    if (left != Engine::not_refused) return sold_out_with(left);
    if (!command.preview && journal.mode() != journal::Mode::running)
        return refuse(RefusalCode::read_only);
    SaleInventory& inventory = sale.inventory();
    AccountGate gate(sale, inventory::account_of(command.holder), now);
    std::uint32_t const asked = places_asked(command);
    if (auto refusal = gate.foresee(asked)) return *refusal;
    thread_local Claiming::Scratch scratch;
    Claiming claiming(sale, command, now, asked, gate, seats, scratch);
    Holder const holder(HolderKind::buyer, command.holder);
    TimePoint const expires_at = now + command.ttl.value_or(sale.spec().policy.hold_ttl);
    Patience patience(sale.turn_wait());
    for (int races = 0; races < lost_races_max;) {
        if (auto refusal = claiming.choose(races)) return *refusal;
        if (auto refusal = claiming.leaves_orphans()) return *refusal;
        HOLDFAST_ASSERT(!seats.empty());
        if (gate.meets_cooling(seats)) continue;  // now it has more to leave out
        inventory::HoldLook look;
        look.word = inventory::HoldWord(1, inventory::State::held, 0);
        look.expires_at = expires_at;
        look.asked = now;
        look.holder = holder.bits();
        if (command.preview) return view_of(sale, {sale.spec().id, HoldRef{}}, look, seats);
        if (marking != nullptr)
            marking->prepare({{sale.spec().id, {}}, now, expires_at, holder.bits(), {}}, seats);
        auto const outcome = inventory.claims.claim(seats, {now, expires_at, holder.bits(), mark});
        if (outcome.kind == ClaimOutcome::Kind::busy) return no_space(journal);
        if (outcome.kind == ClaimOutcome::Kind::limited) {
            // A table larger than the party was our choice, not what was asked for.
            bool const by_table =
                outcome.limit == inventory::UserVerdict::units && claiming.forgo_tables();
            if (by_table) continue;
            // Only claims of the same account under way are in the way.
            bool const by_others = outcome.limit == inventory::UserVerdict::busy;
            if (by_others && patience.lasts()) continue;
            return gate.refusal_of(outcome.limit);
        }
        if (outcome.kind == ClaimOutcome::Kind::won) {
            if (marking != nullptr) marking->won(outcome.ref, outcome.lsn);
            HoldView view = view_of(sale, {sale.spec().id, outcome.ref}, look, seats);
            view.lsn = outcome.lsn;
            return view;
        }
        if (claiming.asked_by_name(outcome.seat)) return unavailable(sale, outcome.seat, now);
        inventory.claims.unhint(outcome.seat.value());
        ++races;
    }
    return refuse(RefusalCode::busy);
}

/// The same with a mark in the CLAIM.
[[gnu::noinline]] Result<HoldView> claim_marked(Engine::Core& core, ClaimCommand const& command,
                                                TimePoint now, std::vector<SeatIndex>& seats) {
    Marking marking(core, command.mark, now);
    MarkBytes const mark = marking.of_claim();
    if (!marking.take_room()) return no_space(core.journal);
    return claim_places(core.journal, command, now, seats, &marking, mark);
}

}  // namespace

std::uint32_t Engine::sold_out(ClaimCommand const& command, TimePoint now) noexcept {
    std::uint32_t const left = refused_anywhere(command, now);
    return left != not_refused ? left : refused_in_part(command, now);
}

Result<HoldView> Engine::claim(ClaimCommand const& command, TimePoint now,
                               std::vector<SeatIndex>& seats) {
    std::uint32_t const left = refused_anywhere(command, now);
    if (left != not_refused) return sold_out_with(left);
    bool const marked = command.mark != nullptr && !command.preview;
    if (marked) return claim_marked(*core_, command, now, seats);
    return claim_places(core_->journal, command, now, seats, nullptr, {});
}

}  // namespace holdfast::engine
