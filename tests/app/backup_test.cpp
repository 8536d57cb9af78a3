#include "app/backup.hpp"

#include "tests/journal/fixture.hpp"
#include "tests/support/temp_folder.hpp"

#include <holdfast/store/store.hpp>

#include <catch2/catch.hpp>
#include <set>
#include <sys/stat.h>

using namespace holdfast;
using namespace holdfast::app;
using journal::Failure;
using std::filesystem::path;
using test::TempFolder;

namespace {

/// A disk whose calls can be made to fail, or its space to run out.
struct BackupDisk final : journal::Disk {
    journal::PosixDisk disk;
    long calls_until_error{-1};
    bool links{true};
    std::function<std::uint64_t()> free{[] { return std::uint64_t{1} << 40; }};

    std::error_code next() {
        if (calls_until_error < 0) return {};
        if (calls_until_error > 0) --calls_until_error;
        if (calls_until_error > 0) return {};
        return std::make_error_code(std::errc::no_space_on_device);
    }
    std::error_code open(path const& name, journal::OpenMode mode,
                         std::unique_ptr<journal::File>& file) override {
        if (auto const error = next()) return error;
        return disk.open(name, mode, file);
    }
    std::error_code rename(path const& from, path const& to) override {
        if (auto const error = next()) return error;
        return disk.rename(from, to);
    }
    std::error_code remove(path const& name) override { return disk.remove(name); }
    std::error_code link(path const& from, path const& to) override {
        if (!links) return std::make_error_code(std::errc::operation_not_permitted);
        return disk.link(from, to);
    }
    std::error_code make_folder(path const& name) override {
        if (auto const error = next()) return error;
        return disk.make_folder(name);
    }
    std::error_code sync_folder(path const& name) override {
        if (auto const error = next()) return error;
        return disk.sync_folder(name);
    }
    std::error_code list(path const& folder, std::vector<std::string>& names) override {
        return disk.list(folder, names);
    }
    std::error_code free_bytes(path const&, std::uint64_t& bytes) override {
        bytes = free();
        return {};
    }
};

/// A data folder with a running journal of several segments, a store and a key.
struct BackedUp {
    BackedUp() {
        std::filesystem::create_directory(data);
        journal::test::CollectingSink sink;
        auto const recovered = journal::recover(data, disk, {}, sink);
        REQUIRE(recovered.has_value());
        auto opened = journal::Journal::open(journal::test::small_options(data), servers_disk,
                                             clock, recovered->tail, listener);
        REQUIRE(opened.has_value());
        journal = *std::move(opened);
        auto made = store::Store::open(data / "store.db", recovered->tail.store_id);
        REQUIRE(made.has_value());
        store = *std::move(made);
        for (int record = 0; record < 40; ++record) {
            Lsn const lsn = journal::test::append_record(*journal, std::string(700, 'b'));
            REQUIRE(journal->wait_durable(lsn));
        }
        REQUIRE(store->begin().has_value());
        REQUIRE(store->commit(Lsn{30}, 1).has_value());
        folder.write("data/server.key", "a secret key");
    }
    ~BackedUp() { journal->close(); }
    BackedUp(BackedUp const&) = delete;
    BackedUp& operator=(BackedUp const&) = delete;

