// Search: finds places for requests that leave the choice to us, or proves that there are none.
//
// Purpose: any N of a general-admission section and best available (wish_picker.hpp), after
//   PROTOCOL.md any(N): guess by hints; if that finds nothing, scan the truth; refuse only after a
//   scan during which nothing was freed, and keep that verdict.
// Thread safety: any thread.
// Invariants: "sold out" is answered only if at some instant of the call fewer than N places were
//   free. It is known from a kept verdict, from a scan during which nothing was freed, or, however
//   much comes and goes, from a count that is never too small (free_counts.hpp). What is said of a
//   kept verdict is true now: what is left, whether it would be enough, and the largest block; but
//   for calls of other threads that are just between a change and its count.
// Cost: O(1) for a kept verdict, that nothing is left or that nothing fits, and one count a kind of
//   place (geometry.hpp, cells) where anything is left; if something was claimed since nothing was
//   found to fit, also a walk along the hints for the largest block. Else a few words of hints; at
//   worst a scan of the scope, which allocates one bit a place of the event. Kept are verdicts of
//   wishes without accessible seats and excluded places, for all, one part, or one of the first
//   filters of several parts (known_filters.hpp). For other wishes, and in an event of more than
//   limits::scan_places_freely places, the counts are asked before a scan.
#pragma once

#include <holdfast/inventory/claims.hpp>
#include <holdfast/inventory/fit_verdicts.hpp>
#include <holdfast/inventory/known_filters.hpp>
#include <holdfast/inventory/place_scan.hpp>
#include <holdfast/inventory/verdicts.hpp>
#include <holdfast/inventory/wish_picker.hpp>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace holdfast::inventory {

struct Choice {
    enum class Kind : std::uint8_t { chosen, sold_out, none_together, busy } kind{};
    std::uint32_t number{};  // sold_out: places left; none_together: largest block
};

/// What a search is made of: how to choose from what looks free; all places; which cells they are
/// of; the largest block of what looks free.
template <class Pick, class VisitAll, class Wanted, class Largest>
struct SearchWays {
    Pick const& pick;
    VisitAll const& visit_all;
    Wanted const& wanted;
    Largest const& largest;
};

template <class A, class Facts>
class Search {
public:
    /// `shortest_hold`: no hold of the server is shorter; bounds how long a verdict can be kept.
    Search(Claims<A, Facts>& claims, Layout const& layout, Milliseconds shortest_hold)
        : claims_(claims),
          places_(claims.places()),
          shortest_hold_(shortest_hold),
          categories_(static_cast<std::uint32_t>(layout.categories().size())),
          scopes_(1 + places_.geometry().section_count() + categories_ +
                  static_cast<std::uint32_t>(layout.zones().size())),
          verdicts_(verdict_of(scopes_ + KnownFilters<A>::most, false)),
          fits_(verdict_of(scopes_ + KnownFilters<A>::most, false),
                places_.geometry().has_groups()),
          picker_(places_.geometry()) {}

    /// `settle(now)`: true if no hold is past its deadline now; it may end those that are. Without
    /// it only a scan knows that.
    void settle_with(std::function<bool(TimePoint)> settle) { settle_ = std::move(settle); }

