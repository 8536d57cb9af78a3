// rebuild: the same rows as before, from the journal, or a refusal that changes nothing.
#include "app/rebuild.hpp"

#include "app/audit.hpp"
#include "app/verify.hpp"
#include "tests/app/resting_shop.hpp"

#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast::app::test {
namespace {

using holdfast::test::TempFolder;
using std::filesystem::path;

Report rebuilt(path const& data, path const& backup = {}, bool lose_events = false) {
    journal::PosixDisk disk;
    return rebuild_store({data, backup, lose_events}, disk);
}

void check_sound(path const& data) {
    journal::PosixDisk disk;
    Report const report = audit_folder(data, disk);
    INFO(report.errors << report.output);
    CHECK(report.exit_code == 0);
}

/// Every row of the catalogue but the layouts' bytes.
std::vector<std::string> catalogue_of(path const& data) {
    auto database = store::Database::open_reader(data / "store.db", std::chrono::seconds{60});
    if (!database) throw std::runtime_error(database.error().message);
    store::Statement select{*database,
                            "SELECT id || slug || name || created_at_ms || hex(layout) FROM events "
                            "ORDER BY id"};
    std::vector<std::string> rows;
    for (;;) {
        auto const row = select.next();
        if (!row) throw std::runtime_error(row.error().message);
        if (!*row) return rows;
        rows.emplace_back(select.text(0));
    }
}

void copy_folder(path const& from, path const& to) {
    std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
}

/// Nothing in the folder is another, but the LOCK that was held.
void check_refused(path const& data, path const& backup, int exit_code, std::string const& why,
                   bool lose_events = false) {
    auto before = content_of(data);
    Report const report = rebuilt(data, backup, lose_events);
    CHECK(report.exit_code == exit_code);
    CHECK_THAT(report.errors, Catch::Contains(why));
    CHECK_THAT(report.errors, !Catch::Contains("rebuild-"));
    auto after = content_of(data);
    before.erase("LOCK");
    after.erase("LOCK");
    CHECK(after == before);
}

/// From the n-th call on that changes a name or syncs it, it fails or the process dies.
class FailingDisk final : public journal::Disk {
public:
    FailingDisk(int calls, bool dies) : left_(calls), dies_(dies) {}
    std::error_code open(path const& file, journal::OpenMode mode,
                         std::unique_ptr<journal::File>& opened) override {
        return disk_.open(file, mode, opened);
    }
    std::error_code rename(path const& from, path const& to) override {
        auto const failed = next();
        return failed ? failed : disk_.rename(from, to);
    }
    std::error_code remove(path const& file) override {
        auto const failed = next();
        return failed ? failed : disk_.remove(file);
    }
    std::error_code link(path const& from, path const& to) override {
        auto const failed = next();
        return failed ? failed : disk_.link(from, to);
    }
    std::error_code make_folder(path const& folder) override { return disk_.make_folder(folder); }
    std::error_code sync_folder(path const& folder) override {
        auto const failed = next();
        return failed ? failed : disk_.sync_folder(folder);
    }
    std::error_code list(path const& folder, std::vector<std::string>& names) override {
        return disk_.list(folder, names);
    }
    std::error_code free_bytes(path const& folder, std::uint64_t& bytes) override {
        return disk_.free_bytes(folder, bytes);
    }

private:
    std::error_code next() {
        if (left_-- > 0) return {};
        if (dies_) ::_exit(9);
        return std::make_error_code(std::errc::io_error);
    }
    journal::PosixDisk disk_;
    int left_;
    bool dies_;
};

}  // namespace

TEST_CASE("a rebuild makes the very rows that the journal stands for", "[app][rebuild]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    RestingShop shop(data);
    trade(shop);
    shop.make_event("next");
    shop.sell({1, 2}, EventId{2});
    shop.project();
    shop.close();
    auto const rows = samples::dump(data / "store.db");
    auto const catalogue = catalogue_of(data);
    REQUIRE(rows.size() > 15);
    SECTION("of a sound store") {}
    SECTION("of one that says something else") {
        edit_store(data,
                   "UPDATE orders SET total = 1; UPDATE tickets SET live = 0;"
                   "DELETE FROM history; UPDATE event_steps SET step = 'closed'");
    }
    SECTION("of one whose rows cannot be read any more") {
        damage_tickets(data);
    }
    Report const report = rebuilt(data);
    INFO(report.errors);
    CHECK(report.exit_code == 0);
    CHECK_THAT(report.output, Catch::Contains("\nrebuild: OK 2 events, 4 orders, LSN "));
    CHECK(samples::dump(data / "store.db") == rows);
    CHECK(catalogue_of(data) == catalogue);
    CHECK(std::filesystem::exists(data / "store.db.old-1"));
    CHECK_FALSE(std::filesystem::exists(data / "store.db.old-1-wal"));
    check_sound(data);
    shop.open();  // As a server does, and goes on.
    shop.sell({9});
    shop.project();
}

