// Clocks that jump while the server runs (RELIABILITY.md 4.2, row 21, and P7): a machine whose
// monotonic clock went on while it slept, and one whose wall clock alone did, as Linux suspends.
#include "tests/e2e/audited.hpp"
#include "tests/support/server_process.hpp"
#include "tests/support/temp_folder.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>

using namespace std::chrono_literals;
using namespace holdfast;
using namespace holdfast::test;

namespace {

using Milliseconds = std::chrono::milliseconds;

/// The clocks of a server under the shim.
class Clocks {
public:
    explicit Clocks(std::filesystem::path file) : file_(std::move(file)) { set(0ms, 0ms); }
    void set(Milliseconds monotonic, Milliseconds wall) const {
        std::array<std::int64_t, 2> const ahead{monotonic.count(), wall.count()};
        // In place: the server has the file mapped.
        std::fstream out(file_, std::ios::binary | std::ios::in | std::ios::out);
        if (!out) out.open(file_, std::ios::binary | std::ios::out);
        out.write(reinterpret_cast<char const*>(ahead.data()), sizeof ahead);
        REQUIRE(out.flush().good());
    }
    [[nodiscard]] std::unique_ptr<ServerProcess> start(std::filesystem::path const& data) const {
        return std::make_unique<ServerProcess>(
            ServerProcess::Options{.data = data,
                                   .flags = {},
                                   .variables = {{"LD_PRELOAD", HOLDFAST_CLOCK_SHIM},
                                                 {"CLOCK_SHIM", file_.string()},
                                                 {"HOLDFAST_LOG_LEVEL", "error"}}});
    }

private:
    std::filesystem::path file_;
};

struct TimedHold {
    std::string id, token;
};

void open_timed_event(ServerProcess const& server) {
    auto const made = call(server.url(), "POST", "/v1/events",
                           R"({"id":"show","name":"Show","publish":true,
                 "policy":{"orphan_rule":"off","hold_ttl_s":600,"hold_max_life_s":7200},
                 "categories":[{"key":"std","name":"Standard","price":4500}],
                 "sections":[{"id":"A","name":"Stalls","category":"std",
                              "rows":[{"label":"1","seats":20}]}]})",
                           std::string("Bearer ") + admin_token);
    INFO(made.body);
    REQUIRE(made.status == 202);
    auto const deadline = std::chrono::steady_clock::now() + 20s;
    std::string state;
    while (state != "open" && std::chrono::steady_clock::now() < deadline)
        state = json_text(call(server.url(), "GET", "/v1/events/show").body, "state");
    REQUIRE(state == "open");
}

/// How far the wall clock is ahead, as /metrics tells it; -1: it does not.
long long ahead_of(std::string const& metrics) {
    std::string const name = "\nholdfast_wall_clock_ahead_ms ";
    auto const at = metrics.find(name);
    return at == metrics.npos ? -1 : std::stoll(metrics.substr(at + name.size()));
}

/// A sync that a clock jumped over looks like a slow one until it is over: 503 for as long.
loadgen::Reply post_timed(ServerProcess const& server, std::string const& target,
                          std::string const& body) {
    auto const deadline = std::chrono::steady_clock::now() + 20s;
    for (;;) {
        auto reply = call(server.url(), "POST", target, body);
        if (reply.status != 503 || std::chrono::steady_clock::now() > deadline) return reply;
    }
}

TimedHold claim_timed(ServerProcess const& server, int seat) {
    auto const reply = post_timed(server, "/v1/events/show/holds",
                                  R"({"seats":["A-1-)" + std::to_string(seat) + R"("]})");
    INFO(reply.body);
    REQUIRE(reply.status == 201);
    return {json_text(reply.body, "hold"), json_text(reply.body, "token")};
}

loadgen::Reply read_timed(ServerProcess const& server, TimedHold const& hold) {
    return call(server.url(), "GET", "/v1/holds/" + hold.id, {}, "Hold " + hold.token);
}

unsigned buy_timed(ServerProcess const& server, TimedHold const& hold) {
    return post_timed(server, "/v1/orders",
                      R"({"holds":[{"hold":")" + hold.id + R"(","token":")" + hold.token +
                          R"("}],"payment":{"method":"none"}})")
        .status;
}

