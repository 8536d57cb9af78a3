#include "store/anew.hpp"

#include "store/reading.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <span>
#include <sqlite3.h>
#include <string>
#include <system_error>
#include <unistd.h>

namespace holdfast::store {
namespace {

// Longer than a Reader's call may take.
constexpr std::chrono::milliseconds read_patience{3'000};
// Where SQLite locks the -shm file: eight locks, and one that whoever has it open holds
// (https://www.sqlite.org/walformat.html, "WAL locks"; os_unix.c).
constexpr off_t shm_locks_at = 120;
constexpr off_t shm_locks_bytes = 9;

class OpenFile {
public:
    explicit OpenFile(std::filesystem::path const& path)
        : fd_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {}
    ~OpenFile() {
        if (fd_ >= 0) ::close(fd_);
    }
    OpenFile(OpenFile const&) = delete;
    OpenFile& operator=(OpenFile const&) = delete;
    [[nodiscard]] int fd() const noexcept { return fd_; }

private:
    int fd_;
};

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
    OpenFile const file{shm};
    if (file.fd() < 0 && errno == ENOENT) return {};
    if (file.fd() < 0) return failed_at(shm, SQLITE_IOERR_SHMOPEN, "opened");
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = shm_locks_at;
    lock.l_len = shm_locks_bytes;
    if (::fcntl(file.fd(), F_OFD_GETLK, &lock) != 0)
        return failed_at(shm, SQLITE_IOERR_SHMLOCK, "looked at");
    if (lock.l_type == F_UNLCK) return {};
    return StoreError{SQLITE_BUSY, "another process has the store open"};
}

bool write_back(int fd, std::span<std::byte const> bytes, off_t offset) {
    while (!bytes.empty()) {
        ssize_t const done = ::pwrite(fd, bytes.data(), bytes.size(), offset);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(done));
        offset += done;
    }
    return true;
}

/// Dropping is a wish, which the kernel may refuse for any page. The bytes that it has now are
/// written to where they are: none is believed that the disk has not. A power cut meanwhile leaves
/// of each sector the same bytes or, of what was lost, nothing new.
StoreResult<void> write_anew(std::filesystem::path const& wal) {
    OpenFile const file{wal};
    if (file.fd() < 0 && errno == ENOENT) return {};
    if (file.fd() < 0) return failed_at(wal, SQLITE_CANTOPEN, "opened");
    std::array<std::byte, 65'536> piece;
    for (off_t offset = 0;;) {
        ssize_t const got = ::pread(file.fd(), piece.data(), piece.size(), offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failed_at(wal, SQLITE_IOERR_READ, "read");
        if (got == 0) break;
        if (!write_back(file.fd(), std::span{piece}.first(static_cast<std::size_t>(got)), offset))
            return failed_at(wal, SQLITE_IOERR_WRITE, "written");
        offset += got;
    }
    if (::fdatasync(file.fd()) != 0) return failed_at(wal, SQLITE_IOERR_FSYNC, "synced");
    return {};
}

}  // namespace

StoreResult<void> begin_anew(std::filesystem::path const& file) {
    NoReaders const alone{read_patience};
    if (!alone.are_granted()) return StoreError{SQLITE_BUSY, "somebody reads the store for longer"};
    if (auto const closed = refuse_if_open(beside(file, "-shm")); !closed) return closed;
    if (auto const dropped = Store::drop_cache(file); !dropped) return dropped;
    return write_anew(beside(file, "-wal"));
}

}  // namespace holdfast::store
