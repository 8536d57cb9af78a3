#include "store/anew.hpp"

#include "store/reading.hpp"

#include <holdfast/base/descriptor.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <span>
#include <sqlite3.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace holdfast::store {
namespace {

// Longer than a Reader's call may take.
constexpr std::chrono::milliseconds read_patience{3'000};
// Where SQLite locks the -shm file: eight locks, and one that whoever has it open holds
// (https://www.sqlite.org/walformat.html, "WAL locks"; os_unix.c).
constexpr off_t shm_locks_at = 120;
constexpr off_t shm_locks_bytes = 9;

/// errno says why if it is not open.
Descriptor open_file(std::filesystem::path const& path, int flags = O_RDWR) {
    return Descriptor{::open(path.c_str(), flags | O_CLOEXEC, 0600)};
}

StoreError failed_at(std::filesystem::path const& path, int code, char const* what) {
    std::error_code const cause{errno, std::generic_category()};
    StoreError error{cause == std::errc::no_space_on_device ? SQLITE_FULL : code,
                     path.filename().string() + " cannot be " + what + ": " + cause.message()};
    error.cause = cause;
    return error;
}

std::filesystem::path beside(std::filesystem::path file, char const* ending) {
    file += ending;
    return file;
}

/// By another process, for all readers of this one are closed.
StoreResult<void> refuse_if_open(std::filesystem::path const& shm) {
    Descriptor const file = open_file(shm);
    if (!file.is_open() && errno == ENOENT) return {};
    if (!file.is_open()) return failed_at(shm, SQLITE_IOERR_SHMOPEN, "opened");
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = shm_locks_at;
    lock.l_len = shm_locks_bytes;
    if (::fcntl(file.get(), F_OFD_GETLK, &lock) != 0)
        return failed_at(shm, SQLITE_IOERR_SHMLOCK, "looked at");
    if (lock.l_type == F_UNLCK) return {};
    return StoreError{SQLITE_BUSY, "another process has the store open"};
}

bool write_all(int fd, std::span<std::byte const> bytes) {
    while (!bytes.empty()) {
        ssize_t const done = ::write(fd, bytes.data(), bytes.size());
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
    return true;
}

/// All that can be read of `from`, synced, with its owner and mode, as SQLite keeps those.
StoreResult<void> copy_synced(Descriptor const& from, std::filesystem::path const& to) {
    Descriptor const copy = open_file(to, O_RDWR | O_CREAT | O_TRUNC);
    if (!copy.is_open()) return failed_at(to, SQLITE_CANTOPEN, "made");
    std::array<std::byte, 65'536> piece;
    for (;;) {
        ssize_t const got = ::read(from.get(), piece.data(), piece.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failed_at(to, SQLITE_IOERR_READ, "filled");
        if (got == 0) break;
        if (!write_all(copy.get(), std::span{piece}.first(static_cast<std::size_t>(got))))
            return failed_at(to, SQLITE_IOERR_WRITE, "written");
    }
    struct stat status{};
    bool is_same =
        ::fstat(from.get(), &status) == 0 && ::fchmod(copy.get(), status.st_mode & 07777) == 0;
    if (::geteuid() == 0)
        is_same = is_same && ::fchown(copy.get(), status.st_uid, status.st_gid) == 0;
    if (!is_same) return failed_at(to, SQLITE_CANTOPEN, "given owner and mode");
    if (::fsync(copy.get()) != 0) return failed_at(to, SQLITE_IOERR_FSYNC, "synced");
    return {};
}

StoreResult<void> sync_folder_of(std::filesystem::path const& file) {
    auto const folder = file.has_parent_path() ? file.parent_path() : ".";
    Descriptor const opened = open_file(folder, O_RDONLY | O_DIRECTORY);
    if (!opened.is_open() || ::fsync(opened.get()) != 0)
        return failed_at(folder, SQLITE_IOERR_DIR_FSYNC, "synced");
    return {};
}

/// The journal writes to the same disk, and goes before.
StoreResult<void> refuse_for_space(Descriptor const& old, std::filesystem::path const& path,
                                   std::uint64_t bytes_left_min) {
    struct stat status{};
    struct statvfs space{};
    if (::fstat(old.get(), &status) != 0 || ::fstatvfs(old.get(), &space) != 0)
        return failed_at(path, SQLITE_IOERR_FSTAT, "looked at");
    std::uint64_t const free = std::uint64_t{space.f_bavail} * space.f_frsize;
    std::uint64_t const needed = static_cast<std::uint64_t>(status.st_size) + bytes_left_min;
    if (free >= needed) return {};
    return StoreError{SQLITE_FULL, path.filename().string() + " is to be copied, which needs " +
                                       std::to_string(needed) + " bytes free, and " +
                                       std::to_string(free) + " are"};
}

/// The old file is as it was until the new one is whole.
StoreResult<void> copy_anew(std::filesystem::path const& path, std::uint64_t bytes_left_min) {
    Descriptor const old = open_file(path);
    if (!old.is_open() && errno == ENOENT) return {};
    if (!old.is_open()) return failed_at(path, SQLITE_CANTOPEN, "opened");
    if (auto const room = refuse_for_space(old, path, bytes_left_min); !room) return room;
    auto const copy = beside(path, copy_ending);
    auto const copied = copy_synced(old, copy);
    if (copied && ::rename(copy.c_str(), path.c_str()) == 0) return sync_folder_of(path);
    StoreError error = copied ? failed_at(copy, SQLITE_IOERR, "renamed") : copied.error();
    ::unlink(copy.c_str());
    return error;
}

/// Whether the kernel has any page of it in memory. In doubt it has.
bool is_in_memory(std::filesystem::path const& path) {
    Descriptor const file = open_file(path);
    if (!file.is_open()) return errno != ENOENT;
    struct stat status{};
    if (::fstat(file.get(), &status) != 0) return true;
    auto const bytes = static_cast<std::size_t>(status.st_size);
    if (bytes == 0) return false;
    auto const page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> pages((bytes + page - 1) / page);
    void* const at = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
    if (at == MAP_FAILED) return true;
    bool const known = ::mincore(at, bytes, pages.data()) == 0;
    ::munmap(at, bytes);
    return !known || std::ranges::any_of(pages, [](auto each) { return (each & 1U) != 0; });
}

}  // namespace

void remove_left_copies(std::filesystem::path const& file) {
    auto const real = Store::real_file(file);
    for (auto const& each : {real, beside(real, "-wal")})
        ::unlink(beside(each, copy_ending).c_str());
}

StoreResult<void> begin_anew(std::filesystem::path const& file, std::uint64_t bytes_left_min) {
    NoReaders const alone{read_patience};
    if (!alone.are_granted()) return StoreError{SQLITE_BUSY, "somebody reads the store for longer"};
    auto const real = Store::real_file(file);  // a link stays one
    if (auto const closed = refuse_if_open(beside(real, "-shm")); !closed) return closed;
    if (auto const dropped = Store::drop_cache(file); !dropped) return dropped;
    if (is_in_memory(real)) {
        if (auto const copied = copy_anew(real, bytes_left_min); !copied) return copied;
    }
    return copy_anew(beside(real, "-wal"), bytes_left_min);
}

}  // namespace holdfast::store
