#include "app/manifest_text.hpp"
#include "tests/support/few_descriptors.hpp"
#include "tests/support/temp_folder.hpp"

#include <holdfast/journal/disk.hpp>

#include <catch2/catch.hpp>
#include <iostream>

using namespace holdfast;
using namespace holdfast::app;
using holdfast::test::TempFolder;

namespace {

journal::BetweenPieces const go_on = [] { return std::optional<journal::Failure>{}; };

/// A folder with three files and their manifest.
struct MadeBackup {
    MadeBackup() {
        std::filesystem::create_directory(folder.path() / "journal");
        folder.write("store.db", "abc");
        folder.write("server.key", std::string(3'000'000, 'k'));
        folder.write("journal/0000000000000001.hfj", "");
        auto files = measure(folder.path(),
                             {"store.db", "server.key", "journal/0000000000000001.hfj"}, go_on);
        REQUIRE(files.has_value());
        manifest.made_at = TimePoint{Milliseconds{1'795'000'000'000}};
        manifest.version = "1.2.3-rc.1+x";
        manifest.store_id = {1, 2, 3, 0xFE, 0xFF};
        manifest.applied = Lsn{41};
        manifest.durable = Lsn{42};
        manifest.files = *files;
        REQUIRE_FALSE(write_manifest(folder.path(), disk, manifest));
    }
    [[nodiscard]] std::filesystem::path at(char const* name) const { return folder.path() / name; }
    /// What check_manifest says; empty: all is well.
    [[nodiscard]] std::string fault() const {
        auto const checked = check_manifest(folder.path());
        if (checked) return {};
        CHECK(checked.error().exit_code == 77);
        return checked.error().message;
    }
    void change_manifest(std::string const& from, std::string const& to) const {
        std::string text = holdfast::test::read_file(at("MANIFEST.json"));
        auto const found = text.find(from);
        REQUIRE(found != std::string::npos);
        folder.write("MANIFEST.json", text.replace(found, from.size(), to));
    }
    TempFolder folder;
    journal::PosixDisk disk;
    Manifest manifest;
};

}  // namespace

