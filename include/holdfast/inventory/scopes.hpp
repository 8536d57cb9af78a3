// Scopes: what verdicts are kept of, and which one a wish asks for.
//
// Purpose: numbers the filters of which a verdict is kept: the whole event, one section, category
//   or zone, and the first filters of several parts (known_filters.hpp); twice, as wishes for
//   neighbours only are told apart.
// Thread safety: any thread.
// Invariants: wishes of one filter() want the same cells (geometry.hpp) as long as the scope keeps.
// Cost: a few comparisons; of a filter of several parts up to KnownFilters::most more.
#pragma once

#include <holdfast/inventory/geometry.hpp>
#include <holdfast/inventory/known_filters.hpp>
#include <holdfast/inventory/wish.hpp>

#include <cstddef>
#include <cstdint>

namespace holdfast::inventory {

struct Scope {
    static constexpr std::uint32_t whole_event = ~0U;
    std::uint32_t verdict{};
    std::uint32_t section{whole_event};  // whose frees count
    bool keeps{};                        // verdicts may be kept for it

    [[nodiscard]] constexpr std::uint32_t filter() const noexcept { return verdict / 2; }
};

template <class A>
class Scopes {
public:
    explicit Scopes(Layout const& layout)
        : first_category_(1 + static_cast<std::uint32_t>(layout.sections().size())),
          first_zone_(first_category_ + static_cast<std::uint32_t>(layout.categories().size())),
          first_known_(first_zone_ + static_cast<std::uint32_t>(layout.zones().size())) {}

    [[nodiscard]] std::uint32_t filters() const noexcept {
        return first_known_ + KnownFilters<A>::most;
    }
    [[nodiscard]] std::uint32_t verdicts() const noexcept { return 2 * filters(); }

    /// Of wishes without a filter.
    [[nodiscard]] static constexpr Scope of_event(bool together) noexcept {
        return {together ? 1U : 0U, Scope::whole_event, true};
    }
    /// Of a general-admission section.
    [[nodiscard]] static constexpr Scope of_general(SectionIndex section, bool keeps) noexcept {
        return {2 * (1 + section.value()), section.value(), keeps};
    }
    [[nodiscard]] Scope of(Wish const& wish) const noexcept {
        bool const keeps = keeps_of(wish);
        auto const scope = [&](std::uint32_t filter, std::uint32_t section = Scope::whole_event) {
            // One kind of wish may be served apart and by general sections, the other may not.
            return Scope{2 * filter + (wish.together ? 1 : 0), section, keeps};
        };
        std::size_t const parts =
            wish.sections.size() + wish.categories.size() + (wish.zone ? 1 : 0);
        if (parts == 0) return scope(0);
        if (parts > 1) {
            auto const known = keeps ? known_.find(wish) : std::nullopt;
            return known ? scope(first_known_ + *known) : Scope{};
        }
        if (wish.zone) return scope(first_zone_ + *wish.zone);
        if (!wish.categories.empty()) return scope(first_category_ + wish.categories[0].value());
        return scope(1 + wish.sections[0].value(), wish.sections[0].value());
    }
    /// From now on verdicts of the wish's filter are kept, if there is room and it may be.
    void keep(Wish const& wish) {
        if (keeps_of(wish)) static_cast<void>(known_.find_or_add(wish));
    }

private:
    [[nodiscard]] static bool keeps_of(Wish const& wish) noexcept {
        return wish.accessible == 0 && wish.excluded.empty();
    }

    std::uint32_t first_category_, first_zone_, first_known_;
    KnownFilters<A> known_;
};

}  // namespace holdfast::inventory
