// Search: finds places for requests that leave the choice to us, or proves that there are none.
//
// Purpose: any N of a general-admission section and best available (API.md section 3, its rules in
//   order: best_block, split_blocks, whole_tables, general_places), after PROTOCOL.md any(N): guess
//   by hints; if that finds nothing, scan the truth; refuse only after a scan during which nothing
//   was freed, and keep that verdict.
// Thread safety: any thread.
// Invariants: "sold out" is answered only if at some instant of the call fewer than N places were
//   free.
// Cost: O(1) for a kept verdict, that nothing is left or that nothing fits; a few words of hints
//   otherwise; at worst a scan of the scope, which allocates one bit a place of the event. Kept are
//   those of wishes without accessible seats and excluded places, for all or one part (scope_of).
#pragma once

#include <holdfast/inventory/best_block.hpp>
#include <holdfast/inventory/claims.hpp>
#include <holdfast/inventory/fit_verdicts.hpp>
#include <holdfast/inventory/general_places.hpp>
#include <holdfast/inventory/split_blocks.hpp>
#include <holdfast/inventory/verdicts.hpp>
#include <holdfast/inventory/whole_tables.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace holdfast::inventory {

struct Choice {
    enum class Kind : std::uint8_t { chosen, sold_out, none_together, busy } kind{};
    std::uint32_t number{};  // sold_out: places left; none_together: largest block; both at most
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
          verdicts_(verdict_of(scopes_, false)),
          fits_(verdict_of(scopes_, false), places_.geometry().has_groups()),
          generals_(places_.geometry()) {}

    static constexpr std::uint32_t not_refused = Verdicts<A>::not_refused;
    /// The O(1) answer of a sold-out sale: the places left if a kept verdict refuses a wish without
    /// accessible seats, else not_refused. Of the whole event first: what most wishes are for.
    [[nodiscard]] std::uint32_t refused(std::uint32_t quantity, bool together,
                                        TimePoint now) const noexcept {
        return verdicts_.left(verdict_of(0, together), places_.event_frees(), quantity, now);
    }
    [[nodiscard]] std::uint32_t refused(std::span<SectionIndex const> sections,
                                        std::span<CategoryIndex const> categories,
                                        std::optional<std::uint32_t> zone, std::uint32_t quantity,
                                        bool together, TimePoint now) const noexcept {
        Scope const scope = scope_of(sections, categories, zone, together, true);
        return scope.keeps ? verdicts_.left(scope.verdict, frees(scope), quantity, now)
                           : not_refused;
    }
    /// Of a general-admission section.
    [[nodiscard]] std::uint32_t refused(SectionIndex section, std::uint32_t count,
                                        TimePoint now) const noexcept {
        return verdicts_.left(verdict_of(1 + section.value(), false),
                              places_.section_frees(section.value()), count, now);
    }

    /// Seats for the wish, appended to `chosen`; to be claimed, or chosen again if that is lost.
    [[nodiscard]] Choice best(Wish const& wish, TimePoint now, std::vector<SeatIndex>& chosen) {
        Scope const scope = scope_of(wish.sections, wish.categories, wish.zone, wish.together,
                                     wish.accessible == 0 && wish.excluded.empty());
        auto const pick = [&](auto& free) {
            auto const block =
                wish.pass_over == 0 ? BestBlock(free, wish).find() : find_after(free, wish);
            for (std::uint32_t i = 0; block && i < wish.quantity; ++i)
                chosen.push_back(SeatIndex{block->first + i});
            return block.has_value() || (!wish.together && pick_apart(free, wish, chosen));
        };
        auto const visit_all = [&](auto visit) { visit_places(wish, visit); };
        auto const largest = [&](FreeMap& free) {
            return std::max(BestBlock(free, wish).largest(), generals_.largest(free, wish));
        };
        FitQuestion const fit{wish.quantity, wish.together ? 0 : wish.table_max};
        return choose(scope, {wish.accessible, fit}, now, pick, visit_all, largest);
    }

    /// `count` places of a general-admission section, appended to `chosen`.
    [[nodiscard]] Choice general(SectionIndex section, std::uint32_t count,
                                 std::span<SeatIndex const> excluded, TimePoint now,
                                 std::vector<SeatIndex>& chosen) {
        std::uint32_t const index = section.value();
        Scope const scope{verdict_of(1 + index, false), index, excluded.empty()};
        auto const pick = [&](auto const& free) {
            return generals_.pick(free, {index, count}, excluded, chosen);
        };
        auto const visit_all = [&](auto visit) {
            std::uint32_t const first = places_.geometry().section_first(index);
            std::uint32_t const end = first + places_.geometry().section_places(index);
            for (std::uint32_t place = first; place < end; ++place) {
                if (!std::ranges::binary_search(excluded, SeatIndex{place}) && !visit(place))
                    return;
            }
        };
        auto const largest = [](FreeMap const&) { return 0U; };  // any places fit
        return choose(scope, {0, {count, 0}}, now, pick, visit_all, largest);
    }

private:
    static constexpr std::uint32_t whole_event = ~0U;
    static constexpr std::uint32_t looks_ahead = 16;  // of a scan: a few times the way to memory

