#include "app/backup.hpp"

#include "tests/app/backed_up.hpp"

#include <catch2/catch.hpp>
#include <iostream>
#include <set>
#include <stdlib.h>
#include <sys/stat.h>

using namespace holdfast;
using namespace holdfast::app;
using app::test::BackedUp;
using holdfast::test::TempFolder;
using std::filesystem::path;

namespace {

unsigned permission_bits(path const& file) {
    struct stat status{};
    return ::stat(file.c_str(), &status) == 0 ? status.st_mode & 0777 : 0;
}

}  // namespace

TEST_CASE("a backup has what a start needs, and only that, and is private", "[app][backup]") {
    BackedUp server;
    server.disk.links = GENERATE(true, false);
    server.folder.write("data/admin.token", "0123456789abcdef");
    auto const made = make_backup(server.plan());
    REQUIRE(made.has_value());
    CHECK(made->applied == Lsn{30});
    CHECK(made->durable == Lsn{40});
    auto const checked = check_manifest(server.target);
    REQUIRE(checked.has_value());
    CHECK(*checked == *made);
    CHECK(permission_bits(server.target) == 0700);
    CHECK(permission_bits(server.target / "journal") == 0700);
    for (ManifestFile const& file : made->files)
        CHECK(permission_bits(server.target / file.name) == 0600);
    std::set<std::string> names;
    for (auto const& entry : std::filesystem::directory_iterator(server.target))
        names.insert(entry.path().filename());
    CHECK(names == std::set<std::string>{"META.a", "META.b", "MANIFEST.json", "journal",
                                         "server.key", "store.db"});
    CHECK(holdfast::test::read_file(server.target / "server.key") ==
          holdfast::test::read_file(server.data / "server.key"));
    auto const identity = store::Store::peek(server.target / "store.db");
    REQUIRE(identity.has_value());
    REQUIRE(identity->has_value());
    journal::test::CollectingSink sink;
    journal::StoreState const state{(*identity)->store_id, (*identity)->applied_lsn,
                                    (*identity)->applied_chain};
    auto const recovered = journal::recover(server.target, server.disk, state, sink);
    REQUIRE(recovered.has_value());
    CHECK(sink.records.size() == 40);
}

TEST_CASE("a backup that is stopped or fails anywhere leaves nothing behind", "[app][backup]") {
    BackedUp server;
    bool const was_there = GENERATE(false, true);
    bool const by_error = GENERATE(false, true);
    CAPTURE(was_there, by_error);
    long tries = 0;
    for (bool done = false; !done; ++tries) {
        REQUIRE(tries < 1'000);
        if (was_there) std::filesystem::create_directory(server.target);
        auto plan = server.plan();
        long looks = tries;
        if (by_error) server.disk.calls_until_error = tries + 1;
        if (!by_error)
            plan.why_stop = [&looks] { return std::string(looks-- == 0 ? "enough" : ""); };
        auto const made = make_backup(plan);
        server.disk.calls_until_error = -1;
        done = made.has_value();
        if (done) break;
        CHECK(made.error().exit_code != 0);
        CHECK(std::filesystem::exists(server.target) == was_there);
        if (was_there) CHECK(std::filesystem::is_empty(server.target));
        std::filesystem::remove(server.target);
    }
    CHECK(tries > 10);
    CHECK(check_manifest(server.target).has_value());
}

TEST_CASE("a backup leaves free space in its target", "[app][backup]") {
    BackedUp server;
    auto const plan = server.plan();
    server.disk.free = [] { return std::uint64_t{1} << 20; };
    auto const refused = refuse_for_space(plan);
    REQUIRE(refused.has_value());
    CHECK_THAT(refused->message, Catch::Contains("has 1048576 bytes free, and"));
    server.disk.free = [] { return std::uint64_t{1} << 30; };
    CHECK_FALSE(refuse_for_space(plan).has_value());
    // Somebody else takes the space meanwhile.
    long looks = 4;
    server.disk.free = [&looks] { return --looks > 0 ? std::uint64_t{1} << 30 : 1'000; };
    auto const made = make_backup(plan);
    REQUIRE_FALSE(made.has_value());
    CHECK_THAT(made.error().message, Catch::Contains("1000 bytes are free") &&
                                         Catch::Contains("1048576 are to stay free"));
    CHECK_FALSE(std::filesystem::exists(server.target));
}

TEST_CASE("a target on another disk keeps nothing free for the journal", "[app][backup]") {
    BackedUp server;
    auto plan = server.plan();
    plan.bytes_left = std::uint64_t{1} << 40;
    server.disk.free = [] { return std::uint64_t{1} << 30; };
    CHECK(refuse_for_space(plan).has_value());
    struct stat here{};
    struct stat there{};
    std::string other = "/dev/shm/holdfast-test-XXXXXX";
    bool const made = ::stat(server.data.c_str(), &here) == 0 && ::mkdtemp(other.data()) != nullptr;
    if (!made || ::stat(other.c_str(), &there) != 0 || here.st_dev == there.st_dev) {
        std::cout << "skipped: there is no other disk at /dev/shm\n";
    } else {
        plan.target = path(other) / "backup";
        CHECK_FALSE(refuse_for_space(plan).has_value());
        CHECK(make_backup(plan).has_value());
    }
    if (made) std::filesystem::remove_all(other);
}

TEST_CASE("a backup says what it lacks", "[app][backup]") {
    BackedUp server;
    SECTION("a key") {
        std::filesystem::remove(server.data / "server.key");
        auto const made = make_backup(server.plan());
        REQUIRE_FALSE(made.has_value());
        CHECK(made.error().exit_code == 78);
        CHECK_THAT(made.error().message, Catch::Contains("server.key: is missing"));
    }
    SECTION("a key that is whole") {
        std::string bytes = holdfast::test::read_file(server.data / "server.key");
        bytes[20] ^= 1;
        server.folder.write("data/server.key", bytes);
        auto const made = make_backup(server.plan());
        REQUIRE_FALSE(made.has_value());
        CHECK(made.error().exit_code == 77);
        CHECK_THAT(made.error().message,
                   Catch::Contains((server.data / "server.key").string() + ": is damaged"));
    }
    SECTION("a target that is still empty") {
        std::filesystem::create_directory(server.target);
        server.folder.write("backup/file", "x");
        auto const made = make_backup(server.plan());
        REQUIRE_FALSE(made.has_value());
        CHECK_THAT(made.error().message, Catch::Contains("is not empty"));
        CHECK(holdfast::test::read_file(server.target / "file") == "x");
    }
    CHECK_FALSE(std::filesystem::exists(server.target / "MANIFEST.json"));
}
