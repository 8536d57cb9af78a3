// Whole files: written or copied by way of a Disk, and synced.
//
// Thread safety: free functions; nobody changes the part that is copied meanwhile.
// Invariants: what write_whole makes has its name once it is whole and synced, and the name is on
//   disk, too. A copy is a new file that is on disk when its maker returns; its name is not, before
//   its folder is synced. Cost: one read and one write of every byte.
#pragma once

#include <holdfast/journal/journal.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <system_error>

namespace holdfast::journal {

/// By way of `file`.tmp (mode 0600), so that a crash leaves what was there before, or all of it.
[[nodiscard]] std::error_code write_whole(Disk& disk, std::filesystem::path const& file,
                                          std::span<std::byte const> bytes);

/// Called between pieces, each a megabyte at most; a failure ends the work.
using BetweenPieces = std::function<std::optional<Failure>()>;

struct CopiedPart {
    std::uint64_t bytes{std::numeric_limits<std::uint64_t>::max()};  // at most
    std::uint64_t least{};                                           // filled up with zeros
    OpenMode read{OpenMode::read};
};

/// Syncs piece by piece, so that no single sync takes long. Exit code 77 if the file cannot be
/// read (76 for want of something), 1 if the copy cannot be written. After a failure it leaves
/// what it has made.
[[nodiscard]] std::optional<Failure> copy_file(Disk& disk, std::filesystem::path const& from,
                                               std::filesystem::path const& to,
                                               CopiedPart const& part,
                                               BetweenPieces const& between);

}  // namespace holdfast::journal
