// Engine: confirm holds as one order.

#include "engine/engine_core.hpp"
#include "engine/entered.hpp"
#include "engine/hold_view.hpp"
#include "engine/marking.hpp"

#include <holdfast/base/assert.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace holdfast::engine {
namespace {

using inventory::State;

/// Whether an order may still be made of a hold of this event.
bool may_confirm(Sale const& sale, TimePoint now) {
    switch (sale.state(now)) {
        case EventState::cancelled:
            return false;
        case EventState::closed:
            return sale.spec().policy.honour_open_holds;
        default:
            return true;
    }
}

Result<FoundHold> find_for_order(Engine::Core& core, HoldName const& hold, TimePoint now,
                                 std::vector<SeatIndex>& seats, Patience& patience) {
    auto found = find_hold(core, hold, now, &seats, patience);
    if (!found) return found;
    if (found->look.word.state() == State::sold) {
        Refusal refusal = refuse(RefusalCode::already_confirmed);
        refusal.order = found->look.order;
        return refusal;
    }
    if (auto refusal = refuse_block(found->look, HeldAs::sold)) return *refusal;
    if (!may_confirm(*found->sale, now)) return refuse(RefusalCode::sale_closed);
    return found;
}

/// Takes a hold into `confirming`, waiting out another verb on it.
Result<FoundHold> enter_order(Engine::Core& core, HoldName const& hold, TimePoint now,
                              std::vector<SeatIndex>& seats, Entered& entered, Patience& patience) {
    do {
        auto const found = find_for_order(core, hold, now, seats, patience);
        if (!found) return found.error();
        auto const edit =
            found->sale->inventory().holds.enter(hold.ref, found->look.word, State::confirming);
        if (!edit) continue;
        entered.add(*found->sale, *edit);
        return *found;
    } while (patience.lasts());
    return refuse(RefusalCode::busy);
}

/// In one order for all threads, so that no two of them wait for each other's holds.
std::vector<std::size_t> in_one_order(std::span<HoldName const> holds) {
    std::vector<std::size_t> order(holds.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [holds](std::size_t i) {
        return std::pair(holds[i].event, holds[i].ref.bits());
    });
    return order;
}

OrderAnswer answer_of(OrderFact const& fact, std::vector<std::vector<SeatIndex>> const& sold) {
    OrderAnswer answer{fact.order, fact.created_at, fact.method, fact.total, {}};
    for (std::size_t i = 0; i < sold.size(); ++i)
        answer.parts.push_back({fact.holds[i].event, sold[i]});
    return answer;
}

}  // namespace

Result<PlacedOrder> Engine::confirm(ConfirmCommand const& command, TimePoint now) {
    HOLDFAST_ASSERT(!command.holds.empty() && command.holds.size() <= limits::holds_per_order_max);
    OrderFact fact{command.order, now, command.method, 0, keys_of(command.holds)};
    std::size_t const plain_bytes = encode(fact).size();
    Space space(core_->journal, plain_bytes);
    if (!space.held()) return no_space(core_->journal);
    Marking marking(*core_, command.mark, now);
    Entered entered(State::held, command.holds.size());
    std::map<Sale const*, std::size_t> places;
    std::vector<std::vector<SeatIndex>> sold(command.holds.size());
    std::vector<SeatIndex> seats;
    Patience patience(core_->options.turn_wait);  // others wait for the holds that are in already
    for (std::size_t const index : in_one_order(command.holds)) {
        auto const found = enter_order(*core_, command.holds[index], now, seats, entered, patience);
        if (!found) return found.error();
        EventPolicy const& policy = found->sale->spec().policy;
        if ((places[found->sale] += seats.size()) > policy.max_per_order) {
            Refusal refusal = refuse(RefusalCode::user_limit);
            refusal.limit = LimitKind::order;
            refusal.number = policy.max_per_order;
            return refusal;
        }
        fact.total += total_price(*found->sale, seats);
        marking.keep_until(end_of(found->sale->spec()));
        sold[index] = seats;
    }
    if (marking.wanted()) fact.mark = marking.of(answer_of(fact, sold));
    auto const payload = encode(fact);
    if (!space.grow(payload.size() - plain_bytes)) return no_space(core_->journal);
    // From here on the order happens: its record first, then the places are sold.
    Lsn const lsn = space.append(journal::RecordType::order, payload);
    entered.leave_all(
        [&](auto& holds, inventory::Edit const& edit) { holds.leave_sold(edit, fact.order); });
    marking.written(lsn);
    return PlacedOrder{now, fact.total, lsn, std::move(sold)};
}

}  // namespace holdfast::engine