TEST_CASE("a manifest says what was measured, and is read back as it is", "[app][backup]") {
    MadeBackup const backup;
    // SHA-256 of "abc" and of nothing, as FIPS 180-4 has them.
    CHECK(backup.manifest.files[0].sha256 ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(backup.manifest.files[2].sha256 ==
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(backup.manifest.files[1].bytes == 3'000'000);
    auto const read = read_manifest(backup.folder.path());
    REQUIRE(read.has_value());
    REQUIRE(read->has_value());
    CHECK(**read == backup.manifest);
    CHECK_THAT(holdfast::test::read_file(backup.at("MANIFEST.json")),
               Catch::Contains("\"made_at\":\"2026-11-18T11:06:40Z\""));
    CHECK(backup.fault().empty());
    CHECK_FALSE(std::filesystem::exists(backup.at("MANIFEST.json.tmp")));
}

TEST_CASE("a check of a backup names each file that is not as it was", "[app][backup]") {
    MadeBackup const backup;
    using Catch::Contains;
    SECTION("missing") {
        std::filesystem::remove(backup.at("store.db"));
        CHECK_THAT(backup.fault(), Contains("store.db is missing"));
        std::filesystem::remove_all(backup.at("journal"));
        CHECK_THAT(backup.fault(), Contains("0000000000000001.hfj is missing"));
    }
    SECTION("of another size") {
        backup.folder.write("store.db", "abcd");
        CHECK_THAT(backup.fault(), Contains("store.db has 4 bytes instead of 3"));
    }
    SECTION("of another content") {
        std::string key(3'000'000, 'k');
        key[2'999'999] = 'l';
        backup.folder.write("server.key", key);
        CHECK_THAT(backup.fault(), Contains("server.key has another content"));
    }
    SECTION("no file at all") {
        std::filesystem::remove(backup.at("store.db"));
        std::filesystem::create_directory(backup.at("store.db"));
        CHECK_THAT(backup.fault(), Contains("store.db is no file"));
        std::filesystem::remove(backup.at("store.db"));
        std::filesystem::create_symlink("server.key", backup.at("store.db"));
        CHECK_THAT(backup.fault(), Contains("store.db is no file"));
    }
    SECTION("there, though it would change what is read") {
        backup.folder.write("journal/0000000000000002.hfj", "x");
        CHECK_THAT(backup.fault(), Contains("0000000000000002.hfj is there"));
        backup.folder.write("store.db-wal", "x");
        CHECK_THAT(backup.fault(), Contains("store.db-wal is there"));
        backup.folder.write("META.a", "x");
        CHECK_THAT(backup.fault(), Contains("META.a is there"));
    }
    SECTION("there, and no matter") {
        backup.folder.write("store.db-wal", "");
        backup.folder.write("LOCK", "1");
        backup.folder.write("admin.token", "secret");
        backup.folder.write("journal/next-1.tmp", "x");
        CHECK(backup.fault().empty());
    }
}

TEST_CASE("a check that cannot see what is there calls no backup whole", "[app][backup]") {
    TempFolder const temp;
    SECTION("because it never will") {
        std::filesystem::create_symlink("journal", temp.path() / "journal");
        auto const faults = find_faults(temp.path(), Manifest{});
        REQUIRE(faults.has_value());
        REQUIRE(faults->size() == 1);
        CHECK_THAT(faults->front(), Catch::Contains("journal/: cannot be read"));
    }
    SECTION("because it has no descriptor for that now") {
#ifdef __SANITIZE_ADDRESS__
        std::cout << "skipped: this sanitizer needs descriptors of its own\n";
        return;
#endif
        auto const found = [&] {
            holdfast::test::FewDescriptors const none;
            return find_faults(temp.path(), Manifest{});
        }();
        REQUIRE_FALSE(found.has_value());
        CHECK(found.error().exit_code == 76);
        CHECK_THAT(found.error().message, Catch::Contains("file descriptors"));
    }
}

TEST_CASE("a folder without a good manifest is no backup", "[app][backup]") {
    MadeBackup const backup;
    using Catch::Contains;
    SECTION("none") {
        std::filesystem::remove(backup.at("MANIFEST.json"));
        CHECK_THAT(backup.fault(), Contains("has no MANIFEST.json"));
        auto const none = read_manifest(backup.folder.path());
        REQUIRE(none.has_value());
        CHECK_FALSE(none->has_value());
    }
    SECTION("cut anywhere") {
        std::string const text = holdfast::test::read_file(backup.at("MANIFEST.json"));
        for (std::size_t bytes = 0; bytes < text.size(); ++bytes)
            CHECK_FALSE(manifest_of(text.substr(0, bytes)).has_value());
    }
    SECTION("changed by hand") {
        backup.change_manifest("\"durable_lsn\":42", "\"durable_lsn\": 42");
        CHECK_THAT(backup.fault(), Contains("is not as holdfast writes one"));
    }
    SECTION("with more in it than there was") {
        backup.change_manifest("{\"format\":1", "{\"format\":1,\"note\":\"x\"");
        CHECK_THAT(backup.fault(), Contains("is not as holdfast writes one"));
    }
    SECTION("naming files elsewhere") {
        backup.change_manifest("\"store.db\"", "\"../store\"");
        CHECK_THAT(backup.fault(), Contains("is not as holdfast writes one"));
    }
    SECTION("of a newer format") {
        backup.change_manifest("\"format\":1", "\"format\":2");
        auto const newer = check_manifest(backup.folder.path());
        REQUIRE_FALSE(newer.has_value());
        CHECK(newer.error().exit_code == 78);
        CHECK_THAT(newer.error().message, Contains("a newer holdfast is needed"));
    }
}

TEST_CASE("a start checks the manifest, sets it aside and removes it once it has succeeded",
          "[app][backup]") {
    MadeBackup backup;
    auto const& folder = backup.folder.path();
    CHECK_FALSE(check_if_backup(folder));
    CHECK_FALSE(set_manifest_aside(folder, backup.disk));
    CHECK_FALSE(std::filesystem::exists(backup.at("MANIFEST.json")));
    // The start fails, and the next one finds files that are no longer those of the backup.
    CHECK(std::filesystem::exists(backup.at("MANIFEST.used")));
    backup.folder.write("store.db", "abd");
    CHECK_FALSE(check_if_backup(folder));
    CHECK_FALSE(set_manifest_aside(folder, backup.disk));
    CHECK_FALSE(remove_used_manifest(folder, backup.disk));
    CHECK_FALSE(std::filesystem::exists(backup.at("MANIFEST.used")));
    CHECK_FALSE(remove_used_manifest(folder, backup.disk));
}

TEST_CASE("a start on a backup that is not whole is refused", "[app][backup]") {
    MadeBackup backup;
    backup.folder.write("store.db", "abd");
    auto const refused = check_if_backup(backup.folder.path());
    REQUIRE(refused.has_value());
    CHECK(refused->exit_code == 77);
    CHECK_THAT(refused->message, Catch::Contains("store.db has another content"));
    CHECK(std::filesystem::exists(backup.at("MANIFEST.json")));
}

TEST_CASE("measuring ends when it is told to, and says what it cannot read", "[app][backup]") {
    MadeBackup const backup;
    auto const stopped = measure(backup.folder.path(), {"store.db"}, [] {
        return std::optional<journal::Failure>{journal::Failure{1, "enough"}};
    });
    REQUIRE_FALSE(stopped.has_value());
    CHECK(stopped.error().message == "enough");
    auto const missing = measure(backup.folder.path(), {"none"}, go_on);
    REQUIRE_FALSE(missing.has_value());
    CHECK_THAT(missing.error().message, Catch::Contains("none: cannot be read: No such file"));
}
