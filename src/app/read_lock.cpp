#include "app/read_lock.hpp"

#include "app/data_folder.hpp"
#include "app/exit_codes.hpp"
#include "app/unfinished.hpp"

#include <cerrno>
#include <fcntl.h>
#include <utility>

namespace holdfast::app {

using journal::Failure;

namespace {

Failure cannot_be_read(std::filesystem::path const& folder, std::error_code error) {
    return journal::file_failure(folder, "cannot be read", error, journal::Access::read);
}

}  // namespace

ResultOf<void, Failure> check_is_data_folder(std::filesystem::path const& folder) {
    std::error_code error;
    if (!std::filesystem::exists(folder, error)) {
        if (error) return cannot_be_read(folder, error);
        return Failure{exit_failed, folder.string() + ": there is no such folder"};
    }
    if (!std::filesystem::is_directory(folder, error))
        return Failure{exit_failed, folder.string() + ": is not a folder"};
    for (char const* const name : {"journal", "META.a", "META.b", "store.db"}) {
        if (std::filesystem::exists(folder / name, error)) return {};
        if (error) return cannot_be_read(folder, error);
    }
    if (auto failure = refuse_unfinished(folder)) return *std::move(failure);
    return Failure{exit_failed, folder.string() + ": has neither a journal nor a store.db"};
}

ResultOf<ReadLock, Failure> ReadLock::take(std::filesystem::path const& folder) {
    if (auto const is = check_is_data_folder(folder); !is) return is.error();
    auto const file = folder / "LOCK";
    ReadLock lock(Descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)));
    if (!lock.lock_.is_open()) {
        if (errno != ENOENT)
            return folder_failure(file, "cannot be opened", errno, journal::Access::read);
        if (auto failure = refuse_unfinished(folder)) return *std::move(failure);
        return lock;
    }
    struct flock whole{};
    whole.l_type = F_RDLCK;
    whole.l_whence = SEEK_SET;
    if (::fcntl(lock.lock_.get(), F_OFD_SETLK, &whole) == 0) {
        if (auto failure = refuse_unfinished(folder)) return *std::move(failure);
        return lock;
    }
    bool const taken = errno == EAGAIN || errno == EACCES;
    if (!taken) return folder_failure(file, "cannot be locked", errno, journal::Access::read);
    return Failure{exit_temporary, file.string() + ": in use by " +
                                       holder_of_lock(lock.lock_.get()) + "; stop it first"};
}

}  // namespace holdfast::app
