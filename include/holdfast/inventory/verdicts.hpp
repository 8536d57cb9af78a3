// Verdicts: cached "not enough places", the O(1) answer of a sold-out sale.
//
// Purpose: a refusal found by a scan of the truth holds as long as nothing is freed: it is kept
//   with the count of frees it was found at, the quantity it speaks of, and the earliest deadline
//   it depends on.
// Thread safety: any thread.
// Cost: three loads.
#pragma once

#include <holdfast/base/clock.hpp>

#include <cstdint>
#include <memory>

namespace holdfast::inventory {

template <class A>
class Verdicts {
public:
    explicit Verdicts(std::uint32_t scopes) : entries_(std::make_unique<Entry[]>(scopes)) {}

    /// Whether `quantity` places are refused; `left` is how many were left at most.
    [[nodiscard]] bool refuses(std::uint32_t scope, std::uint64_t frees, std::uint32_t quantity,
                               TimePoint now, std::uint32_t& left) const noexcept {
        Entry const& entry = entries_[scope];
        // acquire: pairs with keep(); `until` below is the one stored before, or a newer one, and
        // any scan's bound is safe.
        std::uint64_t const verdict = entry.verdict.load(A::acquire);
        std::int64_t const until = entry.until.load(A::relaxed);
        std::uint32_t const least = static_cast<std::uint32_t>(verdict & quantity_mask);
        if (least == 0 || (verdict >> quantity_bits) != (frees & frees_mask)) return false;
        if (quantity < least || now.time_since_epoch().count() >= until) return false;
        left = least - 1;
        return true;
    }

    /// Keeps: at this count of frees, and before `until`, at most `left` places can be had.
    void keep(std::uint32_t scope, std::uint64_t frees, std::uint32_t left,
              TimePoint until) noexcept {
        if (left >= quantity_mask) return;  // no request is that large
        Entry& entry = entries_[scope];
        entry.until.store(until.time_since_epoch().count(),
                          A::relaxed);  // published by the next line
        // release: pairs with refuses().
        entry.verdict.store(((frees & frees_mask) << quantity_bits) | (left + 1), A::release);
    }

private:
    static constexpr unsigned quantity_bits = 16;
    static constexpr std::uint64_t quantity_mask = (1U << quantity_bits) - 1;
    static constexpr std::uint64_t frees_mask = (std::uint64_t{1} << 48) - 1;

    struct alignas(64) Entry {
        typename A::template Atomic<std::uint64_t> verdict{0};  // {frees: 48, least refused: 16}
        typename A::template Atomic<std::int64_t> until{0};
    };
    std::unique_ptr<Entry[]> entries_;
};

}  // namespace holdfast::inventory
