// A backup whose target fails, or whose server is killed, at every system call that changes it.
#include "app/manifest.hpp"
#include "tests/e2e/faulty_server.hpp"
#include "tests/support/shoppers.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <iostream>

using namespace std::chrono_literals;
using namespace holdfast;
using namespace holdfast::test;

namespace {

constexpr char const* changing_calls[] = {"create", "pwrite", "fdatasync", "fsync", "rename"};

/// Calls are counted in this folder only; the data lie in another one.
struct FaultedBackup {
    explicit FaultedBackup(std::string const& plan) : server(data, plan + ":shelf") {
        std::filesystem::create_directory(target.parent_path());
        INFO(server.why_not());
        REQUIRE(server.started());
        make_show(server->url());
        CHECK(buyer().visit());
    }
    Buyer& buyer() {
        if (!buyer_) buyer_.emplace(server->url(), 1);
        return *buyer_;
    }
    auto begin() {
        return call(server->admin_url(), "POST", "/v1/admin/backup",
                    "{\"to\":\"" + target.string() + "\"}", staff);
    }
    /// "done", "failed", or "" if the server is gone.
    std::string back_up() {
        auto reply = begin();
        auto const deadline = std::chrono::steady_clock::now() + 60s;
        while (reply.status == 202 || json_text(reply.body, "state") == "running") {
            REQUIRE(std::chrono::steady_clock::now() < deadline);
            reply = call(server->admin_url(), "GET", "/v1/admin/backup", {}, staff);
        }
        last = reply.body;
        return reply.status == 200 ? json_text(reply.body, "state") : "";
    }
    TempFolder folder;
    std::filesystem::path data{folder.path() / "data"};
    std::filesystem::path target{folder.path() / "shelf" / "backup"};
    FaultyServer server;
    std::string last;
    std::string const staff = std::string("Bearer ") + admin_token;

private:
    std::optional<Buyer> buyer_;
};

/// False: there are fewer such calls.
bool fails_alone(std::string const& call_name, long nth) {
    FaultedBackup one(call_name + ":" + std::to_string(nth) + ":once=28");
    std::string const state = one.back_up();
    CAPTURE(call_name, nth, one.last);
    if (!one.server.met()) {
        CHECK(state == "done");
        return false;
    }
    CHECK(state == "failed");
    CHECK_FALSE(json_text(one.last, "why").empty());
    CHECK_FALSE(std::filesystem::exists(one.target));
    // The server has noticed nothing.
    CHECK(call(one.server->url(), "GET", "/readyz").status == 200);
    for (int visit = 0; visit < 5; ++visit) CHECK(one.buyer().visit());
    CHECK(one.buyer().surprise() == "");
    CHECK(one.back_up() == "done");
    CHECK(app::check_manifest(one.target).has_value());
    CHECK(one.server->stop() == 0);
    return true;
}

bool is_killed(std::string const& call_name, long nth) {
    FaultedBackup one(call_name + ":" + std::to_string(nth) + ":kill_before");
    Ledger ledger;
    ledger.add(one.buyer());
    std::string const state = one.back_up();
    CAPTURE(call_name, nth, one.last);
    if (!state.empty()) {
        CHECK(state == "done");
        return false;
    }
    one.server->kill();
    auto const manifest = app::read_manifest(one.target);
    if (manifest && *manifest) CHECK(app::check_manifest(one.target).has_value());
    ServerProcess again({.data = one.data, .flags = {}, .variables = small_variables()});
    ledger.check(again.url(), true);
    CHECK(again.stop() == 0);
    return true;
}

}  // namespace

TEST_CASE("a target that fails at any call fails the backup and nothing else", "[e2e][backup]") {
    long const most = cycles_of_run("HOLDFAST_BACKUP_FAULTS", 2, 100);
    long faults = 0;
    for (std::string const call_name : changing_calls)
        for (long nth = 1; nth <= most && fails_alone(call_name, nth); ++nth) ++faults;
    std::cout << "backup faults: " << faults << " calls failed\n";
    CHECK(faults >= 5);
}

TEST_CASE("P15: a stop leaves a backup whose target hangs, and all is sealed", "[e2e][backup]") {
    FaultedBackup one("fdatasync:1:hang");
    one.begin();
    auto const deadline = std::chrono::steady_clock::now() + 60s;
    while (!one.server.met()) {
        REQUIRE(std::chrono::steady_clock::now() < deadline);
        CHECK(one.buyer().visit());  // it is in nobody's way
    }
    Ledger ledger;
    ledger.add(one.buyer());
    one.server->child().signal(SIGTERM);
    CHECK(one.server->child().wait(10s) == 0);
    // The next one finds a clean end, and nobody in its way.
    auto variables = small_variables();
    variables["HOLDFAST_LOG_LEVEL"] = "info";
    ServerProcess again({.data = one.data, .flags = {}, .variables = variables});
    ledger.check(again.url(), true);
    CHECK(again.stop() == 0);
    CHECK(again.child().rest_of_errors().find("\"clean\":true") != std::string::npos);
}

TEST_CASE("a backup whose server is killed at any call is whole or none", "[e2e][backup]") {
    long const most = cycles_of_run("HOLDFAST_BACKUP_FAULTS", 1, 100);
    long kills = 0;
    for (std::string const call_name : changing_calls)
        for (long nth = 1; nth <= most && is_killed(call_name, nth); ++nth) ++kills;
    std::cout << "backup kills: " << kills << " kills\n";
    CHECK(kills >= 5);
}
