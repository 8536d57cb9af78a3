// Backup target: the folder that a backup is made in, held open from its making to its end.
//
// Purpose: of two backups into one folder one is refused, and neither removes what the other made:
//   the folder belongs to whoever makes `journal` in it, by one mkdir. All work goes by way of
//   path(), which names the open folder and not its place, so that a folder above it which is
//   exchanged meanwhile leads nowhere else.
// Thread safety: one thread. Invariants: the folder is ours, private (0700) and was empty. Unless
//   it is kept, what a backup makes is removed by name, and the folder if it was made for it; what
//   somebody else has put into it stays. Cost: some system calls; needs /proc.
#pragma once

#include <holdfast/base/descriptor.hpp>
#include <holdfast/base/result.hpp>
#include <holdfast/journal/journal.hpp>

#include <filesystem>
#include <string>

namespace holdfast::app {

/// The target without symbolic links. Refuses one that is not absolute, that has no folder above
/// it or one in which everybody may exchange it, that is or has something in it, or that lies in
/// the data folder or around it.
[[nodiscard]] ResultOf<std::filesystem::path, journal::Failure> resolve_target(
    std::filesystem::path const& data, std::filesystem::path const& target);

class BackupTarget {
public:
    /// `place` is as resolve_target gives it; all of it is looked at once more.
    [[nodiscard]] static ResultOf<BackupTarget, journal::Failure> make(
        std::filesystem::path const& data, std::filesystem::path const& place);
    BackupTarget(BackupTarget&& other) noexcept;
    BackupTarget& operator=(BackupTarget&&) = delete;
    ~BackupTarget();

    [[nodiscard]] std::filesystem::path path() const;
    /// The folder that it stands in.
    [[nodiscard]] std::filesystem::path above() const;
    void keep() noexcept { kept_ = true; }

private:
    explicit BackupTarget(std::string name) : name_(std::move(name)) {}
    [[nodiscard]] std::string open(std::filesystem::path const& data,
                                   std::filesystem::path const& place);
    [[nodiscard]] std::string make_ours();
    void remove_made() const noexcept;

    std::string name_;
    Descriptor above_;
    Descriptor folder_;
    unsigned mode_before_{};
    bool made_folder_{};
    bool ours_{};
    bool kept_{};
};

}  // namespace holdfast::app
