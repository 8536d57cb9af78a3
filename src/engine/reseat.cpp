// Engine::reseat: tickets of an order get other places.

#include "engine/marking.hpp"
#include "engine/sold_holds.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace holdfast::engine {
namespace {

using inventory::Change;
using inventory::ChangeOutcome;
using inventory::State;

/// What a reseat does: only the holds that have a ticket that moves.
struct ReseatPlan {
    ReseatFact fact;
    Change change;
    std::vector<SoldHold> holds;
    std::vector<SeatIndex> after;  // the order's places of the event, all holds together
    std::size_t found{};
};

ReseatPlan plan_reseat(ReseatCommand const& command, std::span<ReseatFact::Move const> moves,
                       std::vector<SoldHold> holds, TimePoint now) {
    ReseatPlan plan;
    plan.fact.order = command.order;
    plan.fact.at = now;
    for (SoldHold& hold : holds) {
        if (hold.name.event != command.event) continue;
        ReseatFact::Part part;
        part.hold = {hold.name.event, hold.name.ref};
        std::vector<SeatIndex> after;
        for (SeatIndex const seat : hold.seats) {
            auto const move = std::ranges::find(moves, seat, &ReseatFact::Move::from);
            bool const stays = move == moves.end() || move->to == seat;
            if (move != moves.end()) ++plan.found;
            if (!stays) part.moves.push_back(*move);
            after.push_back(stays ? seat : move->to);
        }
        plan.after.insert(plan.after.end(), after.begin(), after.end());
        if (part.moves.empty()) continue;
        std::ranges::sort(after);
        plan.fact.parts.push_back(std::move(part));
        plan.change.lists.push_back({{}, hold.seats, std::move(after)});
        plan.holds.push_back(std::move(hold));
    }
    return plan;
}

/// Gives the tickets that go to a section any places of it: those that other tickets of the same
/// request leave there, then free ones.
class PlacesOfSections {
public:
    PlacesOfSections(Sale& sale, ReseatCommand const& command, TimePoint now)
        : sale_(sale), command_(command), now_(now) {}

    /// Appends their moves; or why one of them gets none.
    [[nodiscard]] std::optional<Refusal> choose(std::vector<ReseatFact::Move>& moves) {
        std::set<SectionIndex> sections;
        for (auto const& [from, section] : command_.to_sections) sections.insert(section);
        for (SectionIndex const section : sections)
            if (auto refusal = choose_in(section, moves)) return refusal;
        return std::nullopt;
    }

private:
    [[nodiscard]] std::optional<Refusal> choose_in(SectionIndex section,
                                                   std::vector<ReseatFact::Move>& moves) {
        std::vector<SeatIndex> arriving;
        std::vector<SeatIndex> chosen;
        for (auto const& [from, to] : command_.to_sections) {
            bool const there = section_of(from) == section;
            if (to == section && there) {
                moves.push_back({from, from});
            } else if (to == section) {
                arriving.push_back(from);
            } else if (there) {
                chosen.push_back(from);
            }
        }
        for (auto const& move : command_.moves)
            if (section_of(move.from) == section) chosen.push_back(move.from);
        if (chosen.size() < arriving.size()) {
            auto const lacking = static_cast<std::uint32_t>(arriving.size() - chosen.size());
            auto const choice =
                sale_.inventory().search.general(section, lacking, {}, now_, chosen);
            using Kind = inventory::Choice::Kind;
            if (choice.kind != Kind::chosen) {
                Refusal refusal =
                    refuse(choice.kind == Kind::busy ? RefusalCode::busy : RefusalCode::sold_out);
                refusal.number = choice.number;
                refusal.seat = sale_.spec().layout.sections()[section.value()].first;
                return refusal;
            }
        }
        for (std::size_t i = 0; i < arriving.size(); ++i) moves.push_back({arriving[i], chosen[i]});
        return std::nullopt;
    }
    [[nodiscard]] SectionIndex section_of(SeatIndex place) const {
        return sale_.spec().layout.section_of(place);
    }

    Sale& sale_;
    ReseatCommand const& command_;
    TimePoint now_;
};

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

/// One attempt. Nothing: a hold or a place has changed meanwhile, look again.
std::optional<Result<Lsn>> reseat_once(Engine::Core& core, ReseatCommand const& command,
                                       ReseatPlan& plan, TimePoint now) {
    Sale& sale = *plan.holds.front().sale;
    plan.change.plan();
    Marking marking(core, command.marked.mark, now);
    plan.fact.mark = mark_of_change(marking, plan.holds, &command.marked.after);
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
    if (outcome.kind == ChangeOutcome::Kind::lost) {
        bool const asked_for = std::ranges::any_of(
            command.moves, [&](auto const& move) { return move.to == outcome.seat; });
        if (asked_for) return unavailable(sale, outcome.seat, now);
        // A place of a section was only our choice.
        sale.inventory().claims.unhint(outcome.seat.value());
        return std::nullopt;
    }
    // As many places after as before: no limit can be in the way.
    if (outcome.kind != ChangeOutcome::Kind::ready) return no_space(core.journal);
    Lsn const lsn = space.append(journal::RecordType::edit, payload);
    entered.dismiss();
    sale.inventory().edits.apply(plan.change, State::sold);
    marking.written(lsn);
    return lsn;
}

}  // namespace

Result<Lsn> Engine::reseat(ReseatCommand const& command, TimePoint now) {
    Patience patience(core_->options.turn_wait);
    do {
        auto holds = holds_of(*core_, command.order, command.holds);
        if (!holds) return holds.error();
        Sale* const event = core_->registry.find(command.event);
        if (event == nullptr || !event->ready()) return refuse(RefusalCode::not_found);
        std::vector<ReseatFact::Move> moves(command.moves.begin(), command.moves.end());
        if (auto refusal = PlacesOfSections(*event, command, now).choose(moves)) return *refusal;
        ReseatPlan plan = plan_reseat(command, moves, std::move(*holds), now);
        if (plan.found != moves.size()) return refuse(RefusalCode::already_released);
        if (plan.holds.empty()) {
            Marking marking(*core_, command.marked.mark, now);
            marking.keep_until(end_of(event->spec()));
            return marking.unchanged(command.marked.after);
        }
        if (auto const seat = impossible(*event, plan)) return unavailable(*event, *seat, now);
        if (auto const refusal = refuse_parted(*event, plan.after)) return *refusal;
        if (auto const done = reseat_once(*core_, command, plan, now)) return *done;
    } while (patience.lasts());
    return refuse(RefusalCode::busy);
}

}  // namespace holdfast::engine
