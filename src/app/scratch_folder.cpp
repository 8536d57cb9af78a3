#include "app/scratch_folder.hpp"

#include "app/data_folder.hpp"
#include "app/exit_codes.hpp"

#include <holdfast/base/descriptor.hpp>
#include <holdfast/store/store.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace holdfast::app {
namespace {

using journal::Access;
using journal::Failure;
namespace fs = std::filesystem;

sigset_t ending_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (int const signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGPIPE})
        sigaddset(&set, signal);
    return set;
}

constexpr std::size_t piece_bytes = 1U << 20;

Failure cannot_read(fs::path const& path, int error) {
    return folder_failure(path, "cannot be read", error, Access::read);
}
Failure cannot_write(fs::path const& path, int error) {
    return folder_failure(path, "cannot be written", error, Access::write);
}

/// By hand: who copies in one call is not told which of the two files has failed, and what is wrong
/// with the original is damage, while a full scratch folder is none.
ResultOf<void, Failure> copy_bytes(fs::path const& from, Descriptor const& source,
                                   fs::path const& to, Descriptor const& copy) {
    std::vector<char> piece(piece_bytes);
    for (off_t at = 0;;) {
        ssize_t const got = ::pread(source.get(), piece.data(), piece.size(), at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cannot_read(from, errno);
        if (got == 0) return {};
        for (ssize_t done = 0; done < got;) {
            ssize_t const put = ::pwrite(copy.get(), piece.data() + done,
                                         static_cast<std::size_t>(got - done), at + done);
            if (put < 0 && errno == EINTR) continue;
            if (put < 0) return cannot_write(to, errno);
            done += put;
        }
        at += got;
    }
}

ResultOf<void, Failure> copy_if_there(fs::path const& from, fs::path const& to) {
    Descriptor const source(::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!source.is_open() && errno == ENOENT) return {};
    struct stat about{};
    if (!source.is_open() || ::fstat(source.get(), &about) != 0) return cannot_read(from, errno);
    // The original may be read-only. Else the mode stays: others may not read a key.
    mode_t const mode = (about.st_mode & 0777U) | S_IRUSR | S_IWUSR;
    Descriptor const copy(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!copy.is_open() || ::fchmod(copy.get(), mode) != 0) return cannot_write(to, errno);
    return copy_bytes(from, source, to, copy);
}

/// Links and not copies: a recovery opens these files to read them, past the page cache, and a
/// journal may be larger than the space that is left. Symbolic, so that another file system and
/// another owner are no matter.
ResultOf<void, Failure> link_journal(fs::path const& from, fs::path const& to) {
    std::error_code error;
    if (!fs::exists(from, error) && !error) return {};
    if (error) return cannot_read(from, error.value());
    fs::create_directory(to, error);
    if (error) return cannot_write(to, error.value());
    fs::directory_iterator entries(from, error);
    for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
        auto const name = entries->path().filename();
        bool const needed = name.extension() == ".hfj" || name.extension() == ".hfb";
        std::error_code unmade;
        if (needed) fs::create_symlink(entries->path(), to / name, unmade);
        if (unmade) return cannot_write(to / name, unmade.value());
    }
    if (error) return cannot_read(from, error.value());
    return {};
}

/// What is copied of a data folder, and what a recovery writes beside it.
std::uintmax_t bytes_of_copies(fs::path const& data) {
    std::uintmax_t bytes = 64U << 20;
    std::error_code unreadable;
    std::uintmax_t segment = 0;  // a try of a salvage copies the last one
    for (fs::directory_iterator at(data / "journal", unreadable);
         !unreadable && at != fs::directory_iterator(); at.increment(unreadable)) {
        std::error_code gone;
        if (at->path().extension() != ".hfj") continue;
        std::uintmax_t const size = fs::file_size(at->path(), gone);
        if (!gone) segment = std::max(segment, size);
    }
    bytes += segment;
    for (char const* const name : {"store.db", "store.db-wal"}) {
        std::error_code missing;
        std::uintmax_t const size = fs::file_size(data / name, missing);
        if (!missing)
            bytes += 3 * size;  // twice by a salvage, and the WAL becomes part of the file
    }
    return bytes;
}

}  // namespace