    static constexpr std::uint32_t not_refused = Verdicts<A>::not_refused;
    /// The O(1) answer of a sold-out sale: the places left if a kept verdict refuses a wish without
    /// accessible seats, else not_refused. Of the whole event first: what most wishes are for.
    [[nodiscard]] std::uint32_t refused(std::uint32_t quantity, bool together,
                                        TimePoint now) const noexcept {
        std::uint32_t const left =
            verdicts_.left(verdict_of(0, together), places_.event_frees(), quantity, now);
        return left == 0 || left == not_refused ? left : left_by_now(left, whole_event, Wish{});
    }
    [[nodiscard]] std::uint32_t refused(std::span<SectionIndex const> sections,
                                        std::span<CategoryIndex const> categories,
                                        std::optional<std::uint32_t> zone, std::uint32_t quantity,
                                        bool together, TimePoint now) const noexcept {
        Wish wish;
        wish.sections = sections;
        wish.categories = categories;
        wish.zone = zone;
        wish.together = together;
        Scope const scope = scope_of(wish);
        if (!scope.keeps) return not_refused;
        std::uint32_t const left =
            verdicts_.left(scope.verdict, frees(scope.section), quantity, now);
        return left == 0 || left == not_refused ? left : left_by_now(left, scope.section, wish);
    }
    /// Of a general-admission section.
    [[nodiscard]] std::uint32_t refused(SectionIndex section, std::uint32_t count,
                                        TimePoint now) const noexcept {
        std::uint32_t const left =
            verdicts_.left(verdict_of(1 + section.value(), false),
                           places_.section_frees(section.value()), count, now);
        if (left == 0 || left == not_refused) return left;
        Wish filter;
        filter.sections = {&section, 1};
        return left_by_now(left, section.value(), filter);
    }

    /// Seats for the wish, appended to `chosen`; to be claimed, or chosen again if that is lost.
    [[nodiscard]] Choice best(Wish const& wish, TimePoint now, std::vector<SeatIndex>& chosen) {
        Scope const scope = scope_of(wish);
        auto const pick = [&](auto& free) { return picker_.pick(free, wish, chosen); };
        auto const visit_all = [&](auto visit) { picker_.visit_places(wish, visit); };
        auto const wanted = [&](CellGeometry const& cell) { return cell_allowed(cell, wish); };
        auto const largest = [&](auto& free) { return picker_.largest(free, wish); };
        FitQuestion const fit{wish.quantity, wish.together ? 0 : wish.table_max};
        Need const need{wish.accessible, fit, wish.excluded.empty()};
        Choice const choice =
            choose(scope, need, now, SearchWays{pick, visit_all, wanted, largest});
        // Who asks for it again costs a scan no longer.
        if (choice.kind != Choice::Kind::chosen && !scope.keeps && keeps_verdicts_of(wish))
            static_cast<void>(filters_.find_or_add(wish));
        return choice;
    }

    /// `count` places of a general-admission section, appended to `chosen`.
    [[nodiscard]] Choice general(SectionIndex section, std::uint32_t count,
                                 std::span<SeatIndex const> excluded, TimePoint now,
                                 std::vector<SeatIndex>& chosen) {
        std::uint32_t const index = section.value();
        Scope const scope{verdict_of(1 + index, false), index, excluded.empty()};
        auto const pick = [&](auto const& free) {
            return picker_.pick_general(free, {index, count}, excluded, chosen);
        };
        auto const visit_all = [&](auto visit) { picker_.visit_general(index, excluded, visit); };
        auto const wanted = [&](CellGeometry const& cell) {
            return cell.for_sale && cell.section == index;
        };
        auto const largest = [](auto const&) { return 0U; };  // any places fit
        Need const need{0, {count, 0}, excluded.empty()};
        return choose(scope, need, now, SearchWays{pick, visit_all, wanted, largest});
    }

private:
    static constexpr std::uint32_t whole_event = ~0U;

    struct Scope {
        std::uint32_t verdict{};
        std::uint32_t section{whole_event};  // whose frees count
        bool keeps{};                        // verdicts may be kept for it
    };
    struct Need {
        std::uint32_t accessible{};
        FitQuestion fit;
        bool whole{};  // nothing is excluded
    };
    /// At this count of frees no more places than that could be had.
    struct Bound {
        std::uint64_t frees{};
        std::uint32_t places{};
    };
    [[nodiscard]] static bool keeps_verdicts_of(Wish const& wish) noexcept {
        return wish.accessible == 0 && wish.excluded.empty();
    }
    [[nodiscard]] Scope scope_of(Wish const& wish) const noexcept {
        bool const keeps = keeps_verdicts_of(wish);
        auto const scope = [&](std::uint32_t number, std::uint32_t section = whole_event) {
            return Scope{verdict_of(number, wish.together), section, keeps};
        };
        std::size_t const parts =
            wish.sections.size() + wish.categories.size() + (wish.zone ? 1 : 0);
        std::uint32_t const first_category = 1 + places_.geometry().section_count();
        std::uint32_t const first_zone = first_category + categories_;
        if (parts == 0) return scope(0);
        if (parts > 1) {
            auto const known = keeps ? filters_.find(wish) : std::nullopt;
            return known ? scope(scopes_ + *known) : Scope{};
        }
        if (wish.zone) return scope(first_zone + *wish.zone);
        if (!wish.categories.empty()) return scope(first_category + wish.categories[0].value());
        return scope(1 + wish.sections[0].value(), wish.sections[0].value());
    }
    /// One kind of wish may be served apart and by general sections, the other may not.
    [[nodiscard]] static std::uint32_t verdict_of(std::uint32_t scope, bool together) noexcept {
        return 2 * scope + (together ? 1 : 0);
    }

