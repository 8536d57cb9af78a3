#include "app/online_backups.hpp"

#include "app/exit_codes.hpp"
#include "app/restored_state.hpp"

#include <holdfast/base/log.hpp>

#include <exception>
#include <new>
#include <pthread.h>
#include <utility>

namespace holdfast::app {
namespace {

using namespace std::chrono_literals;
using api::BackupReport;
using api::RefusedBackup;
using journal::Failure;
using journal::Mode;

constexpr unsigned busy_retry_s = 5;
constexpr auto longest_backup = 1h;
constexpr auto between_looks = 20ms;
/// A start after a crash reads all of the WAL.
constexpr std::uint64_t pinned_wal_bytes_max = std::uint64_t{1} << 30;

RefusedBackup refusal(unsigned status, std::string_view slug, std::string_view title,
                      std::string detail) {
    bool const passes = status != 422;
    RefusedBackup refused;
    refused.problem.status = status;
    refused.problem.slug = slug;
    refused.problem.title = title;
    refused.problem.retryable = passes;
    refused.problem.retry_after_s = passes ? busy_retry_s : 0;
    refused.detail = std::move(detail);
    return refused;
}

RefusedBackup refusal_of_stop() {
    return refusal(503, "not-ready", "The server is not ready", "It stops.");
}

RefusedBackup refusal_for_space(std::string detail) {
    return refusal(409, "backup-space", "There is too little space for a backup",
                   std::move(detail));
}

}  // namespace

OnlineBackups::~OnlineBackups() {
    abandon();
    if (thread_.joinable()) thread_.join();
}

void OnlineBackups::abandon() noexcept {
    {
        std::lock_guard const lock(mutex_);
        abandoned_.set(true);
    }
    changed_.notify_all();
}

bool OnlineBackups::finish(Milliseconds limit) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, limit, [this] { return !running_; })) return false;
    // The last it does is to leave the mutex.
    if (thread_.joinable()) thread_.join();
    return true;
}

std::optional<BackupReport> OnlineBackups::newest() const {
    std::lock_guard const lock(mutex_);
    return newest_;
}

std::optional<RefusedBackup> OnlineBackups::start(std::filesystem::path const& target,
                                                  TimePoint now) {
    std::unique_lock lock(mutex_);
    if (abandoned_.get()) return refusal_of_stop();
    if (running_) return refusal(409, "backup-running", "A backup is being made", "One at a time.");
    if (parts_.projector.degraded()) {
        return refusal(503, "store-degraded", "The store does not follow the journal",
                       "It has failed, or is far behind; see /readyz.");
    }
    if (thread_.joinable()) thread_.join();
    BackupReport begun;
    begun.target = target;
    begun.began_at = now;
    thread_ = std::thread([this, target] { run(target); });
    // Nothing that follows needs memory: it runs.
    running_ = true;
    decided_ = false;
    awaited_ = true;
    refused_.reset();
    before_ = std::exchange(newest_, std::move(begun));
    changed_.wait_for(lock, parts_.look_patience, [this] { return decided_ || abandoned_.get(); });
    awaited_ = false;
    if (!decided_ && abandoned_.get()) return refusal_of_stop();
    return std::exchange(refused_, std::nullopt);
}

/// Looks at the target, which may hang.
std::optional<RefusedBackup> OnlineBackups::refuse(std::filesystem::path const& target,
                                                   std::filesystem::path& resolved) {
    begun_ = {std::chrono::steady_clock::now(), parts_.journal.mode(),
              parts_.journal.health().bytes};
    if (auto why = why_too_little_space(); !why.empty()) return refusal_for_space(std::move(why));
    auto const found = resolve_target(parts_.data, target);
    if (!found)
        return refusal(422, "backup-target", "No backup can be made there", found.error().message);
    if (auto failure = refuse_for_space(plan(*found)))
        return refusal_for_space(std::move(failure->message));
    resolved = *found;
    return {};
}

/// Tells the request what becomes of it, or who asks later if it has gone; true: go on.
bool OnlineBackups::settle(std::optional<RefusedBackup> refused,
                           std::filesystem::path const& resolved) {
    std::lock_guard const lock(mutex_);
    decided_ = true;
    changed_.notify_all();
    if (!refused) {
        newest_->target = resolved;
        return true;
    }
    if (awaited_) {
        newest_ = std::move(before_);
        refused_ = std::move(refused);
    } else {
        newest_->state = BackupReport::State::failed;
        newest_->ended_at = parts_.clock.now();
        newest_->exit_code = exit_failed;
        newest_->why = std::move(refused->detail);
    }
    running_ = false;
    return false;
}

BackupPlan OnlineBackups::plan(std::filesystem::path target) {
    return {.data = parts_.data,
            .target = std::move(target),
            .disk = parts_.disk,
            .bytes_left = parts_.bytes_left,
            .now = parts_.clock.now(),
            .begin = [this] { return begin_point(); },
            .why_stop = [this] { return why_stop(); }};
}

