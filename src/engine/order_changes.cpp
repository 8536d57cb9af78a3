// Engine: what ends in an order later. Cancel, refund of single tickets.

#include "engine/engine_core.hpp"
#include "engine/entered.hpp"
#include "engine/marking.hpp"
#include "engine/sold_holds.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace holdfast::engine {
namespace {

using inventory::Change;
using inventory::ChangeOutcome;
using inventory::State;

// The next two do one attempt. Nothing: a hold has changed meanwhile, look again.

std::optional<Result<Lsn>> cancel_once(Engine::Core& core, OrderId const& order,
                                       std::span<SoldHold const> holds, TimePoint now,
                                       Mark const* mark, ChangeAnswer const* after) {
    std::vector<HoldName> names;
    for (SoldHold const& hold : holds) names.push_back(hold.name);
    CancelFact fact{order, now, keys_of(names)};
    Marking marking(core, mark, now);
    fact.mark = mark_of_change(marking, holds, after);
    std::vector<std::byte> const payload = encode(fact);
    Space space(core.journal, payload.size());
    if (!space.held()) return no_space(core.journal);
    Entered entered(State::sold, holds.size());
    std::vector<inventory::Edit> edits;
    edits.reserve(holds.size());
    if (!enter_all(holds, entered, edits)) return std::nullopt;
    Lsn const lsn = space.append(journal::RecordType::cancel, payload);
    entered.leave_all([](auto& each, inventory::Edit const& edit) { each.leave_dead(edit); });
    marking.written(lsn);
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
    std::vector<std::size_t> ending;               // holds that end
    std::map<Sale*, std::vector<SeatIndex>> left;  // to the order, of holds that go on or stay
    std::size_t found{};                           // places that are the order's
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
        auto& all_left = plan.left[hold.sale];
        all_left.insert(all_left.end(), left.begin(), left.end());
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
                                       std::span<SoldHold const> holds, TimePoint now,
                                       MarkedChange const& marked) {
    Marking marking(core, marked.mark, now);
    plan.fact.mark = mark_of_change(marking, holds, &marked.after);
    std::vector<std::byte> const payload = encode(plan.fact);
    Space space(core.journal, payload.size());
    if (!space.held()) return no_space(core.journal);
    // All holds of the order, so that of two refunds the later one sees what is left.
    Entered entered(State::sold, holds.size());
    std::vector<inventory::Edit> edits;
    edits.reserve(holds.size());
    // Now: nothing may fail once the record is there.
    std::vector<bool> gone_on(holds.size());
    for (auto const& listed : plan.going_on) gone_on[listed.hold] = true;
    if (!enter_all(holds, entered, edits)) return std::nullopt;
    for (auto const& [hold, sale, list] : plan.going_on)
        plan.changes[sale].lists[list].edit = edits[hold];
    if (!prepare_all(plan.changes, now)) return refuse(RefusalCode::busy);
    Lsn const lsn = space.append(journal::RecordType::edit, payload);
    entered.dismiss();
    for (auto& [sale, change] : plan.changes) sale->inventory().edits.apply(change, State::sold);
    for (std::size_t i = 0; i < holds.size(); ++i) {
        auto& inventory = holds[i].sale->inventory();
        if (std::ranges::find(plan.ending, i) != plan.ending.end()) {
            inventory.holds.leave_dead(edits[i]);
        } else if (!gone_on[i]) {
            inventory.holds.leave(edits[i], State::sold);
        }
    }
    marking.written(lsn);
    return lsn;
}

}  // namespace

Result<Lsn> Engine::cancel(OrderId const& order, std::span<HoldName const> names, TimePoint now,
                           MarkedChange const& marked) {
    Patience patience(core_->options.turn_wait);
    do {
        auto const holds = holds_of(*core_, order, names);
        if (!holds) return holds.error();
        auto const done = cancel_once(*core_, order, *holds, now, marked.mark, &marked.after);
        if (done) return *done;
    } while (patience.lasts());
    return refuse(RefusalCode::busy);
}

Result<RefundedOrder> Engine::refund(RefundCommand const& command, TimePoint now) {
    HOLDFAST_ASSERT(!command.places.empty());
    Patience patience(core_->options.turn_wait);
    do {
        auto const holds = holds_of(*core_, command.order, command.holds);
        if (!holds) return holds.error();
        RefundPlan plan = plan_refund(command, *holds, now);
        if (plan.found != command.places.size()) return refuse(RefusalCode::already_released);
        for (auto& [sale, left] : plan.left)
            if (auto const refusal = refuse_parted(*sale, left)) return *refusal;
        bool const whole = plan.ending.size() == holds->size();
        auto const done = whole ? cancel_once(*core_, command.order, *holds, now,
                                              command.marked.mark, command.after_all)
                                : refund_once(*core_, plan, *holds, now, command.marked);
        if (!done) continue;
        if (!*done) return done->error();
        return RefundedOrder{whole, **done};
    } while (patience.lasts());
    return refuse(RefusalCode::busy);
}

}  // namespace holdfast::engine
