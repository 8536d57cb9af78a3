#include "app/backup.hpp"

#include "app/exit_codes.hpp"
#include "app/key_file.hpp"
#include "app/resting_folder.hpp"
#include "app/restored_state.hpp"

#include <holdfast/journal/disk.hpp>

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace holdfast::app {
namespace {

using journal::Failure;

/// META, the manifest, folders.
constexpr std::uint64_t bytes_beside = 1U << 20;
/// A snapshot pins the WAL of the store, which grows meanwhile.
constexpr auto pin_limit = std::chrono::minutes{10};

Failure no_backup(std::string const& what) {
    return {exit_failed, what};
}

/// Whether a file of one folder can get a second name in the other one. A mount is a border, also
/// between two that show the same file system, as systemd's ReadWritePaths do.
bool can_link(std::filesystem::path const& from, std::filesystem::path const& to) {
    struct statx first{};
    struct statx second{};
    if (::statx(AT_FDCWD, from.c_str(), 0, STATX_MNT_ID, &first) != 0 ||
        ::statx(AT_FDCWD, to.c_str(), 0, STATX_MNT_ID, &second) != 0)
        return false;
    bool const told = (first.stx_mask & second.stx_mask & STATX_MNT_ID) != 0;
    return told && first.stx_mnt_id == second.stx_mnt_id &&
           first.stx_dev_major == second.stx_dev_major &&
           first.stx_dev_minor == second.stx_dev_minor;
}

/// Whether what one folder gets is no longer free in the other one, however they are mounted.
bool share_space(std::filesystem::path const& one, std::filesystem::path const& other) {
    struct stat first{};
    struct stat second{};
    if (::stat(one.c_str(), &first) != 0 || ::stat(other.c_str(), &second) != 0) return true;
    return first.st_dev == second.st_dev;
}

/// What the target's file system is to keep free for the journal.
std::uint64_t bytes_left_in(BackupPlan const& plan, std::filesystem::path const& place) {
    return share_space(plan.data, place) ? plan.bytes_left : 0;
}

/// Where the target's bytes will lie: an empty folder may be a file system of its own.
std::filesystem::path place_of(std::filesystem::path const& target) {
    std::error_code missing;
    return std::filesystem::exists(target, missing) ? target : target.parent_path();
}

std::uint64_t bytes_of(std::filesystem::path const& file) {
    std::error_code missing;
    auto const bytes = std::filesystem::file_size(file, missing);
    return missing ? 0 : bytes;
}

/// Of the newest segment if the others can be linked, else of all of the journal.
std::uint64_t journal_bytes(std::filesystem::path const& data, bool linked) {
    std::uint64_t sum = 0;
    std::uint64_t largest = 0;
    std::vector<std::string> names;
    // Not by std::filesystem, whose iterators end the process if there is no memory for a name. A
    // folder that cannot be read the backup will meet.
    static_cast<void>(journal::PosixDisk().list(data / "journal", names));
    for (std::string const& name : names) {
        bool const is_segment = name.ends_with(".hfj");
        if (!is_segment && !name.ends_with(".hfb")) continue;
        std::uint64_t const bytes = bytes_of(data / "journal" / name);
        sum += bytes;
        if (is_segment) largest = std::max(largest, bytes);
    }
    return linked ? largest : sum;
}

class BackupMaker {
public:
    BackupMaker(BackupPlan const& plan, std::filesystem::path folder)
        : plan_(plan),
          folder_(std::move(folder)),
          bytes_left_(bytes_left_in(plan, folder_)),
          between_([this] { return refuse_to_go_on(); }) {}

    /// Everything but the sync of the folder above.
    [[nodiscard]] ResultOf<Manifest, Failure> run();

private:
    [[nodiscard]] std::optional<Failure> refuse_to_go_on();
    [[nodiscard]] std::optional<Failure> copy_store(BackupPoint point);
    [[nodiscard]] std::optional<Failure> sync_wal() const;
    [[nodiscard]] std::optional<Failure> copy_rest(Lsn durable);

    BackupPlan const& plan_;
    std::filesystem::path folder_;  // the open target
    std::uint64_t bytes_left_;
    journal::BetweenPieces between_;
    Manifest manifest_;
    std::vector<std::string> names_;
};

std::optional<Failure> BackupMaker::refuse_to_go_on() {
    if (auto const why = plan_.why_stop(); !why.empty())
        return no_backup("the backup was abandoned: " + why);
    std::uint64_t left{};
    if (plan_.disk.free_bytes(folder_, left) || left >= bytes_left_) return {};
    return no_backup("the backup was abandoned: " + std::to_string(left) +
                     " bytes are free in its file system, and " + std::to_string(bytes_left_) +
                     " are to stay free");
}

std::optional<Failure> BackupMaker::copy_store(BackupPoint point) {
    manifest_.applied = point.snapshot->identity().applied_lsn;
    manifest_.store_id = point.snapshot->identity().store_id;
    std::optional<Failure> stopped;
    auto const deadline = std::chrono::steady_clock::now() + pin_limit;
    auto const copied = point.snapshot->copy_to(folder_ / "store.db", [&] {
        stopped = between_();
        if (std::chrono::steady_clock::now() >= deadline)
            stopped = no_backup("the backup was abandoned: store.db takes too long to copy");
        return !stopped;
    });
    names_.emplace_back("store.db");
    if (stopped) return stopped;
    if (!copied) return bare_store_failure(plan_.data / "store.db", copied.error());
    // Once it lets go of the store nothing tells whether that has failed meanwhile.
    if (auto failure = between_()) return failure;
    return sync_wal();
}

/// Of what was copied the WAL may have pages that the kernel could not write, and knows as clean:
/// nobody has synced them yet, as there is no checkpoint meanwhile.
std::optional<Failure> BackupMaker::sync_wal() const {
    auto wal = store::Store::real_file(plan_.data / "store.db");
    wal += "-wal";
    std::unique_ptr<journal::File> file;
    auto error = plan_.disk.open(wal, journal::OpenMode::read, file);
    if (error == std::errc::no_such_file_or_directory) return {};
    if (!error) error = file->sync_data();
    if (!error) return {};
    return no_backup(journal::with_remedy(wal.string() + ": cannot be synced", error));
}

std::optional<Failure> BackupMaker::copy_rest(Lsn durable) {
    auto const copied = journal::copy_journal(plan_.data, plan_.disk, durable, folder_, between_);
    if (!copied) return copied.error();
    manifest_.durable = copied->last;
    if (copied->store_id != manifest_.store_id)
        return no_backup("the journal and store.db belong to different stores");
    names_.insert(names_.end(), copied->files.begin(), copied->files.end());
    if (auto failure = check_key(plan_.data / "server.key", copied->store_id)) return failure;
    constexpr std::uint64_t key_bytes_max = 1U << 20;
    names_.emplace_back("server.key");
    if (auto failure =
            journal::copy_file(plan_.disk, plan_.data / "server.key", folder_ / "server.key",
                               {.bytes = key_bytes_max}, between_))
        return failure;
    // The manifest vouches for what is in the copy, so that must be the key.
    if (auto failure = check_key(folder_ / "server.key", copied->store_id)) return failure;
    if (auto const error = plan_.disk.sync_folder(folder_))
        return no_backup(journal::with_remedy(folder_.string() + ": cannot be synced", error));
    return {};
}

ResultOf<Manifest, Failure> BackupMaker::run() {
    auto point = plan_.begin();
    if (!point) return point.error();
    Lsn const durable = point->durable;
    if (auto failure = copy_store(*std::move(point))) return *std::move(failure);
    if (auto failure = copy_rest(durable)) return *std::move(failure);
    auto files = measure(folder_, names_, between_);
    if (!files) return files.error();
    manifest_.files = *std::move(files);
    manifest_.version = HOLDFAST_VERSION;
    manifest_.made_at = std::chrono::floor<std::chrono::seconds>(plan_.now);
    if (auto failure = write_manifest(folder_, plan_.disk, manifest_)) return *std::move(failure);
    return std::move(manifest_);
}

ResultOf<Manifest, Failure> make_in(BackupPlan const& plan, BackupTarget const& target) {
    auto made = BackupMaker(plan, target.path()).run();
    if (!made) return in_terms_of(plan.target, target.path(), made.error());
    if (auto const error = plan.disk.sync_folder(target.above())) {
        return no_backup(
            journal::with_remedy(plan.target.parent_path().string() + ": cannot be synced", error));
    }
    return made;
}

}  // namespace

std::uint64_t bytes_left_by_backups(std::uint64_t free_bytes_min,
                                    std::uint64_t segment_bytes) noexcept {
    constexpr std::uint64_t segments_ahead = 4;
    return free_bytes_min + segments_ahead * segment_bytes;
}

std::optional<Failure> refuse_for_space(BackupPlan const& plan) {
    auto const place = place_of(plan.target);
    bool const linked = can_link(plan.data / "journal", place);
    std::uint64_t const needed =
        bytes_of(plan.data / "store.db") + bytes_of(plan.data / "store.db-wal") +
        journal_bytes(plan.data, linked) + bytes_beside + bytes_left_in(plan, place);
    std::uint64_t free{};
    if (auto const error = plan.disk.free_bytes(place, free))
        return no_backup(journal::with_remedy(place.string(), error));
    if (free >= needed) return {};
    return no_backup(plan.target.string() + ": has " + std::to_string(free) + " bytes free, and " +
                     std::to_string(needed) + " may be needed");
}

ResultOf<Manifest, Failure> make_backup(BackupPlan const& plan) {
    auto target = BackupTarget::make(plan.data, plan.target);
    if (!target) return target.error();
    auto made = make_in(plan, *target);
    if (made) target->keep();
    return made;
}

}  // namespace holdfast::app
