#include "app/online_backups.hpp"

#include "app/cli.hpp"

#include <holdfast/base/log.hpp>

#include <exception>
#include <utility>

namespace holdfast::app {
namespace {

using api::BackupRefusal;
using api::BackupReport;
using journal::Failure;

constexpr unsigned busy_retry_s = 5;

BackupRefusal refusal(unsigned status, std::string_view slug, std::string_view title,
                      std::string detail) {
    bool const passes = status != 422;
    return {status, slug, title, std::move(detail), passes, passes ? busy_retry_s : 0};
}

}  // namespace

std::optional<BackupReport> OnlineBackups::newest() const {
    std::lock_guard const lock(mutex_);
    return newest_;
}

std::optional<BackupRefusal> OnlineBackups::refuse(std::filesystem::path const& target,
                                                   std::filesystem::path& resolved) {
    if (newest_ && newest_->state == BackupReport::State::running)
        return refusal(409, "backup-running", "A backup is being made", "One at a time.");
    if (parts_.projector.degraded()) {
        return refusal(503, "store-degraded", "The store does not follow the journal",
                       "It has failed, or is far behind; see /readyz.");
    }
    auto const found = resolve_target(parts_.data, target);
    if (!found)
        return refusal(422, "backup-target", "No backup can be made there", found.error().message);
    if (auto const failure = refuse_for_space(plan(*found)))
        return refusal(409, "backup-space", "There is too little space for a backup",
                       failure->message);
    resolved = *found;
    return {};
}

std::optional<BackupRefusal> OnlineBackups::start(std::filesystem::path const& target,
                                                  TimePoint now) {
    std::lock_guard const lock(mutex_);
    std::filesystem::path resolved;
    if (auto refused = refuse(target, resolved)) return refused;
    if (abandoned_.get() || !parts_.submit([this, resolved] { run(resolved); }))
        return refusal(503, "not-ready", "The server is not ready", "It stops.");
    newest_.emplace();
    newest_->target = resolved;
    newest_->began_at = now;
    return {};
}

BackupPlan OnlineBackups::plan(std::filesystem::path target) {
    return {.data = parts_.data,
            .target = std::move(target),
            .disk = parts_.disk,
            .free_bytes_min = parts_.free_bytes_min,
            .now = parts_.clock.now(),
            .begin = [this] { return begin_point(); },
            .stopped = [this] { return abandoned_.get(); }};
}

ResultOf<BackupPoint, Failure> OnlineBackups::begin_point() {
    engine::Projector& projector = parts_.projector;
    projector.hold_checkpoints(true);
    BackupPoint point;
    point.pin = {&projector, [](engine::Projector* held) { held->hold_checkpoints(false); }};
    std::optional<Failure> failure;
    bool const done = projector.when_stored(no_lsn, [&] {
        auto snapshot = store::Snapshot::take(parts_.data / "store.db");
        if (!snapshot) {
            failure = Failure{exit_failed, "store.db cannot be read: " + snapshot.error().message};
            return;
        }
        point.snapshot = *std::move(snapshot);
        point.durable = parts_.journal.durable_lsn();
    });
    if (failure) return *std::move(failure);
    if (!done) return Failure{exit_failed, "the store does not follow the journal"};
    return point;
}

/// The keeper's thread must outlive whatever becomes of a backup.
ResultOf<Manifest, Failure> OnlineBackups::make(std::filesystem::path const& target) {
    try {
        return make_backup(plan(target));
    } catch (std::exception const& error) {
        return Failure{exit_failed, error.what()};
    }
}

void OnlineBackups::run(std::filesystem::path const& target) {
    log::info("backup begun", {{"to", target.string()}});
    auto const made = make(target);
    BackupReport report;
    report.ended_at = parts_.clock.now();
    if (made) {
        report.state = BackupReport::State::done;
        report.applied = made->applied;
        report.durable = made->durable;
        report.files = made->files.size();
        for (ManifestFile const& file : made->files) report.bytes += file.bytes;
        log::info("backup made",
                  {{"to", target.string()},
                   {"durable_lsn", static_cast<std::int64_t>(report.durable.value())},
                   {"bytes", static_cast<std::int64_t>(report.bytes)}});
    } else {
        report.state = BackupReport::State::failed;
        report.why = made.error().message;
        log::error("backup failed", {{"to", target.string()}, {"why", report.why}});
    }
    std::lock_guard const lock(mutex_);
    report.target = target;
    report.began_at = newest_->began_at;
    newest_ = report;
}

}  // namespace holdfast::app
