#include "app/backup.hpp"

#include "app/cli.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <sys/stat.h>
#include <utility>

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

/// Whether `inner` is `outer` or lies in it; both are absolute and without links.
bool lies_in(std::filesystem::path const& inner, std::filesystem::path const& outer) {
    auto const [end, rest] = std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end());
    return end == outer.end();
}

bool same_file_system(std::filesystem::path const& a, std::filesystem::path const& b) {
    struct stat first{};
    struct stat second{};
    return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
           first.st_dev == second.st_dev;
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
    std::error_code failed;
    for (auto at = std::filesystem::directory_iterator(data / "journal", failed);
         !failed && at != std::filesystem::directory_iterator(); at.increment(failed)) {
        auto const kind = at->path().extension();
        if (kind != ".hfj" && kind != ".hfb") continue;
        sum += bytes_of(at->path());
        if (kind == ".hfj") largest = std::max(largest, bytes_of(at->path()));
    }
    return linked ? largest : sum;
}

class BackupMaker {
public:
    explicit BackupMaker(BackupPlan const& plan)
        : plan_(plan),
          shared_(same_file_system(plan.data, place_of(plan.target))),
          between_([this] { return refuse_to_go_on(); }) {}
    ~BackupMaker() {
        if (!done_) remove_leftovers();
    }
    BackupMaker(BackupMaker const&) = delete;
    BackupMaker& operator=(BackupMaker const&) = delete;

    [[nodiscard]] ResultOf<Manifest, Failure> run();

private:
    [[nodiscard]] std::optional<Failure> refuse_to_go_on();
    [[nodiscard]] std::optional<Failure> make_target();
    [[nodiscard]] std::optional<Failure> copy_store(BackupPoint point);
    [[nodiscard]] std::optional<Failure> copy_rest(Lsn durable);
    void remove_leftovers() noexcept;

    BackupPlan const& plan_;
    bool shared_;
    journal::BetweenPieces between_;
    Manifest manifest_;
    std::vector<std::string> names_;
    bool made_folder_{};
    bool ours_{};
    bool done_{};
};

std::optional<Failure> BackupMaker::refuse_to_go_on() {
    if (plan_.stopped()) return no_backup("the backup was abandoned: the server stops");
    std::uint64_t left{};
    if (!shared_ || plan_.disk.free_bytes(plan_.data, left)) return {};
    if (left >= plan_.free_bytes_min) return {};
    return no_backup(
        "the backup was abandoned: it shares its file system with the data, which needs "
        "the last " +
        std::to_string(plan_.free_bytes_min) + " bytes for itself");
}

std::optional<Failure> BackupMaker::make_target() {
    made_folder_ = ::mkdir(plan_.target.c_str(), 0700) == 0;
    ours_ = made_folder_;
    if (made_folder_) return {};
    std::string const why = std::strerror(errno);
    if (errno != EEXIST) return no_backup(plan_.target.string() + ": cannot be made: " + why);
    // Looked at again: something may have come since the target was resolved.
    std::error_code error;
    bool const empty = std::filesystem::is_empty(plan_.target, error);
    if (error) return no_backup(plan_.target.string() + ": " + error.message());
    if (!empty) return no_backup(plan_.target.string() + ": is not empty");
    if (::chmod(plan_.target.c_str(), 0700) != 0) {
        return no_backup(plan_.target.string() +
                         ": cannot be made private: " + std::strerror(errno));
    }
    ours_ = true;
    return {};
}

std::optional<Failure> BackupMaker::copy_store(BackupPoint point) {
    manifest_.applied = point.snapshot->identity().applied_lsn;
    manifest_.store_id = point.snapshot->identity().store_id;
    std::optional<Failure> stopped;
    auto const deadline = std::chrono::steady_clock::now() + pin_limit;
    auto const copied = point.snapshot->copy_to(plan_.target / "store.db", [&] {
        stopped = between_();
        if (std::chrono::steady_clock::now() >= deadline)
            stopped = no_backup("the backup was abandoned: store.db takes too long to copy");
        return !stopped;
    });
    names_.emplace_back("store.db");
    if (stopped) return stopped;
    if (!copied) return no_backup("store.db cannot be copied: " + copied.error().message);
    return {};
}

