// Commands that root runs on the data folder of another user leave nothing that user cannot open.
#include "tests/e2e/program.hpp"
#include "tests/support/server_process.hpp"
#include "tests/support/temp_folder.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>
#include <sys/stat.h>
#include <unistd.h>

using namespace holdfast::test;

namespace {

constexpr uid_t other_user = 65534;

/// The folder itself and everything below, and no link's target.
std::vector<std::filesystem::path> all_of(std::filesystem::path const& folder) {
    std::vector<std::filesystem::path> all{folder};
    for (auto const& entry : std::filesystem::recursive_directory_iterator(folder))
        all.push_back(entry.path());
    return all;
}

void give_away(std::filesystem::path const& folder) {
    for (auto const& path : all_of(folder))
        REQUIRE(::lchown(path.c_str(), other_user, other_user) == 0);
}

void check_owned(std::filesystem::path const& folder) {
    for (auto const& path : all_of(folder)) {
        struct stat status{};
        CAPTURE(path);
        REQUIRE(::lstat(path.c_str(), &status) == 0);
        CHECK(status.st_uid == other_user);
    }
}

bool is_root() {
    if (::geteuid() == 0) return true;
    std::cout << "skipped: only root can be somebody else\n";
    return false;
}

/// What a server left that has ended well, without the LOCK; `temp` belongs to the other user.
std::filesystem::path resting_folder(TempFolder const& temp) {
    auto const data = temp.path() / "data";
    {
        ServerProcess server({.data = data, .flags = {}, .variables = {}});
        CHECK(server.stop() == 0);
    }
    std::filesystem::remove(data / "LOCK");
    give_away(temp.path());
    return data;
}

}  // namespace

TEST_CASE("what root's commands make belongs to the owner of the data folder", "[e2e][owner]") {
    if (!is_root()) return;
    TempFolder const temp;
    auto const data = resting_folder(temp);
    std::vector<std::vector<std::string>> const commands{
        {program, "rebuild", "--data", data.string()},
        {program, "backup", "--data", data.string(), "--to", temp.path() / "backup"},
        {program, "rebuild", "--data", data.string(), "--from", temp.path() / "backup"},
        {program, "salvage", "--data", data.string(), "--to", temp.path() / "kept"},
        {program, "verify", "--data", data.string()},
        {program, "audit", "--data", data.string()}};
    for (auto const& words : commands) {
        auto const ended = run(words);
        CAPTURE(words, ended.errors, ended.output);
        CHECK(ended.exit_code == 0);
        check_owned(temp.path());
    }
    CHECK(std::filesystem::exists(temp.path() / "kept" / "store.db"));
}

TEST_CASE("a link in the folder leads root's commands nowhere", "[e2e][owner]") {
    if (!is_root()) return;
    TempFolder const temp;
    auto const data = resting_folder(temp);
    auto const secret = temp.write("secret", "root's");
    std::filesystem::create_symlink(secret, data / "LOCK");
    for (auto const& words : std::vector<std::vector<std::string>>{
             {program, "rebuild", "--data", data.string()},
             {program, "backup", "--data", data.string(), "--to", temp.path() / "backup"}}) {
        auto const ended = run(words);
        CHECK(ended.exit_code == 76);
        CHECK_THAT(ended.errors, Catch::Contains("Permission denied"));
    }
    CHECK(read_file(secret) == "root's");
}

TEST_CASE("a target in a folder of another user is refused by the name of that folder",
          "[e2e][owner]") {
    if (!is_root()) return;
    TempFolder const temp;
    auto const data = resting_folder(temp);
    auto const above = temp.path() / "of-root";
    std::filesystem::create_directory(above);
    auto const ended = run({program, "salvage", "--data", data.string(), "--to", above / "kept"});
    CAPTURE(ended.errors);
    CHECK(ended.exit_code == 76);
    CHECK_THAT(ended.errors, Catch::Contains((above / "kept").string() + ": cannot be made") &&
                                 Catch::Contains("may not write to " + above.string() + ": ") &&
                                 !Catch::Contains("own the data folder"));
}

TEST_CASE("a store.db of another user is refused with what to do", "[e2e][owner]") {
    if (!is_root()) return;
    TempFolder const temp;
    auto const data = resting_folder(temp);
    REQUIRE(::chown((data / "store.db").c_str(), 0, 0) == 0);
    for (auto const& words : std::vector<std::vector<std::string>>{
             {program, "backup", "--data", data.string(), "--to", temp.path() / "backup"},
             {program, "rebuild", "--data", data.string()},
             {program, "salvage", "--data", data.string()}}) {
        auto const ended = run(words);
        CAPTURE(words, ended.errors);
        CHECK(ended.exit_code == 76);
        CHECK_THAT(ended.errors, Catch::Contains("store.db") && Catch::Contains("chown"));
        CHECK_THAT(ended.errors, !Catch::Contains("backup with"));
    }
}

TEST_CASE("a server of root on the folder of another user warns", "[e2e][owner]") {
    if (!is_root()) return;
    TempFolder const temp;
    auto const data = resting_folder(temp);
    ServerProcess server({.data = data, .flags = {}, .variables = {}});
    CHECK(server.stop() == 0);
    CHECK_THAT(server.child().rest_of_errors(),
               Catch::Contains("root runs on a data folder of another user"));
}

TEST_CASE("a backup without the operator's token names the variable for it", "[e2e][owner]") {
    TempFolder const temp;
    ServerProcess const server({.data = temp.path() / "data", .flags = {}, .variables = {}});
    auto const ended =
        run({program, "backup", "--data", temp.path() / "data", "--to", temp.path() / "backup"});
    INFO(ended.errors);
    CHECK(ended.exit_code == 1);
    CHECK_THAT(ended.errors, Catch::Contains("--token or in HOLDFAST_ADMIN_TOKEN"));
}

TEST_CASE("a first start says that there was nothing to recover", "[e2e][owner]") {
    TempFolder const temp;
    ServerProcess server({.data = temp.path() / "data", .flags = {}, .variables = {}});
    CHECK(server.stop() == 0);
    auto const log = server.child().rest_of_errors();
    CHECK_THAT(log, Catch::Contains("nothing to recover, the journal is new"));
    CHECK_THAT(log, !Catch::Contains("\"clean\""));
}
