// What the kernel keeps in memory of a store's files.
#include <holdfast/base/descriptor.hpp>
#include <holdfast/store/store.hpp>

#include <cerrno>
#include <fcntl.h>
#include <sqlite3.h>
#include <system_error>
#include <unistd.h>

namespace holdfast::store {
namespace {

int drop(std::filesystem::path const& file) {
    // A pipe in its place is refused below and keeps nobody waiting for its other end.
    Descriptor const opened{::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    bool const wanting = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
    if (!opened.is_open()) return wanting ? errno : 0;  // none, or not ours: opening it will tell
    if (::fdatasync(opened.get()) != 0) return errno;
    // No promise, but what is clean and not mapped goes.
    static_cast<void>(::posix_fadvise(opened.get(), 0, 0, POSIX_FADV_DONTNEED));
    return 0;
}

}  // namespace

std::filesystem::path Store::real_file(std::filesystem::path const& file) {
    std::error_code missing;
    auto real = std::filesystem::canonical(file, missing);
    return missing ? file : real;
}

StoreResult<void> Store::drop_cache(std::filesystem::path const& file) {
    auto const real = real_file(file);
    std::filesystem::path wal = real;
    wal += "-wal";
    for (auto const& each : {wal, real}) {
        if (int const number = drop(each); number != 0) {
            std::error_code const cause{number, std::generic_category()};
            StoreError error{SQLITE_IOERR_FSYNC,
                             each.filename().string() + " cannot be synced: " + cause.message()};
            error.cause = cause;
            return error;
        }
    }
    return {};
}

}  // namespace holdfast::store
