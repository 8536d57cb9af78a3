// Kept refusals: what searches have found out about what there is not, in words that are true now.
//
// Purpose: verdicts (verdicts.hpp, fit_verdicts.hpp) are what was true at some count of frees; the
//   free counts tell what is left of it.
// Thread safety: any thread.
// Invariants: what is said is true now: what is left, whether it would be enough, and the largest
//   block; but for calls of other threads that are just between a change and its count. The block
//   is looked for along the hints, so one that a thread is just about to set or clear may make the
//   number that is told too small or too large until the next claim or free.
// Cost: O(1). After a claim the first who asks adds up the counts, one a kind of place, or, if
//   nothing was found to fit, also walks along the hints for the largest block.
#pragma once

#include <holdfast/inventory/fit_verdicts.hpp>
#include <holdfast/inventory/free_sums.hpp>
#include <holdfast/inventory/places.hpp>
#include <holdfast/inventory/scopes.hpp>
#include <holdfast/inventory/verdicts.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace holdfast::inventory {

/// The answer of a search; `chosen` says where.
struct Choice {
    enum class Kind : std::uint8_t { chosen, sold_out, none_together, busy } kind{};
    std::uint32_t number{};  // sold_out: places left; none_together: largest block
};

template <class A>
class KeptRefusals {
public:
    KeptRefusals(Places<A>& places, Scopes<A> const& scopes)
        : places_(places),
          verdicts_(scopes.verdicts()),
          fits_(scopes.verdicts(), places.geometry().has_groups()),
          sums_(places.free_counts(), scopes.filters()) {}

    static constexpr std::uint32_t not_refused = Verdicts<A>::not_refused;

    [[nodiscard, gnu::always_inline]] std::uint64_t frees(Scope const& scope) const noexcept {
        return scope.section == Scope::whole_event ? places_.event_frees()
                                                   : places_.section_frees(scope.section);
    }

    /// Whether a kept verdict says that there is nothing at all.
    [[nodiscard, gnu::always_inline]] bool nothing_left(Scope const& scope,
                                                        TimePoint now) const noexcept {
        return verdicts_.nothing_left(scope.verdict, frees(scope), now);
    }
    /// The places left now if a kept verdict says that those are too few; else not_refused.
    template <class Wanted>
    [[nodiscard]] std::uint32_t left(Scope const& scope, std::uint32_t quantity, TimePoint now,
                                     Wanted const& wanted) const noexcept {
        std::uint32_t const left = verdicts_.left(scope.verdict, frees(scope), quantity, now);
        if (left == 0 || left == not_refused) return left;
        return std::min(left, most_free(scope, wanted));  // when the verdict was kept, and now
    }
    /// The same with verdicts that nothing fits. `frees`: of the scope, before. `largest()`: the
    /// block that is the largest now, by the hints.
    template <class Wanted, class Largest>
    [[nodiscard]] std::optional<Choice> refusal(Scope const& scope, std::uint64_t frees,
                                                FitQuestion const& asked, TimePoint now,
                                                Wanted const& wanted, Largest const& largest) {
        if (!scope.keeps) return std::nullopt;
        auto const left = verdicts_.left(scope.verdict, frees, asked.quantity, now);
        if (left == 0) return Choice{Choice::Kind::sold_out, 0};
        auto const fit =
            left == not_refused ? fits_.refuses(scope.verdict, frees, asked, now) : std::nullopt;
        if (left == not_refused && !fit) return std::nullopt;
        std::uint32_t const most = most_free(scope, wanted);
        if (!fit) return Choice{Choice::Kind::sold_out, std::min(left, most)};
        // Nothing is freed or past its deadline since, so the count is still one that proves it.
        if (most < asked.quantity) return Choice{Choice::Kind::sold_out, most};
        if (most == fit->most) return Choice{Choice::Kind::none_together, fit->largest};
        // Somebody has claimed since. Counted first: see Claims::count_taken().
        std::uint32_t const block = std::min(fit->largest, largest());
        fits_.renew(scope.verdict, frees, asked, {block, most});
        return Choice{Choice::Kind::none_together, block};
    }

    /// What is free of the scope's cells, or more than that.
    template <class Wanted>
    [[nodiscard]] std::uint32_t most_free(Scope const& scope, Wanted const& wanted) const noexcept {
        // The counts are not read at one instant. But whoever makes a place free counts it there
        // first and then as a free, so that what the sum lacks of what is free in the end shows
        // between these two looks.
        std::uint64_t const before = frees(scope);
        std::uint32_t const places =
            scope.keeps ? sums_.most(scope.filter(), wanted) : places_.free_counts().most(wanted);
        return places + static_cast<std::uint32_t>(frees(scope) - before);
    }

    /// At this count of frees, and before `until`, at most `left` places can be had.
    void keep(Scope const& scope, std::uint64_t frees, std::uint32_t left, TimePoint until) {
        if (scope.keeps) verdicts_.keep(scope.verdict, frees, left, until);
    }
    /// And nothing fits.
    void keep(Scope const& scope, std::uint64_t frees, FitQuestion const& asked,
              typename FitVerdicts<A>::Words const& words, TimePoint until) {
        if (scope.keeps) fits_.keep(scope.verdict, frees, asked, words, until);
    }

private:
    Places<A>& places_;
    Verdicts<A> verdicts_;
    FitVerdicts<A> fits_;
    FreeSums<A> sums_;
};

}  // namespace holdfast::inventory
