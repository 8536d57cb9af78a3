// PosixDisk over a kernel that interrupts, gives less than was asked for, or refuses.
#include "journal/meta.hpp"
#include "tests/journal/fixture.hpp"
#include "tests/journal/system_calls.hpp"

#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <thread>

namespace holdfast::journal::test {
namespace {

struct OneFile {
    OneFile() {
        for (std::size_t at = 0; at < bytes.size(); ++at) bytes[at] = std::byte(at % 249);
        REQUIRE_FALSE(disk.open(path, OpenMode::create, file));
        REQUIRE_FALSE(file->write_at(0, bytes));
        REQUIRE_FALSE(file->sync_data());
    }
    /// What is read of it by another way.
    Bytes found() {
        std::unique_ptr<File> reader;
        REQUIRE_FALSE(disk.open(path, OpenMode::read, reader));
        return read_by(*reader);
    }
    Bytes read_by(File& reader) {
        Bytes all(bytes.size() + 10);
        std::size_t got{};
        REQUIRE_FALSE(reader.read_at(0, all, got));
        all.resize(got);
        return all;
    }
    TempFolder folder;
    PosixDisk disk;
    std::filesystem::path path = folder.path() / "file";
    std::unique_ptr<File> file;
    Bytes bytes = Bytes(10'000);
};

}  // namespace

TEST_CASE("a signal in the middle of a read or write, or a short one, is gone on after",
          "[journal][disk]") {
    OneFile one;
    Bytes const other(one.bytes.size(), std::byte{7});
    {
        Scripted const calls({{Call::pwrite, EINTR},
                              {Call::pwrite, 0, 100},
                              {Call::pwrite, EINTR},
                              {Call::pwrite, 0, 4'096}});
        REQUIRE_FALSE(one.file->write_at(0, other));
        CHECK(calls.all_came());
    }
    CHECK(one.found() == other);
    Scripted const calls({{Call::pread, EINTR},
                          {Call::pread, 0, 100},
                          {Call::pread, EINTR},
                          {Call::pread, 0, 4'096}});
    CHECK(one.read_by(*one.file) == other);
    CHECK(calls.all_came());
}

TEST_CASE("P9: an error of a read, write, sync or list is told as the kernel named it",
          "[journal][disk]") {
    OneFile one;
    Bytes some(100);
    std::size_t got{};
    {
        Scripted const calls({{Call::pread, 0, 50}, {Call::pread, EIO}});
        CHECK(one.file->read_at(0, some, got) == std::errc::io_error);
        CHECK(calls.all_came());
    }
    {
        Scripted const calls({{Call::pwrite, 0, 50}, {Call::pwrite, ENOSPC}, {Call::pwrite, 0, 0}});
        CHECK(one.file->write_at(0, some) == std::errc::no_space_on_device);
        // A write of nothing would be tried for ever.
        CHECK(one.file->write_at(0, some) == std::errc::io_error);
        CHECK(calls.all_came());
    }
    {
        Scripted const calls({{Call::fdatasync, EIO}});
        CHECK(one.file->sync_data() == std::errc::io_error);
        CHECK_FALSE(one.file->sync_data());
    }
    {
        Scripted const calls({{Call::fsync, EIO}});
        CHECK(one.disk.sync_folder(one.folder.path()) == std::errc::io_error);
    }
    {
        Scripted const calls({{Call::fstat, EIO}});
        CHECK(one.file->size() == 0);
        CHECK(one.file->size() == one.bytes.size());
    }
    Scripted const calls({{Call::readdir, EIO}});
    std::vector<std::string> names;
    CHECK(one.disk.list(one.folder.path(), names) == std::errc::io_error);
    CHECK_FALSE(one.disk.list(one.folder.path(), names));
    CHECK(names == std::vector<std::string>{"file"});
}

TEST_CASE("a file system without direct reads is read past its cache all the same",
          "[journal][disk]") {
    OneFile one;
    std::unique_ptr<File> reader;
    {
        // It refuses the flag at open.
        Scripted const calls({{Call::open, EINVAL}});
        REQUIRE_FALSE(one.disk.open(one.path, OpenMode::read_device, reader));
    }
    CHECK(one.read_by(*reader) == one.bytes);
    {
        Scripted const calls({{Call::open, EINVAL}, {Call::open, EMFILE}});
        CHECK(one.disk.open(one.path, OpenMode::read_device, reader) ==
              std::errc::too_many_files_open);
    }
    Scripted const failing({{Call::fdatasync, EIO}});
    // /proc has no direct reads; what the cache holds cannot be dropped.
    CHECK(one.disk.open("/proc/self/stat", OpenMode::read_device, reader) == std::errc::io_error);
    CHECK(failing.all_came());
}

TEST_CASE("a file system that takes the flag of direct reads and refuses such reads is read",
          "[journal][disk]") {
    OneFile one;
    std::unique_ptr<File> reader;
    REQUIRE_FALSE(one.disk.open(one.path, OpenMode::read_device, reader));
    Bytes some(100);
    std::size_t got{};
    {
        Scripted const calls({{Call::pread, EIO}});
        CHECK(reader->read_at(0, some, got) == std::errc::io_error);
    }
    {
        Scripted const calls({{Call::pread, EINVAL}});
        CHECK(one.read_by(*reader) == one.bytes);
        CHECK(calls.all_came());
    }
}

TEST_CASE("where direct reads can be neither made nor given up, that is an error",
          "[journal][disk]") {
    std::vector<std::vector<Scripted::End>> const scripts{
        {{Call::pread, EINVAL}, {Call::fcntl, EPERM}},
        {{Call::pread, EINVAL}, {Call::fdatasync, EIO}},
        {{Call::pread, EINVAL}, {Call::pread, EINVAL}, {Call::pread, EINVAL}}};
    for (auto const& script : scripts) {
        OneFile one;
        std::unique_ptr<File> reader;
        REQUIRE_FALSE(one.disk.open(one.path, OpenMode::read_device, reader));
        Bytes some(100);
        std::size_t got{};
        Scripted const calls(script);
        while (!calls.all_came()) {
            CHECK(reader->read_at(0, some, got).value() == script.back().error);
            CHECK(got == 0);
        }
        CHECK(one.read_by(*reader) == one.bytes);
    }
}

TEST_CASE("folders and links that cannot be made are told by their cause", "[journal][disk]") {
    OneFile one;
    CHECK(one.disk.make_folder(one.folder.path() / "none" / "sub") ==
          std::errc::no_such_file_or_directory);
    auto const link = one.folder.path() / "to nowhere";
    std::filesystem::create_symlink(one.folder.path() / "none", link);
    CHECK(one.disk.make_folder(link) == std::errc::no_such_file_or_directory);
    CHECK(one.disk.link(one.folder.path() / "none", one.folder.path() / "other") ==
          std::errc::no_such_file_or_directory);
    std::uint64_t bytes{};
    CHECK(one.disk.free_bytes(one.folder.path() / "none", bytes) ==
          std::errc::no_such_file_or_directory);
}

TEST_CASE("pages that memory has no room for are none", "[journal]") {
    MemoryDisk disk;
    Meta meta{"data", disk};
    REQUIRE_FALSE(meta.store(MetaPage{}));
    Scripted const calls({{Call::aligned_alloc, ENOMEM}});
    CHECK_FALSE(meta.store(MetaPage{}));  // it has its page
    CHECK_THROWS_AS(meta.load(), std::bad_alloc);
    CHECK_FALSE(meta.load());
}

TEST_CASE("a journal that is woken for no reason writes nothing for it", "[journal]") {
    MemoryDisk disk;
    StillClock clock;
    CountingListener listener;
    Options options = small_options("data");
    options.idle_close = std::chrono::hours{1};
    auto const journal = opened(options, disk, clock, listener);
    REQUIRE(journal->wait_durable(append_record(*journal, "one")));
    end_sleeps_early(3);
    REQUIRE(journal->wait_durable(append_record(*journal, "two")));
    auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds{30};
    while (sleeps_to_end_early() > 0 && std::chrono::steady_clock::now() < deadline)
        std::this_thread::yield();
    CHECK(sleeps_to_end_early() == 0);
    CHECK(journal->health().groups == 2);
    journal->close();
}

}  // namespace holdfast::journal::test
