#include "tests/app/backup_office.hpp"
#include "tests/engine/failing_memory.hpp"
#include "tests/store/failing_vfs.hpp"
#include "tests/support/poor_steps.hpp"

#include <holdfast/domain/limits.hpp>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdio>
#include <future>
#include <new>
#include <sqlite3.h>
#include <string>

using namespace holdfast;
using namespace holdfast::app;
using app::test::BackupOffice;
using Catch::Contains;
using State = api::BackupReport::State;
using Stop = app::test::OfficeDisk::Stop;

TEST_CASE("a running server backs itself up, one backup at a time", "[app][backup]") {
    BackupOffice office;
    CHECK_FALSE(office.backups->newest().has_value());
    auto const first = office.shelf.path() / "first";
    office.disk.stop_at(Stop::copy);
    CHECK(office.start(first) == "");
    REQUIRE(office.disk.stands(office.patience));
    CHECK(office.backups->newest()->state == State::running);
    CHECK(office.start(office.shelf.path() / "second") == "backup-running");
    // Nobody deletes what it has yet to copy.
    CHECK_FALSE(std::unique_lock(office.deletions, std::try_to_lock).owns_lock());
    office.disk.stop_at(Stop::nowhere);
    auto const report = office.ended();
    CHECK(report.state == State::done);
    CHECK(report.target == first);
    CHECK(report.files == 5);
    CHECK(report.applied <= report.durable);
    CHECK(check_manifest(first).has_value());
    CHECK(std::unique_lock(office.deletions, std::try_to_lock).owns_lock());
    CHECK(office.start(first) == "backup-target");
    CHECK(office.start(office.server.folder / "inside") == "backup-target");
    // A refusal is not the newest backup.
    CHECK(office.backups->newest()->state == State::done);
    CHECK(office.start(office.shelf.path() / "second") == "");
    CHECK(office.ended().state == State::done);
}

