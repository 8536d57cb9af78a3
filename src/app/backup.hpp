// Backup: one folder with all that a start needs, as of one moment.
//
// Purpose: the work itself, the same for a running server and for a folder at rest: the store by
//   its snapshot, the journal up to `durable`, server.key, and at the end the manifest. admin.token
//   is left out: it opens a running server and is made anew at a start; server.key is not, or no
//   hold and no ticket that was handed out would be known after a restore.
// Thread safety: one thread, while nobody deletes segments or a store's file.
// Invariants: applied_lsn of the copied store <= durable, and its catalogue has every event that a
//   record up to `durable` speaks of. The target is private (0700, files 0600) and gets its
//   manifest last, when all else is synced. After a failure nothing of it is left in the target
//   (backup_target.hpp). `bytes_left` stay free on the target's file system, which may be that of
//   the data. The snapshot is let go of after ten minutes at most, copied or not.
// Cost: one copy of the store and of a segment (of all of them if they cannot be linked), and two
//   reads of everything, for the journal's checks and for the hashes.
#pragma once

#include "app/backup_target.hpp"
#include "app/manifest.hpp"

#include <holdfast/store/snapshot.hpp>

#include <functional>
#include <memory>

namespace holdfast::app {

struct BackupPoint {
    std::shared_ptr<void> pin;  // let go of as soon as the store is copied
    std::unique_ptr<store::Snapshot> snapshot;
    Lsn durable;
};

struct BackupPlan {
    std::filesystem::path data;
    std::filesystem::path target;  // as resolve_target gives it
    journal::Disk& disk;
    std::uint64_t bytes_left{};
    TimePoint now{};
    /// Looks at store and journal at one moment at which no event is added to the catalogue.
    std::function<ResultOf<BackupPoint, journal::Failure>()> begin;
    /// Asked between pieces; a reason abandons the backup.
    std::function<std::string()> why_stop;
};

/// What must stay free where a server is to go on: the journal makes two spare segments before it
/// needs them, and may fill as many before anybody looks.
[[nodiscard]] std::uint64_t bytes_left_by_backups(std::uint64_t free_bytes_min,
                                                  std::uint64_t segment_bytes) noexcept;
/// If there is too little space for it, as far as sizes tell before.
[[nodiscard]] std::optional<journal::Failure> refuse_for_space(BackupPlan const& plan);
[[nodiscard]] ResultOf<Manifest, journal::Failure> make_backup(BackupPlan const& plan);

}  // namespace holdfast::app