std::optional<Failure> BackupMaker::copy_rest(Lsn durable) {
    auto const copied =
        journal::copy_journal(plan_.data, plan_.disk, durable, plan_.target, between_);
    if (!copied) return copied.error();
    manifest_.durable = copied->last;
    if (copied->store_id != manifest_.store_id)
        return no_backup("the journal and store.db belong to different stores");
    names_.insert(names_.end(), copied->files.begin(), copied->files.end());
    constexpr std::uint64_t key_bytes_max = 1U << 20;
    names_.emplace_back("server.key");
    if (auto failure = journal::copy_file(plan_.disk, plan_.data / "server.key",
                                          plan_.target / "server.key", key_bytes_max, between_))
        return failure;
    if (auto const error = plan_.disk.sync_folder(plan_.target))
        return no_backup(plan_.target.string() + ": cannot be synced: " + error.message());
    return {};
}

void BackupMaker::remove_leftovers() noexcept {
    if (!ours_) return;
    // A target that was there before was empty. What cannot be removed has no manifest at least.
    std::error_code ignored;
    std::vector<std::string> names;
    if (made_folder_) {
        std::filesystem::remove_all(plan_.target, ignored);
    } else if (!plan_.disk.list(plan_.target, names)) {
        for (std::string const& name : names)
            std::filesystem::remove_all(plan_.target / name, ignored);
    }
}

ResultOf<Manifest, Failure> BackupMaker::run() {
    if (auto failure = make_target()) return *std::move(failure);
    auto point = plan_.begin();
    if (!point) return point.error();
    Lsn const durable = point->durable;
    if (auto failure = copy_store(*std::move(point))) return *std::move(failure);
    if (auto failure = copy_rest(durable)) return *std::move(failure);
    auto files = measure(plan_.target, names_, between_);
    if (!files) return files.error();
    manifest_.files = *std::move(files);
    manifest_.version = HOLDFAST_VERSION;
    manifest_.made_at = std::chrono::floor<std::chrono::seconds>(plan_.now);
    if (auto failure = write_manifest(plan_.target, plan_.disk, manifest_))
        return *std::move(failure);
    if (auto const error = plan_.disk.sync_folder(plan_.target.parent_path())) {
        return no_backup(plan_.target.parent_path().string() +
                         ": cannot be synced: " + error.message());
    }
    done_ = true;
    return manifest_;
}

}  // namespace

ResultOf<std::filesystem::path, Failure> resolve_target(std::filesystem::path const& data,
                                                        std::filesystem::path const& target) {
    auto const refuse = [&](std::string const& why) {
        return no_backup(target.string() + ": " + why);
    };
    if (!target.is_absolute()) return refuse("is not an absolute path");
    std::error_code error;
    auto const source = std::filesystem::canonical(data, error);
    if (error) return no_backup(data.string() + ": " + error.message());
    // The last part may be missing, nothing above it.
    auto const plain = target.lexically_normal();
    auto const trimmed = plain.has_filename() ? plain : plain.parent_path();
    auto const parent = std::filesystem::canonical(trimmed.parent_path(), error);
    if (error) return refuse("the folder that is to hold it: " + error.message());
    auto path = parent / trimmed.filename();
    auto const status = std::filesystem::status(path, error);
    if (std::filesystem::exists(status))
        path = std::filesystem::canonical(path, error);
    else if (error && error != std::errc::no_such_file_or_directory)
        return refuse(error.message());
    if (lies_in(path, source)) return refuse("lies in the data folder");
    if (lies_in(source, path)) return refuse("the data folder lies in it");
    if (!std::filesystem::exists(status)) return path;
    if (!std::filesystem::is_directory(status)) return refuse("is not a folder");
    bool const empty = std::filesystem::is_empty(path, error);
    if (error) return refuse(error.message());
    if (!empty) return refuse("is not empty");
    return path;
}

std::optional<Failure> refuse_for_space(BackupPlan const& plan) {
    auto const place = place_of(plan.target);
    bool const shared = same_file_system(plan.data, place);
    std::uint64_t const needed =
        bytes_of(plan.data / "store.db") + bytes_of(plan.data / "store.db-wal") +
        journal_bytes(plan.data, shared) + bytes_beside + (shared ? plan.free_bytes_min : 0);
    std::uint64_t free{};
    if (auto const error = plan.disk.free_bytes(place, free))
        return no_backup(place.string() + ": " + error.message());
    if (free >= needed) return {};
    return no_backup(plan.target.string() + ": has " + std::to_string(free) + " bytes free, and " +
                     std::to_string(needed) + " may be needed");
}

ResultOf<Manifest, Failure> make_backup(BackupPlan const& plan) {
    return BackupMaker(plan).run();
}

}  // namespace holdfast::app
