#include "tests/journal/fixture.hpp"

#include <catch2/catch.hpp>
#include <sys/stat.h>

namespace {

using namespace holdfast::journal;
using namespace holdfast::journal::test;

}  // namespace

TEST_CASE("a file is created once, written at offsets and read past the cache", "[journal][disk]") {
    TempFolder const folder;
    PosixDisk disk;
    auto const path = folder.path() / "file";
    std::unique_ptr<File> file;
    CHECK(disk.open(path, OpenMode::write, file) == std::errc::no_such_file_or_directory);
    CHECK(disk.open(path, OpenMode::read_device, file) == std::errc::no_such_file_or_directory);
    REQUIRE_FALSE(disk.open(path, OpenMode::create, file));
    std::unique_ptr<File> second;
    CHECK(disk.open(path, OpenMode::create, second) == std::errc::file_exists);
    // An odd size over more than one chunk, so that direct reads meet an unaligned end.
    Bytes bytes((2U << 20) + 1'234);
    std::mt19937_64 random{5};
    for (auto& byte : bytes) byte = static_cast<std::byte>(random() & 0xFFU);
    REQUIRE_FALSE(file->write_at(0, std::span{bytes}.first(1'000)));
    REQUIRE_FALSE(file->write_at(1'000, std::span{bytes}.subspan(1'000)));
    REQUIRE_FALSE(file->sync_data());
    CHECK(file->size() == bytes.size());
    for (OpenMode const mode : {OpenMode::write, OpenMode::read_device}) {
        std::unique_ptr<File> reader;
        REQUIRE_FALSE(disk.open(path, mode, reader));
        for (std::size_t const offset :
             {std::size_t{0}, std::size_t{511}, std::size_t{4'096}, std::size_t{1'048'570},
              bytes.size() - 7, bytes.size(), bytes.size() + 5'000, std::size_t{3}}) {
            for (std::size_t const count : {std::size_t{1}, std::size_t{100'000}}) {
                Bytes found(count);
                std::size_t got{};
                REQUIRE_FALSE(reader->read_at(offset, found, got));
                std::size_t const left = offset < bytes.size() ? bytes.size() - offset : 0;
                CAPTURE(offset, count);
                REQUIRE(got == std::min(count, left));
                REQUIRE(
                    std::equal(found.begin(), found.begin() + static_cast<long>(got),
                               bytes.begin() + static_cast<long>(std::min(offset, bytes.size()))));
            }
        }
    }
}

TEST_CASE("a pipe in the place of a file keeps nobody waiting", "[journal][disk]") {
    TempFolder const folder;
    PosixDisk disk;
    auto const path = folder.path() / "file";
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    for (OpenMode const mode : {OpenMode::read, OpenMode::write, OpenMode::read_device}) {
        std::unique_ptr<File> file;
        if (disk.open(path, mode, file)) continue;
        Bytes bytes(8);
        std::size_t got{};
        CHECK(file->read_at(0, bytes, got));
    }
}

TEST_CASE("folders are made, listed, renamed in and synced", "[journal][disk]") {
    TempFolder const folder;
    PosixDisk disk;
    auto const sub = folder.path() / "sub";
    std::vector<std::string> names;
    CHECK(disk.list(sub, names) == std::errc::no_such_file_or_directory);
    REQUIRE_FALSE(disk.make_folder(sub));
    REQUIRE_FALSE(disk.make_folder(sub));
    std::unique_ptr<File> file;
    REQUIRE_FALSE(disk.open(sub / "a", OpenMode::create, file));
    CHECK(disk.make_folder(sub / "a") == std::errc::not_a_directory);
    REQUIRE_FALSE(disk.rename(sub / "a", sub / "b"));
    CHECK(disk.rename(sub / "a", sub / "c") == std::errc::no_such_file_or_directory);
    REQUIRE_FALSE(disk.sync_folder(sub));
    REQUIRE_FALSE(disk.list(sub, names));
    CHECK(names == std::vector<std::string>{"b"});
    REQUIRE_FALSE(disk.remove(sub / "b"));
    CHECK(disk.remove(sub / "b") == std::errc::no_such_file_or_directory);
    std::uint64_t bytes{};
    REQUIRE_FALSE(disk.free_bytes(sub, bytes));
    CHECK(bytes > 0);
    CHECK(disk.sync_folder(folder.path() / "missing") == std::errc::no_such_file_or_directory);
}
