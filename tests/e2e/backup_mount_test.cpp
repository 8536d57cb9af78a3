// A target on another mount of the same file system, as systemd's ReadWritePaths make one.
#include "app/backup.hpp"
#include "tests/e2e/program.hpp"
#include "tests/support/forwarding_disk.hpp"
#include "tests/support/mounts.hpp"
#include "tests/support/server_process.hpp"
#include "tests/support/shoppers.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>
#include <sys/mount.h>

using namespace holdfast;
using namespace holdfast::test;
namespace fs = std::filesystem;

namespace {

/// One folder under a second name, until the object goes.
class SecondMount {
public:
    SecondMount(fs::path const& folder, fs::path place) : place_(std::move(place)) {
        fs::create_directory(place_);
        made_ = ::mount(folder.c_str(), place_.c_str(), nullptr, MS_BIND, nullptr) == 0;
    }
    ~SecondMount() {
        if (made_) ::umount2(place_.c_str(), MNT_DETACH);
    }
    SecondMount(SecondMount const&) = delete;
    SecondMount& operator=(SecondMount const&) = delete;
    [[nodiscard]] bool is_made() const noexcept { return made_; }

private:
    fs::path place_;
    bool made_{};
};

struct SmallDisk final : ForwardingDisk {
    std::uint64_t free{};
    std::error_code free_bytes(Path const&, std::uint64_t& bytes) override {
        bytes = free;
        return {};
    }
};

/// Segments of a backup that have a second name.
int linked_segments(fs::path const& backup) {
    int linked = 0;
    for (auto const& entry : fs::directory_iterator(backup / "journal"))
        if (entry.hard_link_count() > 1) ++linked;
    return linked;
}

std::uint64_t bytes_below(fs::path const& folder) {
    std::uint64_t bytes = 0;
    for (auto const& entry : fs::directory_iterator(folder)) bytes += entry.file_size();
    return bytes;
}

}  // namespace

TEST_CASE("a target that is a mount of its own gets copies, and their space is asked for",
          "[e2e][backup]") {
    if (auto const why = why_no_own_mounts(); !why.empty()) {
        std::cout << "backup to a mount skipped: " << why << '\n';
        return;
    }
    TempFolder const folder;
    auto const data = folder.path() / "data";
    auto const shelf = folder.path() / "shelf";
    fs::create_directory(shelf);
    SecondMount const mounted(shelf, folder.path() / "mounted");
    REQUIRE(mounted.is_made());
    {
        ServerProcess server({.data = data,
                              .flags = {},
                              .variables = {{"HOLDFAST_STORAGE_SEGMENT_BYTES", "131072"},
                                            {"HOLDFAST_LOG_LEVEL", "warn"}}});
        make_show(server.url());
        Buyer buyer(server.url(), 9);
        for (int visit = 0; visit < 40; ++visit) CHECK(buyer.visit());
        CHECK(server.stop() == 0);
    }
    auto const back_up_to = [&](fs::path const& target) {
        auto const done =
            run({program, "backup", "--data", data.string(), "--to", target.string()});
        INFO(done.errors);
        CHECK(done.exit_code == 0);
        return linked_segments(target);
    };
    CHECK(back_up_to(shelf / "beside") > 0);
    CHECK(back_up_to(folder.path() / "mounted" / "apart") == 0);
    // Enough for the store and one segment, not for the journal.
    SmallDisk disk;
    disk.free = fs::file_size(data / "store.db") + (1U << 20) + bytes_below(data / "journal") / 2;
    auto const is_refused = [&](fs::path const& target) {
        app::BackupPlan const plan{.data = data,
                                   .target = target,
                                   .disk = disk,
                                   .bytes_left = 0,
                                   .now = {},
                                   .begin = {},
                                   .why_stop = {}};
        return app::refuse_for_space(plan).has_value();
    };
    CHECK_FALSE(is_refused(shelf / "new"));
    CHECK(is_refused(folder.path() / "mounted" / "new"));
}
