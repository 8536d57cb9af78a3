#include "app/online_backups.hpp"

#include "app/restored_state.hpp"
#include "tests/api/backstage.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <future>

using namespace holdfast;
using namespace holdfast::app;
using State = api::BackupReport::State;

namespace {

/// A server without its sockets; the test runs what the keeper would.
struct BackupOffice {
    BackupOffice() {
        server.folder_of_test.write("server.key", std::string(32, 'k'));
        backups.emplace(OnlineBackups::Parts{.projector = *server.projector,
                                             .journal = *server.journal,
                                             .disk = server.disk,
                                             .clock = server.clock,
                                             .data = server.folder,
                                             .free_bytes_min = 0,
                                             .submit = [this](std::function<void()> job) {
                                                 if (!takes_jobs) return false;
                                                 jobs.push_back(std::move(job));
                                                 return true;
                                             }});
    }
    std::string start(std::filesystem::path const& target) {
        auto const refusal = backups->start(target, holdfast::test::noon);
        return refusal ? std::string(refusal->slug) : "";
    }
    void work() {
        for (auto const& job : std::exchange(jobs, {})) job();
    }
    holdfast::test::Backstage server;
    holdfast::test::TempFolder shelf;
    std::vector<std::function<void()>> jobs;
    bool takes_jobs{true};
    std::optional<OnlineBackups> backups;
};

}  // namespace

TEST_CASE("a running server backs itself up, one backup at a time", "[app][backup]") {
    BackupOffice office;
    CHECK_FALSE(office.backups->newest().has_value());
    auto const first = office.shelf.path() / "first";
    CHECK(office.start(first) == "");
    CHECK(office.backups->newest()->state == State::running);
    CHECK(office.start(office.shelf.path() / "second") == "backup-running");
    office.work();
    auto const report = office.backups->newest();
    CHECK(report->state == State::done);
    CHECK(report->target == first);
    CHECK(report->files == 5);
    CHECK(report->applied <= report->durable);
    CHECK(check_manifest(first).has_value());
    CHECK(office.start(first) == "backup-target");
    CHECK(office.start(office.server.folder / "inside") == "backup-target");
    // A refusal is not the newest backup.
    CHECK(office.backups->newest()->state == State::done);
    CHECK(office.start(office.shelf.path() / "second") == "");
    office.work();
    CHECK(office.backups->newest()->state == State::done);
}

TEST_CASE("P15: a server that stops abandons its backup and begins none", "[app][backup]") {
    BackupOffice office;
    auto const target = office.shelf.path() / "cut";
    REQUIRE(office.start(target) == "");
    office.backups->abandon();
    office.work();
    auto const report = office.backups->newest();
    CHECK(report->state == State::failed);
    CHECK_THAT(report->why, Catch::Contains("the server stops"));
    CHECK_FALSE(std::filesystem::exists(target));
    CHECK(office.start(target) == "not-ready");
    CHECK(office.jobs.empty());
}

TEST_CASE("a keeper that takes no job refuses a backup", "[app][backup]") {
    BackupOffice office;
    office.takes_jobs = false;
    CHECK(office.start(office.shelf.path() / "never") == "not-ready");
    CHECK_FALSE(office.backups->newest().has_value());
}

TEST_CASE("no checkpoint is tried while they are held, and a backup lets go of them",
          "[app][backup]") {
    BackupOffice office;
    engine::Projector& projector = *office.server.projector;
    auto const claimed = office.server.send(http::Method::post, "/v1/events/demo/holds",
                                            R"({"seats":["A-1-1"]})", "");
    REQUIRE(claimed.status == 201);
    REQUIRE(projector.wait_applied(claimed.lsn, std::chrono::seconds(20)));
    projector.hold_checkpoints(true);
    projector.request_checkpoint();
    // The second job is run in a later round than the request at least.
    for (int round = 0; round < 2; ++round) CHECK(projector.when_stored(no_lsn, [] {}));
    CHECK(projector.store_durable_lsn() == no_lsn);
    REQUIRE(office.start(office.shelf.path() / "one") == "");
    office.work();
    projector.request_checkpoint();
    auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    bool in_time = true;
    while (projector.store_durable_lsn() < claimed.lsn && in_time)
        in_time = std::chrono::steady_clock::now() < deadline;
    CHECK(in_time);
}

TEST_CASE("a backup knows every event that its records speak of", "[app][backup]") {
    BackupOffice office;
    holdfast::test::Backstage& server = office.server;
    std::atomic<bool> enough{false};
    // New events are sold at once: were the store copied before the journal's end is noted, and
    // nothing in between, such records would speak of events that the copy does not know.
    auto selling = std::async(std::launch::async, [&] {
        int made = 0;
        for (; !enough; ++made) {
            auto spec = holdfast::test::sample_event();
            spec.slug = "event-" + std::to_string(made);
            if (!server.setup->create(std::move(spec))) return -1;
            auto const reply = server.send(http::Method::post,
                                           "/v1/events/event-" + std::to_string(made) + "/holds",
                                           R"({"seats":["A-1-1"]})", "");
            if (reply.status != 201) return -1;
        }
        return made;
    });
    for (int number = 0; number < 20; ++number) {
        auto const target = office.shelf.path() / std::to_string(number);
        REQUIRE(office.start(target) == "");
        office.work();
        auto const report = office.backups->newest();
        INFO(report->why);
        REQUIRE(report->state == State::done);
        CHECK(check_manifest(target).has_value());
        auto const folder = DataFolder::open(target);
        REQUIRE(folder.has_value());
        auto const restored = restore_state(*folder, server.disk);
        INFO((restored ? "" : restored.error().message));
        REQUIRE(restored.has_value());
        CHECK(restored->journal.tail.last_lsn == report->durable);
    }
    enough = true;
    CHECK(selling.get() > 0);
}
