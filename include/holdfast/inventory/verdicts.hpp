// Verdicts: cached "not enough places", the O(1) answer of a sold-out sale.
//
// Purpose: a refusal found by a scan of the truth holds as long as nothing is freed: it is kept
//   with the count of frees it was found at, the quantity it speaks of, and the earliest deadline
//   it depends on.
// Thread safety: any thread.
// Cost: four loads. A keeper that loses its processor between its two stores lets nobody else keep
//   one of the same scope, so that each refusal costs a scan until it runs again.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/domain/limits.hpp>

#include <cstdint>
#include <memory>

namespace holdfast::inventory {

template <class A>
class Verdicts {
public:
    explicit Verdicts(std::uint32_t scopes) : entries_(std::make_unique<Entry[]>(scopes)) {}

    /// left() is 0 for any quantity; a little less to do.
    [[nodiscard, gnu::always_inline]] bool nothing_left(std::uint32_t scope, std::uint64_t frees,
                                                        TimePoint now) const noexcept {
        Entry const& entry = entries_.get()[scope];
        // The orders are those of left().
        std::uint64_t const verdict = entry.verdict.load(A::acquire);
        if (verdict != (frees << quantity_bits | 1)) return false;
        if (now.time_since_epoch().count() >= entry.until.load(A::acquire)) return false;
        return entry.verdict.load(A::relaxed) == verdict;
    }
    /// Answer of left(): nothing that is kept refuses so few.
    static constexpr std::uint32_t not_refused = ~0U;
    /// How many places were left at most, if that refuses `quantity` of them, else not_refused.
    [[nodiscard]] std::uint32_t left(std::uint32_t scope, std::uint64_t frees,
                                     std::uint32_t quantity, TimePoint now) const noexcept {
        Entry const& entry = entries_.get()[scope];
        // acquire: pairs with keep(); `until` below is the one stored before it, or a later one.
        std::uint64_t const verdict = entry.verdict.load(A::acquire);
        // The least quantity refused, or, if something was freed since, more than any quantity.
        std::uint64_t const least = verdict ^ frees << quantity_bits;
        if (quantity < least) return not_refused;
        // acquire: the look at the verdict comes after it.
        if (now.time_since_epoch().count() >= entry.until.load(A::acquire)) return not_refused;
        // Only the same verdict once more says that `until` is its own; relaxed: see above.
        if (entry.verdict.load(A::relaxed) != verdict) return not_refused;
        return static_cast<std::uint32_t>(least) - 1;
    }

    /// Keeps: at this count of frees, and before `until`, at most `left` places can be had.
    void keep(std::uint32_t scope, std::uint64_t frees, std::uint32_t left,
              TimePoint until) noexcept {
        if (left + 1 >= being_kept) return;  // no request is that large
        Entry& entry = entries_[scope];
        // One at a time, or one's verdict would stand beside another's `until`. Who comes in
        // between keeps nothing: the next request scans again. relaxed: the CAS decides.
        std::uint64_t seen = entry.verdict.load(A::relaxed);
        // acquire: the store of `until` stays behind it.
        if (seen == being_kept ||
            !entry.verdict.compare_exchange_strong(seen, being_kept, A::acquire, A::relaxed))
            return;
        // release: who reads it does not find the last verdict any more.
        entry.until.store(until.time_since_epoch().count(), A::release);
        // release: pairs with left().
        entry.verdict.store(frees << quantity_bits | (left + 1), A::release);
    }

private:
    static constexpr unsigned quantity_bits = 16;
    // Two quantities that are more than any request's.
    static constexpr std::uint64_t nothing_refused = (1U << quantity_bits) - 1;
    static constexpr std::uint64_t being_kept = nothing_refused - 1;
    static_assert(limits::seats_per_claim_max < being_kept);

    struct alignas(64) Entry {
        // {frees: the low 48 bits, least refused: 16}
        typename A::template Atomic<std::uint64_t> verdict{nothing_refused};
        typename A::template Atomic<std::int64_t> until{0};
    };
    std::unique_ptr<Entry[]> entries_;
};

}  // namespace holdfast::inventory
