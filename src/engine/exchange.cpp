// Engine::exchange: a hold gets another list.

#include "engine/account_gate.hpp"
#include "engine/engine_core.hpp"
#include "engine/entered.hpp"
#include "engine/hold_view.hpp"
#include "engine/marking.hpp"
#include "engine/orphans.hpp"

#include <algorithm>
#include <iterator>

namespace holdfast::engine {
namespace {

using inventory::ChangeOutcome;
using inventory::State;

/// One exchange on its way.
class Exchanging {
public:
    Exchanging(Sale& sale, ExchangeCommand const& command, TimePoint now,
               std::span<SeatIndex const> has, std::uint64_t account, Patience& patience)
        : sale_(sale),
          command_(command),
          now_(now),
          has_(has),
          account_(account),
          gate_(sale, account, now, patience) {}

    [[nodiscard]] AccountGate const& gate() const noexcept { return gate_; }
    /// Fills `wanted`, ascending, with the list that the hold is to have.
    [[nodiscard]] std::optional<Refusal> choose() {
        std::vector<SeatIndex> named;
        for (ClaimLine const& line : command_.lines) {
            HOLDFAST_ASSERT(line.kind == ClaimLine::Kind::seats ||
                            line.kind == ClaimLine::Kind::general);
            named.insert(named.end(), line.seats.begin(), line.seats.end());
        }
        std::ranges::sort(named);
        wanted.clear();
        if (!command_.gives_back) {
            wanted = named;
        } else if (auto refusal = keep_all_but(named)) {
            return refusal;
        }
        for (std::uint32_t index = 0; index < sale_.spec().layout.sections().size(); ++index)
            if (auto refusal = choose_general(SectionIndex{index})) return refusal;
        std::ranges::sort(wanted);
        added.clear();
        dropped.clear();
        std::ranges::set_difference(wanted, has_, std::back_inserter(added));
        std::ranges::set_difference(has_, wanted, std::back_inserter(dropped));
        return std::nullopt;
    }

    /// A hold of a buyer has groups whole, before and after; a block may have a part of one.
    [[nodiscard]] std::optional<Refusal> refuse_parted(inventory::HoldLook const& look) const {
        auto const broken = sale_.spec().layout.broken_group(wanted);
        if (!broken || refuse_block(look, HeldAs::held)) return std::nullopt;
        Refusal refusal = refuse(RefusalCode::inseparable_group);
        refusal.seat = broken->first;
        return refusal;
    }

    /// Whether what is new may be claimed, by the rules of a claim.
    [[nodiscard]] std::optional<Refusal> refuse_added(inventory::HoldLook const& look) const {
        if (added.empty()) return std::nullopt;
        if (auto refusal = refuse_block(look, HeldAs::held)) return refusal;
        if (EventState const state = sale_.state(now_); state != EventState::open)
            return sale_is_shut(sale_, state, now_);
        if (wanted.size() > std::max<std::size_t>(sale_.spec().policy.max_per_order, has_.size())) {
            Refusal refusal = refuse(RefusalCode::user_limit);
            refusal.number = sale_.spec().policy.max_per_order;
            return refusal;
        }
        for (SeatIndex const seat : added)
            if (!sale_.inventory().geometry.for_sale(seat.value()))
                return unavailable(sale_, seat, now_);
        bool const exempt = command_.staff && account_ == 0;  // as in a claim
        bool const ruled = sale_.spec().policy.orphan_rule != OrphanRule::off && !exempt;
        return ruled ? refuse_orphans() : std::nullopt;
    }

