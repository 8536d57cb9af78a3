// Online backups: backups that a running server makes of itself.
//
// Purpose: takes the target from a worker, makes the backup on a thread of its own, and tells how
//   it went. Thread safety: start, newest, abandon: any thread; finish: the owner.
// Invariants: one backup at a time, during which no segment is deleted. The catalogue cannot change
//   between the store's snapshot and the durable_lsn that goes with it, because both are taken on
//   the store thread. No checkpoint is tried while the snapshot pins the WAL. A failure of the
//   target fails the backup and nothing else, and so does a target that hangs: nobody but the
//   backup's own thread touches it. A backup gives way (why_stop) before what it pins could turn
//   the server read-only.
// Cost: one thread while a backup is made. WAL and journal grow meanwhile, within why_stop's
//   bounds.
#pragma once

#include "app/backup.hpp"

#include <holdfast/api/backups.hpp>
#include <holdfast/base/published.hpp>
#include <holdfast/engine/projector.hpp>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace holdfast::app {

class OnlineBackups final : public api::Backups {
public:
    struct Parts {
        engine::Projector& projector;
        journal::Journal& journal;
        journal::Disk& disk;
        Clock const& clock;
        std::filesystem::path data;
        std::uint64_t bytes_left{};  // of bytes_left_by_backups
        /// No segment is deleted while the lock is held. If it is not, one may be about to be.
        std::function<std::unique_lock<std::mutex>()> pause_deletions;
        /// How long a request waits for the verdict on its target; later it is a failed backup.
        Milliseconds look_patience{3'000};
    };
    explicit OnlineBackups(Parts parts) : parts_(std::move(parts)) {}
    ~OnlineBackups();
    OnlineBackups(OnlineBackups const&) = delete;
    OnlineBackups& operator=(OnlineBackups const&) = delete;

    [[nodiscard]] std::optional<api::RefusedBackup> start(std::filesystem::path const& target,
                                                          TimePoint now) override;
    [[nodiscard]] std::optional<api::BackupReport> newest() const override;
    /// The server stops: what runs ends within moments, and nothing begins any more.
    void abandon() noexcept;
    /// After abandon(). False: the target hangs for longer than `limit`, and this must not be
    /// destroyed, nor may anything of its parts.
    [[nodiscard]] bool finish(Milliseconds limit);

private:
    using SteadyTime = std::chrono::steady_clock::time_point;
    /// When the backup began, to tell what has come since.
    struct Begun {
        SteadyTime at{};
        journal::Mode mode{};
        std::uint64_t journal_bytes{};
    };

    void run(std::filesystem::path const& target);
    [[nodiscard]] std::optional<api::RefusedBackup> refuse(std::filesystem::path const& target,
                                                           std::filesystem::path& resolved);
    [[nodiscard]] bool settle(std::optional<api::RefusedBackup> refused,
                              std::filesystem::path const& resolved);
    /// Waits until nothing is deleted; empty, or why it did not wait on.
    [[nodiscard]] std::string pause(std::unique_lock<std::mutex>& paused);
    [[nodiscard]] ResultOf<Manifest, journal::Failure> make(std::filesystem::path const& target);
    [[nodiscard]] BackupPlan plan(std::filesystem::path target);
    [[nodiscard]] ResultOf<BackupPoint, journal::Failure> begin_point();
    [[nodiscard]] std::string why_stop() const;
    [[nodiscard]] std::string why_too_little_space() const;
    void tell(std::filesystem::path const& target, ResultOf<Manifest, journal::Failure> made);
    void fail_without_memory() noexcept;

    Parts parts_;
    Published<bool> abandoned_{false};  // set under mutex_
    // Of the backup's thread alone.
    Begun begun_;
    bool pins_{};

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    // Under mutex_.
    std::optional<api::BackupReport> newest_;
    std::optional<api::BackupReport> before_;  // newest_, should the one that begins be refused
    std::optional<api::RefusedBackup> refused_;
    bool running_{};
    bool decided_{};  // whether it is refused
    bool awaited_{};  // by start()
    std::thread thread_;
};

}  // namespace holdfast::app
