// salvage: a report of what is lost, and a folder of what is not, from which a server starts.
#include "app/salvage.hpp"

#include "app/audit.hpp"
#include "app/manifest.hpp"
#include "app/verify.hpp"
#include "tests/app/resting_shop.hpp"
#include "tests/support/nth_call_disk.hpp"

#include <catch2/catch.hpp>

namespace holdfast::app::test {
namespace {

using holdfast::test::TempFolder;
using std::filesystem::path;

/// The source must stay as it is, byte for byte.
Report salvaged(path const& data, std::optional<path> const& target = {}) {
    journal::PosixDisk disk;
    auto const before = content_of(data);
    Report report = salvage_folder(data, target, disk);
    CHECK(content_of(data) == before);
    return report;
}

/// It starts as a server does, it is consistent, and it goes on.
void check_starts(path const& data) {
    journal::PosixDisk disk;
    Report const seen = verify_folder(data, disk);
    INFO(seen.errors << seen.output);
    CHECK(seen.exit_code == 0);
    Report const counted = audit_folder(data, disk);
    INFO(counted.errors << counted.output);
    CHECK(counted.exit_code == 0);
    RestingShop shop(data);
    auto const places = shop.spec().layout.place_count();
    shop.put(journal::RecordType::claim,
             engine::ClaimFact{
                 {show, HoldRef{1'000, SlotIndex{90}}}, 1, at(1), at(2), {SeatIndex{places - 2}}});
    shop.project();
}

}  // namespace

TEST_CASE("salvage reports and writes nothing without a target", "[app][salvage]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    RestingShop shop(data);
    trade(shop);
    auto const last = shop.last().value();
    shop.close();
    SECTION("of a sound folder") {
        auto const report = salvaged(data);
        CHECK(report.exit_code == 0);
        CHECK_THAT(report.output, Catch::Contains("salvage: nothing acknowledged is damaged; up to "
                                                  "LSN " +
                                                  std::to_string(last)));
    }
    SECTION("of a damaged one") {
        auto const offset = group_of(segment(data, 1), 2);
        flip_bit(segment(data, 1), offset + 80);
        auto const report = salvaged(data);
        INFO(report.output);
        CHECK(report.exit_code == 0);
        CHECK_THAT(report.output, Catch::StartsWith("damaged: 0000000000000001.hfj, offset " +
                                                    std::to_string(offset) + ": "));
        CHECK_THAT(report.output,
                   Catch::Contains("\nwhole: segments 1 to 1 up to the damage, LSN 1 to 1\n"));
        CHECK_THAT(report.output, Catch::Contains("\nlost: LSN 2 to " + std::to_string(last) +
                                                  ", which were acknowledged\n"));
        CHECK_THAT(report.output, Catch::Contains("can be read but not applied"));
        CHECK_THAT(report.output, Catch::Contains("known to store.db only\n"));
        CHECK_THAT(report.output, Catch::EndsWith("salvage: damaged; up to LSN 1 can be kept, "
                                                  "with --to\n"));
    }
    CHECK(std::ranges::distance(std::filesystem::directory_iterator(temp.path())) == 1);
}

TEST_CASE("salvage writes a folder that starts, with all before the damage", "[app][salvage]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    path const target = temp.path() / "new" / "data";
    RestingShop shop(data);
    trade(shop);
    std::string kept;
    SECTION("a damaged group, with the store ahead of it (R3)") {
        shop.close();
        flip_bit(segment(data, 1), group_of(segment(data, 1), 4) + 80);
        kept = "LSN 3 ";
    }
    SECTION("a damaged group that the next segment seals (R4)") {
        shop.fill_segments(3);
        shop.close();
        flip_bit(segment(data, 1), group_of(segment(data, 1), 9) + 80);
        kept = "LSN 8 ";
    }
    SECTION("a missing segment (R5)") {
        shop.fill_segments(3);
        shop.close();
        std::filesystem::remove(segment(data, 2));
    }
    SECTION("no META") {
        shop.close();
        std::filesystem::remove(data / "META.a");
        std::filesystem::remove(data / "META.b");
    }
    SECTION("nothing is damaged") {
        shop.close();
    }
    SECTION("damage after segments were deleted, not before what the store has") {
        shop.outgrow_segments();
        shop.sell({7});
        shop.sell({8});
        shop.close();
        int last = 20;
        while (!std::filesystem::exists(segment(data, last))) --last;
        flip_bit(segment(data, last), last_group(segment(data, last)) - 4'096);
    }
    std::filesystem::create_directories(target.parent_path());
    auto const report = salvaged(data, target);
    INFO(report.errors << report.output);
    REQUIRE(report.exit_code == 0);
    CHECK_THAT(report.output, Catch::EndsWith("is in " + target.string() + "\n"));
    CHECK_THAT(report.output, Catch::Contains(kept));
    CHECK(holdfast::test::read_file(target / "server.key") ==
          holdfast::test::read_file(data / "server.key"));
    check_starts(target);
}

TEST_CASE("salvage holds a backup to what its manifest promises", "[app][salvage]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    RestingShop shop(data);
    shop.sell({0});
    shop.project();
    Lsn const last = shop.last();
    shop.close();
    auto const identity = store::Store::peek(data / "store.db");
    REQUIRE((identity && *identity));
    Manifest manifest;
    manifest.version = "0";
    manifest.store_id = (*identity)->store_id;
    manifest.applied = last;
    journal::PosixDisk disk;
    SECTION("all of it is there") {
        manifest.durable = last;
        REQUIRE_FALSE(write_manifest(data, disk, manifest));
        CHECK_THAT(salvaged(data).output,
                   Catch::Contains("salvage: nothing acknowledged is damaged"));
    }
    SECTION("its end is not") {
        manifest.durable = Lsn{last.value() + 2};
        REQUIRE_FALSE(write_manifest(data, disk, manifest));
        auto const report = salvaged(data);
        CHECK(report.exit_code == 0);
        CHECK_THAT(report.output, Catch::Contains("lost: LSN " + std::to_string(last.value() + 1) +
                                                  " to " + std::to_string(last.value() + 2) +
                                                  ", which were acknowledged") &&
                                      Catch::Contains("salvage: damaged; up to LSN "));
    }
    SECTION("it promises nothing that can be read") {
        std::ofstream(data / "MANIFEST.json") << "{}";
        CHECK_THAT(salvaged(data).output,
                   Catch::Contains("salvage: nothing acknowledged is damaged"));
    }
}

TEST_CASE("salvage names every lost order in a file of the new folder", "[app][salvage]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    path const target = temp.path() / "new";
    RestingShop shop(data);
    OrderId const kept = shop.sell({0});
    auto const last = shop.last().value();
    std::vector<OrderId> lost;
    // The house is small: the seat of each goes back before the next.
    for (int number = 0; number < 25; ++number) {
        if (!lost.empty()) shop.cancel(lost.back());
        lost.push_back(shop.sell({1}));
    }
    shop.project();
    shop.close();
    flip_bit(segment(data, 1), group_of(segment(data, 1), last + 1) + 80);
    CHECK_THAT(salvaged(data).output,
               Catch::Contains("\n25 lost orders; with --to a file names all of them\n"));
    auto const report = salvaged(data, target);
    INFO(report.errors << report.output);
    REQUIRE(report.exit_code == 0);
    CHECK_THAT(report.output, Catch::Contains("\nlost: 5 more orders\n"));
    CHECK_THAT(report.output, Catch::Contains("\n25 lost orders, all of them: " +
                                              (target / "lost-orders.txt").string() + "\n"));
    std::string const text = holdfast::test::read_file(target / "lost-orders.txt");
    CHECK(std::ranges::count(text, '\n') == 25);
    for (OrderId const& order : lost) CHECK_THAT(text, Catch::Contains(engine::to_text(order)));
    CHECK_THAT(text, !Catch::Contains(engine::to_text(kept)));
    CHECK_THAT(text, Catch::Contains("\tshow\tcancelled\t"));
    CHECK_THAT(text, Catch::Contains("\tshow\tconfirmed\t"));
    check_starts(target);
}

TEST_CASE("salvage names kept orders whose changes are lost", "[app][salvage]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    path const target = temp.path() / "new";
    RestingShop shop(data);
    OrderId const unchanged = shop.sell({0});
    OrderId const cancelled = shop.sell({1});
    auto const last = shop.last().value();
    shop.cancel(cancelled);
    shop.project();
    shop.close();
    flip_bit(segment(data, 1), group_of(segment(data, 1), last + 1) + 80);
    auto const report = salvaged(data, target);
    INFO(report.errors << report.output);
    REQUIRE(report.exit_code == 0);
    std::string const id = engine::to_text(cancelled);
    CHECK_THAT(report.output, Catch::Contains("\nlost: change of order " + id + ", LSN " +
                                              std::to_string(last + 1) + ", known"));
    CHECK_THAT(report.output, Catch::Contains("\n0 lost orders, 1 kept order with lost changes, "
                                              "all of them: "));
    std::string const text = holdfast::test::read_file(target / "lost-orders.txt");
    CHECK_THAT(text, Catch::StartsWith(id) && Catch::EndsWith("\tchange\n"));
    CHECK_THAT(text, Catch::Contains("\tshow\tcancelled\t"));
    CHECK_THAT(text, !Catch::Contains(engine::to_text(unchanged)));
    check_starts(target);
}

TEST_CASE("salvage says that it does not know what is lost if store.db does not tell",
          "[app][salvage]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    path const target = temp.path() / "new";
    RestingShop shop(data);
    shop.sell({0});
    auto const last = shop.last().value();
    shop.sell({1});
    shop.project();
    shop.close();
    flip_bit(segment(data, 1), group_of(segment(data, 1), last + 1) + 80);
    // Of the schema's row the root page, one byte, is before the statement.
    std::string const bytes = holdfast::test::read_file(data / "store.db");
    auto const row = bytes.find("CREATE TABLE orders (");
    REQUIRE(row < bytes.size());
    auto const root = static_cast<unsigned char>(bytes[row - 1]);
    flip_bit(data / "store.db", (root - 1U) * 4'096U);
    auto const report = salvaged(data, target);
    INFO(report.errors << report.output);
    CHECK(report.exit_code == 0);
    CHECK_THAT(report.output, Catch::Contains("lost orders are not known: those of store.db"));
    CHECK_THAT(report.output, !Catch::Contains("lost: order"));
    check_starts(target);
}

TEST_CASE("salvage refuses what it cannot make whole", "[app][salvage]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    path const target = temp.path() / "target";
    RestingShop shop(data);
    trade(shop);
    int exit_code = 77;
    std::string why;
    SECTION("the first segment is missing") {
        shop.fill_segments(2);
        shop.close();
        std::filesystem::remove(segment(data, 1));
        why = "segment 0000000000000001.hfj is missing";
    }
    SECTION("the events are lost") {
        shop.close();
        remove_store(data);
        why = "the events are only there";
    }
    SECTION("the store is another server's") {
        shop.close();
        RestingShop other(temp.path() / "other");
        other.project();
        other.close();
        remove_store(data);
        std::filesystem::copy_file(temp.path() / "other/store.db", data / "store.db");
        exit_code = 78;
        why = "store.db belongs to another store: restore a backup";
    }
    SECTION("the store is ahead and segments were deleted") {
        shop.outgrow_segments();
        shop.close();
        int last = 20;
        while (!std::filesystem::exists(segment(data, last))) --last;
        flip_bit(segment(data, last - 1), 4'096);
        why = "without the deleted segments it cannot be made anew";
    }
    SECTION("a target that is not empty") {
        shop.close();
        std::filesystem::create_directory(target);
        temp.write("target/file", "x");
        exit_code = 1;
        why = "is not empty";
    }
    SECTION("a target that is the folder itself") {
        shop.close();
        auto const report = salvaged(data, data);
        CHECK(report.exit_code == 1);
        CHECK(salvaged(data, data / "new").exit_code == 1);
        why = "";
        exit_code = 0;
    }
    SECTION("records that contradict each other before the damage (R12), and nothing is left") {
        shop.claim({0});  // A second owner.
        shop.close();
        exit_code = 78;
        why = "two owners";
    }
    auto const report = salvaged(data, target);
    INFO(report.errors << report.output);
    CHECK(report.exit_code == exit_code);
    CHECK_THAT(report.errors, Catch::Contains(why));
    if (exit_code != 0) CHECK_FALSE(std::filesystem::exists(target / "journal"));
}

TEST_CASE("salvage says without a target what it would say with one", "[app][salvage]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    RestingShop shop(data);
    trade(shop);
    shop.outgrow_segments();
    shop.sell({7});
    shop.close();
    auto const base = base_file(data);
    int exit_code = 77;
    std::string why;
    SECTION("the base file is missing") {
        std::filesystem::remove(base);
        why = base.filename().string() + " is missing";
    }
    SECTION("the base file is too short") {
        std::filesystem::resize_file(base, 100);
        why = base.filename().string() + " has another length";
    }
    SECTION("the base file is damaged") {
        flip_bit(base, 4'096);
        why = base.filename().string() + " is damaged";
    }
    SECTION("server.key is missing") {
        std::filesystem::remove(data / "server.key");
        exit_code = 78;
        why = (data / "server.key").string() + ": is missing";
    }
    SECTION("server.key is too short") {
        std::filesystem::resize_file(data / "server.key", 5);
        why = (data / "server.key").string() + ": is damaged: it has 5 bytes and not 52";
    }
    SECTION("store.db is a folder") {
        remove_store(data);
        std::filesystem::create_directory(data / "store.db");
        why = (data / "store.db").string();
    }
    SECTION("store.db lacks an event that was made") {
        shop.open();
        shop.put(journal::RecordType::event,
                 engine::EventFact{EventId{2}, LifeStep::published, {}});
        shop.close();
        why = (data / "store.db").string() + ": has 1 event, but event 2 was made as well";
    }
    SECTION("the last page of store.db is no page") {
        auto const bytes = std::filesystem::file_size(data / "store.db");
        std::fstream file(data / "store.db", std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(bytes - 4'096));
        file << "this is no page of SQLite's";
        file.close();
        why = (data / "store.db").string();
    }
    SECTION("a record that contradicts what came before it (R12)") {
        shop.open();
        shop.claim({7});
        shop.close();
        exit_code = 78;
        why = "two owners";
    }
    auto const dry = salvaged(data);
    auto const wet = salvaged(data, temp.path() / "target");
    INFO(dry.errors << dry.output);
    CHECK(dry.exit_code == wet.exit_code);
    CHECK(dry.errors == wet.errors);
    CHECK(dry.exit_code != 0);
    if (exit_code != 0) CHECK(dry.exit_code == exit_code);
    CHECK_THAT(dry.errors, Catch::Contains(why));
    CHECK_THAT(dry.output, !Catch::Contains("can be kept"));
    CHECK_FALSE(std::filesystem::exists(temp.path() / "target"));
}

TEST_CASE("whatever a salvage has not got enough of is told as that, not as damage",
          "[app][salvage]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    RestingShop shop(data);
    trade(shop);
    shop.close();
    for (auto const want : {std::errc::no_space_on_device, std::errc::too_many_files_open}) {
        for (long nth = 0;; ++nth) {
            journal::PosixDisk real;
            holdfast::test::NthCallDisk disk{real, nth, want};
            auto const report = salvage_folder(data, temp.path() / "target", disk);
            std::filesystem::remove_all(temp.path() / "target");
            if (!disk.has_failed()) break;
            CAPTURE(disk.failed_call(), report.errors);
            bool const is_no_matter = report.exit_code == 0;
            CHECK((is_no_matter || report.exit_code == 76));
            CHECK_THAT(report.errors, !Catch::Contains("restore a backup"));
        }
    }
}

TEST_CASE("salvage needs a data folder that no server has", "[app][salvage]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    journal::PosixDisk disk;
    CHECK(salvage_folder(data, {}, disk).exit_code == 1);
    RestingShop const shop(data);
    CHECK(salvage_folder(data, {}, disk).exit_code == 75);
}

}  // namespace holdfast::app::test
