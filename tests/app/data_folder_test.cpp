#include "app/data_folder.hpp"

#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <cerrno>
#include <iostream>
#include <sys/stat.h>
#include <unistd.h>

using namespace holdfast;
using namespace holdfast::app;
using holdfast::test::TempFolder;
using std::filesystem::perms;

namespace {

perms mode_of(std::filesystem::path const& path) {
    return std::filesystem::status(path).permissions() & perms::all;
}

int exit_code_of(std::filesystem::path const& path) {
    auto const folder = DataFolder::open(path);
    return folder ? 0 : folder.error().exit_code;
}

}  // namespace

TEST_CASE("a data folder is made private, with the folders above it", "[app][data]") {
    TempFolder const temp;
    auto const path = temp.path() / "a" / "b";
    auto const folder = DataFolder::open(path);
    REQUIRE(folder.has_value());
    CHECK(mode_of(path) == perms::owner_all);
    CHECK(std::filesystem::exists(path / "LOCK"));
}

TEST_CASE("one server a folder: the second is refused with 75 until the first is gone",
          "[app][data]") {
    TempFolder const temp;
    {
        auto const first = DataFolder::open(temp.path());
        REQUIRE(first.has_value());
        auto const second = DataFolder::open(temp.path());
        REQUIRE_FALSE(second.has_value());
        CHECK(second.error().exit_code == 75);
        CHECK_THAT(second.error().message,
                   Catch::Contains("in use by process " + std::to_string(getpid())));
    }
    CHECK(exit_code_of(temp.path()) == 0);
}

TEST_CASE("what is no folder, or cannot be one, is refused with its name", "[app][data]") {
    TempFolder const temp;
    auto const file = temp.write("file", "x");
    CHECK(exit_code_of(file) == 1);
    CHECK(exit_code_of(file / "below") == 1);
    CHECK_THAT(DataFolder::open(file).error().message, Catch::Contains(file.string()));
    std::filesystem::create_directory(temp.path() / "LOCK");
    CHECK(exit_code_of(temp.path()) == 1);
}

TEST_CASE("a server's admin listener stands in LOCK while it has the folder", "[app][data]") {
    TempFolder const temp;
    {
        auto const folder = DataFolder::open(temp.path());
        REQUIRE(folder.has_value());
        CHECK(DataFolder::announced(temp.path()).empty());
        CHECK_FALSE(folder->announce("http://127.0.0.1:8081"));
        CHECK(DataFolder::announced(temp.path()) == "http://127.0.0.1:8081");
        auto const second = DataFolder::open(temp.path());
        REQUIRE_FALSE(second.has_value());
        CHECK_THAT(second.error().message,
                   Catch::Contains("in use by process " + std::to_string(getpid())));
    }
    // Whoever has it next is another one.
    auto const next = DataFolder::open(temp.path());
    REQUIRE(next.has_value());
    CHECK(DataFolder::announced(temp.path()).empty());
}

TEST_CASE("the token of a folder is read without making one", "[app][data]") {
    TempFolder const temp;
    CHECK_FALSE(DataFolder::load_token(temp.path()).has_value());
    CHECK_FALSE(std::filesystem::exists(temp.path() / "admin.token"));
    temp.write("admin.token", "0123456789abcdef\n");
    auto const token = DataFolder::load_token(temp.path());
    REQUIRE(token.has_value());
    CHECK(*token == "0123456789abcdef");
}

TEST_CASE("a folder that cannot be written is refused with 76 and what to do", "[app][data]") {
    // sysfs lets nobody make anything in it, root neither.
    for (std::filesystem::path const folder : {"/sys/kernel", "/sys/kernel/data", "/sys/a/b"}) {
        if (!std::filesystem::is_directory("/sys/kernel")) {
            std::cout << "skipped: there is no sysfs here\n";
            break;
        }
        CAPTURE(folder);
        auto const refused = DataFolder::open(folder);
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().exit_code == 76);
        CHECK_THAT(refused.error().message, Catch::Contains("data folder"));
    }
    TempFolder const temp;
    if (::geteuid() == 0) {
        std::cout << "skipped in part: root may write everywhere\n";
        return;
    }
    std::filesystem::permissions(temp.path(), perms::owner_read | perms::owner_exec);
    CHECK(exit_code_of(temp.path()) == 76);
    CHECK(exit_code_of(temp.path() / "below") == 76);
    std::filesystem::permissions(temp.path(), perms::owner_all);
}

TEST_CASE("what errno says decides between 76 and 1", "[app][data]") {
    for (int const error : {EACCES, EPERM, EROFS, ENOSPC, EDQUOT, EIO}) {
        auto const failure = folder_failure("data", "cannot be made", error);
        CHECK(failure.exit_code == 76);
        CHECK_THAT(failure.message, Catch::StartsWith("data: cannot be made: "));
        CHECK_THAT(failure.message, Catch::Contains("; "));
    }
    for (int const error : {ENOTDIR, ELOOP, ENAMETOOLONG, EMFILE})
        CHECK(folder_failure("data", "cannot be made", error).exit_code == 1);
}

TEST_CASE("the operator's token is made once, private, and read again", "[app][data]") {
    TempFolder const temp;
    auto const folder = DataFolder::open(temp.path());
    REQUIRE(folder.has_value());
    auto const made = folder->load_or_make_token();
    REQUIRE(made.has_value());
    CHECK(made->size() == 64);
    CHECK(mode_of(folder->token_file()) == (perms::owner_read | perms::owner_write));
    auto const again = folder->load_or_make_token();
    REQUIRE(again.has_value());
    CHECK(*again == *made);
}

TEST_CASE("a bad token file is refused, not replaced", "[app][data]") {
    TempFolder const temp;
    auto const folder = DataFolder::open(temp.path());
    REQUIRE(folder.has_value());
    auto const text =
        GENERATE(std::string(), std::string("short\n"), std::string("with a space in it\n"),
                 std::string(257, 'x'), std::string("0123456789abcdef\n\n"));
    CAPTURE(text);
    auto const file = temp.write("admin.token", text);
    auto const refused = folder->load_or_make_token();
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().exit_code == 1);
    CHECK(holdfast::test::read_file(file) == text);
    temp.write("admin.token", "0123456789abcdef\n");
    CHECK(folder->load_or_make_token().has_value());
    std::filesystem::permissions(file, perms::owner_read | perms::others_read);
    CHECK_FALSE(folder->load_or_make_token().has_value());
}
