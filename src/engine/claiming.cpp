#include "engine/claiming.hpp"

#include "engine/orphans.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/inventory/candidates.hpp>

#include <algorithm>
#include <iterator>
#include <tuple>

namespace holdfast::engine {
namespace {

using inventory::CandidatesOutcome;
using inventory::Choice;

/// After so many, a claim takes any of the best blocks, so that claims do not chase each other.
constexpr int straight_races_max = 8;
/// After so many, a party that sits apart sits anyhow: the best split is dear, and lost once more
/// more likely than not.
constexpr int best_split_races_max = 3;
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

bool is_hand_picked(ClaimLine::Kind kind) noexcept {
    return kind == ClaimLine::Kind::seats || kind == ClaimLine::Kind::candidates;
}

/// Of two lines the lesser chooses first: it has less to choose from. Whether it is for accessible
/// seats, how many places its sections have, how many categories it takes, whether it is for
/// neighbours, and its party, the larger first.
using Breadth = std::tuple<bool, std::uint64_t, std::size_t, bool, std::uint32_t>;

Breadth breadth_of(EventSpec const& spec, BestWish const& best) {
    auto const sections = spec.layout.sections();
    std::uint64_t places = 0;
    auto const add = [&](Section const& section) {
        if (!best.zone || section.zone == best.zone) places += section.capacity;
    };
    for (SectionIndex const index : best.sections) add(sections[index.value()]);
    if (best.sections.empty()) std::ranges::for_each(sections, add);
    std::size_t const all = spec.layout.categories().size();
    std::size_t const categories = best.categories.empty() ? all : best.categories.size();
    return {best.accessible == 0, places, categories, !best.together, ~best.quantity};
}

}  // namespace

Claiming::Claiming(Sale& sale, ClaimCommand const& command, TimePoint now, std::uint32_t asked,
                   AccountGate& gate, std::vector<SeatIndex>& places, Scratch& scratch)
    : sale_(sale),
      command_(command),
      now_(now),
      asked_(asked),
      gate_(gate),
      places_(places),
      scratch_(scratch) {
    scratch_.best_lines.clear();
    if (command.lines.size() > 1) sort_best_lines();
}

std::optional<Refusal> Claiming::choose(int races) {
    places_.clear();
    given_more_ = 0;
    pass_over_ = races < straight_races_max ? 0 : any_below(blocks_to_choose_from);
    in_haste_ = races >= best_split_races_max;
    if (auto refusal = choose_lines()) return refusal;
    if (places_.empty()) return refuse_all_named();
    return std::nullopt;
}

std::optional<Refusal> Claiming::choose_lines() {
    if (command_.lines.size() == 1) {
        ClaimLine const& line = command_.lines[0];
        by_hand_ = is_hand_picked(line.kind) ? ByHand::all : ByHand::none;
        auto refusal = choose_line(line);
        if (command_.partial) keep_whole_groups();
        return refusal;
    }
    by_hand_ = ByHand::named;
    if (auto refusal = choose_named()) return refusal;
    return choose_best_lines();
}

std::optional<Refusal> Claiming::leaves_orphans() const {
    OrphanRule const rule = sale_.spec().policy.orphan_rule;
    // Staff may leave what it likes for nobody; a claim for an account is as if it were its own.
    bool const exempt = command_.staff && command_.holder == 0;
    if (rule == OrphanRule::off || exempt || by_hand_ == ByHand::none) return std::nullopt;
    auto const& hand_picked = by_hand_ == ByHand::all ? places_ : scratch_.named;
    if (hand_picked.empty()) return std::nullopt;
    return find_orphans(sale_, {hand_picked, places_, {}}, now_, command_.orphans);
}

bool Claiming::asked_by_name(SeatIndex seat) const {
    return !command_.partial && std::ranges::any_of(command_.lines, [seat](ClaimLine const& line) {
        return line.kind == ClaimLine::Kind::seats &&
               std::ranges::find(line.seats, seat) != line.seats.end();
    });
}

bool Claiming::forgo_tables() noexcept {
    tables_ = false;
    return given_more_ > 0;
}

/// Seats, candidates and general places; `named` keeps the first two, `named_places` all.
std::optional<Refusal> Claiming::choose_named() {
    for (auto const kind :
         {ClaimLine::Kind::seats, ClaimLine::Kind::candidates, ClaimLine::Kind::general}) {
        if (kind == ClaimLine::Kind::general) scratch_.named = places_;
        for (ClaimLine const& line : command_.lines) {
            if (line.kind != kind) continue;
            if (auto refusal = choose_line(line)) return refusal;
        }
        // Only now: two lines may name a group together.
        if (kind == ClaimLine::Kind::seats && command_.partial) keep_whole_groups();
    }
    scratch_.named_places = places_;
    return std::nullopt;
}

std::optional<Refusal> Claiming::choose_best_lines() {
    do {
        again_ = false;
        for (std::uint8_t const index : scratch_.best_lines) {
            if (auto refusal = choose_line(command_.lines[index])) return refusal;
            if (again_) break;
        }
        if (!again_) return std::nullopt;
        // In the new order, beside what was named.
        places_ = scratch_.named_places;
        given_more_ = 0;
    } while (true);
}

std::optional<Refusal> Claiming::choose_line(ClaimLine const& line) {
    auto refusal = choose_by_kind(line);
    if (refusal) refusal->line = static_cast<std::uint8_t>(&line - command_.lines.data());
    return refusal;
}

std::optional<Refusal> Claiming::choose_by_kind(ClaimLine const& line) {
    switch (line.kind) {
        case ClaimLine::Kind::seats:
            return choose_seats(line);
        case ClaimLine::Kind::candidates:
            return choose_candidates(line);
        case ClaimLine::Kind::best:
        case ClaimLine::Kind::general:
            break;
    }
    return choose_freely(line);
}

std::optional<Refusal> Claiming::choose_seats(ClaimLine const& line) {
    if (command_.partial) {
        choose_those_free(line);
        return std::nullopt;
    }
    for (SeatIndex const seat : line.seats) {
        if (!sale_.inventory().geometry.for_sale(seat.value()))
            return unavailable(sale_, seat, now_);
        if (gate_.cools()) {
            if (auto refusal = gate_.refuse_named(seat)) return refusal;
        }
        insert(places_, seat);
    }
    return std::nullopt;
}

/// The first `count` that are free now, in the given order.
std::optional<Refusal> Claiming::choose_candidates(ClaimLine const& line) {
    using Kind = CandidatesOutcome::Kind;
    auto const cools_down = [&](SeatIndex seat) {
        return gate_.cools() && gate_.cooling(seat).has_value();
    };
    scratch_.chosen.clear();
    inventory::Candidates candidates(sale_.inventory().claims);
    auto const outcome =
        candidates.choose(line.seats, line.count, now_, cools_down, scratch_.chosen);
    switch (outcome.kind) {
        case Kind::chosen:
            take(line);
            return std::nullopt;
        case Kind::taken:
            return unavailable(sale_, outcome.seat, now_);
        case Kind::passed_over:
            return gate_.until_enough_cooled(line.seats, line.count - scratch_.chosen.size());
        case Kind::busy:
            break;
    }
    return refuse(RefusalCode::busy);
}

std::optional<Refusal> Claiming::choose_freely(ClaimLine const& line) {
    Choice const choice = search(line, excluded());
    if (choice.kind == Choice::Kind::chosen) {
        take(line);
        return std::nullopt;
    }
    if (choice.kind == Choice::Kind::busy) return refuse(RefusalCode::busy);
    return refuse_line(line, choice);
}

Choice Claiming::search(ClaimLine const& line, std::span<SeatIndex const> excluded) {
    auto& search = sale_.inventory().search;
    scratch_.chosen.clear();
    if (line.kind == ClaimLine::Kind::general)
        return search.general(line.section, line.count, excluded, now_, scratch_.chosen);
    BestWish const& best = line.best;
    inventory::Wish const wish{best.quantity, best.accessible, best.prevent_orphans,
                               best.together, table_max(best), pass_over_,
                               best.sections, best.categories, best.zone,
                               excluded,      in_haste_};
    return search.best(wish, now_, scratch_.chosen);
}

bool Claiming::may_move(ClaimLine const& line) const {
    auto const index = static_cast<std::uint8_t>(&line - command_.lines.data());
    auto const& lines = scratch_.best_lines;
    bool const is_best = line.kind == ClaimLine::Kind::best && command_.lines.size() > 1;
    return is_best && restarts_left_ > 0 && lines.front() != index;
}

void Claiming::move_to_front(ClaimLine const& line) {
    auto& lines = scratch_.best_lines;
    auto const place =
        std::ranges::find(lines, static_cast<std::uint8_t>(&line - command_.lines.data()));
    std::rotate(lines.begin(), place, place + 1);
    --restarts_left_;
    again_ = true;
}

void Claiming::sort_best_lines() {
    std::array<std::pair<Breadth, std::uint8_t>, limits::claim_lines_max> lines;
    std::size_t count = 0;
    for (std::size_t i = 0; i < command_.lines.size(); ++i) {
        ClaimLine const& line = command_.lines[i];
        if (line.kind == ClaimLine::Kind::best)
            lines[count++] = {breadth_of(sale_.spec(), line.best), static_cast<std::uint8_t>(i)};
    }
    std::sort(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(count));
    for (std::size_t i = 0; i < count; ++i) scratch_.best_lines.push_back(lines[i].second);
}

void Claiming::take(ClaimLine const& line) {
    for (SeatIndex const seat : scratch_.chosen) insert(places_, seat);
    if (line.kind != ClaimLine::Kind::best) return;
    given_more_ += static_cast<std::uint32_t>(scratch_.chosen.size()) - line.best.quantity;
}

/// The largest table with which the claim stays within max_per_order, and the account within what
/// it may have.
std::uint32_t Claiming::table_max(BestWish const& best) const {
    if (!tables_) return 0;
    std::uint32_t const most = std::min(sale_.spec().policy.max_per_order, gate_.room());
    return most - std::min(most, asked_ + given_more_ - best.quantity);
}

/// What a search must leave out: the places of the lines before, and what cools down.
std::span<SeatIndex const> Claiming::excluded() {
    scratch_.excluded.clear();
    std::ranges::set_union(places_, gate_.to_leave_out(), std::back_inserter(scratch_.excluded));
    return scratch_.excluded;
}

}  // namespace holdfast::engine
