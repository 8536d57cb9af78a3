// Free sums: what the free counts of some cells add up to, kept until one of them changes.
//
// Purpose: a refusal of a sold-out sale that says how many places are left reads one word, however
//   many kinds of places there are.
// Thread safety: any thread.
// Invariants: a sum is never less than what is free of its cells at the time of the answer, but for
//   what becomes free meanwhile (KeptRefusals adds it); at rest it is just that.
// Cost: two loads. After a change of any count, for the first who asks, a read-modify-write a cell.
//   8 bytes a scope, made with the event.
#pragma once

#include <holdfast/domain/limits.hpp>
#include <holdfast/inventory/free_counts.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace holdfast::inventory {

template <class A>
class FreeSums {
public:
    FreeSums(FreeCounts<A>& counts, std::uint32_t scopes)
        : counts_(counts), sums_(std::make_unique<Atomic[]>(scopes)) {}

    /// The places at most of all cells for which `wanted(cell)`: of one scope always the same ones.
    template <class Wanted>
    [[nodiscard]] std::uint32_t most(std::uint32_t scope, Wanted const& wanted) const noexcept {
        Atomic& kept = sums_[scope];
        // acquire: the mark is read after it.
        std::uint64_t const sum = kept.load(A::acquire);
        std::uint64_t const mark = counts_.mark();
        bool const same = sum >> places_bits == (mark & turns_mask);
        if (same && (mark & FreeCounts<A>::watched) != 0)
            return static_cast<std::uint32_t>(sum & places_max);
        return add_up(kept, wanted);
    }

private:
    using Atomic = typename A::template Atomic<std::uint64_t>;
    static constexpr unsigned places_bits = 24;
    static constexpr std::uint64_t places_max = (std::uint64_t{1} << places_bits) - 1;
    static_assert(limits::places_per_event_max < places_max);
    // It comes round after 2^39 changes with a question after each.
    static constexpr std::uint64_t turns_mask = ~std::uint64_t{0} >> places_bits;

    template <class Wanted>
    [[nodiscard, gnu::noinline]] std::uint32_t add_up(Atomic& kept,
                                                      Wanted const& wanted) const noexcept {
        std::uint64_t const mark = counts_.watch();
        // A claim may be counted before the end whose place it took: then this is below 0.
        std::uint32_t const most =
            std::min<std::uint32_t>(counts_.most_watched(wanted), places_max);
        // release: pairs with most(). If the mark has turned since, nobody believes it.
        kept.store((mark & turns_mask) << places_bits | most, A::release);
        return most;
    }

    FreeCounts<A>& counts_;
    std::unique_ptr<Atomic[]> sums_;
};

}  // namespace holdfast::inventory
