// verify and audit: what they say of sound folders, and that they refuse what a start refuses.
#include "app/verify.hpp"

#include "app/audit.hpp"
#include "app/manifest.hpp"
#include "tests/app/resting_shop.hpp"
#include "tests/support/nth_call_disk.hpp"

#include <catch2/catch.hpp>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast::app::test {
namespace {

using holdfast::test::TempFolder;
using std::filesystem::path;

/// Runs a command on the folder and checks that nothing was changed by it or left beside it.
template <class Command>
Report unchanged(Command command, path const& data) {
    journal::PosixDisk disk;
    auto const before = content_of(data.parent_path());
    Report const report = command(data, disk);
    CHECK(content_of(data.parent_path()) == before);
    return report;
}

Report verified(path const& data) {
    return unchanged(verify_folder, data);
}

Report audited(path const& data) {
    return unchanged(audit_folder, data);
}

/// Both refuse it with that exit code and for that reason.
void check_refused(path const& data, int exit_code, std::string const& why) {
    for (auto const& report : {verified(data), audited(data)}) {
        CHECK(report.exit_code == exit_code);
        CHECK_THAT(report.errors, Catch::StartsWith("holdfast: ") && Catch::Contains(why));
        CHECK_THAT(report.errors, !Catch::Contains("scratch"));
        CHECK_THAT(report.output,
                   Catch::EndsWith(": FAILED, exit " + std::to_string(exit_code) + "\n"));
    }
}

journal::StoreId shop_id(path const& data) {
    auto const identity = store::Store::peek(data / "store.db");
    if (!identity || !*identity) throw std::runtime_error("no store");
    return (*identity)->store_id;
}

void check_good(path const& data) {
    auto const seen = verified(data);
    INFO(seen.errors);
    CHECK(seen.exit_code == 0);
    CHECK_THAT(seen.output, Catch::Contains("\nverify: OK "));
    auto const counted = audited(data);
    INFO(counted.errors << counted.output);
    CHECK(counted.exit_code == 0);
    CHECK_THAT(counted.output, Catch::StartsWith("audit: OK "));
}

}  // namespace

TEST_CASE("verify and audit say what a folder has, and change nothing", "[app][verify]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    RestingShop shop(data);
    trade(shop);
    std::int64_t money = 0;
    for (std::uint32_t const seat : {2U, 3U, 4U})
        money += shop.spec().layout.price_of(SeatIndex{seat});
    auto const capacity = shop.spec().layout.place_count();
    shop.make_event("next");
    auto const last = std::to_string(shop.last().value());
    shop.close();
    std::string const places = std::to_string(capacity) + " places (" +
                               std::to_string(capacity - 5) + " free, 2 held, 3 sold, 0 blocked)";
    std::string const orders =
        "2 orders confirmed, 1 cancelled, " + std::to_string(money) + " JPY (minor units)";
    auto const seen = verified(data);
    INFO(seen.errors);
    CHECK(seen.exit_code == 0);
    CHECK_THAT(seen.output,
               Catch::Contains("event show: " + places + ", 1 hold, " + orders + "\n"));
    CHECK_THAT(seen.output, Catch::Contains("event next: ") &&
                                Catch::Contains(" cancelled, 0 JPY (minor units)\n") &&
                                Catch::Contains("verify: OK 2 events, "));
    CHECK_THAT(seen.output, Catch::EndsWith(orders + ", LSN " + last + "\n"));
    auto const counted = audited(data);
    CHECK(counted.exit_code == 0);
    CHECK(counted.output == "audit: OK seats " + std::to_string(2 * capacity - 5) +
                                " free, 2 held, 3 sold, 0 blocked; orders 2 confirmed, 1 "
                                "cancelled, " +
                                std::to_string(money) + " JPY (minor units); LSN " + last + "\n");
}

