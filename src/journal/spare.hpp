// Spare: a segment file made ahead of time, zero-filled and synced, not yet under its name.
#pragma once

#include <holdfast/journal/disk.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <system_error>

namespace holdfast::journal {

struct Spare {
    std::filesystem::path path;
    std::unique_ptr<File> file;
};

/// How often zeros are synced: each piece alone, so that the sync of a commit group beside it waits
/// for no more than that, or all at once where no groups are written yet.
enum class Syncs : std::uint8_t { each_piece, once };

/// Makes `path` anew with `bytes` zeros on disk; what it could not finish it removes.
[[nodiscard]] std::error_code make_spare(Disk& disk, std::filesystem::path const& path,
                                         std::uint64_t bytes, Syncs syncs, Spare& spare);

}  // namespace holdfast::journal
