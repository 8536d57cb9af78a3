// Which allocations fail in one run of a loop: evenly spread, from one on that the seed says.
//
// HOLDFAST_POOR_TRIES says how many of each kind of work, 0: all of them.
#pragma once

#include "tests/journal/fixture.hpp"

#include <cstdint>
#include <cstdlib>
#include <random>

namespace holdfast::test {

class PoorSteps {
public:
    /// `many` with HOLDFAST_CI, but not under a sanitizer.
    PoorSteps(long few, long many) : tries_(tries(few, many)) {}
    /// From one that fails to the next, of so many.
    [[nodiscard]] long step(long allocations) const {
        return tries_ == 0 ? 1 : 1 + allocations / tries_;
    }
    [[nodiscard]] long first(long step) {
        return 1 + static_cast<long>(random_() % static_cast<std::uint64_t>(step));
    }

private:
    static long tries(long few, long many) {
        if (char const* const given = std::getenv("HOLDFAST_POOR_TRIES"); given != nullptr)
            return std::atol(given);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        static_cast<void>(many);
        return few;
#else
        return std::getenv("HOLDFAST_CI") != nullptr ? many : few;
#endif
    }
    long tries_;
    std::mt19937_64 random_{journal::test::seed_of_run()};
};

}  // namespace holdfast::test