    [[nodiscard]] BackupPlan plan() {
        return {.data = data,
                .target = target,
                .disk = disk,
                .free_bytes_min = 1U << 20,
                .now = clock.now(),
                .begin = [this]() -> ResultOf<BackupPoint, Failure> {
                    BackupPoint point;
                    auto snapshot = store::Snapshot::take(data / "store.db");
                    if (!snapshot) return Failure{1, snapshot.error().message};
                    point.snapshot = *std::move(snapshot);
                    point.durable = journal->durable_lsn();
                    return point;
                },
                .stopped = [] { return false; }};
    }
    TempFolder folder;
    path data{folder.path() / "data"};
    path target{folder.path() / "backup"};
    BackupDisk disk;  // of the backup alone, or the journal's threads would meet its faults
    journal::PosixDisk servers_disk;
    journal::test::StillClock clock;
    journal::test::CountingListener listener;
    std::unique_ptr<journal::Journal> journal;
    std::unique_ptr<store::Store> store;
};

unsigned permission_bits(path const& file) {
    struct stat status{};
    return ::stat(file.c_str(), &status) == 0 ? status.st_mode & 0777 : 0;
}

std::string refusal_of(path const& data, path const& target) {
    auto const resolved = resolve_target(data, target);
    return resolved ? "" : resolved.error().message;
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
    CHECK(test::read_file(server.target / "server.key") == "a secret key");
    auto const identity = store::Store::peek(server.target / "store.db");
    REQUIRE(identity.has_value());
    REQUIRE(identity->has_value());
    journal::test::CollectingSink sink;
    journal::StoreState const state{(*identity)->store_id, (*identity)->applied_lsn};
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
        if (!by_error) plan.stopped = [&looks] { return looks-- == 0; };
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

TEST_CASE("a target that is no place for a backup is refused before anything is done",
          "[app][backup]") {
    TempFolder const folder;
    auto const data = folder.path() / "data";
    std::filesystem::create_directories(data / "below");
    std::filesystem::create_directory(folder.path() / "empty");
    std::filesystem::create_directory_symlink(data, folder.path() / "link");
    folder.write("file", "x");
    using Catch::Contains;
    CHECK_THAT(refusal_of(data, "backup"), Contains("is not an absolute path"));
    CHECK_THAT(refusal_of(data, data), Contains("lies in the data folder"));
    CHECK_THAT(refusal_of(data, data / "new"), Contains("lies in the data folder"));
    CHECK_THAT(refusal_of(data, data / "below" / "new"), Contains("lies in the data folder"));
    CHECK_THAT(refusal_of(data, folder.path() / "link" / "new"), Contains("lies in the data"));
    CHECK_THAT(refusal_of(data, folder.path() / "empty" / ".." / "data" / "new"),
               Contains("lies in the data folder"));
    CHECK_THAT(refusal_of(data, folder.path()), Contains("the data folder lies in it"));
    CHECK_THAT(refusal_of(data, "/"), Contains("the data folder lies in it"));
    CHECK_THAT(refusal_of(data, folder.path() / "none" / "new"), Contains("No such file"));
    CHECK_THAT(refusal_of(data, folder.path() / "file"), Contains("is not a folder"));
    CHECK_THAT(refusal_of(data, folder.path() / "file" / "new"), Contains("Not a directory"));
    std::filesystem::create_directory(folder.path() / "full");
    folder.write("full/file", "x");
    CHECK_THAT(refusal_of(data, folder.path() / "full"), Contains("is not empty"));
    CHECK(refusal_of(data, folder.path() / "empty").empty());
    CHECK(refusal_of(data, folder.path() / "data2").empty());
    auto const slash = resolve_target(data, folder.path() / "new" / "");
    REQUIRE(slash.has_value());
    CHECK(slash->filename() == "new");
}

TEST_CASE("a backup leaves the data its free space", "[app][backup]") {
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
    CHECK_THAT(made.error().message, Catch::Contains("needs the last 1048576 bytes"));
    CHECK_FALSE(std::filesystem::exists(server.target));
}

TEST_CASE("a backup says what it lacks", "[app][backup]") {
    BackedUp server;
    SECTION("a key") {
        std::filesystem::remove(server.data / "server.key");
        auto const made = make_backup(server.plan());
        REQUIRE_FALSE(made.has_value());
        CHECK_THAT(made.error().message, Catch::Contains("server.key cannot be copied"));
    }
    SECTION("a target that is still empty") {
        std::filesystem::create_directory(server.target);
        server.folder.write("backup/file", "x");
        auto const made = make_backup(server.plan());
        REQUIRE_FALSE(made.has_value());
        CHECK_THAT(made.error().message, Catch::Contains("is not empty"));
        CHECK(test::read_file(server.target / "file") == "x");
    }
    CHECK_FALSE(std::filesystem::exists(server.target / "MANIFEST.json"));
}