    struct Scope {
        std::uint32_t verdict{};
        std::uint32_t section{whole_event};  // whose frees count
        bool keeps{};                        // verdicts may be kept for it
    };
    struct Need {
        std::uint32_t accessible{};
        FitQuestion fit;
    };
    /// What a scan of the truth found.
    struct Truth {
        std::uint32_t plain{}, accessible{}, maybe{};
        TimePoint earliest{no_deadline};
        bool no_space{};
        bool due{};  // holds past their deadline were seen and left as they are
        struct Maybe {
            HoldRef ref;
            HoldWord word;
        };
        std::array<Maybe, 16> maybes;
    };

    /// Verdicts are kept for plain wishes for the event, one section, one category or one zone.
    [[nodiscard]] Scope scope_of(std::span<SectionIndex const> sections,
                                 std::span<CategoryIndex const> categories,
                                 std::optional<std::uint32_t> zone, bool together,
                                 bool plain) const noexcept {
        std::uint32_t const section_count = places_.geometry().section_count();
        if (sections.empty() && categories.empty() && !zone)
            return {verdict_of(0, together), whole_event, plain};
        if (sections.size() == 1 && categories.empty() && !zone)
            return {verdict_of(1 + sections[0].value(), together), sections[0].value(), plain};
        if (categories.size() == 1 && sections.empty() && !zone)
            return {verdict_of(1 + section_count + categories[0].value(), together), whole_event,
                    plain};
        if (zone && sections.empty() && categories.empty())
            return {verdict_of(1 + section_count + categories_ + *zone, together), whole_event,
                    plain};
        return {0, whole_event, false};
    }
    /// One kind of wish may be served apart and by general sections, the other may not.
    [[nodiscard]] static std::uint32_t verdict_of(std::uint32_t scope, bool together) noexcept {
        return 2 * scope + (together ? 1 : 0);
    }

    [[nodiscard]] std::uint64_t frees(Scope const& scope) const noexcept {
        return scope.section == whole_event ? places_.event_frees()
                                            : places_.section_frees(scope.section);
    }

    /// What the kept verdicts say, if they refuse.
    [[nodiscard]] std::optional<Choice> kept(Scope const& scope, std::uint64_t frees,
                                             Need const& need, TimePoint now) const noexcept {
        if (!scope.keeps) return std::nullopt;
        auto const left = verdicts_.left(scope.verdict, frees, need.fit.quantity, now);
        if (left != not_refused) return Choice{Choice::Kind::sold_out, left};
        auto const largest = fits_.refuses(scope.verdict, frees, need.fit, now);
        if (largest) return Choice{Choice::Kind::none_together, *largest};
        return std::nullopt;
    }

    template <class Pick, class VisitAll, class Largest>
    [[nodiscard]] Choice choose(Scope const& scope, Need const& need, TimePoint now, Pick pick,
                                VisitAll visit_all, Largest largest) {
        bool ends = false;
        for (int round = 0; round < limits::search_rounds_max; ++round) {
            std::uint64_t const before = frees(scope);
            if (auto const verdict = kept(scope, before, need, now)) return *verdict;
            if (pick(places_)) return {Choice::Kind::chosen, 0};
            FreeMap seen_free(places_.geometry());
            Truth const truth = scan(now, visit_all, seen_free, ends);
            if (truth.no_space) return {Choice::Kind::busy, 0};
            std::uint32_t const free = truth.plain + truth.accessible;
            bool const all_there = enough(truth, need, 0);
            // From the scan, not from the hints: another search may be in the middle of looking at
            // the place of one, and then a free place has none.
            if (all_there && pick(seen_free)) return {Choice::Kind::chosen, 0};
            // A refusal is kept, and rests on no hold past its deadline: they are all ended first.
            if (truth.due && !ends) {
                ends = true;
                continue;
            }
            // Unchanged: all places seen taken were taken at one instant, except the maybes.
            if (frees(scope) != before) continue;
            TimePoint const until = std::min(truth.earliest, now + shortest_hold_);
            if (!enough(truth, need, truth.maybe)) {
                if (scope.keeps) verdicts_.keep(scope.verdict, before, free + truth.maybe, until);
                // Enough places, of which too few (or too many) are accessible, are not sold out.
                if (free < need.fit.quantity) return {Choice::Kind::sold_out, free};
                return {Choice::Kind::none_together, largest(seen_free)};
            }
            if (!unchanged(truth)) continue;
            if (!all_there) return {Choice::Kind::sold_out, free};
            std::uint32_t const most = largest(seen_free);
            // A maybe may be free soon, and its free may be counted in `before` already.
            if (scope.keeps && truth.maybe == 0) {
                verdicts_.keep(scope.verdict, before, free, until);  // for those who want more
                fits_.keep(scope.verdict, before, need.fit, most, until);
            }
            return {Choice::Kind::none_together, most};
        }
        return {Choice::Kind::busy, 0};
    }