    std::vector<SeatIndex> wanted;
    std::vector<SeatIndex> added;    // wanted and not had
    std::vector<SeatIndex> dropped;  // had and not wanted

private:
    /// As if the hold gave back first, which may leave single seats, and claimed then.
    [[nodiscard]] std::optional<Refusal> refuse_orphans() const {
        OrphanReport* const report = command_.orphans;
        auto const picked = labelled(added);
        auto const refusal = find_orphans(sale_, {picked, picked, dropped}, now_, report);
        if (!refusal || report == nullptr) return refusal;
        // To be asked for as they are, so with the seats that the hold keeps.
        for (std::vector<SeatIndex>& seats : report->alternatives) {
            std::ranges::set_intersection(labelled(wanted), has_, std::back_inserter(seats));
            std::ranges::sort(seats);
        }
        return refusal;
    }
    /// Those with a name, which come first.
    [[nodiscard]] std::span<SeatIndex const> labelled(std::span<SeatIndex const> ascending) const {
        auto const end =
            std::ranges::lower_bound(ascending, SeatIndex{sale_.spec().layout.labelled_count()});
        return ascending.first(static_cast<std::size_t>(end - ascending.begin()));
    }
    [[nodiscard]] static Refusal not_there(SeatIndex seat) {
        Refusal refusal = refuse(RefusalCode::seats_unavailable);
        refusal.seat = seat;
        return refusal;
    }
    [[nodiscard]] bool is_labelled(SeatIndex seat) const {
        return seat.value() < sale_.spec().layout.labelled_count();
    }
    [[nodiscard]] std::optional<Refusal> keep_all_but(std::span<SeatIndex const> named) {
        for (SeatIndex const seat : named)
            if (!std::ranges::binary_search(has_, seat)) return not_there(seat);
        for (SeatIndex const seat : has_)
            if (is_labelled(seat) && !std::ranges::binary_search(named, seat))
                wanted.push_back(seat);
        return std::nullopt;
    }

    /// Places without a name: the hold keeps its first ones, and gets what it lacks.
    [[nodiscard]] std::optional<Refusal> choose_general(SectionIndex index) {
        Section const& section = sale_.spec().layout.sections()[index.value()];
        if (!section.general) return std::nullopt;
        std::uint32_t asked = 0;
        for (ClaimLine const& line : command_.lines)
            if (line.kind == ClaimLine::Kind::general && line.section == index) asked += line.count;
        auto const first = std::ranges::lower_bound(has_, section.first);
        auto const last =
            std::ranges::lower_bound(has_, SeatIndex{section.first.value() + section.capacity});
        auto const mine = static_cast<std::uint32_t>(last - first);
        if (command_.gives_back && asked > mine) return not_there(section.first);
        std::uint32_t const count = command_.gives_back ? mine - asked : asked;
        wanted.insert(wanted.end(), first, first + std::min(count, mine));
        if (count <= mine) return std::nullopt;
        auto refusal = add_general(index, count - mine);
        if (refusal) refusal->line = line_of(index);
        return refusal;
    }
    /// So many places of a section, none that cools down for the account.
    [[nodiscard]] std::optional<Refusal> add_general(SectionIndex section, std::uint32_t count) {
        using Kind = inventory::Choice::Kind;
        auto& search = sale_.inventory().search;
        std::vector<SeatIndex> chosen;
        std::vector<SeatIndex> excluded;
        for (int look = 0; look < lost_races_max; ++look) {
            chosen.clear();
            excluded.clear();
            std::ranges::set_union(has_, gate_.to_leave_out(), std::back_inserter(excluded));
            auto choice = search.general(section, count, excluded, now_, chosen);
            if (choice.kind == Kind::chosen && gate_.meets_cooling(chosen)) continue;
            if (choice.kind == Kind::sold_out && !gate_.to_leave_out().empty()) {
                choice = search.general(section, count, has_, now_, chosen);
                if (auto refusal = gate_.until_all_cooled(chosen)) return refusal;
            }
            if (choice.kind == Kind::chosen) {
                wanted.insert(wanted.end(), chosen.begin(), chosen.end());
                return std::nullopt;
            }
            if (choice.kind == Kind::busy) break;
            Refusal refusal = refuse(RefusalCode::sold_out);
            refusal.number = choice.number;
            return refusal;
        }
        return refuse(RefusalCode::busy);
    }
    [[nodiscard]] std::uint8_t line_of(SectionIndex section) const {
        auto const line = std::ranges::find_if(command_.lines, [section](ClaimLine const& each) {
            return each.kind == ClaimLine::Kind::general && each.section == section;
        });
        return static_cast<std::uint8_t>(line - command_.lines.begin());
    }

