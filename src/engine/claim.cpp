// Engine::claim: lines become places, places become one claim.

#include "engine/account_gate.hpp"
#include "engine/claiming.hpp"
#include "engine/engine_core.hpp"
#include "engine/hold_view.hpp"
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

/// Whether a kept verdict says that nothing at all is left for a wish without any filter: the
/// answer of nearly every request of a sold-out sale, so a few loads on one straight path without a
/// call.
[[gnu::always_inline]] inline bool nothing_left(ClaimCommand const& command, TimePoint now) {
    auto const* const inventory = static_cast<Sale const*>(command.event)->if_open(now);
    if (inventory == nullptr || command.lines.size() != 1) return false;
    ClaimLine const& line = *command.lines.data();
    BestWish const& best = line.best;
    if (line.kind != ClaimLine::Kind::best || best.accessible != 0) return false;
    if (!best.sections.empty() || !best.categories.empty() || best.zone) return false;
    return inventory->search.nothing_left(best.together, now);
}

/// Engine::sold_out for all wishes, of a sale that is open.
std::uint32_t refused(Search const& search, ClaimCommand const& command, TimePoint now) {
    static_assert(Search::not_refused == Engine::not_refused);
    if (command.lines.size() != 1) return Engine::not_refused;
    ClaimLine const& line = command.lines[0];
    if (line.kind == ClaimLine::Kind::general) return search.refused(line.section, line.count, now);
    BestWish const& best = line.best;
    if (line.kind != ClaimLine::Kind::best || best.accessible != 0) return Engine::not_refused;
    return search.refused(best.sections, best.categories, best.zone, best.quantity, best.together,
                          now);
}

/// Copied from here, so that Engine::claim needs no frame to make it in.
constexpr Refusal nothing_is_left{RefusalCode::sold_out};

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

/// Chooses and claims until the choice is won, and then in `view`, or refused.
std::optional<Refusal> claim_places(journal::Journal const& journal, ClaimCommand const& command,
                                    TimePoint now, std::vector<SeatIndex>& seats, Marking* marking,
                                    MarkBytes mark, HoldView& view) {
    Sale& sale = *static_cast<Sale*>(command.event);
    if (EventState const state = sale.state(now); state != EventState::open)
        return sale_is_shut(sale, state, now);
    SaleInventory& inventory = sale.inventory();
    std::uint32_t const left = refused(inventory.search, command, now);
    if (left != Engine::not_refused) return sold_out_with(left);
    if (!command.preview && journal.mode() != journal::Mode::running)
        return journal::read_only(journal);
    Patience patience(sale.turn_wait());
    AccountGate gate(sale, inventory::account_of(command.holder), now, patience);
    std::uint32_t const asked = places_asked(command);
    if (auto refusal = gate.foresee(command.partial ? 1 : asked)) return *refusal;
    thread_local Claiming::Scratch scratch;
    Claiming claiming(sale, command, now, asked, gate, seats, scratch);
    Holder const holder(HolderKind::buyer, command.holder);
    TimePoint const expires_at = now + command.ttl.value_or(sale.spec().policy.hold_ttl);
    int cooled = 0;  // so often a choice met what cools down for the account
    for (int races = 0; races < lost_races_max && cooled < lost_races_max;) {
        if (auto refusal = claiming.choose(races)) return *refusal;
        if (auto refusal = claiming.leaves_orphans()) return *refusal;
        HOLDFAST_ASSERT(!seats.empty());
        if (gate.meets_cooling(seats)) {  // now it has more to leave out
            ++cooled;
            continue;
        }
        inventory::HoldLook look;
        look.word = inventory::HoldWord(1, inventory::State::held, 0);
        look.expires_at = expires_at;
        look.asked = now;
        look.holder = holder.bits();
        if (command.preview) {
            view_into(view, sale, {sale.spec().id, HoldRef{}}, look, seats);
            return std::nullopt;
        }
        if (marking != nullptr)
            marking->prepare({{sale.spec().id, {}}, now, expires_at, holder.bits(), {}}, seats);
        auto const outcome = inventory.claims.claim(seats, {now, expires_at, holder.bits(), mark});
        if (outcome.kind == ClaimOutcome::Kind::busy) return no_space(journal);
        if (outcome.kind == ClaimOutcome::Kind::limited) {
            // A table larger than the party was our choice, not what was asked for.
            bool const by_table =
                outcome.limit == inventory::UserVerdict::units && claiming.forgo_tables();
            if (by_table) continue;
            auto const places = command.partial ? static_cast<std::uint32_t>(seats.size()) : asked;
            if (auto refusal = gate.refuse_limited(outcome.limit, places)) return *refusal;
            continue;
        }
        if (outcome.kind == ClaimOutcome::Kind::won) {
            if (marking != nullptr) marking->won(outcome.ref, outcome.lsn);
            view_into(view, sale, {sale.spec().id, outcome.ref}, look, seats);
            view.lsn = outcome.lsn;
            return std::nullopt;
        }
        if (claiming.asked_by_name(outcome.seat)) return unavailable(sale, outcome.seat, now);
        inventory.claims.unhint(outcome.seat.value());
        ++races;
    }
    return refuse(RefusalCode::busy);
}

/// The same with a mark in the CLAIM.
std::optional<Refusal> claim_marked(Engine::Core& core, ClaimCommand const& command, TimePoint now,
                                    std::vector<SeatIndex>& seats, HoldView& view) {
    Marking marking(core, command.mark, now);
    MarkBytes const mark = marking.of_claim();
    if (!marking.take_room()) return no_space(core.journal);
    return claim_places(core.journal, command, now, seats, &marking, mark, view);
}

/// Engine::claim where something may be left. Kept out of that, whose usual answer in a sold-out
/// sale needs none of this frame. The answer is made where the caller wants it.
[[gnu::noinline]] Result<HoldView> claim_further(Engine::Core& core, ClaimCommand const& command,
                                                 TimePoint now, std::vector<SeatIndex>& seats) {
    Result<HoldView> answer{boost::system::in_place_value};
    bool const marked = command.mark != nullptr && !command.preview;
    auto const refusal =
        marked ? claim_marked(core, command, now, seats, *answer)
               : claim_places(core.journal, command, now, seats, nullptr, {}, *answer);
    if (refusal) answer = *refusal;
    return answer;
}

}  // namespace

std::uint32_t Engine::sold_out(ClaimCommand const& command, TimePoint now) noexcept {
    if (nothing_left(command, now)) return 0;
    auto const* const inventory = static_cast<Sale const*>(command.event)->if_open(now);
    return inventory == nullptr ? not_refused : refused(inventory->search, command, now);
}

// Without a stack guard, which GCC would set for the caller's place of the answer: nothing of it is
// on the stack.
[[gnu::no_stack_protector]] Result<HoldView> Engine::claim(ClaimCommand const& command,
                                                           TimePoint now,
                                                           std::vector<SeatIndex>& seats) {
    if (nothing_left(command, now)) return nothing_is_left;
    return claim_further(*core_, command, now, seats);
}

}  // namespace holdfast::engine
