// What a backup is made of, without a server, and a disk that fails as the test wants.
#pragma once

#include "app/backup.hpp"
#include "tests/journal/fixture.hpp"
#include "tests/support/forwarding_disk.hpp"
#include "tests/support/temp_folder.hpp"

#include <holdfast/engine/server_key.hpp>
#include <holdfast/store/store.hpp>

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>

namespace holdfast::app::test {

/// A disk whose calls can be made to fail, or its space to run out.
struct BackupDisk final : holdfast::test::ForwardingDisk {
    using Base = ForwardingDisk;
    long calls_until_error{-1};
    bool links{true};
    std::function<std::uint64_t()> free{[] { return std::uint64_t{1} << 40; }};

    std::error_code next() {
        if (calls_until_error < 0) return {};
        if (calls_until_error > 0) --calls_until_error;
        if (calls_until_error > 0) return {};
        return std::make_error_code(std::errc::no_space_on_device);
    }
    std::error_code open(Path const& name, journal::OpenMode mode,
                         std::unique_ptr<journal::File>& file) override {
        auto const error = next();
        return error ? error : Base::open(name, mode, file);
    }
    std::error_code rename(Path const& from, Path const& to) override {
        auto const error = next();
        return error ? error : Base::rename(from, to);
    }
    std::error_code link(Path const& from, Path const& to) override {
        if (!links) return std::make_error_code(std::errc::operation_not_permitted);
        return Base::link(from, to);
    }
    std::error_code make_folder(Path const& name) override {
        auto const error = next();
        return error ? error : Base::make_folder(name);
    }
    std::error_code sync_folder(Path const& name) override {
        auto const error = next();
        return error ? error : Base::sync_folder(name);
    }
    std::error_code free_bytes(Path const&, std::uint64_t& bytes) override {
        bytes = free();
        return {};
    }
};

/// A data folder with a running journal of several segments, a store and a key.
struct BackedUp {
    BackedUp() {
        std::filesystem::create_directory(data);
        journal::test::CollectingSink sink;
        auto const recovered = journal::recover(data, disk, {}, sink);
        REQUIRE(recovered.has_value());
        auto opened = journal::Journal::open(journal::test::small_options(data), servers_disk,
                                             clock, recovered->tail, listener);
        REQUIRE(opened.has_value());
        journal = *std::move(opened);
        auto made = store::Store::open(data / "store.db", recovered->tail.store_id);
        REQUIRE(made.has_value());
        store = *std::move(made);
        for (int record = 0; record < 40; ++record) {
            Lsn const lsn = journal::test::append_record(*journal, std::string(700, 'b'));
            REQUIRE(journal->wait_durable(lsn));
        }
        // As the projector would leave it: with the journal's chain there.
        journal::TailReader reader(data, servers_disk, no_lsn);
        journal::test::CollectingSink applied;
        auto const read = reader.read(Lsn{30}, 1'000, applied);
        REQUIRE(read.has_value());
        REQUIRE(store->begin().has_value());
        REQUIRE(store->commit(read->last, read->chain).has_value());
        static_cast<void>(
            engine::ServerKey::load_or_make(data / "server.key", recovered->tail.store_id));
    }
    ~BackedUp() { journal->close(); }
    BackedUp(BackedUp const&) = delete;
    BackedUp& operator=(BackedUp const&) = delete;

    [[nodiscard]] BackupPlan plan() {
        return {.data = data,
                .target = target,
                .disk = disk,
                .bytes_left = 1U << 20,
                .now = clock.now(),
                .begin = [this]() -> ResultOf<BackupPoint, journal::Failure> {
                    BackupPoint point;
                    auto snapshot = store::Snapshot::take(data / "store.db");
                    if (!snapshot) return journal::Failure{1, snapshot.error().message};
                    point.snapshot = *std::move(snapshot);
                    point.durable = journal->durable_lsn();
                    return point;
                },
                .why_stop = [] { return std::string{}; }};
    }
    holdfast::test::TempFolder folder;
    std::filesystem::path data{folder.path() / "data"};
    std::filesystem::path target{folder.path() / "backup"};
    BackupDisk disk;  // of the backup alone, or the journal's threads would meet its faults
    journal::PosixDisk servers_disk;
    journal::test::StillClock clock;
    journal::test::CountingListener listener;
    std::unique_ptr<journal::Journal> journal;
    std::unique_ptr<store::Store> store;
};

}  // namespace holdfast::app::test