TEST_CASE("verify and audit follow a store.db that lies elsewhere", "[app][verify]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    path const elsewhere = temp.path() / "elsewhere";
    RestingShop shop(data);
    trade(shop);
    shop.make_event("next");
    shop.close();
    // The second event is in the WAL only, and SQLite keeps that beside the file itself.
    std::filesystem::create_directory(elsewhere);
    REQUIRE(std::filesystem::file_size(data / "store.db-wal") > 0);
    for (char const* const name : {"store.db", "store.db-wal"})
        std::filesystem::rename(data / name, elsewhere / name);
    std::filesystem::remove(data / "store.db-shm");
    std::filesystem::create_symlink(elsewhere / "store.db", data / "store.db");
    auto const seen = verified(data);
    INFO(seen.errors);
    CHECK(seen.exit_code == 0);
    CHECK_THAT(seen.output, Catch::Contains("verify: OK 2 events, "));
    CHECK(audited(data).exit_code == 0);
}

TEST_CASE("verify and audit take folders as a crash may leave them", "[app][verify]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    RestingShop shop(data);
    trade(shop);
    SECTION("a torn tail") {
        shop.close();
        flip_bit(segment(data, 1), last_group(segment(data, 1)));
        CHECK_THAT(verified(data).output, Catch::Contains("a torn tail of 4096 bytes to be cut"));
    }
    SECTION("a segment that was named and no more, and rows that are behind") {
        shop.close();
        std::string const zeros(journal::test::small_segment, '\0');
        std::ofstream(segment(data, 2), std::ios::binary) << zeros;
    }
    SECTION("segments that were deleted") {
        shop.outgrow_segments();
        shop.sell({6});
        shop.close();
        REQUIRE_FALSE(std::filesystem::exists(segment(data, 1)));
    }
    SECTION("several starts") {
        shop.close();
        shop.open();
        shop.sell({7});
        shop.close();
    }
    SECTION("no LOCK file, as in a backup, and nothing that may be written") {
        shop.close();
        std::filesystem::remove(data / "LOCK");
        for (auto const& entry : std::filesystem::recursive_directory_iterator(data)) {
            bool const is_folder = entry.is_directory();
            std::filesystem::permissions(entry.path(),
                                         std::filesystem::perms(is_folder ? 0500 : 0400));
        }
        std::filesystem::permissions(data, std::filesystem::perms(0500));
    }
    shop.close();
    check_good(data);
    // Or its temporary folder could not be removed.
    std::filesystem::permissions(data, std::filesystem::perms(0700));
    std::filesystem::permissions(data / "journal", std::filesystem::perms(0700));
}

