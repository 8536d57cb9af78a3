// Whose folder the target is, and where it lies.
#include "app/backup_target.hpp"

#include "tests/app/backed_up.hpp"

#include <sys/stat.h>

using namespace holdfast;
using namespace holdfast::app;
using app::test::BackedUp;
using holdfast::test::read_file;
using holdfast::test::TempFolder;
namespace fs = std::filesystem;

namespace {

std::string refusal_of(fs::path const& data, fs::path const& target) {
    auto const resolved = resolve_target(data, target);
    return resolved ? "" : resolved.error().message;
}

/// Exchanges the folder above the target for another one.
void put_in_place_of(fs::path const& above, fs::path const& other) {
    fs::rename(above, above.string() + "-moved");
    fs::create_directory_symlink(other, above);
}

}  // namespace

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

TEST_CASE("of two backups into one folder one is refused and the other stays", "[app][backup]") {
    BackedUp server;
    bool const was_there = GENERATE(false, true);
    if (was_there) fs::create_directory(server.target);
    auto const second = server.plan();
    std::string refusal;
    auto first = server.plan();
    first.begin = [&] {
        auto const late = make_backup(second);
        refusal = late ? "none" : late.error().message;
        return second.begin();
    };
    CHECK(make_backup(first).has_value());
    CHECK_THAT(refusal, Catch::Contains("is not empty"));
    CHECK(check_manifest(server.target).has_value());
    CHECK_FALSE(make_backup(second).has_value());
    CHECK(check_manifest(server.target).has_value());
}

TEST_CASE("a backup that fails removes nothing that is not its own", "[app][backup]") {
    BackedUp server;
    bool const was_there = GENERATE(false, true);
    if (was_there) fs::create_directory(server.target);
    if (was_there) fs::permissions(server.target, fs::perms{0750});
    bool cut = false;
    auto plan = server.plan();
    plan.why_stop = [&] {
        // Somebody uses the folder for something else meanwhile.
        if (fs::exists(server.target / "META.a")) {
            server.folder.write("backup/note", "mine");
            server.folder.write("backup/journal/note", "mine, too");
            cut = true;
        }
        return std::string(cut ? "enough" : "");
    };
    REQUIRE_FALSE(make_backup(plan).has_value());
    REQUIRE(cut);
    std::vector<std::string> left;
    for (auto const& entry : fs::recursive_directory_iterator(server.target))
        left.push_back(entry.path().lexically_relative(server.target));
    std::sort(left.begin(), left.end());
    CHECK(left == std::vector<std::string>{"journal", "journal/note", "note"});
    CHECK(read_file(server.target / "note") == "mine");
    struct stat status{};
    REQUIRE(::stat(server.target.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == (was_there ? 0750U : 0700U));
}

TEST_CASE("a backup stays in the folder that it began in, whatever takes its name",
          "[app][backup]") {
    BackedUp server;
    auto const above = server.folder.path() / "above";
    auto const decoy = server.folder.path() / "decoy";
    fs::create_directory(above);
    fs::create_directories(decoy / "backup" / "journal");
    for (char const* const name : {"store.db", "META.a", "server.key", "MANIFEST.json"})
        server.folder.write(std::string("decoy/backup/") + name, "another's");
    server.folder.write("decoy/backup/journal/0000000000000001.hfj", "another's");
    server.target = above / "backup";
    bool const fails = GENERATE(true, false);
    auto plan = server.plan();
    auto const begin = plan.begin;
    plan.begin = [&]() -> ResultOf<BackupPoint, journal::Failure> {
        put_in_place_of(above, decoy);
        if (fails) return journal::Failure{1, "enough"};
        return begin();
    };
    CHECK(make_backup(plan).has_value() == !fails);
    for (char const* const name :
         {"store.db", "META.a", "server.key", "MANIFEST.json", "journal/0000000000000001.hfj"})
        CHECK(read_file(decoy / "backup" / name) == "another's");
    CHECK_FALSE(fs::exists(decoy / "backup" / "META.b"));
    auto const real = server.folder.path() / "above-moved" / "backup";
    CHECK(fs::exists(real) == !fails);
    CHECK(check_manifest(real).has_value() == !fails);
}

TEST_CASE("a place that leads into the data folder by now is refused and left as it was",
          "[app][backup]") {
    BackedUp server;
    auto const above = server.folder.path() / "above";
    fs::create_directory(above);
    auto const place = resolve_target(server.data, above / "journal");
    REQUIRE(place.has_value());
    put_in_place_of(above, server.data);
    auto const segments = [&] {
        return std::distance(fs::directory_iterator(server.data / "journal"), {});
    };
    auto const before = segments();
    auto plan = server.plan();
    for (char const* const name : {"journal", "new"}) {
        plan.target = above / name;
        auto const made = make_backup(plan);
        REQUIRE_FALSE(made.has_value());
        CHECK_THAT(made.error().message, Catch::Contains("lies in the data folder"));
    }
    CHECK(segments() == before);
    CHECK_FALSE(fs::exists(server.data / "new"));
}

TEST_CASE("a folder into which everybody may write is no place for backups", "[app][backup]") {
    BackedUp server;
    auto const above = server.folder.path() / "above";
    fs::create_directory(above);
    server.target = above / "backup";
    auto const set = [&](unsigned mode) { fs::permissions(above, fs::perms{mode}); };
    set(0777);
    CHECK_THAT(refusal_of(server.data, server.target), Catch::Contains("everybody may write"));
    auto const made = make_backup(server.plan());
    REQUIRE_FALSE(made.has_value());
    CHECK_THAT(made.error().message, Catch::Contains("everybody may write"));
    CHECK(fs::is_empty(above));
    set(01777);
    CHECK(refusal_of(server.data, server.target).empty());
    CHECK(make_backup(server.plan()).has_value());
}
