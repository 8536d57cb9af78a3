// Spare: a segment file made ahead of time, zero-filled and synced, not yet under its name.
//
// That name is made with it: whoever needs the file needs no memory any more.
#pragma once

#include <holdfast/journal/disk.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <system_error>

namespace holdfast::journal {

struct Spare {
    std::filesystem::path path;
    std::unique_ptr<File> file;
    std::uint64_t number{};         // of the segment that it will be
    std::filesystem::path segment;  // and that one's path
};

/// How often zeros are synced: each piece alone, so that the sync of a commit group beside it waits
/// for no more than that, or all at once where no groups are written yet.
enum class Syncs : std::uint8_t { each_piece, once };

struct SparePlan {
    std::filesystem::path path;
    std::uint64_t number{};  // of the segment that it will be
    std::uint64_t bytes{};
    Syncs syncs{};
    std::function<bool()> stopped{};  // asked between pieces, if there is one
};

/// Makes `plan.path` anew with zeros on disk; what it could not finish it removes. If it is stopped
/// the error is operation_canceled. Without memory it throws, and a file may be left.
[[nodiscard]] std::error_code make_spare(Disk& disk, SparePlan const& plan, Spare& spare);

}  // namespace holdfast::journal
