// Engine::claim: lines become places, places become one claim.

#include "engine/account_gate.hpp"
#include "engine/engine_core.hpp"
#include "engine/orphans.hpp"

#include <holdfast/base/assert.hpp>

#include <algorithm>

namespace holdfast::engine {
namespace {

using inventory::Choice;
using inventory::ClaimOutcome;
using Search = decltype(SaleInventory::search);

/// After so many, a claim takes any of the best blocks, so that claims do not chase each other.
constexpr int straight_races_max = 8;
constexpr std::uint32_t blocks_to_choose_from = 16;

/// Spread over the callers, not secret: a thread's own sequence (splitmix64).
std::uint32_t any_below(std::uint32_t bound) {
    thread_local std::uint64_t state = reinterpret_cast<std::uintptr_t>(&state);
    std::uint64_t mixed = state += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return static_cast<std::uint32_t>((mixed ^ mixed >> 31) % bound);
}

void insert(std::vector<SeatIndex>& ascending, SeatIndex seat) {
    if (ascending.empty() || ascending.back() < seat) return ascending.push_back(seat);
    ascending.insert(std::ranges::lower_bound(ascending, seat), seat);
}

/// Lists of a claim under way; kept by its thread, so that claims do not allocate.
struct Scratch {
    std::vector<SeatIndex> chosen, excluded, by_hand;
};

/// One claim command on its way: which places its lines get.
class Claiming {
public:
    Claiming(Sale& sale, ClaimCommand const& command, TimePoint now, std::uint32_t asked,
             AccountGate& gate, std::vector<SeatIndex>& places, Scratch& scratch)
        : sale_(sale),
          command_(command),
          now_(now),
          asked_(asked),
          gate_(gate),
          places_(places),
          chosen_(scratch.chosen),
          excluded_(scratch.excluded),
          by_hand_(scratch.by_hand) {}

    /// Fills `places` ascending with a choice for all lines, from the state as it looks now, after
    /// so many races were lost.
    [[nodiscard]] std::optional<Refusal> choose(int races) {
        places_.clear();
        given_more_ = 0;
        pass_over_ = races < straight_races_max ? 0 : any_below(blocks_to_choose_from);
        hand_picked_ = {};
        if (command_.lines.size() == 1) {
            ClaimLine const& line = command_.lines[0];
            if (auto refusal = choose(line)) return refusal;
            if (is_hand_picked(line.kind)) hand_picked_ = places_;
            return std::nullopt;
        }
        // What is asked for by name goes first, so that the freer lines choose around it.
        for (auto const kind : {ClaimLine::Kind::seats, ClaimLine::Kind::candidates,
                                ClaimLine::Kind::general, ClaimLine::Kind::best}) {
            for (ClaimLine const& line : command_.lines) {
                if (line.kind != kind) continue;
                if (auto refusal = choose(line)) return refusal;
            }
            if (kind == ClaimLine::Kind::candidates) by_hand_ = places_;
        }
        hand_picked_ = by_hand_;
        return std::nullopt;
    }

    /// Whether what was chosen by hand may be claimed. Advisory: see engine/orphans.hpp.
    [[nodiscard]] std::optional<Refusal> leaves_orphans() const {
        OrphanRule const rule = sale_.spec().policy.orphan_rule;
        if (rule == OrphanRule::off || command_.staff || hand_picked_.empty()) return std::nullopt;
        return find_orphans(sale_, {hand_picked_, places_, {}}, now_, command_.orphans);
    }

    /// Whether losing this place refuses the claim: somebody asked for just this one.
    [[nodiscard]] bool asked_by_name(SeatIndex seat) const {
        return std::ranges::any_of(command_.lines, [seat](ClaimLine const& line) {
            return line.kind == ClaimLine::Kind::seats &&
                   std::ranges::find(line.seats, seat) != line.seats.end();
        });
    }

private:
    [[nodiscard]] static bool is_hand_picked(ClaimLine::Kind kind) noexcept {
        return kind == ClaimLine::Kind::seats || kind == ClaimLine::Kind::candidates;
    }

    [[nodiscard]] std::optional<Refusal> choose(ClaimLine const& line) {
        switch (line.kind) {
            case ClaimLine::Kind::seats:
                return choose_seats(line);
            case ClaimLine::Kind::candidates:
                return choose_candidates(line);
            case ClaimLine::Kind::best:
                return choose_best(line.best);
            case ClaimLine::Kind::general:
                return choose_general(line);
        }
        return std::nullopt;
    }

    [[nodiscard]] std::optional<Refusal> choose_seats(ClaimLine const& line) {
        for (SeatIndex const seat : line.seats) {
            if (!sale_.inventory().geometry.for_sale(seat.value()))
                return unavailable(sale_, seat, now_);
            if (gate_.cools()) {
                if (auto refusal = gate_.cooling(seat)) return refusal;
            }
            insert(places_, seat);
        }
        return std::nullopt;
    }

