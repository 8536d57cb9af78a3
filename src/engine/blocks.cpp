// Engine: staff blocks. Holds without a deadline, of up to 10,000 places.

#include "engine/engine_core.hpp"
#include "engine/hold_view.hpp"
#include "engine/marking.hpp"

#include <holdfast/base/assert.hpp>

#include <algorithm>

namespace holdfast::engine {
namespace {

using inventory::Choice;
using inventory::ClaimOutcome;
using inventory::HoldWord;
using inventory::State;

[[nodiscard]] Refusal unavailable(SeatIndex seat, SeatReason reason) {
    Refusal refusal = refuse(RefusalCode::seats_unavailable);
    refusal.seat = seat;
    refusal.seat_reason = reason;
    return refusal;
}

/// Fills `chosen` ascending with what can be blocked as the places look now. A look first, and the
/// claim afterwards: a claim of taken places would need slots, and a full house has none to spare.
[[nodiscard]] std::optional<Refusal> choose(Sale& sale, BlockCommand const& command, TimePoint now,
                                            std::vector<SeatIndex>& chosen) {
    chosen.clear();
    std::optional<Refusal> taken;
    for (SeatIndex const place : command.places) {
        SeatReason const reason = sale.reason(place, now);
        if (reason == SeatReason::none) {
            chosen.push_back(place);
        } else if (!taken) {
            taken = unavailable(place, reason);
            if (!command.skip_taken) return taken;
        }
    }
    if (command.quantity == 0) return chosen.empty() ? taken : std::nullopt;
    std::vector<SeatIndex> further;
    Choice const choice = sale.inventory().search.general(command.section, command.quantity,
                                                          command.places, now, further);
    if (choice.kind != Choice::Kind::chosen) {
        bool const busy = choice.kind == Choice::Kind::busy;
        Refusal refusal = refuse(busy ? RefusalCode::busy : RefusalCode::sold_out);
        refusal.number = choice.number;
        return refusal;
    }
    chosen.insert(chosen.end(), further.begin(), further.end());
    std::ranges::sort(chosen);
    return std::nullopt;
}

[[nodiscard]] std::optional<Refusal> shut(journal::Journal const& journal, Sale const& sale,
                                          TimePoint now) {
    if (!sale.ready()) {
        Refusal refusal = refuse(RefusalCode::sale_not_open);
        refusal.at = no_deadline;
        return refusal;
    }
    if (sale.state(now) == EventState::cancelled) return refuse(RefusalCode::sale_closed);
    if (journal.mode() != journal::Mode::running) return journal::read_only(journal);
    return std::nullopt;
}

}  // namespace

Result<HoldView> Engine::block(BlockCommand const& command, TimePoint now,
                               std::vector<SeatIndex>& seats) {
    HOLDFAST_ASSERT(!command.places.empty() || command.quantity > 0);
    HOLDFAST_ASSERT(command.places.size() + command.quantity <= limits::seats_per_claim_max);
    HOLDFAST_ASSERT(command.until - now >= core_->options.hold_ttl_min);
    Sale& sale = *static_cast<Sale*>(command.event);
    if (auto refusal = shut(core_->journal, sale, now)) return *refusal;
    Holder const holder(command.kind == BlockKind::not_for_sale ? HolderKind::staff_not_for_sale
                                                                : HolderKind::staff_block,
                        0);
    Marking marking(*core_, command.mark, now);
    MarkBytes const mark = marking.of_claim();
    if (!marking.take_room()) return no_space(core_->journal);
    for (int race = 0; race < lost_races_max; ++race) {
        if (auto refusal = choose(sale, command, now, seats)) return *refusal;
        marking.prepare({{sale.spec().id, {}}, now, command.until, holder.bits(), {}}, seats);
        auto const outcome =
            sale.inventory().claims.claim(seats, {now, command.until, holder.bits(), mark});
        if (outcome.kind == ClaimOutcome::Kind::busy) return no_space(core_->journal);
        if (outcome.kind == ClaimOutcome::Kind::won) {
            marking.won(outcome.ref, outcome.lsn);
            inventory::HoldLook look;
            look.word = HoldWord(1, State::held, 0);
            look.asked = now;
            look.expires_at = command.until;
            look.holder = holder.bits();
            HoldView view = view_of(sale, {sale.spec().id, outcome.ref}, look, seats);
            view.lsn = outcome.lsn;
            return view;
        }
        sale.inventory().claims.unhint(outcome.seat.value());
    }
    return refuse(RefusalCode::busy);
}

Result<Lsn> Engine::unblock(HoldName const& hold, TimePoint now, Mark const* mark) {
    auto const objection = [](inventory::HoldLook const& look) -> std::optional<Refusal> {
        if (Holder{look.holder}.is_block()) return std::nullopt;
        return refuse(RefusalCode::not_found);
    };
    return end_hold(*core_, hold, now, objection, mark);
}

BlockPage Engine::blocks(LiveEvent const& event, TimePoint now, SlotIndex after,
                         std::size_t limit) const {
    auto const& sale = static_cast<Sale const&>(event);
    BlockPage page;
    if (!sale.ready()) return page;
    auto& pool = sale.inventory().places.pool();
    std::vector<SeatIndex> seats;
    for (std::uint32_t slot = after.value() + 1; slot <= pool.count(); ++slot) {
        // acquire: status and payload reads; look() checks both again.
        HoldWord const word{pool[slot].word.load(Atomics::acquire)};
        if (word.state() != State::held) continue;
        if (!Holder{pool[slot].holder.load(Atomics::acquire)}.is_block()) continue;
        HoldRef const ref{word.generation(), SlotIndex{slot}};
        auto const look = sale.inventory().holds.look(ref, seats);
        bool const is_block = look && look->word.state() == State::held &&
                              Holder{look->holder}.is_block() && look->expires_at > now;
        if (!is_block) continue;
        if (page.items.size() == limit) {
            page.more = true;
            break;
        }
        bool const not_for_sale = Holder{look->holder}.kind() == HolderKind::staff_not_for_sale;
        page.items.push_back({{sale.spec().id, ref},
                              not_for_sale ? BlockKind::not_for_sale : BlockKind::blocked,
                              look->asked,
                              look->expires_at,
                              static_cast<std::uint32_t>(seats.size())});
    }
    return page;
}

}  // namespace holdfast::engine
