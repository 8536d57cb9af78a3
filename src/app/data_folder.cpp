#include "app/data_folder.hpp"

#include "app/cli.hpp"
#include "app/exit_codes.hpp"

#include <holdfast/base/entropy.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace holdfast::app {
namespace {

using journal::Failure;

constexpr std::size_t token_bytes_max = 256;

std::string reason() {
    return std::strerror(errno);
}

bool sync_folder(std::filesystem::path const& folder) {
    int const fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return false;
    bool const synced = ::fsync(fd) == 0;
    ::close(fd);
    return synced;
}

ResultOf<void, Failure> make_folder(std::filesystem::path const& folder) {
    std::error_code error;
    auto const parent = std::filesystem::absolute(folder, error).lexically_normal().parent_path();
    if (!error) std::filesystem::create_directories(parent, error);
    if (error) return folder_failure(parent, "cannot be made", error.value());
    if (::mkdir(folder.c_str(), 0700) == 0) {
        if (!sync_folder(parent)) {
            return Failure{exit_not_durable, parent.string() + ": cannot be synced: " + reason()};
        }
    } else if (errno != EEXIST) {
        return folder_failure(folder, "cannot be made", errno);
    }
    if (!std::filesystem::is_directory(folder, error)) {
        return Failure{exit_failed, folder.string() + ": is not a folder"};
    }
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

/// By way of a second name, so that a crash never leaves half a token.
bool write_private(std::filesystem::path const& file, std::string const& text) {
    std::filesystem::path const made = file.string() + ".tmp";
    ::unlink(made.c_str());
    int const fd = ::open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    bool const written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    bool const synced = written && ::fsync(fd) == 0;
    ::close(fd);
    return synced && ::rename(made.c_str(), file.c_str()) == 0 && sync_folder(file.parent_path());
}

ResultOf<std::string, Failure> read_token(std::filesystem::path const& file, int fd) {
    struct stat status{};
    std::array<char, token_bytes_max + 2> text{};
    bool const known = ::fstat(fd, &status) == 0;
    ssize_t const got = ::pread(fd, text.data(), text.size(), 0);
    if (!known || got < 0) return folder_failure(file, "cannot be read", errno);
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

/// What the operator can do; empty: the folder as such is not to blame.
std::string_view remedy_of(int error) {
    switch (error) {
        case EACCES:
        case EPERM:
            return "the user that runs holdfast must own the data folder: chown it, or name "
                   "another";
        case EROFS:
            return "its file system is read-only: mount it for writing, or name another data "
                   "folder";
        case ENOSPC:
        case EDQUOT:
            return "free space on its disk";
        case EIO:
            return "the disk fails; see dmesg";
        default:
            return {};
    }
}

}  // namespace

std::string holder_of_lock(int lock) {
    std::array<char, 32> text{};
    ssize_t const got = ::pread(lock, text.data(), text.size() - 1, 0);
    std::string const number(text.data(), std::strspn(text.data(), "0123456789"));
    // The file keeps the number of the last server when a command locks it to read the folder.
    bool const gone =
        number.empty() || (::kill(std::atoi(number.c_str()), 0) != 0 && errno == ESRCH);
    if (got <= 0 || gone) return "another process";
    return "process " + number;
}

Failure folder_failure(std::filesystem::path const& path, std::string_view what, int error) {
    std::string_view const remedy = remedy_of(error);
    std::string text = path.string();
    text.append(": ").append(what).append(": ").append(std::strerror(error));
    if (!remedy.empty()) text.append("; ").append(remedy);
    return {remedy.empty() ? exit_failed : exit_not_durable, std::move(text)};
}

ResultOf<DataFolder, Failure> DataFolder::open(std::filesystem::path const& folder) {
    if (auto const made = make_folder(folder); !made) return made.error();
    auto const file = folder / "LOCK";
    int const fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return folder_failure(file, "cannot be opened", errno);
    struct flock whole{};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    // An open-file-description lock: it does not go away when some other descriptor of the same
    // file is closed in this process.
    if (::fcntl(fd, F_OFD_SETLK, &whole) != 0) {
        bool const taken = errno == EAGAIN || errno == EACCES;
        Failure const failure{
            taken ? exit_temporary : exit_failed,
            file.string() + ": " + (taken ? "in use by " + holder_of_lock(fd) : reason())};
        ::close(fd);
        return failure;
    }
    DataFolder result(folder, fd);
    std::string const self = std::to_string(::getpid()) + "\n";
    bool const written = ::ftruncate(fd, 0) == 0 && ::pwrite(fd, self.data(), self.size(), 0) ==
                                                        static_cast<ssize_t>(self.size());
    if (!written) return folder_failure(file, "cannot be written", errno);
    return result;
}

DataFolder::DataFolder(DataFolder&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

DataFolder::~DataFolder() {
    if (lock_ >= 0) ::close(lock_);
}

std::optional<Failure> DataFolder::announce(std::string const& admin_url) const {
    std::string const text = std::to_string(::getpid()) + "\n" + admin_url + "\n";
    if (::pwrite(lock_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()))
        return {};
    return Failure{exit_failed, (path_ / "LOCK").string() + ": cannot be written: " + reason()};
}

std::string DataFolder::announced(std::filesystem::path const& folder) {
    std::ifstream lock(folder / "LOCK");
    std::string process;
    std::string url;
    std::getline(lock, process);
    std::getline(lock, url);
    return url;
}

ResultOf<std::string, Failure> DataFolder::load_token(std::filesystem::path const& folder) {
    auto const file = folder / "admin.token";
    int const fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return Failure{exit_failed, file.string() + ": " + reason()};
    auto token = read_token(file, fd);
    ::close(fd);
    return token;
}

ResultOf<std::string, Failure> DataFolder::load_or_make_token() const {
    auto const file = token_file();
    int const fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0) {
        auto token = read_token(file, fd);
        ::close(fd);
        return token;
    }
    if (errno != ENOENT) return folder_failure(file, "cannot be opened", errno);
    std::string const token = random_token();
    if (!write_private(file, token + "\n")) return folder_failure(file, "cannot be written", errno);
    return token;
}

}  // namespace holdfast::app
