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
// Cost: O(1) for a kept verdict (kept_refusals.hpp: what the first pays who asks after a claim).
//   Else a few words of hints; at worst a scan of the scope, which allocates one bit a place of the
//   event. Kept are verdicts of wishes without accessible seats and excluded places, for all, one
//   part, or one of the first filters of several parts (scopes.hpp). Before a scan the counts are
//   asked, and answer if they can; then a scan is made only if it pays (renewals.hpp). For a
//   refusal at most limits::settled_per_claim_max holds past their deadline are ended.
#pragma once

#include <holdfast/inventory/claims.hpp>
#include <holdfast/inventory/kept_refusals.hpp>
#include <holdfast/inventory/place_scan.hpp>
#include <holdfast/inventory/renewals.hpp>
#include <holdfast/inventory/scopes.hpp>
#include <holdfast/inventory/wish_picker.hpp>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace holdfast::inventory {

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
          scopes_(layout),
          refusals_(places_, scopes_),
          renewals_(scopes_.verdicts(), places_.count()),
          picker_(places_.geometry()) {}

    /// `none_due(now)`: true if no hold is past its deadline. Without it only a scan knows that.
    void ask_when_none_is_due(std::function<bool(TimePoint)> none_due) {
        none_due_ = std::move(none_due);
    }

    static constexpr std::uint32_t not_refused = KeptRefusals<A>::not_refused;
    /// Whether a kept verdict says that nothing at all is left for wishes without a filter and
    /// accessible seats: what most requests of a sold-out sale ask.
    [[nodiscard, gnu::always_inline]] bool nothing_left(bool together,
                                                        TimePoint now) const noexcept {
        return refusals_.nothing_left(Scopes<A>::of_event(together), now);
    }
    /// The O(1) answer of a sold-out sale: the places left if a kept verdict refuses a wish without
    /// accessible seats, else not_refused.
    [[nodiscard]] std::uint32_t refused(std::span<SectionIndex const> sections,
                                        std::span<CategoryIndex const> categories,
                                        std::optional<std::uint32_t> zone, std::uint32_t quantity,
                                        bool together, TimePoint now) const noexcept {
        Wish wish;
        wish.sections = sections;
        wish.categories = categories;
        wish.zone = zone;
        wish.together = together;
        Scope const scope = scopes_.of(wish);
        auto const wanted = [&](CellGeometry const& cell) { return cell_allowed(cell, wish); };
        return scope.keeps ? refusals_.left(scope, quantity, now, wanted) : not_refused;
    }
    /// Of a general-admission section.
    [[nodiscard]] std::uint32_t refused(SectionIndex section, std::uint32_t count,
                                        TimePoint now) const noexcept {
        return refusals_.left(Scopes<A>::of_general(section, true), count, now,
                              places_of(section.value()));
    }

    /// Seats for the wish, appended to `chosen`; to be claimed, or chosen again if that is lost.
    [[nodiscard]] Choice best(Wish const& wish, TimePoint now, std::vector<SeatIndex>& chosen) {
        Scope const scope = scopes_.of(wish);
        auto const pick = [&](auto& free) { return picker_.pick(free, wish, chosen); };
        auto const visit_all = [&](auto visit) { picker_.visit_places(wish, visit); };
        auto const wanted = [&](CellGeometry const& cell) { return cell_allowed(cell, wish); };
        auto const largest = [&](auto& free) { return picker_.largest(free, wish); };
        FitQuestion const fit{wish.quantity, wish.together ? 0 : wish.table_max};
        Need const need{wish.accessible, fit, wish.excluded.empty()};
        Choice const choice =
            choose(scope, need, now, SearchWays{pick, visit_all, wanted, largest});
        // Who asks for it again costs a scan no longer.
        if (choice.kind != Choice::Kind::chosen && !scope.keeps) scopes_.keep(wish);
        return choice;
    }

    /// `count` places of a general-admission section, appended to `chosen`.
    [[nodiscard]] Choice general(SectionIndex section, std::uint32_t count,
                                 std::span<SeatIndex const> excluded, TimePoint now,
                                 std::vector<SeatIndex>& chosen) {
        std::uint32_t const index = section.value();
        Scope const scope = Scopes<A>::of_general(section, excluded.empty());
        auto const pick = [&](auto const& free) {
            return picker_.pick_general(free, {index, count}, excluded, chosen);
        };
        auto const visit_all = [&](auto visit) { picker_.visit_general(index, excluded, visit); };
        auto const wanted = places_of(index);
        auto const largest = [](auto const&) { return 0U; };  // any places fit
        Need const need{0, {count, 0}, excluded.empty()};
        return choose(scope, need, now, SearchWays{pick, visit_all, wanted, largest});
    }

