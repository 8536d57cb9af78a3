#include "journal/aligned_bytes.hpp"

#include <holdfast/base/descriptor.hpp>
#include <holdfast/journal/disk.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>

namespace holdfast::journal {
namespace {

constexpr std::size_t direct_chunk_bytes = 1U << 20;

std::error_code last_error() noexcept {
    return {errno, std::generic_category()};
}

// Goes on after a short read as long as the next one would start on a multiple of `step`: a direct
// read that ends elsewhere has met the end of the file.
std::error_code read_fully(int fd, std::uint64_t offset, std::span<std::byte> bytes,
                           std::size_t& got, std::size_t step = 1) noexcept {
    got = 0;
    while (got < bytes.size() && got % step == 0) {
        ssize_t const count =
            ::pread(fd, bytes.data() + got, bytes.size() - got, static_cast<off_t>(offset + got));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return last_error();
        if (count == 0) break;
        got += static_cast<std::size_t>(count);
    }
    return {};
}

class PosixFile : public File {
public:
    explicit PosixFile(Descriptor fd) noexcept : fd_(std::move(fd)) {}

    std::error_code write_at(std::uint64_t offset, std::span<std::byte const> bytes) override {
        while (!bytes.empty()) {
            ssize_t const count =
                ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) return last_error();
            if (count == 0) return std::make_error_code(std::errc::io_error);
            bytes = bytes.subspan(static_cast<std::size_t>(count));
            offset += static_cast<std::uint64_t>(count);
        }
        return {};
    }
    std::error_code read_at(std::uint64_t offset, std::span<std::byte> bytes,
                            std::size_t& got) override {
        return read_fully(fd_.get(), offset, bytes, got);
    }
    std::error_code sync_data() override {
        return ::fdatasync(fd_.get()) == 0 ? std::error_code{} : last_error();
    }
    std::uint64_t size() const override {
        struct stat status{};
        return ::fstat(fd_.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
    }

protected:
    Descriptor fd_;
};

// Drops what the page cache holds of the file, so that a read sees the device. After a failed sync
// the cache may show bytes that never reached it.
std::error_code drop_cache(int fd) noexcept {
    if (::fdatasync(fd) != 0) return last_error();
    int const error = ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    return {error, std::generic_category()};
}

// Reads past the page cache. O_DIRECT wants aligned memory, offset and length, so everything goes
// through one aligned chunk, which is kept: a scan asks for neighbouring bytes.
class DirectFile final : public PosixFile {
public:
    explicit DirectFile(Descriptor fd) : PosixFile(std::move(fd)), chunk_(direct_chunk_bytes) {}

    std::error_code read_at(std::uint64_t offset, std::span<std::byte> bytes,
                            std::size_t& got) override {
        got = 0;
        while (got < bytes.size()) {
            std::uint64_t const at = offset + got;
            if (!holds(at)) {
                if (auto const error = load(at)) return error;
                if (!holds(at)) break;
            }
            std::size_t const from = static_cast<std::size_t>(at - chunk_offset_);
            std::size_t const count = std::min(chunk_used_ - from, bytes.size() - got);
            std::memcpy(bytes.data() + got, chunk_.span().data() + from, count);
            got += count;
        }
        return {};
    }

private:
    [[nodiscard]] bool holds(std::uint64_t at) const noexcept {
        return at >= chunk_offset_ && at < chunk_offset_ + chunk_used_;
    }
    std::error_code load(std::uint64_t at) noexcept {
        chunk_offset_ = at / AlignedBytes::alignment * AlignedBytes::alignment;
        chunk_used_ = 0;
        std::error_code error = read_fully(fd_.get(), chunk_offset_, chunk_.span(), chunk_used_,
                                           AlignedBytes::alignment);
        if (error == std::errc::invalid_argument && direct_) {
            // This file system takes the flag at open and refuses the read.
            direct_ = false;
            if (::fcntl(fd_.get(), F_SETFL, 0) != 0) return last_error();
            if (auto const failed = drop_cache(fd_.get())) return failed;
            error = read_fully(fd_.get(), chunk_offset_, chunk_.span(), chunk_used_);
        }
        if (error) chunk_used_ = 0;
        return error;
    }

