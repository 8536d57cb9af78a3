#include "app/data_folder.hpp"

#include "app/commands.hpp"
#include "app/locked_disk.hpp"
#include "app/read_lock.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <cerrno>
#include <iostream>
#include <netinet/in.h>
#include <stdexcept>
#include <sys/socket.h>
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

/// A listener that answers nothing and tells whether anybody came.
class Listener {
public:
    Listener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        if (::bind(socket_, any, size) != 0 || ::listen(socket_, 4) != 0 ||
            ::getsockname(socket_, any, &size) != 0)
            throw std::runtime_error("no listener");
        port_ = ntohs(address.sin_port);
    }
    ~Listener() { ::close(socket_); }
    Listener(Listener const&) = delete;
    Listener& operator=(Listener const&) = delete;
    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
    [[nodiscard]] bool was_asked() const {
        int const connection = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
        if (connection >= 0) ::close(connection);
        return connection >= 0;
    }

private:
    int socket_;
    unsigned port_{};
};

int exit_code_of(std::filesystem::path const& path) {
    auto const folder = DataFolder::open(path);
    return folder ? 0 : folder.error().exit_code;
}

}  // namespace

TEST_CASE("a data folder is made private, with the folders above it", "[app][data]") {
    TempFolder const temp;
    auto const path = temp.path() / "a" / "b";
    auto const folder = DataFolder::open(temp.path() / GENERATE("a/b", "a/b/", "./a//b"));
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

TEST_CASE("a folder is free for the next server once it is released", "[app][data]") {
    TempFolder const temp;
    auto first = DataFolder::open(temp.path());
    REQUIRE(first.has_value());
    first->release();
    CHECK(DataFolder::open(temp.path()).has_value());
    first->release();
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
    // It stands there still, as that of a killed server would.
    CHECK_THAT(holdfast::test::read_file(temp.path() / "LOCK"), Catch::Contains("127.0.0.1:8081"));
    CHECK(DataFolder::announced(temp.path()).empty());
    // Whoever has it next is another one.
    auto const next = DataFolder::open(temp.path());
    REQUIRE(next.has_value());
    CHECK(DataFolder::announced(temp.path()).empty());
}

TEST_CASE("a server that stops takes its address back before it is gone", "[app][data]") {
    TempFolder const temp;
    auto const folder = DataFolder::open(temp.path());
    REQUIRE(folder.has_value());
    CHECK_FALSE(folder->announce("http://127.0.0.1:8081"));
    folder->withdraw();
    CHECK(DataFolder::announced(temp.path()).empty());
    CHECK(holdfast::test::read_file(temp.path() / "LOCK") == std::to_string(getpid()) + "\n");
}

TEST_CASE("while a command reads a folder, nobody is asked at the address of the last server",
          "[app][data]") {
    TempFolder const temp;
    auto const data = temp.path() / "data";
    Listener const stranger;  // where the killed server was
    {
        auto const folder = DataFolder::open(data);
        REQUIRE(folder.has_value());
        CHECK_FALSE(folder->announce(stranger.url()));
        REQUIRE(folder->load_or_make_token().has_value());
    }
    std::filesystem::create_directory(data / "journal");
    auto const reader = ReadLock::take(data);
    REQUIRE(reader.has_value());
    CHECK(DataFolder::announced(data).empty());
    auto const refused = DataFolder::open(data);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().exit_code == 75);
    CHECK_THAT(refused.error().message, Catch::Contains("in use by a command that reads it"));
    CHECK(back_up({.data = data, .target = temp.path() / "backup", .url = {}, .token = {}}) == 75);
    CHECK_FALSE(stranger.was_asked());
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
        // What is to be made below it wants the folder above, not one of its own.
        auto const* const wanting =
            folder == "/sys/kernel" ? "must own the data folder" : "may not write to /sys";
        CHECK_THAT(refused.error().message, Catch::Contains(wanting));
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
    for (int const error : {EACCES, EPERM, EROFS, ENOSPC, EDQUOT, EIO, EMFILE}) {
        auto const failure = folder_failure("data", "cannot be made", error);
        CHECK(failure.exit_code == 76);
        CHECK_THAT(failure.message, Catch::StartsWith("data: cannot be made: "));
        CHECK_THAT(failure.message, Catch::Contains("; "));
    }
    for (int const error : {ENOTDIR, ELOOP, ENAMETOOLONG})
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

TEST_CASE("a pipe in the place of the token or of LOCK stops nobody for ever", "[app][data]") {
    TempFolder const temp;
    auto const folder = DataFolder::open(temp.path());
    REQUIRE(folder.has_value());
    REQUIRE(::mkfifo(folder->token_file().c_str(), 0600) == 0);
    CHECK_FALSE(folder->load_or_make_token().has_value());
    CHECK_FALSE(DataFolder::load_token(temp.path()).has_value());
    TempFolder const backup;
    backup.write("store.db", "");
    REQUIRE(::mkfifo((backup.path() / "LOCK").c_str(), 0600) == 0);
    CHECK(ReadLock::take(backup.path()).has_value());  // it can be locked like a file
    CHECK(DataFolder::announced(backup.path()).empty());
}

TEST_CASE("nothing is changed in a folder that another one has taken the place of", "[app][data]") {
    TempFolder const temp;
    auto const place = temp.path() / "data";
    auto const folder = DataFolder::open(place);
    REQUIRE(folder.has_value());
    LockedDisk disk(*folder);
    std::unique_ptr<journal::File> file;
    REQUIRE_FALSE(disk.open(place / "first", journal::OpenMode::create, file));
    std::filesystem::rename(place, temp.path() / "away");
    auto const is_barred = [&] {
        auto const stale = std::error_code{ESTALE, std::generic_category()};
        CHECK(disk.open(place / "second", journal::OpenMode::create, file) == stale);
        CHECK(disk.open(place / "first", journal::OpenMode::read, file) == stale);
        CHECK(disk.rename(place / "first", place / "third") == stale);
        CHECK(disk.link(place / "first", place / "third") == stale);
        CHECK(disk.remove(place / "first") == stale);
    };
    is_barred();
    {
        auto const other = DataFolder::open(place);
        REQUIRE(other.has_value());
        temp.write("data/first", "of the other one");
        is_barred();
        CHECK(holdfast::test::read_file(place / "first") == "of the other one");
    }
    std::filesystem::remove_all(place);
    std::filesystem::rename(temp.path() / "away", place);
    CHECK_FALSE(disk.remove(place / "first"));
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