TEST_CASE("verify and audit refuse a damaged folder as a start does", "[app][verify]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    RestingShop shop(data);
    trade(shop);
    SECTION("a bit of an acknowledged group") {
        shop.close();
        flip_bit(segment(data, 1), 4'096 + 80);
        check_refused(data, 77, "0000000000000001.hfj, offset 4096: LSN 1 to ");
    }
    SECTION("a segment is missing") {
        shop.fill_segments(3);
        shop.close();
        std::filesystem::remove(segment(data, 2));
        check_refused(data, 77, "segment 0000000000000002.hfj is missing");
    }
    SECTION("store.db is missing") {
        shop.close();
        remove_store(data);
        check_refused(data, 77, (data / "store.db").string() + ": is missing");
    }
    SECTION("store.db is damaged") {
        shop.close();
        auto const bytes = std::filesystem::file_size(data / "store.db");
        for (std::uint64_t page = 1; page < bytes / 4'096; ++page)
            flip_bit(data / "store.db", page * 4'096);
        check_refused(data, 77, (data / "store.db").string());
        check_refused(data, 77, "`holdfast rebuild");
    }
    SECTION("store.db is no database: its events are lost, too") {
        shop.close();
        remove_store(data);
        temp.write("data/store.db", std::string(9'000, 'g'));
        check_refused(data, 77, "; delete nothing; `holdfast rebuild --from BACKUP --lose-events`");
    }
    SECTION("rows of store.db are damaged: they can be made anew") {
        shop.project();
        shop.close();
        damage_tickets(data);
        check_refused(data, 77, "; delete nothing; `holdfast rebuild` makes it anew");
    }
    SECTION("store.db is of another store") {
        shop.close();
        RestingShop other(temp.path() / "other");
        other.close();
        remove_store(data);
        std::filesystem::copy_file(temp.path() / "other" / "store.db", data / "store.db");
        if (std::filesystem::exists(temp.path() / "other" / "store.db-wal"))
            std::filesystem::copy_file(temp.path() / "other" / "store.db-wal",
                                       data / "store.db-wal");
        check_refused(data, 78, "different stores");
    }
    SECTION("server.key is missing") {
        shop.close();
        std::filesystem::remove(data / "server.key");
        check_refused(data, 78, "server.key: is missing");
    }
    SECTION("server.key may be read by others") {
        shop.close();
        std::filesystem::permissions(data / "server.key", std::filesystem::perms(0644));
        check_refused(data, 1, (data / "server.key").string() + ": others may read");
    }
    SECTION("rows that contradict the journal when they are caught up") {
        shop.close();
        edit_store(data, "UPDATE orders SET state = 'cancelled'; UPDATE tickets SET live = 0");
        check_refused(data, 78, "store.db contradicts the journal: LSN ");
    }
}

TEST_CASE("whatever verify and audit have not got enough of is told as that, not as damage",
          "[app][verify]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    RestingShop shop(data);
    trade(shop);
    shop.outgrow_segments();
    shop.close();
    for (auto const command : {verify_folder, audit_folder}) {
        for (auto const want : {std::errc::no_space_on_device, std::errc::too_many_files_open}) {
            for (long nth = 0;; ++nth) {
                journal::PosixDisk real;
                holdfast::test::NthCallDisk disk{real, nth, want};
                auto const report = command(data, disk);
                if (!disk.has_failed()) break;
                CAPTURE(disk.failed_call(), report.errors);
                bool const is_no_matter = report.exit_code == 0;
                CHECK((is_no_matter || report.exit_code == 76));
                CHECK_THAT(report.errors, !Catch::Contains("damage"));
            }
        }
    }
}

TEST_CASE("R12: a contradiction in the journal is told with its place and what helps",
          "[app][verify]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    RestingShop shop(data);
    shop.claim({7});
    Lsn const first = shop.last();
    shop.claim({7});
    shop.close();
    check_refused(data, 78, "0000000000000001.hfj, offset ");
    check_refused(data, 78, "LSN " + std::to_string(first.value() + 1));
    check_refused(data, 78, "restore a backup, docs/operations.md says how");
}

TEST_CASE("verify and audit need a data folder that no server has", "[app][verify]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    SECTION("in use") {
        RestingShop const shop(data);
        journal::PosixDisk disk;
        for (auto const& report : {verify_folder(data, disk), audit_folder(data, disk)}) {
            CHECK(report.exit_code == 75);
            CHECK_THAT(report.errors,
                       Catch::Contains("in use by process " + std::to_string(getpid())));
        }
    }
    SECTION("missing") {
        check_refused(data, 1, "there is no such folder");
    }
    SECTION("empty") {
        std::filesystem::create_directory(data);
        check_refused(data, 1, "has neither a journal nor a store.db");
    }
    SECTION("a file") {
        temp.write("data", "x");
        check_refused(data, 1, "is not a folder");
    }
}

TEST_CASE("no server starts on a folder while it is read", "[app][verify]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    RestingShop(data).close();
    {
        auto const first = ReadLock::take(data);
        REQUIRE(first.has_value());
        CHECK(ReadLock::take(data).has_value());
        auto const refused = DataFolder::open(data);
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().exit_code == 75);
    }
    CHECK(DataFolder::open(data).has_value());
}

TEST_CASE("an audit fails on rows that differ, and prints the first of them", "[app][audit]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    RestingShop shop(data);
    trade(shop);
    shop.project();
    SECTION("one") {
        shop.close();
        edit_store(data, "UPDATE tickets SET live = 0 WHERE seat = 3");
        auto const report = audited(data);
        CHECK(report.exit_code == 78);
        CHECK_THAT(report.output, Catch::Contains("but store.db has no live ticket of it\n"));
        CHECK_THAT(report.output, Catch::Contains("\naudit: FAILED 2 contradictions, seats "));
        CHECK(verified(data).exit_code == 0);  // A start would not have noticed.
    }
    SECTION("many") {
        for (std::uint32_t seat = 5; seat < 17; ++seat) shop.sell({seat});
        shop.project();
        shop.close();
        edit_store(data, "UPDATE tickets SET live = 0");
        auto const report = audited(data);
        CHECK(report.exit_code == 78);
        CHECK(std::ranges::count(report.output, '\n') == 22);
        CHECK_THAT(report.output, Catch::Contains("\nand "));
    }
}

TEST_CASE("an audit knows orders that only deleted segments spoke of", "[app][audit]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    RestingShop shop(data);
    trade(shop);
    shop.outgrow_segments();
    shop.close();
    check_good(data);
    edit_store(data,
               "UPDATE tickets SET live = 0 WHERE seat = 3; UPDATE orders SET total = "
               "total - (SELECT price FROM tickets WHERE seat = 3) WHERE lsn = (SELECT "
               "order_lsn FROM tickets WHERE seat = 3)");
    auto const report = audited(data);
    CHECK(report.exit_code == 78);
    CHECK_THAT(report.output, Catch::Contains("audit: FAILED 1 contradiction, "));
}

TEST_CASE("verify and audit hold a backup to its manifest", "[app][verify]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    RestingShop shop(data);
    trade(shop);
    Lsn last = shop.last();
    shop.close();
    std::vector<std::string> const names{"META.a", "META.b", "server.key", "store.db",
                                         "journal/0000000000000001.hfj"};
    auto const go_on = []() -> std::optional<journal::Failure> { return {}; };
    auto files = measure(data, names, go_on);
    REQUIRE(files.has_value());
    journal::PosixDisk disk;
    SECTION("it is whole") {
        std::filesystem::remove(data / "store.db-wal");
        Manifest const manifest{at(1'000), "1", shop_id(data), no_lsn, last, *files};
        REQUIRE_FALSE(write_manifest(data, disk, manifest).has_value());
        auto const report = verified(data);
        INFO(report.errors);
        CHECK(report.exit_code == 0);
        CHECK_THAT(report.output, Catch::StartsWith("backup: all 5 files are as the manifest"));
        auto const counted = audited(data);
        CHECK(counted.exit_code == 0);
        CHECK_THAT(counted.output, Catch::StartsWith("backup: all 5 files are as the manifest") &&
                                       Catch::Contains("\naudit: OK "));
    }
    SECTION("a file is another") {
        (*files)[3].bytes += 1;
        Manifest const manifest{at(1'000), "1", shop_id(data), no_lsn, last, *files};
        REQUIRE_FALSE(write_manifest(data, disk, manifest).has_value());
        auto const report = verified(data);
        CHECK(report.exit_code == 77);
        CHECK_THAT(report.errors, Catch::Contains("store.db"));
    }
    SECTION("the journal ends too early") {
        std::filesystem::remove(data / "store.db-wal");
        Manifest const manifest{at(1'000), "1", shop_id(data), no_lsn, Lsn{last.value() + 1},
                                *files};
        REQUIRE_FALSE(write_manifest(data, disk, manifest).has_value());
        check_refused(data, 77, "its manifest promises LSN");
    }
}

TEST_CASE("a signal ends the command, and its scratch folder", "[app][verify]") {
    TempFolder const temp;
    int const signal = GENERATE(SIGINT, SIGTERM);
    pid_t const child = ::fork();
    if (child == 0) {
        auto const scratch = ScratchFolder::make({temp.path()}, "scratch");
        if (!scratch) ::_exit(1);
        std::ofstream((*scratch)->path() / "file") << "x";
        ::kill(::getpid(), signal);
        for (;;) ::pause();
    }
    REQUIRE(child > 0);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 128 + signal);
    CHECK(std::filesystem::is_empty(temp.path()));
}

TEST_CASE("a scratch folder goes where there is a place for it, else nowhere", "[app][verify]") {
    TempFolder const temp;
    auto const nowhere = temp.path() / "missing";
    {
        auto const scratch = ScratchFolder::make({nowhere, temp.path()}, "scratch");
        REQUIRE(scratch.has_value());
        CHECK((*scratch)->path().parent_path() == temp.path());
    }
    CHECK(std::filesystem::is_empty(temp.path()));
    auto const refused = ScratchFolder::make({nowhere}, "scratch");
    REQUIRE_FALSE(refused.has_value());
    CHECK_THAT(refused.error().message, Catch::Contains(nowhere.string()));
}

}  // namespace holdfast::app::test
