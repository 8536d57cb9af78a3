// An assertion of the product that fails in a simulation is a fault of that execution.

#include "tests/memory_model/relacy_atomics.hpp"

#include <holdfast/base/assert.hpp>

namespace holdfast {

void assertion_failed(char const* fact, char const* file, int line) noexcept {
    if (rl::is_ctx())
        rl::ctx().fail_test(fact, rl::test_result_user_assert_failed,
                            {"", file, static_cast<unsigned>(line)});
    std::fprintf(stderr, "assertion failed: %s (%s:%d)\n", fact, file, line);
    std::abort();
}

}  // namespace holdfast