std::string OnlineBackups::why_too_little_space() const {
    // Whom the server has stopped for already this backup does not stop.
    if (begun_.mode != Mode::running) return {};
    std::uint64_t left{};
    if (parts_.disk.free_bytes(parts_.data, left) || left >= parts_.bytes_left) return {};
    return "the data folder's file system has " + std::to_string(left) + " bytes free, and " +
           std::to_string(parts_.bytes_left) + " are kept for the journal";
}

/// Segments and the WAL stay as long as it lasts; empty if that does no harm.
std::string OnlineBackups::why_stop() const {
    if (abandoned_.get()) return "the server stops";
    if (std::chrono::steady_clock::now() - begun_.at > longest_backup)
        return "it takes longer than an hour";
    if (begun_.mode == Mode::running && parts_.journal.mode() == Mode::read_only)
        return "the journal has no space";
    journal::Health const health = parts_.journal.health();
    // The keeper begins to delete at three quarters.
    if (health.bytes_max != 0 && health.bytes > begun_.journal_bytes &&
        health.bytes > health.bytes_max / 8 * 7)
        return "the journal grows to journal_bytes_max, and nothing is deleted meanwhile";
    // What it reads may be lost, and the store is not opened again while it does.
    if (pins_ && parts_.projector.degraded()) return "the store has failed meanwhile";
    if (pins_ && parts_.projector.checkpoint_counts().wal_bytes > pinned_wal_bytes_max)
        return "the WAL of store.db grows over 1 GiB meanwhile";
    return why_too_little_space();
}

ResultOf<BackupPoint, Failure> OnlineBackups::begin_point() {
    engine::Projector& projector = parts_.projector;
    projector.hold_checkpoints(true);
    pins_ = true;
    BackupPoint point;
    point.pin = {this, [](OnlineBackups* self) {
                     self->pins_ = false;
                     self->parts_.projector.hold_checkpoints(false);
                 }};
    std::optional<Failure> failure;
    bool const done = projector.when_stored(no_lsn, [&] {
        auto snapshot = store::Snapshot::take(parts_.data / "store.db");
        if (!snapshot) {
            failure = bare_store_failure(parts_.data / "store.db", snapshot.error());
            return;
        }
        point.snapshot = *std::move(snapshot);
        point.durable = parts_.journal.durable_lsn();
    });
    if (failure) return *std::move(failure);
    if (!done)
        return Failure{exit_failed, "the store does not follow the journal, or has too much to do"};
    return point;
}

std::string OnlineBackups::pause(std::unique_lock<std::mutex>& paused) {
    for (;;) {
        paused = parts_.pause_deletions();
        if (paused.owns_lock()) return {};
        if (auto why = why_stop(); !why.empty()) return why;
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, between_looks, [this] { return abandoned_.get(); });
    }
}

ResultOf<Manifest, Failure> OnlineBackups::make(std::filesystem::path const& target) {
    try {
        std::unique_lock<std::mutex> paused;
        if (auto const why = pause(paused); !why.empty())
            return Failure{exit_failed, "the backup was abandoned: " + why};
        return make_backup(plan(target));
    } catch (std::exception const& error) {
        auto ending = ending_of(error);
        return Failure{ending.exit_code, std::move(ending.why)};
    }
}

void OnlineBackups::run(std::filesystem::path const& target) {
    pthread_setname_np(pthread_self(), "backup");
    try {
        std::filesystem::path resolved;
        if (!settle(refuse(target, resolved), resolved)) return;
        log::info("backup begun", {{"to", resolved.native()}});
        tell(resolved, make(resolved));
    } catch (std::bad_alloc const&) {
        fail_without_memory();
    }
}

/// If its end has not been told yet. Its text is short enough for a string without memory.
void OnlineBackups::fail_without_memory() noexcept {
    std::lock_guard const lock(mutex_);
    if (!running_) return;
    log::error("backup failed", {{"why", "out of memory"}});
    decided_ = true;
    newest_->state = BackupReport::State::failed;
    newest_->ended_at = parts_.clock.now();
    newest_->exit_code = exit_not_durable;
    newest_->why = "out of memory";
    running_ = false;
    changed_.notify_all();
}

/// Without need of memory: what is made is there.
void OnlineBackups::tell(std::filesystem::path const& target, ResultOf<Manifest, Failure> made) {
    std::lock_guard const lock(mutex_);
    BackupReport& report = *newest_;
    report.ended_at = parts_.clock.now();
    if (made) {
        report.state = BackupReport::State::done;
        report.applied = made->applied;
        report.durable = made->durable;
        report.files = made->files.size();
        for (ManifestFile const& file : made->files) report.bytes += file.bytes;
        log::info("backup made",
                  {{"to", target.native()},
                   {"durable_lsn", static_cast<std::int64_t>(report.durable.value())},
                   {"bytes", static_cast<std::int64_t>(report.bytes)}});
    } else {
        report.state = BackupReport::State::failed;
        report.exit_code = made.error().exit_code;
        report.why = std::move(made.error().message);
        log::error("backup failed", {{"to", target.native()}, {"why", report.why}});
    }
    running_ = false;
    changed_.notify_all();
}

}  // namespace holdfast::app
