// A start: where a new server begins, and where one has been of which something is missing.
#include "app/restored_state.hpp"

#include "app/verify.hpp"
#include "tests/app/resting_shop.hpp"

#include <catch2/catch.hpp>

namespace holdfast::app::test {
namespace {

using holdfast::test::TempFolder;
using std::filesystem::path;

/// What a start says; empty: it would start.
std::optional<journal::Failure> refusal_of_start(path const& data) {
    auto const folder = DataFolder::open(data);
    if (!folder) return folder.error();
    journal::PosixDisk disk;
    auto const state = restore_state(*folder, disk);
    return state ? std::optional<journal::Failure>{} : state.error();
}

/// Copies what is named; a name that ends in a slash is a folder.
void copy_part(path const& from, path const& to, std::vector<std::string> const& names) {
    std::filesystem::create_directories(to);
    for (std::string const& name : names) {
        std::filesystem::create_directories((to / name).parent_path());
        if (name.ends_with('/'))
            std::filesystem::create_directories(to / name);
        else
            std::filesystem::copy_file(from / name, to / name);
    }
}

}  // namespace

TEST_CASE("P10: a part of a data folder does not begin as a new server", "[app][start]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    path const part = temp.path() / "part";
    RestingShop shop(data);
    trade(shop);
    shop.outgrow_segments();
    shop.close();
    std::string const base = "journal/" + base_file(data).filename().string();
    int last = 20;
    while (!std::filesystem::exists(segment(data, last))) --last;
    std::string const newest = "journal/" + segment(data, last).filename().string();
    auto const names = GENERATE_REF(
        values<std::vector<std::string>>({{"server.key"},
                                          {"server.key", "journal/"},
                                          {"LOCK", "server.key", "journal/"},
                                          {"META.a"},
                                          {"META.b", "journal/"},
                                          {base},
                                          {newest},
                                          {"server.key", base},
                                          {"META.a", "META.b", "server.key"},
                                          {"META.a", "META.b", "server.key", "journal/"},
                                          {"META.a", "META.b", "server.key", newest},
                                          {"store.db"},
                                          {"store.db", "server.key", "journal/"},
                                          {"META.a", "META.b", "store.db"}}));
    copy_part(data, part, names);
    INFO(names.front() << " and " << names.size() - 1 << " more");
    auto const before = content_of(part);
    auto const refused = refusal_of_start(part);
    REQUIRE(refused.has_value());
    INFO(refused->message);
    CHECK(((refused->exit_code == 77) || (refused->exit_code == 78)));
    auto after = content_of(part);
    for (char const* const beside : {"LOCK", "store.db", "store.db-wal", "store.db-shm"})
        after.erase(beside);
    for (auto const& [name, content] : after) CHECK(before.at(name) == content);
    journal::PosixDisk disk;
    CHECK(verify_folder(part, disk).exit_code != 0);
}

TEST_CASE("P10: events without their journal or key are not begun with", "[app][start]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    RestingShop(data).close();  // one event, and nothing sold
    SECTION("no key") {
        std::filesystem::remove(data / "server.key");
        auto const refused = refusal_of_start(data);
        REQUIRE(refused.has_value());
        CHECK(refused->exit_code == 78);
        CHECK_FALSE(std::filesystem::exists(data / "server.key"));
    }
    SECTION("no journal") {
        for (char const* const name : {"META.a", "META.b", "journal"})
            std::filesystem::remove_all(data / name);
        auto const refused = refusal_of_start(data);
        REQUIRE(refused.has_value());
        CHECK(refused->exit_code == 77);
        CHECK_THAT(refused->message, Catch::Contains("journal and META are missing"));
    }
}

TEST_CASE("a first start that was killed anywhere is begun again", "[app][start]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    path const part = temp.path() / "part";
    CHECK_FALSE(refusal_of_start(data).has_value());  // as far as the journal is opened
    std::string const key = holdfast::test::read_file(data / "server.key");
    SECTION("behind the key") {
        CHECK_FALSE(refusal_of_start(data).has_value());
        CHECK(holdfast::test::read_file(data / "server.key") == key);
    }
    SECTION("with the folder of the journal") {
        std::filesystem::create_directory(data / "journal");
        CHECK_FALSE(refusal_of_start(data).has_value());
        CHECK(holdfast::test::read_file(data / "server.key") == key);
    }
    SECTION("before the key") {
        std::filesystem::remove(data / "server.key");
        CHECK_FALSE(refusal_of_start(data).has_value());
    }
    SECTION("while the key was written") {
        std::filesystem::remove(data / "server.key");
        temp.write("data/server.key.tmp", "half");
        CHECK_FALSE(refusal_of_start(data).has_value());
    }
    SECTION("before the store, whose file may be there, and empty") {
        copy_part(data, part, {"LOCK"});
        if (GENERATE(false, true)) temp.write("part/store.db", "");
        CHECK_FALSE(refusal_of_start(part).has_value());
    }
    SECTION("with a token that its operator put there") {
        copy_part(data, part, {});
        temp.write("part/admin.token", "0123456789abcdef\n");
        CHECK_FALSE(refusal_of_start(part).has_value());
    }
    RestingShop shop(std::filesystem::exists(part) ? part : data);
    trade(shop);
}

TEST_CASE("R7: an event of another history of the server stops the start", "[app][start]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    RestingShop shop(data);
    shop.make_event("other");
    EventId const other{2};
    TimePoint const made = shop.spec(other).created_at;
    TimePoint const said = GENERATE(false, true) ? made : made + Milliseconds{1};
    CAPTURE(said == made);
    LifeStep const made_it = shop.spec(other).publish ? LifeStep::published : LifeStep::drafted;
    LifeStep const step = GENERATE(LifeStep::published, LifeStep::drafted);
    shop.put(journal::RecordType::event, engine::EventFact{other, step, said});
    // Its later steps have times of their own.
    shop.put(journal::RecordType::event, engine::EventFact{other, LifeStep::paused, at(7)});
    shop.close();
    auto const refused = refusal_of_start(data);
    // A draft whose making was not journaled has its publication as the first record.
    CHECK(refused.has_value() == (said != made && step == made_it));
    if (!refused) return;
    CHECK(refused->exit_code == 78);
    CHECK_THAT(refused->message,
               Catch::Contains("event 2 (other) is not the one that the journal"));
}

}  // namespace holdfast::app::test
