// Assertions that stay on in release builds.
//
// Purpose: a broken invariant of ours stops the process before it can acknowledge anything wrong.
//   Never assert on input: a client must not be able to stop the server.
// Thread safety: any thread.
// Cost: one predictable branch.
#pragma once

namespace holdfast {

/// Prints the fact that did not hold and where, then aborts.
[[noreturn]] void assertion_failed(char const* fact, char const* file, int line) noexcept;

}  // namespace holdfast

#define HOLDFAST_ASSERT(fact)                                        \
    do {                                                             \
        if (!(fact)) [[unlikely]]                                    \
            ::holdfast::assertion_failed(#fact, __FILE__, __LINE__); \
    } while (false)