TEST_CASE("a rebuild goes on from a backup when segments were deleted", "[app][rebuild]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    path const early = temp.path() / "early";
    path const backup = temp.path() / "backup";
    RestingShop shop(data);
    trade(shop);
    shop.project();
    shop.close();
    copy_folder(data, early);
    shop.open();
    shop.fill_segments(9);
    shop.project();
    shop.close();
    copy_folder(data, backup);
    shop.open();
    shop.make_event("next");
    shop.sell({7}, EventId{2});
    shop.project();
    shop.compact();
    shop.close();
    auto const rows = samples::dump(data / "store.db");
    auto const catalogue = catalogue_of(data);
    SECTION("with the events made since") {
        edit_store(data, "UPDATE orders SET total = 1");
        Report const report = rebuilt(data, backup);
        INFO(report.errors);
        CHECK(report.exit_code == 0);
        CHECK(samples::dump(data / "store.db") == rows);
        CHECK(catalogue_of(data) == catalogue);
        check_sound(data);
    }
    SECTION("not without one") {
        check_refused(data, {}, 1, "older segments were deleted: name a backup with --from");
    }
    SECTION("not from one that is too old") {
        check_refused(data, early, 1, "a newer backup is needed");
    }
    SECTION("not if the events made since are lost") {
        remove_store(data);
        check_refused(data, backup, 78, "event 2", true);
    }
}

TEST_CASE("P10: an event that only the journal knows is missed, and given up if asked",
          "[app][rebuild]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    RestingShop shop(data);
    shop.sell({0});
    EventId const lost{3};
    shop.put(journal::RecordType::event, engine::EventFact{lost, LifeStep::published, {}});
    shop.close();
    journal::PosixDisk disk;
    for (Report const& report :
         {verify_folder(data, disk), audit_folder(data, disk), rebuilt(data)}) {
        CHECK(report.exit_code == 77);
        CHECK_THAT(report.errors, Catch::Contains("has 1 event, but event 3 was made as well"));
    }
    check_refused(data, {}, 77, "or --lose-events gives the event up");
    Report const report = rebuilt(data, {}, true);
    INFO(report.errors << report.output);
    REQUIRE(report.exit_code == 0);
    CHECK_THAT(report.output, Catch::Contains("lost: event 2, for which lost-event-2 stands now") &&
                                  Catch::Contains("lost: event 3, for which lost-event-3") &&
                                  Catch::Contains("rebuild: OK 3 events, 1 order"));
    check_sound(data);
    shop.open();
    CHECK(shop.spec(lost).closes_at.has_value());
    shop.make_event("next");
    CHECK(shop.spec(EventId{4}).slug == "next");
}

TEST_CASE("an event that is given up takes no other's slug", "[app][rebuild]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    RestingShop shop(data);
    shop.make_event("lost-event-3");
    shop.put(journal::RecordType::event, engine::EventFact{EventId{3}, LifeStep::published, {}});
    shop.close();
    Report const report = rebuilt(data, {}, true);
    INFO(report.errors << report.output);
    REQUIRE(report.exit_code == 0);
    CHECK_THAT(report.output,
               Catch::Contains("lost: event 3, for which lost-event-3-again stands now"));
    check_sound(data);
}

TEST_CASE("an event of which places are held or sold is not given up", "[app][rebuild]") {
    for (std::uint32_t const place : {0U, 1U}) {
        TempFolder const temp;
        path const data = temp.path() / "data";
        RestingShop shop(data);
        shop.put(journal::RecordType::event,
                 engine::EventFact{EventId{2}, LifeStep::published, {}});
        shop.claim({place}, EventId{2});
        shop.close();
        Report const report = rebuilt(data, {}, true);
        CAPTURE(place, report.output);
        CHECK(report.exit_code == 78);
        CHECK_THAT(report.errors, Catch::Contains(place == 0 ? "event 2 cannot be given up"
                                                             : "place 1 of an event of 1 places"));
    }
}