    [[nodiscard]] std::uint64_t frees(std::uint32_t section) const noexcept {
        return section == whole_event ? places_.event_frees() : places_.section_frees(section);
    }

    /// What is free of some cells, or more than that.
    template <class Wanted>
    [[nodiscard]] Bound most_free(std::uint32_t section, Wanted const& wanted) const noexcept {
        // The counts are not read at one instant. But whoever makes a place free counts it there
        // first and then as a free, so that what the sum lacks of what is free in the end shows
        // between these two looks.
        std::uint64_t const before = frees(section);
        std::uint32_t const places = places_.free_counts().most(wanted);
        std::uint64_t const after = frees(section);
        return {after, places + static_cast<std::uint32_t>(after - before)};
    }
    /// `left` places were left when a verdict was kept: how many are by now. Out of line, because
    /// mostly none are.
    [[nodiscard, gnu::noinline]] std::uint32_t left_by_now(std::uint32_t left,
                                                           std::uint32_t section,
                                                           Wish const& wish) const noexcept {
        auto const wanted = [&](CellGeometry const& cell) { return cell_allowed(cell, wish); };
        return std::min(left, most_free(section, wanted).places);
    }

    /// What the kept verdicts say, if they refuse; in words that are true now.
    template <class W>
    [[nodiscard]] std::optional<Choice> kept(Scope const& scope, std::uint64_t frees,
                                             Need const& need, TimePoint now, W const& ways) {
        if (!scope.keeps) return std::nullopt;
        auto const left = verdicts_.left(scope.verdict, frees, need.fit.quantity, now);
        if (left == 0) return Choice{Choice::Kind::sold_out, 0};
        auto const fit =
            left == not_refused ? fits_.refuses(scope.verdict, frees, need.fit, now) : std::nullopt;
        if (left == not_refused && !fit) return std::nullopt;
        std::uint32_t const most = most_free(scope.section, ways.wanted).places;
        if (!fit) return Choice{Choice::Kind::sold_out, std::min(left, most)};
        // Nothing is freed or past its deadline since, so the count is still one that proves it.
        if (most < need.fit.quantity) return Choice{Choice::Kind::sold_out, most};
        if (most == fit->most) return Choice{Choice::Kind::none_together, fit->largest};
        return Choice{Choice::Kind::none_together, std::min(fit->largest, ways.largest(places_))};
    }
    /// "Sold out" if the counts prove it. Only while no hold is past its deadline. Not kept: no
    /// deadline was seen of what was freed meanwhile.
    template <class W>
    [[nodiscard]] std::optional<Choice> counted_out(Scope const& scope, Need const& need,
                                                    W const& ways) {
        if (!need.whole) return std::nullopt;
        Bound const bound = most_free(scope.section, ways.wanted);
        if (bound.places >= need.fit.quantity) return std::nullopt;
        return Choice{Choice::Kind::sold_out, bound.places};
    }
    /// Asks the counts before a scan that is dear, or whose verdict would not be kept.
    template <class W>
    [[nodiscard]] std::optional<Choice> spared(Scope const& scope, Need const& need, TimePoint now,
                                               W const& ways) {
        bool const scans_freely = scope.keeps && places_.count() <= limits::scan_places_freely;
        if (scans_freely || !settle_ || !settle_(now)) return std::nullopt;
        return counted_out(scope, need, ways);
    }

