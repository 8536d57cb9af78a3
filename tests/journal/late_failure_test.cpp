// A disk that fails late: at the first record, between the pieces of a block, at an idle group, at
// the clean stop, or at META while the journal rests or syncs.
#include "journal/journal_core.hpp"
#include "tests/journal/image.hpp"

#include <holdfast/base/log.hpp>

#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

namespace holdfast::journal::test {
namespace {

/// Calls a test's own work before each sync of a segment.
class MeanwhileDisk final : public Disk {
public:
    std::error_code open(std::filesystem::path const& path, OpenMode mode,
                         std::unique_ptr<File>& file) override {
        std::unique_ptr<File> real;
        if (auto const error = files.open(path, mode, real)) return error;
        file = std::make_unique<Handle>(*this, std::move(real));
        return {};
    }
    std::error_code rename(std::filesystem::path const& from,
                           std::filesystem::path const& to) override {
        return files.rename(from, to);
    }
    std::error_code remove(std::filesystem::path const& path) override {
        return files.remove(path);
    }
    std::error_code make_folder(std::filesystem::path const& path) override {
        return files.make_folder(path);
    }
    std::error_code sync_folder(std::filesystem::path const& path) override {
        return files.sync_folder(path);
    }
    std::error_code list(std::filesystem::path const& folder,
                         std::vector<std::string>& names) override {
        return files.list(folder, names);
    }
    std::error_code free_bytes(std::filesystem::path const& folder, std::uint64_t& bytes) override {
        return files.free_bytes(folder, bytes);
    }

    MemoryDisk files;
    std::function<void()> meanwhile;  // once

private:
    class Handle final : public File {
    public:
        Handle(MeanwhileDisk& disk, std::unique_ptr<File> file)
            : disk_(disk), file_(std::move(file)) {}
        std::error_code write_at(std::uint64_t offset, std::span<std::byte const> bytes) override {
            return file_->write_at(offset, bytes);
        }
        std::error_code read_at(std::uint64_t offset, std::span<std::byte> bytes,
                                std::size_t& got) override {
            return file_->read_at(offset, bytes, got);
        }
        std::error_code sync_data() override {
            if (auto const first = std::exchange(disk_.meanwhile, nullptr)) first();
            return file_->sync_data();
        }
        std::uint64_t size() const override { return file_->size(); }

    private:
        MeanwhileDisk& disk_;
        std::unique_ptr<File> file_;
    };
};

/// The journal without its threads.
struct Threadless {
    Threadless() {
        CollectingSink sink;
        auto const recovered = recover("data", disk, {}, sink);
        if (!recovered) throw std::runtime_error(recovered.error().message);
        core.emplace(options, disk, clock, recovered->tail, listener, [] {});
        if (core->prepare(recovered->tail)) throw std::runtime_error("no journal");
        core->upkeep().look();
    }
    void append(std::size_t bytes) {
        REQUIRE(core->reserve(record_header_bytes + bytes));
        core->append(RecordType::claim, 1, bytes_of(std::string(bytes, 'l')));
    }
    void fail_writes_after(long count) {
        disk.files.change_faults([&](auto& faults) { faults.writes_until_error = count; });
    }
    /// Records that the next start finds.
    std::size_t found() {
        fail_writes_after(-1);
        CollectingSink sink;
        auto const recovered = recover("data", disk, {}, sink);
        if (!recovered) throw std::runtime_error(recovered.error().message);
        return sink.records.size();
    }