    /// The first `count` that are free now, in the given order.
    [[nodiscard]] std::optional<Refusal> choose_candidates(ClaimLine const& line) {
        SaleInventory& inventory = sale_.inventory();
        std::uint32_t found = 0;
        std::optional<SeatIndex> taken;  // by another or for good; not one that only cools down
        std::uint32_t cooled = 0;
        std::optional<Refusal> cooling;
        for (SeatIndex const seat : line.seats) {
            if (found == line.count) break;
            bool usable = inventory.geometry.for_sale(seat.value());
            if (usable) {
                // Ends no hold: the claim ends those it takes.
                auto const kind = inventory.claims.settle(seat.value(), now_, false).kind;
                using Kind = std::remove_const_t<decltype(kind)>;
                if (kind == Kind::no_space) return refuse(RefusalCode::busy);
                usable = kind == Kind::free || kind == Kind::due;
            }
            if (!usable) {
                if (!taken) taken = seat;
            } else if (auto refusal = gate_.cooling(seat)) {
                ++cooled;
                cooling = refusal;
            } else {
                insert(places_, seat);
                ++found;
            }
        }
        if (found == line.count) return std::nullopt;
        if (cooling && found + cooled >= line.count) return cooling;
        // The caller checked count <= candidates, so some are neither found nor cooling down.
        HOLDFAST_ASSERT(taken.has_value());
        return unavailable(sale_, *taken, now_);
    }

    [[nodiscard]] std::optional<Refusal> choose_best(BestWish const& best) {
        inventory::Wish const wish{
            best.quantity, best.accessible, best.prevent_orphans, best.together, table_max(best),
            pass_over_,    best.sections,   best.categories,      best.zone,     excluded()};
        chosen_.clear();
        auto const choice = sale_.inventory().search.best(wish, now_, chosen_);
        if (chosen_.size() > best.quantity)
            given_more_ += static_cast<std::uint32_t>(chosen_.size()) - best.quantity;
        return merge(choice);
    }

    /// The largest table with which the claim stays within max_per_order.
    [[nodiscard]] std::uint32_t table_max(BestWish const& best) const {
        std::uint32_t const most = sale_.spec().policy.max_per_order;
        return most - std::min(most, asked_ + given_more_ - best.quantity);
    }

    [[nodiscard]] std::optional<Refusal> choose_general(ClaimLine const& line) {
        chosen_.clear();
        return merge(
            sale_.inventory().search.general(line.section, line.count, excluded(), now_, chosen_));
    }

    [[nodiscard]] std::optional<Refusal> merge(Choice const& choice) {
        Refusal refusal;
        refusal.number = choice.number;
        switch (choice.kind) {
            case Choice::Kind::chosen:
                for (SeatIndex const seat : chosen_) insert(places_, seat);
                return std::nullopt;
            case Choice::Kind::sold_out:
                refusal.code = RefusalCode::sold_out;
                break;
            case Choice::Kind::none_together:
                refusal.code = RefusalCode::best_available_not_found;
                break;
            case Choice::Kind::busy:
                refusal.code = RefusalCode::busy;
                break;
        }
        return refusal;
    }

    /// What a search must leave out: the places of the lines before, and what cools down.
    [[nodiscard]] std::span<SeatIndex const> excluded() {
        excluded_.clear();
        std::ranges::set_union(places_, gate_.to_leave_out(), std::back_inserter(excluded_));
        return excluded_;
    }

    Sale& sale_;
    ClaimCommand const& command_;
    TimePoint now_;
    std::uint32_t asked_;         // places of all lines
    std::uint32_t given_more_{};  // with whole tables
    std::uint32_t pass_over_{};   // best blocks left to others
    AccountGate& gate_;
    std::vector<SeatIndex>& places_;
    std::vector<SeatIndex>& chosen_;
    std::vector<SeatIndex>& excluded_;
    std::vector<SeatIndex>& by_hand_;         // of several lines
    std::span<SeatIndex const> hand_picked_;  // of lines with seats or candidates; ascending
};

}  // namespace

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
                                                std::vector<SeatIndex>& seats) {
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
    thread_local Scratch scratch;
    Claiming claiming(sale, command, now, asked, gate, seats, scratch);
    Holder const holder(HolderKind::buyer, command.holder);
    TimePoint const expires_at = now + command.ttl.value_or(sale.spec().policy.hold_ttl);
    for (int race = 0; race < lost_races_max; ++race) {
        if (auto refusal = claiming.choose(race)) return *refusal;
        if (auto refusal = claiming.leaves_orphans()) return *refusal;
        HOLDFAST_ASSERT(!seats.empty());
        if (gate.meets_cooling(seats)) continue;
        inventory::HoldLook look;
        look.word = inventory::HoldWord(1, inventory::State::held, 0);
        look.expires_at = expires_at;
        look.asked = now;
        look.holder = holder.bits();
        if (command.preview) return view_of(sale, {sale.spec().id, HoldRef{}}, look, seats);
        auto const outcome = inventory.claims.claim(seats, {now, expires_at, holder.bits()});
        if (outcome.kind == ClaimOutcome::Kind::busy) return no_space(journal);
        if (outcome.kind == ClaimOutcome::Kind::limited) return gate.refusal_of(outcome.limit);
        if (outcome.kind == ClaimOutcome::Kind::won) {
            HoldView view = view_of(sale, {sale.spec().id, outcome.ref}, look, seats);
            view.lsn = outcome.lsn;
            return view;
        }
        if (claiming.asked_by_name(outcome.seat)) return unavailable(sale, outcome.seat, now);
        inventory.claims.unhint(outcome.seat.value());
    }
    return refuse(RefusalCode::busy);
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
    return claim_places(core_->journal, command, now, seats);
}

}  // namespace holdfast::engine
