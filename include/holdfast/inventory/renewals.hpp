// Renewals: whether a refusal that the counts have proved is worth a scan as well.
//
// Purpose: a scan finds a verdict that answers for next to nothing until something is freed; the
//   counts answer for a little, however much comes and goes. So a scan pays once enough refusals
//   have rested on the counts with nothing freed in between. While places come free all the time,
//   nobody scans.
// Thread safety: any thread.
// Invariants: advice only; bad advice costs time, never an answer. Of several threads that ask at
//   the same time one is told to scan.
// Cost: a load and a store; 8 bytes a scope.
#pragma once

#include <holdfast/domain/limits.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace holdfast::inventory {

template <class A>
class Renewals {
public:
    /// `places`: that a scan looks at, at the most.
    Renewals(std::uint32_t scopes, std::uint32_t places)
        : enough_(std::min<std::uint64_t>(places / limits::scan_places_a_refusal, refusals_mask)),
          entries_(std::make_unique<Entry[]>(scopes)) {}

    /// The counts refuse somebody, at this count of frees. True: scan all the same.
    [[nodiscard]] bool pays(std::uint32_t scope, std::uint64_t frees) noexcept {
        auto& word = entries_[scope].word;
        std::uint64_t seen = word.load(A::relaxed);  // relaxed, all: advice
        bool const quiet = (seen ^ frees << refusals_bits) <= refusals_mask;
        std::uint64_t const refusals = quiet ? seen & refusals_mask : 0;
        std::uint64_t const none_yet = frees << refusals_bits;
        if (seen == never_asked || refusals >= enough_)
            return word.compare_exchange_strong(seen, none_yet, A::relaxed, A::relaxed);
        word.store(none_yet | (refusals + 1), A::relaxed);
        return false;
    }

private:
    static constexpr unsigned refusals_bits = 20;
    static constexpr std::uint64_t refusals_mask = (std::uint64_t{1} << refusals_bits) - 1;
    static constexpr std::uint64_t never_asked = ~std::uint64_t{0};

    struct Entry {
        // {frees: the low 44 bits, refusals by the counts since: 20}
        typename A::template Atomic<std::uint64_t> word{never_asked};
    };

    std::uint64_t enough_;
    std::unique_ptr<Entry[]> entries_;
};

}  // namespace holdfast::inventory
