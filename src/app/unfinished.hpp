// Unfinished: the mark in a folder that a command makes and has not finished.
//
// Purpose: a `kill -9` or a power cut must not leave what looks like a data folder and is a part of
//   one. Thread safety: free functions; whoever marks a folder has its LOCK.
// Invariants: the mark is on disk before anything else of the folder, and goes when all else is, or
//   when nothing else is left.
// Cost: two syncs each.
#pragma once

#include <holdfast/journal/journal.hpp>

#include <filesystem>
#include <optional>

namespace holdfast::app {

inline constexpr char const* unfinished_name = "UNFINISHED";

[[nodiscard]] std::optional<journal::Failure> mark_unfinished(std::filesystem::path const& folder,
                                                              journal::Disk& disk);
[[nodiscard]] std::optional<journal::Failure> mark_finished(std::filesystem::path const& folder,
                                                            journal::Disk& disk);
/// Takes all out of the folder, the mark last. False: not all of it could be, so the mark is there
/// still.
[[nodiscard]] bool remove_unfinished(std::filesystem::path const& folder, journal::Disk& disk);
/// 77 if it has the mark.
[[nodiscard]] std::optional<journal::Failure> refuse_unfinished(
    std::filesystem::path const& folder);

}  // namespace holdfast::app
