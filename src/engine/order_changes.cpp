// Engine: what happens to an order later. Cancel, refund of single tickets, reseat.

#include "engine/engine_core.hpp"
#include "engine/entered.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <thread>

namespace holdfast::engine {
namespace {

using inventory::Change;
using inventory::ChangeOutcome;
using inventory::State;

/// A hold that the order still has, as it looked.
struct SoldHold {
    Sale* sale{};
    HoldName name;
    inventory::HoldLook look;
    std::vector<SeatIndex> seats;
};

/// A look at one hold of the order that waits out other verbs on it. Nothing: it has ended.
Result<std::optional<SoldHold>> look_at(Engine::Core& core, OrderId const& order,
                                        HoldName const& name) {
    SoldHold hold;
    hold.name = name;
    hold.sale = core.registry.find(name.event);
    if (hold.sale == nullptr || !hold.sale->ready()) return refuse(RefusalCode::not_found);
    for (int round = 0; round < looks_max; ++round) {
        auto const look = hold.sale->inventory().holds.look(name.ref, hold.seats);
        if (!look) return std::optional<SoldHold>{};
        if (look->word.state() == State::sold) {
            if (look->order != order) return refuse(RefusalCode::already_released);
            hold.look = *look;
            return std::optional{std::move(hold)};
        }
        if (look->word.state() != State::editing) return refuse(RefusalCode::already_released);
        std::this_thread::yield();
    }
    return refuse(RefusalCode::busy);
}

/// What the order still has; not empty.
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

/// Enters all of them, or none and false.
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

// The next three do one attempt. Nothing: a hold has changed meanwhile, look again.

std::optional<Result<Lsn>> cancel_once(Engine::Core& core, OrderId const& order,
                                       std::span<SoldHold const> holds, TimePoint now) {
    std::vector<HoldName> names;
    for (SoldHold const& hold : holds) names.push_back(hold.name);
    std::vector<std::byte> const payload = encode(CancelFact{order, now, keys_of(names)});
    Space space(core.journal, payload.size());
    if (!space.held()) return no_space(core.journal);
    Entered entered(State::sold, holds.size());
    std::vector<inventory::Edit> edits;
    edits.reserve(holds.size());
    if (!enter_all(holds, entered, edits)) return std::nullopt;
    Lsn const lsn = space.append(journal::RecordType::cancel, payload);
    entered.leave_all([](auto& each, inventory::Edit const& edit) { each.leave_dead(edit); });
    return lsn;
}

/// What a refund does to the holds of its order: some lose places, some lose all.
struct RefundPlan {
    RefundFact fact;
    std::map<Sale*, Change> changes;  // of holds that go on
    struct Listed {
        std::size_t hold{};  // index into the order's holds
        Sale* sale{};
        std::size_t list{};  // index into the lists of the sale's change
    };
    std::vector<Listed> going_on;
    std::vector<std::size_t> ending;  // holds that end
    std::size_t found{};              // places that are the order's
};

RefundPlan plan_refund(RefundCommand const& command, std::span<SoldHold const> holds,
                       TimePoint now) {
    RefundPlan plan;
    plan.fact.order = command.order;
    plan.fact.at = now;
    for (std::size_t i = 0; i < holds.size(); ++i) {
        SoldHold const& hold = holds[i];
        RefundFact::Part part;
        part.hold = {hold.name.event, hold.name.ref};
        std::vector<SeatIndex> left;
        for (SeatIndex const seat : hold.seats) {
            bool const goes = std::ranges::find(command.places, PlaceName{hold.name.event, seat}) !=
                              command.places.end();
            (goes ? part.seats : left).push_back(seat);
        }
        plan.found += part.seats.size();
        if (part.seats.empty()) continue;
        plan.fact.parts.push_back(std::move(part));
        if (left.empty()) {
            plan.ending.push_back(i);
            continue;
        }
        auto& lists = plan.changes[hold.sale].lists;
        plan.going_on.push_back({i, hold.sale, lists.size()});
        lists.push_back({{}, hold.seats, std::move(left)});
    }
    for (auto& [sale, change] : plan.changes) change.plan();
    return plan;
}

/// Makes the changes of all events ready, or none.
bool prepare_all(std::map<Sale*, Change>& changes, TimePoint now) {
    for (auto each = changes.begin(); each != changes.end(); ++each) {
        auto const outcome =
            each->first->inventory().edits.prepare(each->second, {now, no_deadline, 0});
        if (outcome.kind == ChangeOutcome::Kind::ready) continue;
        for (auto back = changes.begin(); back != each; ++back)
            back->first->inventory().edits.give_up(back->second);
        return false;
    }
    return true;
}

std::optional<Result<Lsn>> refund_once(Engine::Core& core, RefundPlan& plan,
                                       std::span<SoldHold const> holds, TimePoint now) {
    std::vector<std::byte> const payload = encode(plan.fact);
    Space space(core.journal, payload.size());
    if (!space.held()) return no_space(core.journal);
    // All holds of the order, so that of two refunds the later one sees what is left.
    Entered entered(State::sold, holds.size());
    std::vector<inventory::Edit> edits;
    edits.reserve(holds.size());
    if (!enter_all(holds, entered, edits)) return std::nullopt;
    for (auto const& [hold, sale, list] : plan.going_on)
        plan.changes[sale].lists[list].edit = edits[hold];
    if (!prepare_all(plan.changes, now)) return refuse(RefusalCode::busy);
    Lsn const lsn = space.append(journal::RecordType::edit, payload);
    entered.dismiss();
    for (auto& [sale, change] : plan.changes) sale->inventory().edits.apply(change, State::sold);
    std::vector<bool> gone_on(holds.size());
    for (auto const& listed : plan.going_on) gone_on[listed.hold] = true;
    for (std::size_t i = 0; i < holds.size(); ++i) {
        auto& inventory = holds[i].sale->inventory();
        if (std::ranges::find(plan.ending, i) != plan.ending.end()) {
            inventory.holds.leave_dead(edits[i]);
        } else if (!gone_on[i]) {
            inventory.holds.leave(edits[i], State::sold);
        }
    }
    return lsn;
}

/// What a reseat does: only the holds that have a ticket that moves.
struct ReseatPlan {
    ReseatFact fact;
    Change change;
    std::vector<SoldHold> holds;
    std::size_t found{};
};

ReseatPlan plan_reseat(ReseatCommand const& command, std::vector<SoldHold> holds, TimePoint now) {
    ReseatPlan plan;
    plan.fact.order = command.order;
    plan.fact.at = now;
    for (SoldHold& hold : holds) {
        ReseatFact::Part part;
        part.hold = {hold.name.event, hold.name.ref};
        std::vector<SeatIndex> after;
        for (SeatIndex const seat : hold.seats) {
            auto const move = hold.name.event != command.event
                                  ? command.moves.end()
                                  : std::ranges::find(command.moves, seat, &ReseatFact::Move::from);
            bool const stays = move == command.moves.end() || move->to == seat;
            if (move != command.moves.end()) ++plan.found;
            if (!stays) part.moves.push_back(*move);
            after.push_back(stays ? seat : move->to);
        }
        if (part.moves.empty()) continue;
        std::ranges::sort(after);
        plan.fact.parts.push_back(std::move(part));
        plan.change.lists.push_back({{}, hold.seats, std::move(after)});
        plan.holds.push_back(std::move(hold));
    }
    return plan;
}

/// A new place that cannot be had, whatever else happens.
std::optional<SeatIndex> impossible(Sale const& sale, ReseatPlan const& plan) {
    std::vector<SeatIndex> after;
    for (auto const& list : plan.change.lists)
        after.insert(after.end(), list.after.begin(), list.after.end());
    std::ranges::sort(after);
    // A ticket that stays is where another would go.
    if (auto const twice = std::ranges::adjacent_find(after); twice != after.end()) return *twice;
    for (SeatIndex const seat : after) {
        bool const had = std::ranges::any_of(plan.change.lists, [seat](auto const& list) {
            return std::ranges::binary_search(list.before, seat);
        });
        if (!had && !sale.inventory().geometry.for_sale(seat.value())) return seat;
    }
    return std::nullopt;
}

Refusal unavailable(Sale const& sale, SeatIndex seat, TimePoint now) {
    Refusal refusal = refuse(RefusalCode::seats_unavailable);
    refusal.seat = seat;
    refusal.seat_reason = sale.reason(seat, now);
    // Free by now: it was held within the call.
    if (refusal.seat_reason == SeatReason::none) refusal.seat_reason = SeatReason::held;
    return refusal;
}

std::optional<Result<Lsn>> reseat_once(Engine::Core& core, ReseatPlan& plan, TimePoint now) {
    Sale& sale = *plan.holds.front().sale;
    plan.change.plan();
    std::vector<std::byte> const payload = encode(plan.fact);
    Space space(core.journal, payload.size());
    if (!space.held()) return no_space(core.journal);
    Entered entered(State::sold, plan.holds.size());
    std::vector<inventory::Edit> edits;
    edits.reserve(plan.holds.size());
    if (!enter_all(plan.holds, entered, edits)) return std::nullopt;
    for (std::size_t i = 0; i < edits.size(); ++i) plan.change.lists[i].edit = edits[i];
    auto const outcome = sale.inventory().edits.prepare(
        plan.change, {now, no_deadline, plan.holds.front().look.holder});
    if (outcome.kind == ChangeOutcome::Kind::lost) return unavailable(sale, outcome.seat, now);
    // As many places after as before: no limit can be in the way.
    if (outcome.kind != ChangeOutcome::Kind::ready) return no_space(core.journal);
    Lsn const lsn = space.append(journal::RecordType::edit, payload);
    entered.dismiss();
    sale.inventory().edits.apply(plan.change, State::sold);
    return lsn;
}

}  // namespace

Result<Lsn> Engine::cancel(OrderId const& order, std::span<HoldName const> names, TimePoint now) {
    for (int round = 0; round < looks_max; ++round) {
        auto const holds = holds_of(*core_, order, names);
        if (!holds) return holds.error();
        if (auto const done = cancel_once(*core_, order, *holds, now)) return *done;
    }
    return refuse(RefusalCode::busy);
}

Result<RefundedOrder> Engine::refund(RefundCommand const& command, TimePoint now) {
    HOLDFAST_ASSERT(!command.places.empty());
    for (int round = 0; round < looks_max; ++round) {
        auto const holds = holds_of(*core_, command.order, command.holds);
        if (!holds) return holds.error();
        RefundPlan plan = plan_refund(command, *holds, now);
        if (plan.found != command.places.size()) return refuse(RefusalCode::already_released);
        bool const whole = plan.ending.size() == holds->size();
        auto const done = whole ? cancel_once(*core_, command.order, *holds, now)
                                : refund_once(*core_, plan, *holds, now);
        if (!done) continue;
        if (!*done) return done->error();
        return RefundedOrder{whole, **done};
    }
    return refuse(RefusalCode::busy);
}

Result<Lsn> Engine::reseat(ReseatCommand const& command, TimePoint now) {
    for (int round = 0; round < looks_max; ++round) {
        auto holds = holds_of(*core_, command.order, command.holds);
        if (!holds) return holds.error();
        ReseatPlan plan = plan_reseat(command, std::move(*holds), now);
        if (plan.found != command.moves.size()) return refuse(RefusalCode::already_released);
        if (plan.holds.empty()) return no_lsn;
        Sale const& sale = *plan.holds.front().sale;
        if (auto const seat = impossible(sale, plan)) return unavailable(sale, *seat, now);
        if (auto const done = reseat_once(*core_, plan, now)) return *done;
    }
    return refuse(RefusalCode::busy);
}

}  // namespace holdfast::engine