TEST_CASE("P9: any allocation of a backup's beginning may fail, and then none has begun",
          "[app][backup][memory]") {
    BackupOffice office;
    auto const target = office.shelf.path() / "after all";
    for (long nth = 1;; ++nth) {
        CAPTURE(nth);
        REQUIRE(nth < 1'000);
        bool begun = false;
        engine::test::fail_allocation(nth, false);
        try {
            begun = !office.backups->start(target, {}).has_value();
        } catch (std::bad_alloc const&) {
            // As expected.
        }
        bool const failed = engine::test::allocation_failed();
        engine::test::fail_allocation(0, false);
        REQUIRE(begun == !failed);
        CHECK(office.backups->newest().has_value() == begun);
        if (begun) break;
    }
    CHECK(office.ended().state == State::done);
}

TEST_CASE("P9: any allocation of the thread that makes a backup may fail",
          "[app][backup][memory]") {
    BackupOffice office;
    auto next = [&office, number = 0]() mutable {
        return office.shelf.path() / std::to_string(++number);
    };
    auto const make = [&office](std::filesystem::path const& target) {
        REQUIRE(office.start(target) == "");
        return office.ended();
    };
    engine::test::fail_allocation_of({"backup"}, 1'000'000, false);
    REQUIRE(make(next()).state == State::done);
    holdfast::test::PoorSteps steps(5, 20);
    long const step = steps.step(engine::test::allocations_of_named());
    long failures = 0;
    for (bool const lasting : {false, true}) {
        for (long nth = steps.first(step);; nth += step) {
            CAPTURE(lasting, nth);
            REQUIRE(nth < 100'000);
            engine::test::fail_allocation_of({"backup"}, nth, lasting);
            auto const target = next();
            auto const report = make(target);
            bool const met = engine::test::end_of_failing();
            CHECK(report.target == target);
            if (report.state == State::done)
                CHECK(check_manifest(target).has_value());
            else
                CHECK(
                    (report.exit_code == 76 || report.exit_code == 1));  // 1: OpenSSL says no more
            CHECK((met || report.state == State::done));
            // Nothing is kept from being deleted any more.
            CHECK(std::unique_lock(office.deletions, std::try_to_lock).owns_lock());
            if (!met) break;
            ++failures;
        }
    }
    CHECK(make(next()).state == State::done);
    std::printf("failing allocations of the thread that makes a backup: %ld\n", failures);
    CHECK(failures > 5);
}

TEST_CASE("P15: a server that stops abandons its backup and begins none", "[app][backup]") {
    BackupOffice office;
    auto const target = office.shelf.path() / "cut";
    office.disk.stop_at(Stop::copy);
    REQUIRE(office.start(target) == "");
    REQUIRE(office.disk.stands(office.patience));
    office.backups->abandon();
    office.disk.stop_at(Stop::nowhere);
    CHECK(office.backups->finish(office.patience));
    auto const report = office.ended();
    CHECK(report.state == State::failed);
    CHECK_THAT(report.why, Contains("the server stops"));
    CHECK(report.exit_code == 1);
    CHECK_FALSE(std::filesystem::exists(target));
    CHECK(office.start(target) == "not-ready");
}

TEST_CASE("P15: a target that hangs keeps neither requests nor a stop waiting", "[app][backup]") {
    BackupOffice office(Milliseconds{20});
    auto const target = office.shelf.path() / "hung";
    auto const stop = GENERATE(Stop::look, Stop::copy);
    office.disk.stop_at(stop);
    REQUIRE(office.start(target) == "");
    REQUIRE(office.disk.stands(office.patience));
    CHECK(office.backups->newest()->state == State::running);
    CHECK(office.start(target) == "backup-running");
    office.backups->abandon();
    CHECK_FALSE(office.backups->finish(Milliseconds{20}));
    CHECK(office.start(target) == "not-ready");
    office.disk.stop_at(Stop::nowhere);
    CHECK(office.backups->finish(office.patience));
    CHECK(office.ended().state == State::failed);
    CHECK_FALSE(std::filesystem::exists(target));
}

TEST_CASE("a backup that waits until nothing is deleted gives way, too", "[app][backup]") {
    BackupOffice office;
    auto const target = office.shelf.path() / "waiting";
    std::unique_lock deleting(office.deletions);
    REQUIRE(office.start(target) == "");
    SECTION("to a stop") {
        office.backups->abandon();
        CHECK(office.backups->finish(office.patience));
        CHECK_THAT(office.ended().why, Contains("the server stops"));
        CHECK_FALSE(std::filesystem::exists(target));
    }
    SECTION("to the sale") {
        office.journal.stated_mode = journal::Mode::read_only;
        auto const report = office.ended();
        CHECK(report.state == State::failed);
        CHECK_THAT(report.why, Contains("the journal has no space"));
        CHECK_FALSE(std::filesystem::exists(target));
    }
    SECTION("and goes on when it can") {
        CHECK(office.backups->newest()->state == State::running);
        deleting.unlock();
        CHECK(office.ended().state == State::done);
    }
}

TEST_CASE("a refusal that comes too late for its request is a failed backup", "[app][backup]") {
    BackupOffice office(Milliseconds{1});
    office.disk.stop_at(Stop::look);
    REQUIRE(office.start(office.server.folder / "inside") == "");
    office.disk.stop_at(Stop::nowhere);
    auto const report = office.ended();
    CHECK(report.state == State::failed);
    CHECK(report.exit_code == 1);
    CHECK_THAT(report.why, Contains("lies in the data folder"));
}

TEST_CASE("a backup gives way before what it pins could turn the server read-only",
          "[app][backup]") {
    BackupOffice office;
    auto const target = office.shelf.path() / "given-way";
    auto const why = [&](auto const& change) {
        office.disk.stop_at(Stop::copy);
        REQUIRE(office.start(target) == "");
        REQUIRE(office.disk.stands(office.patience));
        change();
        office.disk.stop_at(Stop::nowhere);
        auto const report = office.ended();
        CHECK((report.state == State::failed) == !std::filesystem::exists(target));
        return report.why;
    };
    SECTION("space, which it looks at before, too") {
        CHECK_THAT(why([&] { office.disk.free = office.bytes_left - 1; }),
                   Contains("are kept for the journal"));
        CHECK(office.start(target) == "backup-space");
    }
    SECTION("a journal that grows to its cap") {
        office.journal.stated.bytes_max = 800;
        office.journal.stated.bytes = 690;
        CHECK_THAT(why([&] { office.journal.stated.bytes = 701; }),
                   Contains("grows to journal_bytes_max"));
    }
    SECTION("a journal that is read-only by now") {
        CHECK_THAT(why([&] { office.journal.stated_mode = journal::Mode::read_only; }),
                   Contains("the journal has no space"));
    }
    SECTION("but not for what was so before") {
        office.journal.stated.bytes_max = 800;
        office.journal.stated.bytes = 790;
        office.journal.stated_mode = journal::Mode::read_only;
        CHECK(why([] {}) == "");
        CHECK(check_manifest(target).has_value());
    }
}

TEST_CASE("P3: a backup whose store fails meanwhile is none", "[app][backup]") {
    store::FailingVfs files;
    BackupOffice office;
    engine::Projector& projector = *office.server.projector;
    auto const target = office.shelf.path() / "of-a-failing-store";
    office.disk.stop_at(Stop::store);
    REQUIRE(office.start(target) == "");
    REQUIRE(office.disk.stands(office.patience));
    files.fail(store::FailingVfs::Call::sync, 1, false, SQLITE_IOERR_FSYNC);
    auto spec = holdfast::test::sample_event();
    spec.slug = "refused";
    CHECK_FALSE(projector.insert_event(spec));
    CHECK(projector.degraded());
    office.disk.stop_at(Stop::nowhere);
    auto const report = office.ended();
    CHECK(report.state == State::failed);
    CHECK_THAT(report.why, Contains("the store has failed meanwhile"));
    CHECK_FALSE(std::filesystem::exists(target));
    CHECK(office.start(target) == "store-degraded");
}

TEST_CASE("P10: a backup of a running server finds damage in finished segments", "[app][backup]") {
    BackupOffice office;
    office.disk.links = GENERATE(true, false);
    office.fill_first_segment();
    auto const segment = app::test::segment(office.server.folder, 1);
    app::test::flip_bit(segment, 4'096 + 20);
    auto const target = office.shelf.path() / "damaged";
    REQUIRE(office.start(target) == "");
    auto const report = office.ended();
    CHECK(report.state == State::failed);
    CHECK(report.exit_code == 77);
    CHECK_THAT(report.why, Contains(segment.filename().string()));
    CHECK_FALSE(std::filesystem::exists(target));
}

TEST_CASE("no checkpoint is tried while they are held, and one that was asked for is made up for",
          "[app][backup]") {
    BackupOffice office;
    engine::Projector& projector = *office.server.projector;
    auto const claimed = office.server.send(http::Method::post, "/v1/events/demo/holds",
                                            R"({"seats":["A-1-1"]})", "");
    REQUIRE(claimed.status == 201);
    REQUIRE(projector.wait_applied(claimed.lsn, office.patience));
    projector.hold_checkpoints(true);
    projector.request_checkpoint();
    // The second job is run in a later round than the request at least.
    for (int round = 0; round < 2; ++round) CHECK(projector.when_stored(no_lsn, [] {}));
    CHECK(projector.store_durable_lsn() == no_lsn);
    REQUIRE(office.start(office.shelf.path() / "one") == "");
    CHECK(office.ended().state == State::done);
    CHECK(projector.wait_stored(claimed.lsn, office.patience));
}

TEST_CASE("a backup knows every event that its records speak of", "[app][backup]") {
    BackupOffice office;
    holdfast::test::Backstage& server = office.server;
    std::atomic<bool> enough{false};
    // New events are sold at once: were the store copied before the journal's end is noted, and
    // nothing in between, such records would speak of events that the copy does not know.
    auto selling = std::async(std::launch::async, [&] {
        constexpr int most = limits::events_max / 2;  // where backups are slow it would come to all
        int made = 0;
        for (; !enough && made < most; ++made) {
            auto spec = holdfast::test::sample_event();
            spec.slug = "event-" + std::to_string(made);
            if (!server.setup->create(std::move(spec))) return -1;
            auto const reply = server.send(http::Method::post,
                                           "/v1/events/event-" + std::to_string(made) + "/holds",
                                           R"({"seats":["A-1-1"]})", "");
            if (reply.status != 201) return -1;
        }
        return made;
    });
    for (int number = 0; number < 20; ++number) {
        auto const target = office.shelf.path() / std::to_string(number);
        REQUIRE(office.start(target) == "");
        auto const report = office.ended();
        INFO(report.why);
        REQUIRE(report.state == State::done);
        CHECK(check_manifest(target).has_value());
        auto const folder = DataFolder::open(target);
        REQUIRE(folder.has_value());
        auto const restored = restore_state(*folder, server.disk);
        INFO((restored ? "" : restored.error().message));
        REQUIRE(restored.has_value());
        CHECK(restored->journal.tail.last_lsn == report.durable);
    }
    enough = true;
    CHECK(selling.get() > 0);
}