    MeanwhileDisk disk;
    StillClock clock;
    CountingListener listener;
    Options options = small_options("data");
    std::optional<JournalCore> core;
};

}  // namespace

TEST_CASE("P9: a start whose first record cannot be written is refused", "[journal][fault]") {
    StillClock clock;
    CountingListener listener;
    Options const options = small_options("data");
    FirstRecord const first{RecordType::clock, 1, Bytes(10)};
    int refused = 0;
    for (;; ++refused) {
        REQUIRE(refused < 100);
        MemoryDisk disk;
        CollectingSink sink;
        auto const recovered = recover(options.data, disk, {}, sink);
        REQUIRE(recovered.has_value());
        disk.change_faults([&](auto& faults) { faults.writes_until_error = refused; });
        auto const journal = Journal::open(options, disk, clock, recovered->tail, listener, first);
        if (journal) break;
        CHECK(journal.error().exit_code == 76);
    }
    CHECK(refused >= 5);  // META, the spare, its header, META, the record
    MemoryDisk disk;
    CollectingSink sink;
    auto const recovered = recover(options.data, disk, {}, sink);
    FirstRecord const too_large{RecordType::clock, 1, Bytes(60'000)};
    auto const none = Journal::open(options, disk, clock, recovered->tail, listener, too_large);
    REQUIRE_FALSE(none.has_value());
    CHECK_THAT(none.error().message, Catch::Contains("the first record cannot be written"));
}

TEST_CASE("P3: a block that is written in pieces is acknowledged whole or not at all",
          "[journal][fault]") {
    for (long const whole_pieces : {0, 1, 2}) {
        Threadless journal;
        journal.append(1);
        REQUIRE(journal.core->write_next());
        for (int record = 0; record < 10'000; ++record) journal.append(0);
        journal.fail_writes_after(whole_pieces);
        CHECK(journal.core->write_next());
        CHECK(journal.core->failed() == (whole_pieces < 2));
        CHECK(journal.core->durable_lsn() == Lsn{whole_pieces < 2 ? 1U : 10'001U});
        CHECK_FALSE(journal.core->write_next());
        CHECK(journal.found() >= journal.core->durable_lsn().value());
    }
}

TEST_CASE("P9: a META that fails during a sync ends acknowledging with that sync",
          "[journal][fault]") {
    Threadless journal;
    journal.append(10);
    REQUIRE(journal.core->write_next());
    journal.append(10);
    journal.disk.meanwhile = [&] {
        journal.fail_writes_after(0);
        CHECK_FALSE(journal.core->upkeep().keep_from(2));
    };
    CHECK(journal.core->write_next());
    CHECK(journal.core->failed());
    CHECK(journal.core->durable_lsn() == Lsn{1});
    CHECK(journal.listener.calls.load() == 1);
    CHECK(journal.found() == 2);
}

TEST_CASE("P9: an idle group or a clean stop that cannot be written fails the journal",
          "[journal][fault]") {
    Threadless idle;
    idle.append(10);
    REQUIRE(idle.core->write_next());
    idle.fail_writes_after(0);
    idle.core->write_quiet_group();
    CHECK(idle.core->failed());
    CHECK(idle.found() == 1);
    Threadless unsynced;
    unsynced.append(10);
    REQUIRE(unsynced.core->write_next());
    unsynced.disk.files.change_faults([](auto& faults) { faults.syncs_until_error = 0; });
    unsynced.core->write_quiet_group();
    CHECK(unsynced.core->failed());
    CHECK(unsynced.core->durable_lsn() == Lsn{1});

    Threadless stopping;
    stopping.append(10);
    REQUIRE(stopping.core->write_next());
    stopping.core->write_clean_seal();
    CHECK_FALSE(stopping.core->failed());
    stopping.fail_writes_after(0);
    stopping.core->store_clean_meta();
    CHECK(stopping.core->failed());
    CHECK(stopping.found() == 1);
}

TEST_CASE("P9: the log says why a stop ends with 75 when META cannot be written",
          "[journal][fault]") {
    TempFolder const folder;
    auto const file = folder.path() / "log";
    Threadless stopping;
    stopping.append(10);
    REQUIRE(stopping.core->write_next());
    stopping.core->write_clean_seal();
    log::start({.level = log::Level::info, .file = file.string()});
    stopping.fail_writes_after(0);
    stopping.core->store_clean_meta();
    log::stop();
    CHECK(stopping.core->failed());
    std::ostringstream said;
    said << std::ifstream{file}.rdbuf();
    CHECK_THAT(said.str(), Catch::Contains("journal failed") && Catch::Contains("\"META\"") &&
                               Catch::Contains("error"));
}

TEST_CASE("P9: a META that fails while the journal rests is told at once", "[journal][fault]") {
    MemoryDisk disk;
    StillClock clock;
    CountingListener listener;
    Options options = small_options("data");
    options.idle_close = std::chrono::hours{1};
    auto const journal = opened(options, disk, clock, listener);
    REQUIRE(journal->wait_durable(append_record(*journal, "one")));
    auto const told = listener.calls.load();
    disk.change_faults([](auto& faults) { faults.writes_until_error = 0; });
    CHECK_FALSE(journal->keep_from(2));
    CHECK(journal->mode() == Mode::failed);
    // It does not sleep out its hour.
    journal->close();
    CHECK(listener.calls.load() == told + 1);
}

TEST_CASE("who waits for what was never appended is told when the journal ends", "[journal]") {
    MemoryDisk disk;
    StillClock clock;
    CountingListener listener;
    auto const journal = opened(small_options("data"), disk, clock, listener);
    bool came = true;
    std::thread waiter([&] { came = journal->wait_durable(Lsn{99}); });
    journal->close();
    waiter.join();
    CHECK_FALSE(came);
    CHECK_FALSE(journal->wait_durable(Lsn{99}));
}

}  // namespace holdfast::journal::test