TEST_CASE("an event in which something was sold is not given up, though all is free again",
          "[app][rebuild]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    RestingShop shop(data);
    shop.put(journal::RecordType::event, engine::EventFact{EventId{2}, LifeStep::published, {}});
    auto const ended = shop.claim({0}, EventId{2});
    SECTION("a hold that was given back") {
        shop.end(ended);
        shop.close();
        CHECK(rebuilt(data, {}, true).exit_code == 0);
        check_sound(data);
    }
    SECTION("an order that was cancelled") {
        OrderId const paid = order(1);
        shop.put(journal::RecordType::order,
                 engine::OrderFact{paid, at(200), engine::PaymentMethod::none, 0, {ended}});
        shop.put(journal::RecordType::cancel, engine::CancelFact{paid, at(300), {ended}});
        shop.close();
        check_refused(data, {}, 78, "event 2 cannot be given up: the order o_", true);
    }
}

TEST_CASE("a rebuild needs the events of store.db or of a backup", "[app][rebuild]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    path const backup = temp.path() / "backup";
    RestingShop shop(data);
    trade(shop);
    shop.close();
    copy_folder(data, backup);
    shop.open();
    shop.sell({8});
    shop.project();
    shop.close();
    auto const rows = samples::dump(data / "store.db");
    SECTION("the file is missing") {
        remove_store(data);
        check_refused(data, {}, 77,
                      "the events are only there: `holdfast rebuild --from BACKUP "
                      "--lose-events` makes it anew");
        // Nobody knows whether one was made since the backup.
        check_refused(data, backup, 1, "with --lose-events they are given up");
        Report const report = rebuilt(data, backup, true);
        INFO(report.errors);
        CHECK(report.exit_code == 0);
        CHECK_THAT(report.output, Catch::Contains("the events are those of the backup"));
    }
    SECTION("the file is no database any more") {
        std::ofstream(data / "store.db", std::ios::binary) << std::string(50'000, 'x');
        std::ofstream(data / "store.db-wal", std::ios::binary) << "of the old file";
        check_refused(data, {}, 77, "`holdfast rebuild --from BACKUP --lose-events` makes it anew");
        check_refused(data, backup, 1, "with --lose-events they are given up");
        Report const report = rebuilt(data, backup, true);
        INFO(report.errors);
        CHECK(report.exit_code == 0);
        CHECK_THAT(report.output, Catch::Contains("the old file is kept as "));
        CHECK(holdfast::test::read_file(data / "store.db.old-1") == std::string(50'000, 'x'));
        CHECK(holdfast::test::read_file(data / "store.db.old-1-wal") == "of the old file");
        // What was kept is kept, however often it is done again.
        CHECK(rebuilt(data).exit_code == 0);
        CHECK(holdfast::test::read_file(data / "store.db.old-1") == std::string(50'000, 'x'));
        CHECK(std::filesystem::exists(data / "store.db.old-2"));
    }
    SECTION("the file is of another server") {
        RestingShop other(temp.path() / "other");
        other.project();
        other.close();
        std::filesystem::copy_file(temp.path() / "other/store.db", data / "store.db",
                                   std::filesystem::copy_options::overwrite_existing);
        check_refused(data, backup, 78, "is of another store; if events were made after");
        CHECK(rebuilt(data, backup, true).exit_code == 0);
    }
    CHECK(samples::dump(data / "store.db") == rows);
    check_sound(data);
}

TEST_CASE("a backup is a data folder after a rebuild, and none is begun with that is not whole",
          "[app][rebuild]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    path const backup = temp.path() / "backup";
    RestingShop shop(data);
    trade(shop);
    shop.close();
    copy_folder(data, backup);
    std::ofstream(backup / "MANIFEST.json") << "not written by anybody";
    check_refused(data, backup, 77, "MANIFEST.json");
    CHECK(rebuilt(backup).exit_code == 0);
    CHECK_FALSE(std::filesystem::exists(backup / "MANIFEST.json"));
    check_sound(backup);
}

TEST_CASE("a rebuild leaves no journal of another program beside the new file", "[app][rebuild]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    path const backup = temp.path() / "backup";
    RestingShop shop(data);
    trade(shop);
    shop.close();
    copy_folder(data, backup);
    std::ofstream(data / "store.db-journal") << std::string(4'096, 'j');
    journal::PosixDisk disk;
    CHECK(verify_folder(data, disk).exit_code == 77);
    CHECK(rebuilt(data).exit_code == 77);
    CHECK(rebuilt(data, backup, true).exit_code == 0);
    CHECK_FALSE(std::filesystem::exists(data / "store.db-journal"));
    CHECK(std::filesystem::exists(data / "store.db.old-1-journal"));
    check_sound(data);
    RestingShop again(data);
    again.claim({6});
}

TEST_CASE("a rebuild takes no backup that does not fit", "[app][rebuild]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    path const other = temp.path() / "other";
    RestingShop shop(data);
    trade(shop);
    shop.close();
    SECTION("of another store") {
        RestingShop(other).close();
        check_refused(data, other, 78, "is of another store");
    }
    SECTION("ahead of the journal") {
        copy_folder(data, other);
        RestingShop ahead(other);
        ahead.end(HoldKey{show, HoldRef{1, SlotIndex{1}}});
        ahead.project();
        ahead.close();
        check_refused(data, other, 77, "was it lost or rolled back?");
    }
    SECTION("a folder without a store") {
        std::filesystem::create_directories(other / "journal");
        check_refused(data, other, 77, (other / "store.db").string() + ": is missing");
    }
    SECTION("no folder") {
        check_refused(data, other, 1, "there is no such folder");
    }
}

TEST_CASE("R7: two histories of one server are never mixed", "[app][rebuild][verify]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    path const early = temp.path() / "early";
    path const newest = temp.path() / "newest";
    RestingShop shop(data);
    trade(shop);
    shop.project();
    shop.close();
    copy_folder(data, early);
    shop.open();
    shop.sell({8});
    shop.project();
    shop.close();
    copy_folder(data, newest);
    // The server is lost, and its earlier backup is restored: other sales get the same LSNs.
    std::filesystem::remove_all(data);
    copy_folder(early, data);
    shop.open();
    shop.sell({9});
    shop.sell({10});
    shop.project();
    shop.close();
    check_sound(data);
    SECTION("by a rebuild from the newest backup") {
        check_refused(data, newest, 78, "another history of this server");
        CHECK(rebuilt(data, early).exit_code == 0);
        check_sound(data);
    }
    SECTION("by a store.db that was copied by hand") {
        std::filesystem::copy_file(newest / "store.db", data / "store.db",
                                   std::filesystem::copy_options::overwrite_existing);
        journal::PosixDisk disk;
        for (Report const& report : {verify_folder(data, disk), audit_folder(data, disk)}) {
            CHECK(report.exit_code == 78);
            CHECK_THAT(report.errors, Catch::Contains("another history of this server"));
        }
        CHECK_THROWS_WITH(shop.open(), Catch::Contains("another history of this server"));
    }
}

TEST_CASE("a rebuild refuses folders that are damaged, in use or missing", "[app][rebuild]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    SECTION("missing, and it stays so") {
        CHECK(rebuilt(data).exit_code == 1);
        CHECK_FALSE(std::filesystem::exists(data));
    }
    SECTION("in use") {
        RestingShop const shop(data);
        CHECK(rebuilt(data).exit_code == 75);
    }
    SECTION("a damaged journal") {
        RestingShop shop(data);
        trade(shop);
        shop.close();
        flip_bit(segment(data, 1), 4'096 + 80);
        check_refused(data, {}, 77, "0000000000000001.hfj, offset 4096");
    }
}

TEST_CASE("a rebuild that fails or dies at any step leaves a store that is whole",
          "[app][rebuild]") {
    TempFolder const temp;
    bool const dies = GENERATE(false, true);
    bool done = false;
    int calls = 0;
    for (; !done && calls < 30; ++calls) {
        CAPTURE(dies, calls);
        path const data = temp.path() / (std::to_string(calls) + (dies ? "d" : "f"));
        RestingShop shop(data);
        trade(shop);
        shop.project();
        shop.close();
        auto const rows = samples::dump(data / "store.db");
        FailingDisk disk(calls, dies);
        if (dies) {
            pid_t const child = ::fork();
            if (child == 0) ::_exit(rebuild_store({data, {}, false}, disk).exit_code);
            int status = 0;
            REQUIRE(::waitpid(child, &status, 0) == child);
            done = WEXITSTATUS(status) == 0;
        } else {
            done = rebuild_store({data, {}, false}, disk).exit_code == 0;
        }
        CHECK(samples::dump(data / "store.db") == rows);
        check_sound(data);
        CHECK(rebuilt(data).exit_code == 0);
        CHECK(samples::dump(data / "store.db") == rows);
        for (auto const& entry : std::filesystem::directory_iterator(data))
            CHECK_FALSE(entry.path().filename().string().starts_with("rebuild-"));
    }
    CHECK(done);
    CHECK(calls > 3);
}

}  // namespace holdfast::app::test
