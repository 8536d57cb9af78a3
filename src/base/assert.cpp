#include <holdfast/base/assert.hpp>

#include <cstdio>
#include <cstdlib>

namespace holdfast {

void assertion_failed(char const* fact, char const* file, int line) noexcept {
    std::fprintf(stderr, "holdfast: assertion failed: %s (%s:%d)\n", fact, file, line);
    std::abort();
}

}  // namespace holdfast
