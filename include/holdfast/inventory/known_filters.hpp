// Known filters: the first few wishes' filters of more than one part, each with its own number.
//
// Purpose: verdicts are kept by scope; a filter of several sections, or of sections and categories,
//   has one once it is known here.
// Thread safety: every function by any thread.
// Invariants: a filter that is known is never changed or forgotten before the event is; two threads
//   that add one at the same time may both do.
// Cost: a comparison with each known one, `most` at the most; allocates for a new one.
#pragma once

#include <holdfast/inventory/wish.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace holdfast::inventory {

template <class A>
class KnownFilters {
public:
    static constexpr std::uint32_t most = 16;

    KnownFilters() = default;
    ~KnownFilters() {
        // relaxed: nobody else is there any more.
        for (auto& filter : filters_) delete filter.load(A::relaxed);
    }
    KnownFilters(KnownFilters const&) = delete;
    KnownFilters& operator=(KnownFilters const&) = delete;

    /// The number of the wish's filter, its lists in just this order; nothing: not known.
    [[nodiscard]] std::optional<std::uint32_t> find(Wish const& wish) const noexcept {
        for (std::uint32_t number = 0; number < most; ++number) {
            // acquire: what the filter is, with it.
            Filter const* const filter = filters_[number].load(A::acquire);
            if (filter == nullptr) break;
            if (filter->is_of(wish)) return number;
        }
        return std::nullopt;
    }
    /// Makes it known, if there is room.
    [[nodiscard]] std::optional<std::uint32_t> find_or_add(Wish const& wish) {
        if (auto const known = find(wish)) return known;
        if (filters_.back().load(A::relaxed) != nullptr) return std::nullopt;  // relaxed: no look
        auto filter = std::make_unique<Filter>(wish);
        for (std::uint32_t number = 0; number < most; ++number) {
            Filter* none = nullptr;
            // release: what the filter is, before it can be found.
            if (!filters_[number].compare_exchange_strong(none, filter.get(), A::release,
                                                          A::relaxed))
                continue;
            static_cast<void>(filter.release());
            return number;
        }
        return std::nullopt;
    }

private:
    struct Filter {
        explicit Filter(Wish const& wish)
            : sections(wish.sections.begin(), wish.sections.end()),
              categories(wish.categories.begin(), wish.categories.end()),
              zone(wish.zone) {}
        [[nodiscard]] bool is_of(Wish const& wish) const noexcept {
            return zone == wish.zone && std::ranges::equal(sections, wish.sections) &&
                   std::ranges::equal(categories, wish.categories);
        }
        std::vector<SectionIndex> sections;
        std::vector<CategoryIndex> categories;
        std::optional<std::uint32_t> zone;
    };

    std::array<typename A::template Atomic<Filter*>, most> filters_{};
};

}  // namespace holdfast::inventory
