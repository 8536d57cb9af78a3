// LockedDisk: the disk of a server, which changes nothing in a folder that is not its own any more.
//
// Purpose: the lock is on a file, and files are named by paths: were the folder moved away under a
//   running server and another one put in its place, two servers would write into one journal.
// Thread safety: as PosixDisk. Cost: two calls of stat each time a file is opened, renamed, linked
//   or removed; no memory.
#pragma once

#include "app/data_folder.hpp"

#include <holdfast/journal/disk.hpp>

#include <cerrno>

namespace holdfast::app {

class LockedDisk final : public journal::PosixDisk {
public:
    explicit LockedDisk(DataFolder const& folder) : folder_(folder) {}
    std::error_code open(std::filesystem::path const& path, journal::OpenMode mode,
                         std::unique_ptr<journal::File>& file) override {
        auto const barred = not_ours();
        return barred ? barred : PosixDisk::open(path, mode, file);
    }
    std::error_code rename(std::filesystem::path const& from,
                           std::filesystem::path const& to) override {
        auto const barred = not_ours();
        return barred ? barred : PosixDisk::rename(from, to);
    }
    std::error_code remove(std::filesystem::path const& path) override {
        auto const barred = not_ours();
        return barred ? barred : PosixDisk::remove(path);
    }
    std::error_code link(std::filesystem::path const& from,
                         std::filesystem::path const& to) override {
        auto const barred = not_ours();
        return barred ? barred : PosixDisk::link(from, to);
    }

private:
    [[nodiscard]] std::error_code not_ours() const noexcept {
        return folder_.is_in_place() ? std::error_code{}
                                     : std::error_code{ESTALE, std::generic_category()};
    }
    DataFolder const& folder_;
};

}  // namespace holdfast::app