ResultOf<std::unique_ptr<ScratchFolder>, Failure> ScratchFolder::make(
    std::vector<fs::path> const& parents, std::string const& name) {
    Failure failure{exit_failed, "there is no place for a scratch folder"};
    for (fs::path const& parent : parents) {
        std::string path = (parent / (name + "-XXXXXX")).string();
        if (::mkdtemp(path.data()) != nullptr)
            return std::unique_ptr<ScratchFolder>(new ScratchFolder(std::move(path)));
        bool const is_first = &parent == &parents.front();
        if (is_first) failure = folder_failure(parent, "takes no scratch folder", errno);
    }
    if (parents.size() > 1) failure.message += "; nor do temporary files go anywhere (TMPDIR)";
    return failure;
}

ScratchFolder::ScratchFolder(fs::path path) : path_(std::move(path)) {
    sigset_t const set = ending_signals();
    int const failed = pthread_sigmask(SIG_BLOCK, &set, &before_);
    if (failed != 0) throw std::system_error(failed, std::generic_category(), "pthread_sigmask");
    try {
        watcher_ = std::thread([this] { wait_for_signal(); });
    } catch (std::system_error const&) {
        leave();
        throw;
    }
}

ScratchFolder::~ScratchFolder() {
    done_.set(true);
    ::pthread_kill(watcher_.native_handle(), SIGHUP);
    watcher_.join();
    leave();
}

void ScratchFolder::leave() noexcept {
    std::error_code ignored;  // It is in nobody's way.
    fs::remove_all(path_, ignored);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void ScratchFolder::wait_for_signal() {
    sigset_t const set = ending_signals();
    int signal = 0;
    while (::sigwait(&set, &signal) != 0) {
    }
    if (done_.get()) return;
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    ::_exit(128 + signal);
}

ResultOf<void, Failure> copy_to_scratch(fs::path const& data, fs::path const& scratch) {
    // Links must lead to the originals from wherever the scratch folder lies.
    std::error_code error;
    fs::path const from = fs::absolute(data, error);
    if (error) return cannot_read(data, error.value());
    for (auto const& [name, other] : {std::pair{"META.a", "META.b"}, std::pair{"META.b", "META.a"},
                                      std::pair{"server.key", ""}}) {
        auto done = copy_if_there(from / name, scratch / name);
        if (done) continue;
        Failure failure = done.error();
        bool const has_another = failure.exit_code == exit_damaged && *other != '\0';
        if (has_another)
            failure.message.append("; if ").append(other).append(
                " is good, a start goes on without it: move it out of the folder");
        return failure;
    }
    return link_journal(from / "journal", scratch / "journal");
}

ResultOf<void, Failure> copy_store_to(fs::path const& data, fs::path const& folder) {
    // The disk is asked, as by a start. If it says no, this is not the place to tell: a folder may
    // be on a file system that takes no writes, and what cannot be read fails below.
    static_cast<void>(store::Store::drop_cache(data / "store.db"));
    std::string const file = store::Store::real_file(data / "store.db").string();
    // And the journal of a file that is half made, or that another program has changed.
    for (std::string const end : {"", "-wal", "-journal"}) {
        if (auto const done = copy_if_there(file + end, folder / ("store.db" + end)); !done)
            return done;
    }
    return {};
}

std::vector<fs::path> scratch_parents(fs::path const& data) {
    std::error_code error;
    fs::path const whole = fs::weakly_canonical(data, error);
    std::vector<fs::path> parents;
    if (!error && whole.has_parent_path()) parents.push_back(whole.parent_path());
    auto const temporary = fs::temp_directory_path(error);
    if (!error) parents.push_back(temporary);
    std::uintmax_t const wanted = bytes_of_copies(whole);
    std::stable_partition(parents.begin(), parents.end(), [wanted](fs::path const& parent) {
        std::error_code unknown;
        auto const space = fs::space(parent, unknown);
        return unknown || space.available >= wanted;
    });
    return parents;
}

}  // namespace holdfast::app
