// A server without its sockets that backs itself up, onto a disk that stands still or is full as
// the test wants.
#pragma once

#include "app/online_backups.hpp"
#include "tests/api/backstage.hpp"
#include "tests/app/resting_shop.hpp"
#include "tests/support/forwarding_disk.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

namespace holdfast::app::test {

/// Of the backups alone: the server's threads use another one. The test sets it meanwhile.
class OfficeDisk final : public holdfast::test::ForwardingDisk {
public:
    enum class Stop : std::uint8_t { nowhere, look, store, copy };

    void stop_at(Stop stop) {
        {
            std::lock_guard const lock(mutex_);
            stop_ = stop;
        }
        changed_.notify_all();
    }
    /// Until the backup stands where stop_at says; false: it does not get there.
    [[nodiscard]] bool stands(Milliseconds patience) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, patience, [this] { return stands_; });
    }
    std::error_code free_bytes(Path const& folder, std::uint64_t& bytes) override {
        wait_at(Stop::look);
        // Of the target, while the store is copied into it.
        if (std::filesystem::exists(folder / "store.db") &&
            !std::filesystem::exists(folder / "server.key"))
            wait_at(Stop::store);
        bytes = free;
        return {};
    }
    /// The store is copied by then.
    std::error_code make_folder(Path const& name) override {
        wait_at(Stop::copy);
        return ForwardingDisk::make_folder(name);
    }
    std::error_code link(Path const& from, Path const& to) override {
        if (!links) return std::make_error_code(std::errc::operation_not_permitted);
        return ForwardingDisk::link(from, to);
    }
    std::atomic<std::uint64_t> free{std::uint64_t{1} << 40};
    std::atomic<bool> links{true};

private:
    void wait_at(Stop stop) {
        std::unique_lock lock(mutex_);
        if (stop_ != stop) return;
        stands_ = true;
        changed_.notify_all();
        changed_.wait(lock, [&] { return stop_ != stop; });
        stands_ = false;
    }
    std::mutex mutex_;
    std::condition_variable changed_;
    Stop stop_{Stop::nowhere};
    bool stands_{};
};

/// The server's journal, which says of itself what the test wants.
class StatedJournal final : public journal::Journal {
public:
    explicit StatedJournal(journal::Journal& real) : real_(real) {}
    bool reserve(std::size_t bytes) noexcept override { return real_.reserve(bytes); }
    void give_back(std::size_t bytes) noexcept override { real_.give_back(bytes); }
    Lsn append(journal::RecordType type, std::uint8_t version,
               std::span<std::byte const> payload) noexcept override {
        return real_.append(type, version, payload);
    }
    [[nodiscard]] Lsn durable_lsn() const noexcept override { return real_.durable_lsn(); }
    [[nodiscard]] Lsn appended_lsn() const noexcept override { return real_.appended_lsn(); }
    [[nodiscard]] journal::Mode mode() const noexcept override { return stated_mode; }
    [[nodiscard]] journal::Health health() const noexcept override {
        return {0, false, stated.bytes, stated.bytes_max};
    }
    bool wait_durable(Lsn lsn) noexcept override { return real_.wait_durable(lsn); }
    bool keep_from(std::uint64_t segment) override { return real_.keep_from(segment); }
    void end_keep_from() noexcept override { real_.end_keep_from(); }
    void close() noexcept override { real_.close(); }

    struct Stated {
        std::atomic<std::uint64_t> bytes{};
        std::atomic<std::uint64_t> bytes_max{};
    };
    Stated stated;
    std::atomic<journal::Mode> stated_mode{journal::Mode::running};

private:
    journal::Journal& real_;
};

struct BackupOffice {
    explicit BackupOffice(Milliseconds look_patience = patience) {
        auto const identity = store::Store::peek(server.folder / "store.db");
        REQUIRE(identity.has_value());
        REQUIRE(identity->has_value());
        static_cast<void>(
            engine::ServerKey::load_or_make(server.folder / "server.key", (*identity)->store_id));
        backups.emplace(OnlineBackups::Parts{
            .projector = *server.projector,
            .journal = journal,
            .disk = disk,
            .clock = server.clock,
            .data = server.folder,
            .bytes_left = bytes_left,
            .pause_deletions = [this] { return std::unique_lock(deletions, std::try_to_lock); },
            .look_patience = look_patience});
    }
    ~BackupOffice() { disk.stop_at(OfficeDisk::Stop::nowhere); }
    BackupOffice(BackupOffice const&) = delete;
    BackupOffice& operator=(BackupOffice const&) = delete;

    /// The slug of its refusal, if there is one.
    std::string start(std::filesystem::path const& target) {
        auto const refused = backups->start(target, holdfast::test::noon);
        return refused ? std::string(refused->problem.slug) : "";
    }
    void fill_first_segment() {
        auto const payload = engine::encode(engine::ClockFact{holdfast::test::noon});
        auto const second = segment(server.folder, 2);
        Lsn last = no_lsn;
        while (!std::filesystem::exists(second)) {
            REQUIRE(server.journal->reserve(journal::record_header_bytes + payload.size()));
            last =
                server.journal->append(journal::RecordType::clock, engine::fact_version, payload);
            REQUIRE(server.journal->wait_durable(last));
        }
        // The store has read it, so that what a test does to it is not the store's to find.
        REQUIRE(server.projector->wait_applied(last, patience));
    }
    /// The newest one, once it has ended.
    api::BackupReport ended() const {
        auto const deadline = std::chrono::steady_clock::now() + patience;
        for (;;) {
            auto const report = backups->newest();
            REQUIRE(report.has_value());
            if (report->state != api::BackupReport::State::running) return *report;
            REQUIRE(std::chrono::steady_clock::now() < deadline);
            std::this_thread::yield();
        }
    }
    static constexpr Milliseconds patience{20'000};
    static constexpr std::uint64_t bytes_left = 1U << 20;
    holdfast::test::Backstage server;
    holdfast::test::TempFolder shelf;
    OfficeDisk disk;
    StatedJournal journal{*server.journal};
    std::mutex deletions;
    std::optional<OnlineBackups> backups;
};

}  // namespace holdfast::app::test
