#include "app/data_folder.hpp"

#include "app/exit_codes.hpp"
#include "app/unfinished.hpp"

#include <holdfast/base/entropy.hpp>
#include <holdfast/journal/whole_files.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace holdfast::app {
namespace {

using journal::Failure;

constexpr std::size_t token_bytes_max = 256;

std::string reason() {
    return std::strerror(errno);
}

/// The name of `folder` in its parent; errno of why not, or 0.
int sync_name(std::filesystem::path const& folder) {
    Descriptor const parent(
        ::open(folder.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return parent.is_open() && ::fsync(parent.get()) == 0 ? 0 : errno;
}

/// Whose the folder itself shall be is not the question: it is the one above it that bars us.
Failure not_made(std::filesystem::path const& folder, int error) {
    if (error != EACCES && error != EPERM) return folder_failure(folder, "cannot be made", error);
    return {exit_not_durable, folder.string() + ": cannot be made: " + std::strerror(error) +
                                  "; the user that runs holdfast may not write to " +
                                  folder.parent_path().string() +
                                  ": make it for that user first (install -d -o USER -m 0700)"};
}

/// With the folders above it that are missing. The name of the deepest one that is there is synced,
/// too, if its parent lets us: a server that was cut off may have made it.
ResultOf<void, Failure> make_folder(std::filesystem::path const& folder) {
    std::error_code error;
    auto whole = std::filesystem::absolute(folder, error).lexically_normal();
    if (error) return folder_failure(folder, "cannot be made", error.value());
    if (!whole.has_filename()) whole = whole.parent_path();  // "folder/"
    std::vector<std::filesystem::path> missing;
    auto there = whole;
    while (!std::filesystem::exists(there, error) && !error && there.has_relative_path()) {
        missing.push_back(there);
        there = there.parent_path();
    }
    if (error) return folder_failure(there, "cannot be looked at", error.value());
    if (sync_name(there) == EIO) return folder_failure(there, "cannot be synced", EIO);
    while (!missing.empty()) {
        auto const next = std::move(missing.back());
        missing.pop_back();
        bool const made = ::mkdir(next.c_str(), missing.empty() ? 0700 : 0777) == 0;
        if (!made && errno != EEXIST) return not_made(next, errno);
        if (int const failed = sync_name(next); failed != 0)
            return folder_failure(next, "cannot be synced", failed);
    }
    if (!std::filesystem::is_directory(folder, error))
        return Failure{exit_failed, folder.string() + ": is not a folder"};
    return {};
}

std::string random_token() {
    std::array<unsigned char, 32> bytes{};
    system_entropy().fill(std::as_writable_bytes(std::span{bytes}));
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (unsigned char const byte : bytes) {
        text += digits[byte >> 4];
        text += digits[byte & 0xF];
    }
    return text;
}

Descriptor open_token(std::filesystem::path const& file) {
    // O_NONBLOCK: a pipe in the place of the file must not stop the start for ever.
    return Descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

ResultOf<std::string, Failure> read_token(std::filesystem::path const& file, Descriptor const& in) {
    struct stat status{};
    std::array<char, token_bytes_max + 2> text{};
    bool const known = ::fstat(in.get(), &status) == 0;
    ssize_t const got = ::pread(in.get(), text.data(), text.size(), 0);
    if (!known || got < 0)
        return folder_failure(file, "cannot be read", errno, journal::Access::read);
    if ((status.st_mode & (S_IRWXO | S_IWGRP)) != 0) {
        return Failure{exit_failed,
                       file.string() + ": others may read or write it; chmod it to 0600"};
    }
    std::string token(text.data(), static_cast<std::size_t>(got));
    if (token.ends_with('\n')) token.pop_back();
    bool const visible = std::all_of(token.begin(), token.end(),
                                     [](char letter) { return letter > ' ' && letter < 0x7F; });
    if (!visible || token.size() < 16 || token.size() > token_bytes_max) {
        return Failure{exit_failed, file.string() +
                                        ": must hold 16 to 256 visible ASCII characters; remove it "
                                        "to have a new one made"};
    }
    return token;
}

/// Whether a server, or a command that changes the folder, has the LOCK behind this descriptor of
/// somebody else. What stands in the file cannot tell: it stays when a process is killed.
bool is_held_for_writing(int lock) {
    struct flock reading{};
    reading.l_type = F_RDLCK;
    reading.l_whence = SEEK_SET;
    return ::fcntl(lock, F_OFD_GETLK, &reading) == 0 && reading.l_type != F_UNLCK;
}

struct LockLines {
    std::string process;
    std::string url;
};
LockLines lines_of(int lock) {
    std::array<char, 512> text{};
    ssize_t const got = ::pread(lock, text.data(), text.size(), 0);
    std::istringstream lines(std::string(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0));
    LockLines found;
    std::getline(lines, found.process);
    std::getline(lines, found.url);
    return found;
}

}  // namespace

std::string holder_of_lock(int lock) {
    if (!is_held_for_writing(lock)) return "a command that reads it";
    auto const [process, url] = lines_of(lock);
    return process.empty() ? "another process" : "process " + process;
}

Failure folder_failure(std::filesystem::path const& path, std::string_view what, int error,
                       journal::Access access) {
    return journal::file_failure(path, what, {error, std::generic_category()}, access);
}

ResultOf<DataFolder, Failure> DataFolder::open(std::filesystem::path const& folder) {
    if (auto const made = make_folder(folder); !made) return made.error();
    auto const file = folder / "LOCK";
    Descriptor lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock.is_open()) return folder_failure(file, "cannot be opened", errno);
    struct flock whole{};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    // An open-file-description lock: it does not go away when some other descriptor of the same
    // file is closed in this process.
    if (::fcntl(lock.get(), F_OFD_SETLK, &whole) != 0) {
        bool const taken = errno == EAGAIN || errno == EACCES;
        if (!taken) return folder_failure(file, "cannot be locked", errno);
        return Failure{exit_temporary, file.string() + ": in use by " + holder_of_lock(lock.get())};
    }
    DataFolder result(folder, std::move(lock));
    if (auto const failure = refuse_unfinished(folder)) return *failure;
    if (!result.write_lock({})) return folder_failure(file, "cannot be written", errno);
    return result;
}

bool DataFolder::is_in_place() const noexcept {
    struct stat held{};
    struct stat named{};
    return ::fstat(lock_.get(), &held) == 0 && ::stat(lock_file_.c_str(), &named) == 0 &&
           held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

bool DataFolder::write_lock(std::string const& url) const {
    std::string const text = std::to_string(::getpid()) + "\n" + url;
    return ::ftruncate(lock_.get(), 0) == 0 &&
           ::pwrite(lock_.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

std::optional<Failure> DataFolder::announce(std::string const& admin_url) const {
    if (write_lock(admin_url + "\n")) return {};
    return Failure{exit_failed, (path_ / "LOCK").string() + ": cannot be written: " + reason()};
}

void DataFolder::withdraw() const {
    // A URL that stays is believed until the process ends, and no longer.
    static_cast<void>(write_lock({}));
}

std::string DataFolder::announced(std::filesystem::path const& folder) {
    Descriptor const lock(::open((folder / "LOCK").c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    bool const held = lock.is_open() && is_held_for_writing(lock.get());
    return held ? lines_of(lock.get()).url : std::string();
}

ResultOf<std::string, Failure> DataFolder::load_token(std::filesystem::path const& folder) {
    auto const file = folder / "admin.token";
    auto const in = open_token(file);
    if (!in.is_open()) return Failure{exit_failed, file.string() + ": " + reason()};
    return read_token(file, in);
}

ResultOf<std::string, Failure> DataFolder::load_or_make_token() const {
    auto const file = token_file();
    if (auto const in = open_token(file); in.is_open()) return read_token(file, in);
    if (errno != ENOENT)
        return folder_failure(file, "cannot be opened", errno, journal::Access::read);
    std::string const token = random_token();
    journal::PosixDisk disk;
    std::string const line = token + "\n";
    if (auto const error = journal::write_whole(disk, file, std::as_bytes(std::span{line})))
        return folder_failure(file, "cannot be written", error.value());
    return token;
}

}  // namespace holdfast::app
