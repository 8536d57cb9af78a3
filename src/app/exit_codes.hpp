// How a server that cannot start or go on ends; docs/durability.md has the table for operators.
#pragma once

namespace holdfast::app {

inline constexpr int exit_temporary = 75;     // the folder is in use, or the journal failed: retry
inline constexpr int exit_not_durable = 76;   // the data folder cannot be made durable
inline constexpr int exit_damaged = 77;       // the journal is damaged or incomplete
inline constexpr int exit_inconsistent = 78;  // mixed folders, a broken invariant, a newer format

}  // namespace holdfast::app
