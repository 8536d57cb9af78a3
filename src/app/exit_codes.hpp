// How the commands end; docs/durability.md has the table for operators.
#pragma once

#include <exception>
#include <string>

namespace holdfast::app {

inline constexpr int exit_ok = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_wrong_usage = 2;
inline constexpr int exit_temporary = 75;     // the folder is in use, or the journal failed: retry
inline constexpr int exit_not_durable = 76;   // it cannot be made durable, or something is wanting
inline constexpr int exit_damaged = 77;       // the journal is damaged or incomplete
inline constexpr int exit_inconsistent = 78;  // mixed folders, a broken invariant, a newer format

/// How a process ends by an exception that nobody caught: 76 for want of descriptors, memory,
/// threads or space, with what to do; 1 for all else. What errno says of a file:
/// journal::file_failure().
struct Ending {
    int exit_code{};
    std::string why;
};
[[nodiscard]] Ending ending_of(std::exception const& error);

}  // namespace holdfast::app