private:
    struct Need {
        std::uint32_t accessible{};
        FitQuestion fit;
        bool whole{};  // nothing is excluded
    };
    /// The cells of a general-admission section.
    [[nodiscard]] static auto places_of(std::uint32_t section) noexcept {
        return [section](CellGeometry const& cell) {
            return cell.for_sale && cell.section == section;
        };
    }

    /// "Sold out" if the counts prove it. Only while no hold is past its deadline. Not kept: no
    /// deadline was seen of what was freed meanwhile.
    template <class W>
    [[nodiscard]] std::optional<Choice> counted_out(Scope const& scope, Need const& need,
                                                    W const& ways) {
        if (!need.whole) return std::nullopt;
        std::uint32_t const most = refusals_.most_free(scope, ways.wanted);
        if (most >= need.fit.quantity) return std::nullopt;
        return Choice{Choice::Kind::sold_out, most};
    }
    /// Asks the counts before a scan, which would be dear, or whose verdict would not last.
    template <class W>
    [[nodiscard]] std::optional<Choice> spared(Scope const& scope, std::uint64_t frees,
                                               Need const& need, TimePoint now, W const& ways) {
        if (!none_due_ || !none_due_(now)) return std::nullopt;
        auto const out = counted_out(scope, need, ways);
        bool const scans_freely = scope.keeps && places_.count() <= limits::scan_places_freely;
        if (out && scans_freely && renewals_.pays(scope.verdict, frees)) return std::nullopt;
        return out;
    }
    /// Whether fewer accessible seats are free than are wanted, among enough places: the usual end
    /// of a sale, so it is asked before any rule is tried.
    template <class W>
    [[nodiscard]] bool lacks_accessible(Scope const& scope, Need const& need, TimePoint now,
                                        W const& ways) {
        if (need.accessible == 0 || !need.whole || !none_due_ || !none_due_(now)) return false;
        auto const accessible = [&](CellGeometry const& cell) {
            return cell.accessible && ways.wanted(cell);
        };
        return refusals_.most_free(scope, accessible) < need.accessible &&
               refusals_.most_free(scope, ways.wanted) >= need.fit.quantity;
    }

    template <class W>
    [[nodiscard]] Choice choose(Scope const& scope, Need const& need, TimePoint now,
                                W const& ways) {
        // No block holds more accessible seats than there are.
        if (lacks_accessible(scope, need, now, ways)) return {Choice::Kind::none_together, 0};
        PlaceScan<A, Facts> scan(claims_);
        std::size_t ends_left = 0;
        bool ends = false;
        for (int round = 0; round < limits::search_rounds_max; ++round) {
            std::uint64_t const before = refusals_.frees(scope);
            auto const largest = [&] { return ways.largest(places_); };
            if (auto const kept =
                    refusals_.refusal(scope, before, need.fit, now, ways.wanted, largest))
                return *kept;
            if (ways.pick(places_)) return {Choice::Kind::chosen, 0};
            if (auto const out = spared(scope, before, need, now, ways)) return *out;
            // Before the scan: who claims what it saw changes this count.
            std::uint32_t const counted = refusals_.most_free(scope, ways.wanted);
            FreeMap seen_free(places_.geometry());
            Truth const truth = scan.look(now, ways.visit_all, seen_free, ends_left);
            if (truth.no_space) return {Choice::Kind::busy, 0};
            bool const all_there = truth.has(need.fit.quantity, need.accessible, 0);
            // From the scan, not from the hints: another search may be in the middle of looking at
            // the place of one, and then a free place has none.
            if (all_there && ways.pick(seen_free)) return {Choice::Kind::chosen, 0};
            // A refusal is kept, and rests on no hold past its deadline: they are all ended first.
            if (truth.due && ends) break;  // too many for one request: the next goes on
            if (truth.due) {
                ends = true;
                ends_left = limits::settled_per_claim_max;
                continue;
            }
            if (refusals_.frees(scope) != before) {
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
            refusals_.keep(scope, seen.frees, free + truth.maybe, until);
            // Enough places, of which too few (or too many) are accessible, are not sold out.
            if (free < quantity) return Choice{Choice::Kind::sold_out, free};
            return Choice{Choice::Kind::none_together, ways.largest(seen_free)};
        }
        if (!seen.unchanged) return std::nullopt;
        if (free < quantity) return Choice{Choice::Kind::sold_out, free};
        std::uint32_t const most = ways.largest(seen_free);
        // A maybe may be free soon, and its free may be counted in `frees` already.
        if (truth.maybe == 0) {
            refusals_.keep(scope, seen.frees, free, until);  // for those who want more
            refusals_.keep(scope, seen.frees, need.fit, {most, seen.counted}, until);
        }
        return Choice{Choice::Kind::none_together, most};
    }

    Claims<A, Facts>& claims_;
    Places<A>& places_;
    Milliseconds shortest_hold_;
    Scopes<A> scopes_;
    KeptRefusals<A> refusals_;
    Renewals<A> renewals_;
    WishPicker<A> picker_;
    std::function<bool(TimePoint)> none_due_;
};

}  // namespace holdfast::inventory
