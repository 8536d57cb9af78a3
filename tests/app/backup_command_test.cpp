// `holdfast backup` of a folder at rest: what no server would start on is not copied.
#include "app/commands.hpp"
#include "app/manifest.hpp"
#include "tests/app/resting_shop.hpp"

#include <catch2/catch.hpp>
#include <fstream>

using namespace holdfast;
using namespace holdfast::app;
using namespace holdfast::app::test;
using holdfast::test::TempFolder;

namespace {

struct BackupAtRest {
    int make() { return back_up({.data = data, .target = target, .url = {}, .token = {}}); }
    void check_refused(int exit_code) {
        CHECK(make() == exit_code);
        CHECK_FALSE(std::filesystem::exists(target));
    }
    TempFolder temp;
    std::filesystem::path data{temp.path() / "data"};
    std::filesystem::path target{temp.path() / "backup"};
};

}  // namespace

TEST_CASE("a folder at rest on which a server would start is backed up", "[app][backup]") {
    BackupAtRest rest;
    {
        RestingShop shop(rest.data);
        trade(shop);
        shop.fill_segments(8);
        shop.project();
        shop.compact();
    }
    auto const journal_before = content_of(rest.data / "journal");
    REQUIRE(rest.make() == 0);
    CHECK(content_of(rest.data / "journal") == journal_before);
    CHECK(check_manifest(rest.target).has_value());
    RestingShop restored(rest.target);
    restored.claim({6});
}

TEST_CASE("a backup can be backed up, as long as it is one", "[app][backup]") {
    BackupAtRest first;
    {
        RestingShop shop(first.data);
        trade(shop);
        shop.project();
    }
    REQUIRE(first.make() == 0);
    BackupAtRest second;
    second.data = first.target;
    REQUIRE(second.make() == 0);
    CHECK(check_manifest(first.target).has_value());
    CHECK(check_manifest(second.target).has_value());
    BackupAtRest third;
    third.data = second.target;
    // Neither journal nor SQLite would say a word of it.
    std::ofstream(third.data / "store.db-wal") << "of something else";
    third.check_refused(77);
}

TEST_CASE("P10: a folder at rest on which no server would start is not backed up",
          "[app][backup]") {
    BackupAtRest rest;
    SECTION("two owners of a seat in the journal") {
        {
            RestingShop shop(rest.data);
            shop.claim({0, 1});
            shop.claim({1, 2});
        }
        rest.check_refused(78);
    }
    SECTION("a damaged base file") {
        {
            RestingShop shop(rest.data);
            trade(shop);
            shop.fill_segments(8);
            shop.project();
            shop.compact();
        }
        for (auto const& entry : std::filesystem::directory_iterator(rest.data / "journal"))
            if (entry.path().extension() == ".hfb") flip_bit(entry.path(), 4'096);
        rest.check_refused(77);
    }
    SECTION("a damaged page of store.db") {
        {
            RestingShop shop(rest.data);
            trade(shop);
            shop.project();
        }
        auto const bytes = std::filesystem::file_size(rest.data / "store.db");
        for (std::uint64_t page = 2 * 4'096; page < bytes; page += 4'096)
            flip_bit(rest.data / "store.db", page);
        rest.check_refused(77);
    }
    SECTION("a backup with another byte than its manifest says") {
        {
            RestingShop shop(rest.data);
            trade(shop);
            shop.project();
        }
        std::filesystem::path const first = rest.temp.path() / "first";
        REQUIRE(back_up({.data = rest.data, .target = first, .url = {}, .token = {}}) == 0);
        // Of a row's text, of which SQLite has no checksum.
        std::string const content = content_of(first).at("store.db");
        auto const at = content.find("JPY");
        REQUIRE(at != std::string::npos);
        flip_bit(first / "store.db", at);
        rest.data = first;
        rest.check_refused(77);
    }
    SECTION("no key") {
        {
            RestingShop const shop(rest.data);
        }
        std::filesystem::remove(rest.data / "server.key");
        rest.check_refused(78);
        CHECK_FALSE(std::filesystem::exists(rest.data / "server.key"));
    }
    SECTION("no store") {
        {
            RestingShop const shop(rest.data);
        }
        remove_store(rest.data);
        rest.check_refused(77);
        CHECK_FALSE(std::filesystem::exists(rest.data / "store.db"));
    }
    SECTION("no data folder") {
        rest.check_refused(1);
        CHECK_FALSE(std::filesystem::exists(rest.data));
    }
}