/// Milliseconds since 1970 of a member like "2026-11-29T03:25:16.317Z".
std::int64_t moment_of(std::string const& json, std::string const& name) {
    std::tm parts{};
    int ms = 0;
    std::string const text = json_text(json, name);
    CAPTURE(text);
    REQUIRE(std::sscanf(text.c_str(), "%d-%d-%dT%d:%d:%d.%dZ", &parts.tm_year, &parts.tm_mon,
                        &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &ms) == 7);
    parts.tm_year -= 1'900;
    parts.tm_mon -= 1;
    return std::int64_t{::timegm(&parts)} * 1'000 + ms;
}

}  // namespace

TEST_CASE("P7: a monotonic clock that jumps an hour ends what is due by it, and nothing before",
          "[e2e][clock]") {
    TempFolder const folder;
    Clocks const clocks(folder.path() / "clocks");
    auto const data = folder.path() / "data";
    TimedHold lasting;
    std::string deadline;
    {
        auto const server = clocks.start(data);
        open_timed_event(*server);
        TimedHold const due = claim_timed(*server, 1);
        TimedHold const due_and_paying = claim_timed(*server, 2);
        lasting = claim_timed(*server, 3);
        TimedHold const lasting_and_paying = claim_timed(*server, 4);
        for (TimedHold const& hold : {lasting, lasting_and_paying}) {
            auto const longer = call(server->url(), "POST", "/v1/holds/" + hold.id + "/extend",
                                     R"({"seconds":7000})", "Hold " + hold.token);
            INFO(longer.body);
            REQUIRE(longer.status == 200);
            deadline = json_text(longer.body, "expires_at");
        }
        auto const before = moment_of(read_timed(*server, due).body, "server_time");
        clocks.set(3'600s, 3'600s);
        CHECK(buy_timed(*server, due_and_paying) == 410);
        CHECK(read_timed(*server, due).status == 410);
        static_cast<void>(claim_timed(*server, 1));
        static_cast<void>(claim_timed(*server, 2));
        auto const alive = read_timed(*server, lasting);
        CHECK(alive.status == 200);
        CHECK(moment_of(alive.body, "server_time") - before >= 3'600'000);
        CHECK(buy_timed(*server, lasting_and_paying) == 201);
        CHECK(call(server->url(), "GET", "/readyz").status == 200);
        clocks.set(7'200s, 7'200s);
        CHECK(read_timed(*server, lasting).status == 410);
        static_cast<void>(claim_timed(*server, 3));
        CHECK(server->stop() == 0);
    }
    check_audit(data);
    // As after a suspend of which the clocks know nothing: the time of the journal is not undone.
    clocks.set(0ms, 0ms);
    auto const server = clocks.start(data);
    TimedHold const later = claim_timed(*server, 5);
    CHECK(json_text(read_timed(*server, later).body, "server_time") > deadline);
    CHECK(server->stop() == 0);
}

TEST_CASE("P7: a suspend that only the wall clock sees ends no hold, also over a restart",
          "[e2e][clock]") {
    TempFolder const folder;
    Clocks const clocks(folder.path() / "clocks");
    auto const data = folder.path() / "data";
    TimedHold paying_later;
    {
        auto const server = clocks.start(data);
        open_timed_event(*server);
        TimedHold const hold = claim_timed(*server, 1);
        paying_later = claim_timed(*server, 2);
        auto const began = std::chrono::steady_clock::now();
        auto const first = moment_of(read_timed(*server, hold).body, "server_time");
        auto last = first;
        constexpr Milliseconds year = 365 * 24h;
        for (Milliseconds const step :
             {1'000ms, -1'000ms, Milliseconds(-1h), -year, year, Milliseconds(1h)}) {
            clocks.set(0ms, step);
            CAPTURE(step.count());
            auto const reply = read_timed(*server, hold);
            REQUIRE(reply.status == 200);
            auto const now = moment_of(reply.body, "server_time");
            auto const passed =
                std::chrono::ceil<Milliseconds>(std::chrono::steady_clock::now() - began);
            CHECK(now >= last);
            CHECK(now - first <=
                  passed.count() + 10'000);  // what came before `began`, and rounding
            last = now;
        }
        auto const metrics = call(server->admin_url(), "GET", "/metrics").body;
        auto const ahead_ms = ahead_of(metrics);
        CHECK(ahead_ms >= 3'590'000);
        CHECK(ahead_ms <= 3'610'000);
        CHECK(buy_timed(*server, hold) == 201);
        server->kill();
    }
    // A start takes the wall clock's time, by which the hold was due long ago: it has its grace.
    auto const server = clocks.start(data);
    auto const reply = read_timed(*server, paying_later);
    INFO(reply.body);
    CHECK(reply.status == 200);
    CHECK(buy_timed(*server, paying_later) == 201);
    CHECK(server->stop() == 0);
    check_audit(data);
}