    template <class W>
    [[nodiscard]] Choice choose(Scope const& scope, Need const& need, TimePoint now,
                                W const& ways) {
        PlaceScan<A, Facts> scan(claims_);
        bool ends = false;
        for (int round = 0; round < limits::search_rounds_max; ++round) {
            std::uint64_t const before = frees(scope.section);
            if (auto const verdict = kept(scope, before, need, now, ways)) return *verdict;
            if (ways.pick(places_)) return {Choice::Kind::chosen, 0};
            if (auto const out = spared(scope, need, now, ways)) return *out;
            // Before the scan: who claims what it saw changes this count.
            std::uint32_t const counted = most_free(scope.section, ways.wanted).places;
            FreeMap seen_free(places_.geometry());
            Truth const truth = scan.look(now, ways.visit_all, seen_free, ends);
            if (truth.no_space) return {Choice::Kind::busy, 0};
            bool const all_there = truth.has(need.fit.quantity, need.accessible, 0);
            // From the scan, not from the hints: another search may be in the middle of looking at
            // the place of one, and then a free place has none.
            if (all_there && ways.pick(seen_free)) return {Choice::Kind::chosen, 0};
            // A refusal is kept, and rests on no hold past its deadline: they are all ended first.
            if (truth.due && !ends) {
                ends = true;
                continue;
            }
            if (frees(scope.section) != before) {
                if (auto const out = counted_out(scope, need, ways)) return *out;
                continue;
            }
            // Unchanged: all places seen taken were taken at one instant, except the maybes.
            if (auto const refusal =
                    refusal_of(scope, need, now, ways,
                               {truth, before, counted, scan.unchanged(truth)}, seen_free))
                return *refusal;
        }
        return {Choice::Kind::busy, 0};
    }

    /// A scan during which nothing was freed.
    struct Seen {
        Truth const& truth;
        std::uint64_t frees{};    // then
        std::uint32_t counted{};  // free at most, before it
        bool unchanged{};         // so are the holds that were being edited
    };
    /// What it proves, if it finds nothing; nothing if it must be made again.
    template <class W>
    [[nodiscard]] std::optional<Choice> refusal_of(Scope const& scope, Need const& need,
                                                   TimePoint now, W const& ways, Seen const& seen,
                                                   FreeMap& seen_free) {
        Truth const& truth = seen.truth;
        std::uint32_t const quantity = need.fit.quantity;
        TimePoint const until = std::min(truth.earliest, now + shortest_hold_);
        std::uint32_t const free = truth.free();
        if (!truth.has(quantity, need.accessible, truth.maybe)) {
            if (scope.keeps) verdicts_.keep(scope.verdict, seen.frees, free + truth.maybe, until);
            // Enough places, of which too few (or too many) are accessible, are not sold out.
            if (free < quantity) return Choice{Choice::Kind::sold_out, free};
            return Choice{Choice::Kind::none_together, ways.largest(seen_free)};
        }
        if (!seen.unchanged) return std::nullopt;
        if (!truth.has(quantity, need.accessible, 0)) return Choice{Choice::Kind::sold_out, free};
        std::uint32_t const most = ways.largest(seen_free);
        // A maybe may be free soon, and its free may be counted in `frees` already.
        if (scope.keeps && truth.maybe == 0) {
            verdicts_.keep(scope.verdict, seen.frees, free, until);  // for those who want more
            fits_.keep(scope.verdict, seen.frees, need.fit, {most, seen.counted}, until);
        }
        return Choice{Choice::Kind::none_together, most};
    }

    Claims<A, Facts>& claims_;
    Places<A>& places_;
    Milliseconds shortest_hold_;
    std::uint32_t categories_;
    std::uint32_t scopes_;
    Verdicts<A> verdicts_;
    FitVerdicts<A> fits_;
    KnownFilters<A> filters_;  // of wishes with several parts; their scopes follow the others
    WishPicker<A> picker_;
    std::function<bool(TimePoint)> settle_;
};

}  // namespace holdfast::inventory