    [[nodiscard]] static bool enough(Truth const& truth, Need const& need,
                                     std::uint32_t maybe) noexcept {
        return truth.plain + maybe >= need.fit.quantity - need.accessible &&
               truth.accessible + maybe >= need.accessible &&
               truth.plain + truth.accessible + maybe >= need.fit.quantity;
    }

    /// Ends holds past their deadline only if it is told to: after a crowd's deadline nobody pays
    /// for the whole crowd who just wants a place. Their places count as free and get a hint; the
    /// claim ends what is in its way.
    template <class VisitAll>
    [[nodiscard]] Truth scan(TimePoint now, VisitAll visit_all, FreeMap& seen_free, bool ends) {
        Truth truth;
        visit_all([&](std::uint32_t place) {
            claims_.expect_look(place + looks_ahead);
            auto const sight = claims_.settle(place, now, ends);
            using Kind = decltype(sight.kind);
            switch (sight.kind) {
                case Kind::due:
                    truth.due = true;
                    [[fallthrough]];
                case Kind::free:
                    if (!places_.hinted(place)) places_.set_hint(place);
                    seen_free.add(place);
                    ++(places_.geometry().accessible(place) ? truth.accessible : truth.plain);
                    break;
                case Kind::taken:
                    truth.earliest = std::min(truth.earliest, from_ms(sight.deadline));
                    break;
                case Kind::maybe:
                    if (truth.maybe < truth.maybes.size())
                        truth.maybes[truth.maybe] = {sight.owner, sight.word};
                    ++truth.maybe;
                    break;
                case Kind::no_space:
                    truth.no_space = true;
                    return false;
            }
            return true;
        });
        return truth;
    }

    /// Whether the holds that were being edited still are, by the same edit.
    [[nodiscard]] bool unchanged(Truth const& truth) {
        if (truth.maybe > truth.maybes.size()) return false;
        for (std::uint32_t i = 0; i < truth.maybe; ++i) {
            auto const& maybe = truth.maybes[i];
            // acquire: a status read.
            if (places_.slot_of(maybe.ref).word.load(A::acquire) != maybe.word.bits()) return false;
        }
        return true;
    }

    /// The block after the wish's `pass_over` best ones, none of which shares a seat with another;
    /// the last one if there are not so many.
    template <class Free>
    [[nodiscard]] std::optional<Block> find_after(Free& free, Wish wish) {
        std::vector<SeatIndex> excluded(wish.excluded.begin(), wish.excluded.end());
        std::optional<Block> found;
        for (std::uint32_t i = 0; i <= wish.pass_over; ++i) {
            wish.excluded = excluded;
            auto const next = BestBlock(free, wish).find();
            if (!next) break;
            found = next;
            for (std::uint32_t seat = 0; seat < wish.quantity; ++seat)
                excluded.push_back(SeatIndex{next->first + seat});
            std::ranges::sort(excluded);
        }
        return found;
    }

    /// Rules (3) to (6), for a wish that no row can take together.
    template <class Free>
    [[gnu::noinline]] bool pick_apart(Free& free, Wish const& wish,
                                      std::vector<SeatIndex>& chosen) {
        thread_local SplitScratch<Free> scratch;
        return SplitBlocks<Free>(free, wish, scratch).find(chosen) ||
               find_whole_table(free, wish, chosen) ||
               generals_.pick_one_section(free, wish, chosen);
    }

    /// Every place within the wish's filter, free or not; stops when `visit` says false.
    template <class Visit>
    void visit_places(Wish const& wish, Visit visit) {
        Geometry const& geometry = places_.geometry();
        for (RowGeometry const& row : geometry.rows()) {
            if (!row_allowed(row, wish)) continue;
            for (std::uint32_t seat = row.first; seat < row.first + row.count; ++seat) {
                bool const fits = wish.accessible > 0 || !geometry.accessible(seat);
                if (fits && seat_allowed(geometry, seat, wish) && !visit(seat)) return;
            }
        }
        for (GeneralGeometry const& general : geometry.generals()) {
            if (!general_in_filter(general, wish)) continue;
            std::uint32_t const first = geometry.section_first(general.section);
            std::uint32_t const end = first + geometry.section_places(general.section);
            for (std::uint32_t place = first; place < end; ++place) {
                if (!std::ranges::binary_search(wish.excluded, SeatIndex{place}) && !visit(place))
                    return;
            }
        }
    }

    Claims<A, Facts>& claims_;
    Places<A>& places_;
    Milliseconds shortest_hold_;
    std::uint32_t categories_;
    std::uint32_t scopes_;
    Verdicts<A> verdicts_;
    FitVerdicts<A> fits_;
    GeneralPlaces<A> generals_;
};

}  // namespace holdfast::inventory
