// Data folder: one server a folder, and the operator's token.
//
// Purpose: makes the folder (mode 0700), holds its LOCK file for life with an open-file-description
// lock, and keeps admin.token. Thread safety: by its owner only. Invariants: while a DataFolder
// lives no other process has one on the same folder; the lock goes with the process, however it
// ends. Cost: at start only.
#pragma once

#include <holdfast/base/descriptor.hpp>
#include <holdfast/base/result.hpp>
#include <holdfast/journal/file_failure.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::app {

/// Who has the LOCK file behind this descriptor, for a message only.
[[nodiscard]] std::string holder_of_lock(int descriptor);
/// journal::file_failure() of an errno.
[[nodiscard]] journal::Failure folder_failure(std::filesystem::path const& path,
                                              std::string_view what, int error,
                                              journal::Access access = journal::Access::write);

class DataFolder {
public:
    /// 75 if another server has it, 76 if it cannot be written or made durable, 77 if a salvage has
    /// not finished it, 1 for all else.
    [[nodiscard]] static ResultOf<DataFolder, journal::Failure> open(
        std::filesystem::path const& folder);
    DataFolder(DataFolder&& other) noexcept = default;
    DataFolder& operator=(DataFolder&&) = delete;

    [[nodiscard]] std::filesystem::path const& path() const noexcept { return path_; }
    [[nodiscard]] std::filesystem::path store_file() const { return path_ / "store.db"; }
    [[nodiscard]] std::filesystem::path key_file() const { return path_ / "server.key"; }
    [[nodiscard]] std::filesystem::path token_file() const { return path_ / "admin.token"; }
    /// Whether its path still leads to the LOCK that is held. Needs no memory.
    [[nodiscard]] bool is_in_place() const noexcept;

    /// Writes into LOCK where the server's admin listener is, for commands that ask it.
    [[nodiscard]] std::optional<journal::Failure> announce(std::string const& admin_url) const;
    /// Lets go of LOCK before this ends: a process that exits while one of its threads hangs in the
    /// kernel keeps what is locked. Nothing of the folder may be changed any more.
    void release() noexcept { lock_ = Descriptor{}; }
    /// The server is about to stop: it takes no more questions.
    void withdraw() const;
    /// What the server that has `folder` announced; empty: nothing (yet), or no server has it now.
    /// What a killed one has left is nobody's address, and who listens there now must not be sent
    /// the operator's token.
    [[nodiscard]] static std::string announced(std::filesystem::path const& folder);

    /// The token in a folder's admin.token.
    [[nodiscard]] static ResultOf<std::string, journal::Failure> load_token(
        std::filesystem::path const& folder);
    /// Reads admin.token, or makes it (mode 0600, 256 random bits).
    [[nodiscard]] ResultOf<std::string, journal::Failure> load_or_make_token() const;

private:
    DataFolder(std::filesystem::path path, Descriptor lock)
        : path_(std::move(path)), lock_file_(path_ / "LOCK"), lock_(std::move(lock)) {}
    /// Our process and, if there is one, our URL; false: see errno.
    [[nodiscard]] bool write_lock(std::string const& url) const;
    std::filesystem::path path_;
    std::filesystem::path lock_file_;
    Descriptor lock_;
};

}  // namespace holdfast::app