    AlignedBytes chunk_;
    std::uint64_t chunk_offset_{};
    std::size_t chunk_used_{};
    bool direct_{true};
};

std::error_code open_for_device_read(char const* path, std::unique_ptr<File>& file) {
    if (Descriptor direct{::open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_DIRECT)};
        direct.is_open()) {
        file = std::make_unique<DirectFile>(std::move(direct));
        return {};
    }
    if (errno != EINVAL) return last_error();
    Descriptor cached{::open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    if (!cached.is_open()) return last_error();
    if (auto const error = drop_cache(cached.get())) return error;
    file = std::make_unique<PosixFile>(std::move(cached));
    return {};
}

struct CloseFolder {
    void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

}  // namespace

std::error_code PosixDisk::open(std::filesystem::path const& path, OpenMode mode,
                                std::unique_ptr<File>& file) {
    if (mode == OpenMode::read_device) return open_for_device_read(path.c_str(), file);
    int const access = mode == OpenMode::read ? O_RDONLY : O_RDWR;
    // A pipe in the place of a file keeps nobody waiting for its other end.
    int const flags =
        access | O_NONBLOCK | O_CLOEXEC | (mode == OpenMode::create ? O_CREAT | O_EXCL : 0);
    Descriptor fd{::open(path.c_str(), flags, 0600)};
    if (!fd.is_open()) return last_error();
    file = std::make_unique<PosixFile>(std::move(fd));
    return {};
}

std::error_code PosixDisk::rename(std::filesystem::path const& from,
                                  std::filesystem::path const& to) {
    return ::rename(from.c_str(), to.c_str()) == 0 ? std::error_code{} : last_error();
}

std::error_code PosixDisk::remove(std::filesystem::path const& path) {
    return ::unlink(path.c_str()) == 0 ? std::error_code{} : last_error();
}

std::error_code Disk::link(std::filesystem::path const&, std::filesystem::path const&) {
    return std::make_error_code(std::errc::operation_not_supported);
}

std::error_code PosixDisk::link(std::filesystem::path const& from,
                                std::filesystem::path const& to) {
    return ::link(from.c_str(), to.c_str()) == 0 ? std::error_code{} : last_error();
}

std::error_code PosixDisk::make_folder(std::filesystem::path const& path) {
    if (::mkdir(path.c_str(), 0700) == 0) return {};
    if (errno != EEXIST) return last_error();
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return last_error();
    return S_ISDIR(status.st_mode) ? std::error_code{}
                                   : std::make_error_code(std::errc::not_a_directory);
}

std::error_code PosixDisk::sync_folder(std::filesystem::path const& path) {
    Descriptor const fd{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!fd.is_open()) return last_error();
    return ::fsync(fd.get()) == 0 ? std::error_code{} : last_error();
}

std::error_code PosixDisk::list(std::filesystem::path const& folder,
                                std::vector<std::string>& names) {
    names.clear();
    std::unique_ptr<DIR, CloseFolder> const entries{::opendir(folder.c_str())};
    if (!entries) return last_error();
    for (;;) {
        errno = 0;
        dirent const* const entry = ::readdir(entries.get());
        if (entry == nullptr) return errno == 0 ? std::error_code{} : last_error();
        std::string name{static_cast<char const*>(entry->d_name)};
        if (name != "." && name != "..") names.push_back(std::move(name));
    }
}

std::error_code PosixDisk::free_bytes(std::filesystem::path const& folder, std::uint64_t& bytes) {
    struct statvfs status{};
    if (::statvfs(folder.c_str(), &status) != 0) return last_error();
    bytes = std::uint64_t{status.f_bavail} * status.f_frsize;
    return {};
}

}  // namespace holdfast::journal
