// Read lock: keeps a server off a data folder that a command reads.
//
// Purpose: a lock on the same LOCK file that a server holds, without writing anything: not even the
//   file is made, so a backup or a read-only disk has none and needs none.
// Thread safety: by its owner only. Invariants: no server starts on the folder while it lives, if
//   there is a LOCK file; several readers may. Without one, as in a backup that was never started
//   on, nothing keeps a server off. Cost: two system calls.
#pragma once

#include <holdfast/base/descriptor.hpp>
#include <holdfast/base/result.hpp>
#include <holdfast/journal/journal.hpp>

#include <filesystem>
#include <utility>

namespace holdfast::app {

class ReadLock {
public:
    /// 75 if a server has the folder, 77 if a salvage has not finished it, 1 if there is no such
    /// folder or nothing of ours in it.
    [[nodiscard]] static ResultOf<ReadLock, journal::Failure> take(
        std::filesystem::path const& folder);
    ReadLock(ReadLock&& other) noexcept = default;
    ReadLock& operator=(ReadLock&&) = delete;

private:
    explicit ReadLock(Descriptor lock) noexcept : lock_(std::move(lock)) {}
    Descriptor lock_;  // none: there is no LOCK file
};

/// 1 if `folder` is no folder with a journal or a store in it.
[[nodiscard]] ResultOf<void, journal::Failure> check_is_data_folder(
    std::filesystem::path const& folder);

}  // namespace holdfast::app
