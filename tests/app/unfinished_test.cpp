// A folder that a killed salvage has left is not taken for a data folder.
#include "app/unfinished.hpp"

#include "app/audit.hpp"
#include "app/commands.hpp"
#include "app/rebuild.hpp"
#include "app/salvage.hpp"
#include "app/verify.hpp"
#include "tests/app/resting_shop.hpp"
#include "tests/support/forwarding_disk.hpp"

#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast::app::test {
namespace {

using holdfast::test::TempFolder;
using std::filesystem::path;

/// Ends the process before the call with that number.
class KillingDisk final : public holdfast::test::ForwardingDisk {
public:
    static constexpr int killed = 99;
    explicit KillingDisk(int calls) : calls_(calls) {}
    std::error_code open(Path const& name, journal::OpenMode mode,
                         std::unique_ptr<journal::File>& file) override {
        count();
        return ForwardingDisk::open(name, mode, file);
    }
    std::error_code rename(Path const& from, Path const& to) override {
        count();
        return ForwardingDisk::rename(from, to);
    }
    std::error_code remove(Path const& name) override {
        count();
        return ForwardingDisk::remove(name);
    }
    std::error_code make_folder(Path const& name) override {
        count();
        return ForwardingDisk::make_folder(name);
    }
    std::error_code sync_folder(Path const& name) override {
        count();
        return ForwardingDisk::sync_folder(name);
    }

private:
    void count() {
        if (calls_-- == 0) ::_exit(killed);
    }
    int calls_;
};

/// Does not sync the folder the first time that it has a store, nor ever remove the file of that
/// name from it.
class StickingDisk final : public holdfast::test::ForwardingDisk {
public:
    StickingDisk(Path folder, std::string name)
        : folder_(std::move(folder)), name_(std::move(name)) {}
    std::error_code sync_folder(Path const& name) override {
        bool const fails =
            !failed_ && name == folder_ && std::filesystem::exists(folder_ / "store.db");
        failed_ = failed_ || fails;
        return fails ? std::make_error_code(std::errc::io_error)
                     : ForwardingDisk::sync_folder(name);
    }
    std::error_code remove(Path const& name) override {
        return name == folder_ / name_ ? std::make_error_code(std::errc::io_error)
                                       : ForwardingDisk::remove(name);
    }

private:
    Path folder_;
    std::string name_;
    bool failed_{};
};

/// Its exit code; killed at that call of the disk, if it makes so many.
int salvage_killed_at(int calls, path const& data, path const& target) {
    pid_t const child = ::fork();
    if (child == 0) {
        KillingDisk disk(calls);
        ::_exit(salvage_folder(data, target, disk).exit_code);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/// Whether a server would find more there than a folder in which nothing was begun.
bool is_begun(path const& folder) {
    for (auto const& [name, content] : content_of(folder))
        if (name != "LOCK" && name != std::string(unfinished_name) + ".tmp") return true;
    return false;
}

void check_refused_by_all(path const& folder) {
    journal::PosixDisk disk;
    for (Report const& report : {verify_folder(folder, disk), audit_folder(folder, disk),
                                 salvage_folder(folder, {}, disk)})
        CHECK(report.exit_code != 0);
    CHECK(rebuild_store({folder, {}, false}, disk).exit_code != 0);
    path const target = folder.parent_path() / "backup";
    CHECK(back_up({.data = folder, .target = target, .url = {}, .token = {}}) != 0);
    CHECK_FALSE(std::filesystem::exists(target));
    if (!is_begun(folder)) return;
    auto const opened = DataFolder::open(folder);
    REQUIRE_FALSE(opened.has_value());
    CHECK(opened.error().exit_code == 77);
    CHECK_THAT(opened.error().message, Catch::Contains("salvage once more"));
}

}  // namespace

TEST_CASE("P10: what a salvage leaves that is killed at any call is not used", "[app][salvage]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    RestingShop shop(data);
    trade(shop);
    shop.close();
    flip_bit(segment(data, 1), group_of(segment(data, 1), 4) + 80);
    int calls = 0;
    int begun = 0;
    for (int exit_code = KillingDisk::killed; exit_code != 0; ++calls) {
        REQUIRE(calls < 400);
        CAPTURE(calls);
        path const folder = temp.path() / std::to_string(calls);
        path const target = folder / "new";
        std::filesystem::create_directory(folder);
        exit_code = salvage_killed_at(calls, data, target);
        if (exit_code == 0) {
            CHECK_FALSE(std::filesystem::exists(target / unfinished_name));
            journal::PosixDisk disk;
            CHECK(verify_folder(target, disk).exit_code == 0);
            continue;
        }
        REQUIRE(exit_code == KillingDisk::killed);
        if (!std::filesystem::exists(target)) continue;
        if (is_begun(target)) ++begun;
        // But for the last moment, in which the mark is gone and only its removal not synced.
        if (is_begun(target) && !std::filesystem::exists(target / unfinished_name)) {
            journal::PosixDisk disk;
            CHECK(verify_folder(target, disk).exit_code == 0);
            continue;
        }
        check_refused_by_all(target);
    }
    CHECK(calls > 30);
    CHECK(begun > 15);
}

TEST_CASE("what a failed salvage cannot take away again keeps its mark", "[app][salvage]") {
    TempFolder const temp;
    path const data = temp.path() / "data";
    RestingShop shop(data);
    trade(shop);
    shop.close();
    path const target = temp.path() / "new";
    bool const sticks = GENERATE(false, true);
    CAPTURE(sticks);
    StickingDisk disk(target, sticks ? "store.db" : "none");
    Report const report = salvage_folder(data, target, disk);
    CHECK(report.exit_code == 76);
    if (!sticks) {
        CHECK_FALSE(std::filesystem::exists(target));
        return;
    }
    CHECK_THAT(report.errors, Catch::Contains("remove the folder"));
    CHECK(std::filesystem::exists(target / "store.db"));
    CHECK_FALSE(std::filesystem::exists(target / "journal"));
    check_refused_by_all(target);
}

TEST_CASE("a mark goes when the folder is finished", "[app][salvage]") {
    TempFolder const temp;
    journal::PosixDisk disk;
    REQUIRE_FALSE(mark_unfinished(temp.path(), disk).has_value());
    auto const refused = refuse_unfinished(temp.path());
    REQUIRE(refused.has_value());
    CHECK(refused->exit_code == 77);
    REQUIRE_FALSE(mark_finished(temp.path(), disk).has_value());
    CHECK_FALSE(refuse_unfinished(temp.path()).has_value());
    CHECK(std::filesystem::is_empty(temp.path()));
    CHECK(mark_finished(temp.path(), disk).has_value());
    CHECK(mark_unfinished(temp.path() / "absent", disk).has_value());
}

}  // namespace holdfast::app::test
