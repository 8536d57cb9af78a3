// The release program at every system call that changes its journal: killed before or after it, or
// told that it failed. What was acknowledged is checked on a server without faults.
#include "tests/e2e/faulty_server.hpp"
#include "tests/e2e/journal_folder.hpp"
#include "tests/http/live.hpp"
#include "tests/support/shoppers.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <iostream>
#include <signal.h>

using namespace std::chrono_literals;
using namespace holdfast;
using namespace holdfast::test;

namespace {

constexpr int killed = 128 + 9;
constexpr int visits = 24;  // enough for a change of segments, each a claim and what comes of it

/// Lives on one data folder; after some of them all that was acknowledged is checked.
class Loop {
public:
    explicit Loop(std::uint64_t seed) : random_(seed) {
        FaultyServer server(data(), "");
        REQUIRE(server.started());
        make_show(server->url());
        REQUIRE(server->stop() == 0);
    }

    /// Kills at call N, N + step, … until a whole life has fewer of them; how many kills.
    long kill_at_each(std::string const& call, std::string const& when, long step) {
        long kills = 0;
        for (long n = 1 + static_cast<long>(random_() % static_cast<std::uint64_t>(step));;
             n += step) {
            CAPTURE(call, when, n);
            REQUIRE(n < 2'000);
            FaultyServer server(data(), call + ":" + std::to_string(n) + ":" + when);
            if (server.started()) {
                shop(server);
                int const code = server->stop();
                if (code == 0) return kills;
                REQUIRE(code == killed);
            } else {
                INFO(server.why_not());
                REQUIRE(server.why_not().find("exit 137") != std::string::npos);
            }
            count_deleted();
            if (++kills % 8 == 0) check();
        }
    }

    /// The same with calls that fail; how many failures were met.
    long fail_at_each(std::string const& call, std::string const& how, long step) {
        long failures = 0;
        for (long n = 1 + static_cast<long>(random_() % static_cast<std::uint64_t>(step));;
             n += step) {
            CAPTURE(call, how, n);
            REQUIRE(n < 2'000);
            FaultyServer server(data(), call + ":" + std::to_string(n) + ":" + how);
            if (server.started()) {
                bool const refused = shop(server);
                if (refused) check_read_only(server);
                if (refused) ask_without_keys(server);
                bool const met = server.met();
                int const code = server->stop();
                bool const said = code == 0 || code == 75;
                CAPTURE(code, refused);
                REQUIRE(said);
                if (!met) return failures;
            } else {
                INFO(server.why_not());
                REQUIRE(server.met());
                // What cannot be opened cannot be read (R11).
                bool const unread =
                    call == "open" && server.why_not().find("exit 77") != std::string::npos;
                bool const said = unread || server.why_not().find("exit 76") != std::string::npos ||
                                  server.why_not().find("exit 1:") != std::string::npos;
                REQUIRE(said);
            }
            count_deleted();
            if (++failures % 4 == 0) check();
        }
    }

    /// True: there were such writes.
    bool live_on_short_writes() {
        FaultyServer server(data(), "pwrite:1:short:/journal/");
        REQUIRE(server.started());
        CHECK_FALSE(shop(server));
        CHECK(server->stop() == 0);
        return server.met();
    }

    void check() {
        FaultyServer server(data(), "");
        INFO(server.why_not());
        REQUIRE(server.started());
        ledger_.check(server->url());
        for (Known const& hold : given_back_) {
            CAPTURE(hold.hold);
            auto const read =
                call(server->url(), "GET", "/v1/holds/" + hold.hold, {}, hold.authorization());
            CHECK(json_text(read.body, "state") != "held");
        }
        given_back_.clear();
        REQUIRE(server->stop() == 0);
        first_ = first_segment(data());
    }
    /// Segments that went in lives with a fault in them.
    [[nodiscard]] std::uint64_t deleted() const { return deleted_; }
    [[nodiscard]] std::size_t acknowledged() const { return ledger_.size(); }

private:
    [[nodiscard]] std::filesystem::path data() const { return folder_.path() / "data"; }

    void count_deleted() {
        std::uint64_t const first = first_segment(data());
        deleted_ += first - first_;
        first_ = first;
    }

    /// True: the server said that it can acknowledge nothing any more.
    bool shop(FaultyServer& server) {
        Buyer buyer(server->url(), random_(), Habits::all);
        for (int visit = 0; visit < visits && buyer.visit(); ++visit) continue;
        ledger_.add(buyer);
        unanswered_.clear();
        for (Known const& hold : buyer.known())
            if (hold.asked && hold.asked->kind == Step::Kind::release) unanswered_.push_back(hold);
        return buyer.was_refused();
    }

    /// P3: what a server whose journal failed has done in memory only it must not confirm. One that
    /// lost nothing, or that is only without space, may.
    void ask_without_keys(FaultyServer& server) {
        for (Known const& hold : unanswered_) {
            auto const again =
                call(server->url(), "DELETE", "/v1/holds/" + hold.hold, {}, hold.authorization());
            if (again.status == 204) given_back_.push_back(hold);
        }
    }

    /// P9: nothing more is acknowledged, everybody can see why, and reads go on.
    static void check_read_only(FaultyServer& server) {
        auto const ready = call(server->admin_url(), "GET", "/readyz");
        CHECK(ready.status == 503);
        auto const metrics = call(server->admin_url(), "GET", "/metrics").body;
        bool const failed = metrics.find("holdfast_mode 3") != std::string::npos;
        // Else a spare could not be made, which heals.
        bool const waits_for_space = metrics.find("holdfast_mode 2") != std::string::npos;
        CHECK(failed != waits_for_space);
        char const* const reason = failed ? "journal-failed" : "journal-read-only";
        CHECK(ready.body.find(reason) != std::string::npos);
        auto const claim =
            call(server->url(), "POST", "/v1/events/show/holds", R"({"seats":["A-1-1"]})");
        // A seat that is known to be taken needs no journal to be refused.
        if (claim.status != 409) {
            CHECK(claim.status == 503);
            CHECK(json_text(claim.body, "code") == "read-only");
        }
        CHECK(call(server->url(), "GET", "/v1/events/show").status == 200);
    }

    TempFolder folder_;
    Ledger ledger_;
    std::mt19937_64 random_;
    std::vector<Known> unanswered_;  // releases of the last buyer
    std::vector<Known> given_back_;  // of those, confirmed all the same since the last check
    std::uint64_t first_{1};
    std::uint64_t deleted_{};
};

}  // namespace

TEST_CASE("P3 P4: the server may be killed at every sync, write, rename and removal",
          "[e2e][kill]") {
    // All of them under HOLDFAST_CI; else every fifth, from a random one on.
    long const step = cycles_of_run("HOLDFAST_FAULT_STEP", 5, 1);
    Loop loop(seed_of_run("syscall kills"));
    auto const began = std::chrono::steady_clock::now();
    long kills = 0;
    for (char const* const when : {"kill_before", "kill_after"}) {
        for (char const* const call : {"fdatasync", "pwrite"})
            kills += loop.kill_at_each(call, when, step);
        for (char const* const call : {"rename", "unlink", "fsync", "create"})
            kills += loop.kill_at_each(call, when, 1);
    }
    loop.check();
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - began;
    std::cout << "syscall kills: " << kills << ", " << loop.acknowledged()
              << " acknowledged holds, nothing lost; " << loop.deleted() << " segments deleted; "
              << took.count() << " s\n";
    CHECK(kills > 20);
    CHECK(loop.deleted() > 0);
}

TEST_CASE("P9: each sync, write, rename and removal may fail, once or from then on",
          "[e2e][fault]") {
    long const step = cycles_of_run("HOLDFAST_FAULT_STEP", 15, 4);
    Loop loop(seed_of_run("syscall errors"));
    auto const began = std::chrono::steady_clock::now();
    long failures = 0;
    for (char const* const how : {"once", "from"}) {
        failures += loop.fail_at_each("fdatasync", how + std::string("=5"), step);     // EIO
        failures += loop.fail_at_each("pwrite", how + std::string("=28"), 2 * step);   // ENOSPC
        failures += loop.fail_at_each("pwrite", how + std::string("=122"), 4 * step);  // EDQUOT
        for (char const* const call : {"rename", "unlink", "fsync", "create"})
            failures += loop.fail_at_each(call, how + std::string("=5"), 2);
        for (char const* const error : {"=5", "=24"})  // EIO, EMFILE
            failures += loop.fail_at_each("open", how + std::string(error), step);
    }
    loop.check();
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - began;
    std::cout << "syscall errors: " << failures << ", " << loop.acknowledged()
              << " acknowledged holds, nothing lost; " << loop.deleted() << " segments deleted; "
              << took.count() << " s\n";
    CHECK(failures > 10);
    CHECK(loop.deleted() > 0);
}

TEST_CASE("a start without threads, epoll or eventfd says so, and the next one starts",
          "[e2e][fault]") {
    TempFolder const folder;
    long refusals = 0;
    for (auto const& [what, error] :
         {std::pair{"thread", "11"}, {"epoll", "24"}, {"eventfd", "24"}}) {
        for (long n = 1;; ++n) {
            CAPTURE(what, n);
            REQUIRE(n < 100);
            FaultyServer server(folder.path() / "data",
                                what + (":" + std::to_string(n)) + ":once=" + error);
            if (server.started()) {
                bool const met = server.met();  // then it can do without
                CHECK(server->stop() == 0);
                if (!met) break;
            } else {
                INFO(server.why_not());
                REQUIRE(server.met());
                CHECK(server.why_not().find("exit 76: ") != std::string::npos);
                CHECK(server.why_not().find("; let the process have more ") != std::string::npos);
                CHECK(server.why_not().find("holdfast: ") != std::string::npos);
                // The code alone, EAGAIN, would say nothing.
                bool const names_it =
                    server.why_not().find("a thread cannot be started") != std::string::npos;
                CHECK(names_it == (std::string_view{what} == "thread"));
                ++refusals;
            }
        }
    }
    CHECK(refusals > 8);
}

TEST_CASE("P9: a server whose journal failed ends with 75 once its grace is over", "[e2e][fault]") {
    TempFolder const folder;
    auto variables = small_variables();
    variables.insert({{"HOLDFAST_STORAGE_FAILED_GRACE_S", "1"},
                      {"LD_PRELOAD", HOLDFAST_FAULT_SHIM},
                      {"FAULT_SHIM", "fdatasync:30:from=5:/journal/"},
                      {"FAULT_SHIM_MARK", (folder.path() / "mark").string()}});
    ServerProcess server({.data = folder.path() / "data", .flags = {}, .variables = variables});
    make_show(server.url());
    Buyer buyer(server.url(), seed_of_run("failed grace"));
    while (buyer.visit()) continue;
    CHECK(buyer.was_refused());
    CHECK(server.child().wait(20s) == 75);
}

TEST_CASE("P3: writes that do less than they were asked to are gone on with", "[e2e][fault]") {
    Loop loop(seed_of_run("short writes"));
    CHECK(loop.live_on_short_writes());
    loop.check();
    CHECK(loop.acknowledged() > 3);
}

TEST_CASE("P15: a stop ends though a sync of the journal or the store hangs",
          "[e2e][fault][stop]") {
    std::string const part = GENERATE(as<std::string>{}, "/journal/", "store.db");
    TempFolder const folder;
    auto const from = folder.path() / "from";
    Ledger ledger;
    {
        FaultyServer server(folder.path() / "data", "fdatasync:1:hang:" + part, false, from);
        INFO(server.why_not());
        REQUIRE(server.started());
        make_show(server->url());
        Buyer buyer(server->url(), 1);
        for (int visit = 0; visit < 5 && buyer.visit(); ++visit) continue;
        ledger.add(buyer);
        std::ofstream{from};
        auto const address = server->url().substr(std::string_view{"http://"}.size());
        live::Client making{address};
        REQUIRE(
            making.send(live::post("/v1/events", R"({"name":"Late","categories":
            [{"key":"std","name":"S","price":1}],"sections":[{"id":"G","name":"G","category":"std",
            "capacity":1}]})",
                                   std::string{"Authorization: Bearer "} + admin_token + "\r\n")));
        auto const deadline = std::chrono::steady_clock::now() + 20s;
        while (!server.met()) REQUIRE(std::chrono::steady_clock::now() < deadline);
        server->child().signal(SIGTERM);
        CHECK(server->child().wait(60s) == 75);
        CHECK_THAT(server->child().rest_of_errors(), Catch::Contains("the stop took too long"));
    }
    ServerProcess again(
        {.data = folder.path() / "data", .flags = {}, .variables = small_variables()});
    ledger.check(again.url(), true);
    CHECK(again.stop() == 0);
}
