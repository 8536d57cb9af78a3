// Scratch folder: a folder of a command's own, gone when the command is, however it ends.
//
// Purpose: removed with the object, and by the signals that would end the process, which a thread
//   of its own waits for: they do so, with 128 + the signal, once the folder is gone. A pipe that
//   nobody reads ends it after that.
// Thread safety: one object at a time, made before any other thread is. Invariants: only kill -9, a
//   crash of the machine or an assertion leaves it. Cost: one thread.
#pragma once

#include <holdfast/base/published.hpp>
#include <holdfast/base/result.hpp>
#include <holdfast/journal/journal.hpp>

#include <filesystem>
#include <memory>
#include <signal.h>
#include <thread>

namespace holdfast::app {

class ScratchFolder {
public:
    /// `name`-XXXXXX below the first of these folders that takes it.
    [[nodiscard]] static ResultOf<std::unique_ptr<ScratchFolder>, journal::Failure> make(
        std::vector<std::filesystem::path> const& parents, std::string const& name);
    ~ScratchFolder();
    ScratchFolder(ScratchFolder const&) = delete;
    ScratchFolder& operator=(ScratchFolder const&) = delete;

    [[nodiscard]] std::filesystem::path const& path() const noexcept { return path_; }

private:
    explicit ScratchFolder(std::filesystem::path path);
    void wait_for_signal();
    /// The folder goes, and signals end the process again.
    void leave() noexcept;

    std::filesystem::path path_;
    sigset_t before_{};
    Published<bool> done_{false};
    std::thread watcher_;
};

/// A copy of a data folder at rest in which a recovery can run: whatever it would write lies in the
/// copy. What it only reads, the journal's files, are links to the originals. All but the store.
[[nodiscard]] ResultOf<void, journal::Failure> copy_to_scratch(
    std::filesystem::path const& data, std::filesystem::path const& scratch);
/// store.db with its WAL, if there is one.
[[nodiscard]] ResultOf<void, journal::Failure> copy_store_to(std::filesystem::path const& data,
                                                             std::filesystem::path const& folder);

/// `parents` for a scratch folder that may lie anywhere: beside the data, where there is room for
/// its like, else where temporary files go.
[[nodiscard]] std::vector<std::filesystem::path> scratch_parents(std::filesystem::path const& data);

}  // namespace holdfast::app
