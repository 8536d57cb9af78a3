#include "engine/sold_holds.hpp"

#include "engine/marking.hpp"

#include <algorithm>

namespace holdfast::engine {

using inventory::State;

namespace {

/// A look at one hold of the order that waits out other verbs on it. Nothing: it has ended.
Result<std::optional<SoldHold>> look_at(Engine::Core& core, OrderId const& order,
                                        HoldName const& name) {
    SoldHold hold;
    hold.name = name;
    hold.sale = core.registry.find(name.event);
    if (hold.sale == nullptr || !hold.sale->ready()) return refuse(RefusalCode::not_found);
    Patience patience(core.options.turn_wait);
    do {
        auto const look = hold.sale->inventory().holds.look(name.ref, hold.seats);
        if (!look) return std::optional<SoldHold>{};
        if (look->word.state() == State::sold) {
            if (look->order != order) return refuse(RefusalCode::already_released);
            hold.look = *look;
            return std::optional{std::move(hold)};
        }
        if (look->word.state() != State::editing) return refuse(RefusalCode::already_released);
    } while (patience.lasts());
    return refuse(RefusalCode::busy);
}

}  // namespace

Result<std::vector<SoldHold>> holds_of(Engine::Core& core, OrderId const& order,
                                       std::span<HoldName const> names) {
    std::vector<SoldHold> holds;
    for (HoldName const& name : names) {
        auto hold = look_at(core, order, name);
        if (!hold) return hold.error();
        if (*hold) holds.push_back(std::move(**hold));
    }
    if (holds.empty()) return refuse(RefusalCode::already_released);
    return holds;
}

MarkBytes mark_of_change(Marking& marking, std::span<SoldHold const> holds,
                         ChangeAnswer const* after) {
    if (!marking.wanted()) return {};
    HOLDFAST_ASSERT(after != nullptr);
    for (SoldHold const& hold : holds) marking.keep_until(end_of(hold.sale->spec()));
    return marking.of(*after);
}

bool enter_all(std::span<SoldHold const> holds, Entered& entered,
               std::vector<inventory::Edit>& edits) {
    for (SoldHold const& hold : holds) {
        auto const edit =
            hold.sale->inventory().holds.enter(hold.name.ref, hold.look.word, State::editing);
        if (!edit) return false;
        entered.add(*hold.sale, *edit);
        edits.push_back(*edit);
    }
    return true;
}

std::optional<Refusal> refuse_parted(Sale const& sale, std::vector<SeatIndex>& seats) {
    std::ranges::sort(seats);
    auto const broken = sale.spec().layout.broken_group(seats);
    if (!broken) return std::nullopt;
    Refusal refusal = refuse(RefusalCode::inseparable_group);
    refusal.seat = broken->first;
    return refusal;
}

}  // namespace holdfast::engine