    Sale& sale_;
    ExchangeCommand const& command_;
    TimePoint now_;
    std::span<SeatIndex const> has_;
    std::uint64_t account_;
    AccountGate gate_;
};

/// The change itself. Nothing: the hold or a place has changed meanwhile, look again.
std::optional<Result<Lsn>> change(Engine::Core& core, FoundHold const& found, HoldName const& hold,
                                  Exchanging const& exchanging, std::vector<SeatIndex> const& has,
                                  TimePoint now, Marking& marking) {
    Sale& sale = *found.sale;
    inventory::Change change;
    change.lists.push_back({{}, has, exchanging.wanted});
    change.plan();
    AccountGate const& gate = exchanging.gate();
    for (SeatIndex const seat : change.added) {
        // Of places without a name those were chosen that do not cool down.
        if (seat.value() >= sale.spec().layout.labelled_count()) break;
        if (auto const refusal = gate.refuse_named(seat)) return *refusal;
    }
    if (auto refusal = gate.foresee_exchange(change.added.size(), change.dropped.size()))
        return *refusal;
    // Encoded and reserved first: nothing may fail once the new places are won.
    auto const payload = encode(ExchangeFact{{hold.event, hold.ref},
                                             change.dropped,
                                             change.added,
                                             marking.of(hold, found.look, exchanging.wanted)});
    Space space(core.journal, payload.size());
    if (!space.held()) return no_space(core.journal);
    Entered entered(State::held, 1);
    auto const edit = sale.inventory().holds.enter(hold.ref, found.look.word, State::editing);
    if (!edit) return std::nullopt;
    entered.add(sale, *edit);
    change.lists.front().edit = *edit;
    auto const outcome =
        sale.inventory().edits.prepare(change, {now, found.look.expires_at, found.look.holder});
    switch (outcome.kind) {
        case ChangeOutcome::Kind::ready:
            break;
        case ChangeOutcome::Kind::lost:
            // A place without a name was only our choice.
            if (outcome.seat.value() >= sale.spec().layout.labelled_count()) {
                sale.inventory().claims.unhint(outcome.seat.value());
                return std::nullopt;
            }
            return unavailable(*found.sale, outcome.seat, now);
        case ChangeOutcome::Kind::busy:
            return no_space(core.journal);
        case ChangeOutcome::Kind::limited:
            // Another claim of the account has taken the room since, or is about to. The next look
            // ends what is due, and says whether it is enough.
            return std::nullopt;
    }
    Lsn const lsn = space.append(journal::RecordType::edit, payload);
    entered.dismiss();
    sale.inventory().edits.apply(change, State::held);
    marking.written(lsn);
    return lsn;
}

/// No edit of this hold is possible any more, however often somebody tries.
Refusal worn_out() {
    Refusal refusal = refuse(RefusalCode::illegal_transition);
    refusal.from = place_state(HeldAs::held);
    refusal.to = place_state(HeldAs::held);
    return refusal;
}

}  // namespace

Result<HoldView> Engine::exchange(ExchangeCommand const& command, TimePoint now,
                                  std::vector<SeatIndex>& seats) {
    HoldName const& hold = command.hold;
    Marking marking(*core_, command.mark, now);
    Patience patience(core_->options.turn_wait);
    do {
        auto const found = find_hold(*core_, hold, now, &seats, patience);
        if (!found) return found.error();
        if (found->look.word.state() == State::sold) {
            Refusal refusal = refuse(RefusalCode::already_confirmed);
            refusal.order = found->look.order;
            return refusal;
        }
        std::uint64_t const account = inventory::account_of(found->look.holder);
        Exchanging exchanging(*found->sale, command, now, seats, account, patience);
        if (auto refusal = exchanging.choose()) return *refusal;
        if (auto refusal = exchanging.refuse_parted(found->look)) return *refusal;
        if (exchanging.wanted == seats) {
            auto const marked = marking.unchanged(hold, found->look, seats);
            if (!marked) return marked.error();
            HoldView view = view_of(*found->sale, hold, found->look, seats);
            view.lsn = *marked;
            return view;
        }
        if (exchanging.wanted.empty()) {
            // Just what was looked at: it may have got more since, which nobody gave back.
            using Kind = inventory::EndOutcome::Kind;
            auto const outcome = end_as_seen(*found, hold.ref, now, marking);
            if (outcome.kind == Kind::lost) continue;
            if (outcome.kind == Kind::no_space) return no_space(core_->journal);
            seats.clear();
            HoldView view;
            view.name = hold;
            view.lsn = outcome.lsn;
            return view;
        }
        if (auto refusal = exchanging.refuse_added(found->look)) return *refusal;
        if (found->sale->inventory().holds.is_worn_out(found->look.word)) return worn_out();
        auto const done = change(*core_, *found, hold, exchanging, seats, now, marking);
        if (!done) continue;
        if (!*done) return done->error();
        seats = exchanging.wanted;
        HoldView view = view_of(*found->sale, hold, found->look, seats);
        view.lsn = **done;
        return view;
    } while (patience.lasts());
    return refuse(RefusalCode::busy);
}

}  // namespace holdfast::engine
