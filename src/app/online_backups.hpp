// Online backups: backups that a running server makes of itself.
//
// Purpose: takes the target from a worker, has the keeper make the backup, and tells how it went.
// Thread safety: start, newest, abandon: any thread; the work is done on the keeper's thread, which
//   deletes no segment meanwhile. Invariants: one backup at a time. The catalogue cannot change
//   between the store's snapshot and the durable_lsn that goes with it, because both are taken on
//   the store thread. No checkpoint is tried while the snapshot pins the WAL. A failure of the
//   target fails the backup and nothing else.
// Cost: the WAL grows while the store is copied, which is abandoned after ten minutes (backup.hpp).
#pragma once

#include "app/backup.hpp"

#include <holdfast/api/backups.hpp>
#include <holdfast/base/published.hpp>
#include <holdfast/engine/projector.hpp>

#include <functional>
#include <mutex>
#include <optional>

namespace holdfast::app {

class OnlineBackups final : public api::Backups {
public:
    struct Parts {
        engine::Projector& projector;
        journal::Journal& journal;
        journal::Disk& disk;
        Clock const& clock;
        std::filesystem::path data;
        std::uint64_t free_bytes_min{};
        /// Runs a job on the keeper's thread; false: it takes none any more.
        std::function<bool(std::function<void()>)> submit;
    };
    explicit OnlineBackups(Parts parts) : parts_(std::move(parts)) {}

    [[nodiscard]] std::optional<api::BackupRefusal> start(std::filesystem::path const& target,
                                                          TimePoint now) override;
    [[nodiscard]] std::optional<api::BackupReport> newest() const override;
    /// The server stops: what runs ends within moments, and nothing begins any more.
    void abandon() noexcept { abandoned_.set(true); }

private:
    [[nodiscard]] BackupPlan plan(std::filesystem::path target);
    [[nodiscard]] ResultOf<BackupPoint, journal::Failure> begin_point();
    /// Under the mutex.
    [[nodiscard]] std::optional<api::BackupRefusal> refuse(std::filesystem::path const& target,
                                                           std::filesystem::path& resolved);
    [[nodiscard]] ResultOf<Manifest, journal::Failure> make(std::filesystem::path const& target);
    void run(std::filesystem::path const& target);

    Parts parts_;
    Published<bool> abandoned_{false};
    // Also held while a target is looked at, so that of two requests one is told that it is late.
    mutable std::mutex mutex_;
    std::optional<api::BackupReport> newest_;  // guarded by mutex_
};

}  // namespace holdfast::app
