// server.key in a data folder: whoever reads the folder finds that it is damaged.
#include "app/key_file.hpp"

#include "app/audit.hpp"
#include "app/commands.hpp"
#include "app/rebuild.hpp"
#include "app/salvage.hpp"
#include "app/verify.hpp"
#include "tests/app/resting_shop.hpp"

#include <catch2/catch.hpp>

namespace holdfast::app::test {
namespace {

using holdfast::test::TempFolder;
using std::filesystem::path;

/// The exit code of a start.
int start_on(path const& data) {
    auto const folder = DataFolder::open(data);
    if (!folder) return folder.error().exit_code;
    journal::PosixDisk disk;
    auto const state = restore_state(*folder, disk);
    return state ? 0 : state.error().exit_code;
}

/// All commands on a folder at rest, and a start; none of them may make anything.
void check_all_refuse(path const& data, int exit_code, std::string const& why) {
    journal::PosixDisk disk;
    path const target = data.parent_path() / "new";
    auto const before = content_of(data);
    for (Report const& report :
         {verify_folder(data, disk), audit_folder(data, disk), salvage_folder(data, {}, disk),
          salvage_folder(data, target, disk), rebuild_store({data, {}, false}, disk)}) {
        INFO(report.errors << report.output);
        CHECK(report.exit_code == exit_code);
        CHECK_THAT(report.errors, Catch::Contains((data / "server.key").string() + ": " + why));
        CHECK_THAT(report.errors, Catch::Contains("put the server.key of any backup"));
    }
    CHECK(back_up({.data = data, .target = target, .url = {}, .token = {}}) == exit_code);
    CHECK(start_on(data) == exit_code);
    CHECK_FALSE(std::filesystem::exists(target / "journal"));
    auto const after = content_of(data);
    REQUIRE(after.contains("server.key") == before.contains("server.key"));
    if (before.contains("server.key")) CHECK(after.at("server.key") == before.at("server.key"));
}

}  // namespace

TEST_CASE("P10: a start, verify, audit, backup, rebuild and salvage find a damaged server.key",
          "[app][server_key]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    RestingShop shop(data);
    trade(shop);
    shop.close();
    std::string const whole = holdfast::test::read_file(data / "server.key");
    SECTION("one bit of the store's id") {
        flip_bit(data / "server.key", 3);
        check_all_refuse(data, 77, "is damaged: its CRC is another");
    }
    SECTION("one bit of the secret") {
        flip_bit(data / "server.key", 40);
        check_all_refuse(data, 77, "is damaged: its CRC is another");
    }
    SECTION("a wrong length") {
        temp.write("data/server.key", whole.substr(0, 32));
        check_all_refuse(data, 77, "is damaged: it has 32 bytes and not 52");
    }
    SECTION("nothing in it") {
        temp.write("data/server.key", "");
        check_all_refuse(data, 77, "is damaged: it has 0 bytes and not 52");
    }
    SECTION("of another server") {
        RestingShop(temp.path() / "other").close();
        temp.write("data/server.key",
                   holdfast::test::read_file(temp.path() / "other" / "server.key"));
        check_all_refuse(data, 78, "is of another server");
    }
    SECTION("missing") {
        std::filesystem::remove(data / "server.key");
        check_all_refuse(data, 78, "is missing");
    }
    temp.write("data/server.key", whole);
    std::filesystem::permissions(data / "server.key", std::filesystem::perms(0600));
    CHECK(start_on(data) == 0);
}

TEST_CASE("P10: one bit flipped at any byte of a folder's server.key stops the start",
          "[app][server_key]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    RestingShop shop(data);
    trade(shop);
    shop.close();
    auto const bytes = std::filesystem::file_size(data / "server.key");
    for (std::uint64_t at = 0; at < bytes; ++at) {
        CAPTURE(at);
        flip_bit(data / "server.key", at);
        CHECK(start_on(data) == 77);
        flip_bit(data / "server.key", at);
    }
    CHECK(start_on(data) == 0);
}

TEST_CASE("a key is made only where none is", "[app][server_key]") {
    TempFolder const temp;
    path const file = temp.path() / "server.key";
    journal::StoreId const store_id{1, 2, 3};
    auto const none = check_key(file, store_id);
    REQUIRE(none.has_value());
    CHECK(none->exit_code == 78);
    REQUIRE(load_or_make_key(file, store_id).has_value());
    CHECK_FALSE(check_key(file, store_id).has_value());
    temp.write("server.key", "");
    auto const damaged = load_or_make_key(file, store_id);
    REQUIRE_FALSE(damaged.has_value());
    CHECK(damaged.error().exit_code == 77);
    CHECK(std::filesystem::file_size(file) == 0);
    std::filesystem::remove(file);
    std::filesystem::create_symlink("nowhere", file);
    CHECK_FALSE(load_or_make_key(file, store_id).has_value());
    CHECK_FALSE(std::filesystem::exists(temp.path() / "nowhere"));
}

}  // namespace holdfast::app::test
