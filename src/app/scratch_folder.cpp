#include "app/scratch_folder.hpp"

#include "app/cli.hpp"
#include "app/data_folder.hpp"

#include <holdfast/store/store.hpp>

#include <cerrno>
#include <cstring>
#include <pthread.h>
#include <stdlib.h>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace holdfast::app {
namespace {

using journal::Failure;
namespace fs = std::filesystem;

sigset_t ending_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (int const signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGPIPE})
        sigaddset(&set, signal);
    return set;
}

Failure cannot(fs::path const& path, char const* what, std::error_code error) {
    return {exit_failed, path.string() + ": " + what + ": " + error.message()};
}

ResultOf<void, Failure> copy_if_there(fs::path const& from, fs::path const& to) {
    std::error_code error;
    if (!fs::exists(from, error) && !error) return {};
    if (!error) fs::copy_file(from, to, error);
    // The original may be read-only. Else the mode stays: others may not read a key.
    if (!error)
        fs::permissions(to, fs::perms::owner_read | fs::perms::owner_write, fs::perm_options::add,
                        error);
    if (error == std::errc::permission_denied)
        return folder_failure(from, "cannot be copied", error.value());
    if (error) return cannot(from, "cannot be copied", error);
    return {};
}

/// Links and not copies: a recovery opens these files to read them, past the page cache, and a
/// journal may be larger than the space that is left. Symbolic, so that another file system and
/// another owner are no matter.
ResultOf<void, Failure> link_journal(fs::path const& from, fs::path const& to) {
    std::error_code error;
    if (!fs::exists(from, error) && !error) return {};
    if (!error) fs::create_directory(to, error);
    if (error) return cannot(to, "cannot be made", error);
    fs::directory_iterator entries(from, error);
    if (error) return cannot(from, "cannot be read", error);
    for (fs::directory_entry const& entry : entries) {
        auto const name = entry.path().filename();
        bool const needed = name.extension() == ".hfj" || name.extension() == ".hfb";
        if (needed) fs::create_symlink(entry.path(), to / name, error);
        if (error) return cannot(to / name, "cannot be made", error);
    }
    return {};
}

}  // namespace

ResultOf<std::unique_ptr<ScratchFolder>, Failure> ScratchFolder::make(
    std::vector<fs::path> const& parents, std::string const& name) {
    std::string why;
    for (fs::path const& parent : parents) {
        std::string path = (parent / (name + "-XXXXXX")).string();
        if (::mkdtemp(path.data()) != nullptr)
            return std::unique_ptr<ScratchFolder>(new ScratchFolder(std::move(path)));
        if (why.empty()) why = parent.string() + ": " + std::strerror(errno);
    }
    return Failure{exit_failed, "there is no place for a scratch folder: " + why};
}

ScratchFolder::ScratchFolder(fs::path path) : path_(std::move(path)) {
    sigset_t const set = ending_signals();
    int const failed = pthread_sigmask(SIG_BLOCK, &set, &before_);
    if (failed != 0) throw std::system_error(failed, std::generic_category(), "pthread_sigmask");
    watcher_ = std::thread([this] { wait_for_signal(); });
}

ScratchFolder::~ScratchFolder() {
    done_.set(true);
    ::pthread_kill(watcher_.native_handle(), SIGHUP);
    watcher_.join();
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
    if (error) return cannot(data, "has no place", error);
    for (char const* const name : {"META.a", "META.b", "server.key"}) {
        if (auto const done = copy_if_there(from / name, scratch / name); !done) return done;
    }
    return link_journal(from / "journal", scratch / "journal");
}

ResultOf<void, Failure> copy_store_to(fs::path const& data, fs::path const& folder) {
    // The disk is asked, as by a start. If it says no, this is not the place to tell: a folder may
    // be on a file system that takes no writes, and what cannot be read fails below.
    static_cast<void>(store::Store::drop_cache(data / "store.db"));
    for (char const* const name : {"store.db", "store.db-wal"}) {
        if (auto const done = copy_if_there(data / name, folder / name); !done) return done;
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
    return parents;
}

}  // namespace holdfast::app
