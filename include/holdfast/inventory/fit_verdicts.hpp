// Fit verdicts: kept "enough places, but none that fit", so that a party that nothing takes costs
// one scan and not one a request.
//
// Purpose: what a scan of the truth found to fit nowhere fits nowhere as long as nothing is freed,
//   because claims only make what is free smaller. It is kept with the count of frees it was found
//   at, what was asked for, and the earliest deadline it depends on; and with the words of the
//   refusal, which hold only until something is claimed: the reader compares the counts.
// Thread safety: any thread.
// Invariants: without groups who finds nothing for n finds nothing for more; with groups a party of
//   three may get a sofa of three where two get nothing, so a verdict is for just one number, and
//   for tables no larger than it was found with.
// Cost: six loads. An entry a scope, eight in an event with groups, made with the event.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/domain/limits.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace holdfast::inventory {

/// What a wish asks of the places it may take.
struct FitQuestion {
    std::uint32_t quantity{};
    std::uint32_t table_max{};  // 0: no larger table is wanted
};

template <class A>
class FitVerdicts {
public:
    FitVerdicts(std::uint32_t scopes, bool groups)
        : groups_(groups),
          entries_(std::make_unique<Entry[]>(std::size_t{scopes} * ways(groups))) {}

    /// What there was when nothing was found to fit.
    struct Words {
        std::uint32_t largest{};  // block
        std::uint32_t most{};     // places at most, by the counts, before it was looked for
    };
    /// Those words, if a kept verdict says that nothing fits.
    [[nodiscard]] std::optional<Words> refuses(std::uint32_t scope, std::uint64_t frees,
                                               FitQuestion const& asked,
                                               TimePoint now) const noexcept {
        Entry const& entry = entry_of(scope, asked.quantity);
        // acquire: pairs with keep(); what is read below was stored before it, or later.
        std::uint64_t const verdict = entry.verdict.load(A::acquire);
        auto const quantity = static_cast<std::uint32_t>(verdict >> number_bits & number_max);
        auto const table_max = static_cast<std::uint32_t>(verdict & number_max);
        if (verdict >> 2 * number_bits != (frees & frees_mask)) return std::nullopt;
        if (quantity == 0 || asked.quantity < quantity) return std::nullopt;
        if (groups_ && (asked.quantity != quantity || asked.table_max > table_max))
            return std::nullopt;
        // acquire: the look at the verdict comes after them.
        if (now.time_since_epoch().count() >= entry.until.load(A::acquire)) return std::nullopt;
        std::uint64_t const words = entry.words.load(A::acquire);
        // Only the same verdict once more says that they are its own, or renewed ones of it;
        // relaxed: see above.
        if (entry.verdict.load(A::relaxed) != verdict) return std::nullopt;
        return Words{static_cast<std::uint32_t>(words >> 32), static_cast<std::uint32_t>(words)};
    }

    /// Keeps: at this count of frees, and before `until`, nothing fits. Without groups that is true
    /// of all that ask for as many or more.
    void keep(std::uint32_t scope, std::uint64_t frees, FitQuestion const& asked,
              Words const& words, TimePoint until) noexcept {
        if (asked.quantity > number_max || asked.table_max > number_max) return;  // never so large
        Entry& entry = entry_of(scope, asked.quantity);
        // One at a time, as in Verdicts::keep(). relaxed: the CAS decides.
        std::uint64_t seen = entry.verdict.load(A::relaxed);
        // acquire: the stores below stay behind it.
        if (seen == being_kept ||
            !entry.verdict.compare_exchange_strong(seen, being_kept, A::acquire, A::relaxed))
            return;
        // release: who reads one of them does not find the last verdict any more.
        entry.until.store(until.time_since_epoch().count(), A::release);
        entry.words.store(in_one(words), A::release);
        // release: pairs with refuses().
        entry.verdict.store((frees & frees_mask) << 2 * number_bits |
                                std::uint64_t{asked.quantity} << number_bits | asked.table_max,
                            A::release);
    }

    /// Other words for a verdict that refuses() has just given at this count of frees: something
    /// was claimed since it was kept.
    void renew(std::uint32_t scope, std::uint64_t frees, FitQuestion const& asked,
               Words const& words) noexcept {
        Entry& entry = entry_of(scope, asked.quantity);
        // As in keep(). Another thread's newer words may be lost: who asks next renews them again.
        std::uint64_t seen = entry.verdict.load(A::relaxed);
        bool const same = seen >> 2 * number_bits == (frees & frees_mask) && seen != being_kept;
        // One of fewer places may stand there by now, for which the block that is told would do.
        bool const fits = !groups_ && words.largest >= (seen >> number_bits & number_max);
        if (!same || fits ||
            !entry.verdict.compare_exchange_strong(seen, being_kept, A::acquire, A::relaxed))
            return;
        entry.words.store(in_one(words), A::release);
        entry.verdict.store(seen, A::release);
    }

private:
    static constexpr unsigned number_bits = 10;
    static constexpr std::uint64_t number_max = (1U << number_bits) - 1;
    static constexpr std::uint64_t being_kept = number_max;  // of no quantity, so it refuses nobody
    static_assert(limits::seats_per_order_max <= number_max);
    static constexpr std::uint64_t frees_mask = (std::uint64_t{1} << (64 - 2 * number_bits)) - 1;

    struct Entry {
        // {frees: the low 44 bits, quantity: 10 (0: none), largest table: 10}
        typename A::template Atomic<std::uint64_t> verdict{0};
        typename A::template Atomic<std::int64_t> until{0};
        // {largest: 32, most: 32}: in one, because a renewal leaves the verdict as it is
        typename A::template Atomic<std::uint64_t> words{0};
    };
    [[nodiscard]] static std::uint64_t in_one(Words const& words) noexcept {
        return std::uint64_t{words.largest} << 32 | words.most;
    }

    [[nodiscard]] static std::uint32_t ways(bool groups) noexcept { return groups ? 8 : 1; }
    [[nodiscard]] Entry& entry_of(std::uint32_t scope, std::uint32_t quantity) const noexcept {
        return entries_[std::size_t{scope} * ways(groups_) + quantity % ways(groups_)];
    }

    bool groups_;
    std::unique_ptr<Entry[]> entries_;
};

}  // namespace holdfast::inventory
