// A server that stands still (SIGSTOP) while deadlines pass: what it does first when it goes on is
// judged by the time of then (RELIABILITY.md 4.2, row 22).
#include "tests/e2e/audited.hpp"
#include "tests/support/server_process.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <future>
#include <signal.h>
#include <sstream>
#include <vector>

using namespace std::chrono_literals;
using namespace holdfast;
using namespace holdfast::test;

namespace {

constexpr int short_holds = 6;

std::string const paused_show =
    R"({"id":"show","name":"Show","publish":true,"policy":{"orphan_rule":"off","hold_ttl_s":)";
std::string const paused_seats =
    R"(},"categories":[{"key":"std","name":"Standard","price":4500}],
        "sections":[{"id":"A","name":"Stalls","category":"std",
                     "rows":[{"label":"1","seats":20}]}]})";

struct PausedHold {
    std::string id, token;
    [[nodiscard]] std::string authorization() const { return "Hold " + token; }
};

PausedHold claim_seat(ServerProcess const& server, std::string const& event, int seat) {
    auto const reply = call(server.url(), "POST", "/v1/events/" + event + "/holds",
                            R"({"seats":["A-1-)" + std::to_string(seat) + R"("]})");
    INFO(reply.body);
    REQUIRE(reply.status == 201);
    return {json_text(reply.body, "hold"), json_text(reply.body, "token")};
}

void make_paused_event(ServerProcess const& server, std::string const& id, int hold_ttl_s) {
    std::string body = paused_show + std::to_string(hold_ttl_s) + paused_seats;
    body.replace(body.find("show"), 4, id);
    auto const made =
        call(server.url(), "POST", "/v1/events", body, std::string("Bearer ") + admin_token);
    INFO(made.body);
    REQUIRE(made.status == 202);
    auto const deadline = std::chrono::steady_clock::now() + 20s;
    std::string state;
    while (state != "open" && std::chrono::steady_clock::now() < deadline)
        state = json_text(call(server.url(), "GET", "/v1/events/" + id).body, "state");
    REQUIRE(state == "open");
}

/// The letter of /proc/PID/stat.
char state_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::stringstream text;
    text << file.rdbuf();
    std::string const all = text.str();
    auto const name_end = all.rfind(')');
    return name_end == std::string::npos ? '?' : all[name_end + 2];
}

loadgen::Reply order(std::string const& url, PausedHold const& hold) {
    return call(url, "POST", "/v1/orders",
                R"({"holds":[")" + hold.id + R"("],"payment":{"method":"none"}})",
                hold.authorization());
}

}  // namespace

TEST_CASE("P7: a server that was paused ends no hold early and sells none past its deadline",
          "[e2e][pause]") {
    TempFolder const folder;
    {
        ServerProcess server({.data = folder.path() / "data",
                              .flags = {},
                              .variables = {{"HOLDFAST_HOLD_TTL_MIN_S", "1"}}});
        make_paused_event(server, "show", 1);
        make_paused_event(server, "long", 300);
        std::vector<PausedHold> long_ones;
        for (int seat = 1; seat <= short_holds; ++seat)
            long_ones.push_back(claim_seat(server, "long", seat));
        std::vector<PausedHold> short_ones;
        for (int seat = 1; seat <= short_holds; ++seat)
            short_ones.push_back(claim_seat(server, "show", seat));
        auto const claimed = std::chrono::steady_clock::now();
        server.child().signal(SIGSTOP);
        while (state_of(server.child().pid()) != 'T')
            REQUIRE(state_of(server.child().pid()) != '?');
        // Requests that come while it stands still wait in the kernel, and are there at once.
        std::vector<std::future<loadgen::Reply>> late;
        for (PausedHold const& hold : short_ones)
            late.push_back(std::async(std::launch::async, order, server.url(), hold));
        auto paid = std::async(std::launch::async, order, server.url(), long_ones.front());
        // It is over when each deadline has passed: a second after the last claim.
        while (std::chrono::steady_clock::now() < claimed + 1100ms) std::this_thread::yield();
        REQUIRE(state_of(server.child().pid()) == 'T');
        server.child().signal(SIGCONT);
        for (auto& each : late) {
            auto const reply = each.get();
            INFO(reply.body);
            CHECK(reply.status == 410);
        }
        CHECK(paid.get().status == 201);
        for (std::size_t at = 1; at < long_ones.size(); ++at) {
            PausedHold const& hold = long_ones[at];
            CHECK(call(server.url(), "GET", "/v1/holds/" + hold.id, {}, hold.authorization())
                      .status == 200);
        }
        // Their seats are for sale again, and sold once.
        for (int seat = 1; seat <= short_holds; ++seat) {
            PausedHold const hold = claim_seat(server, "show", seat);
            if (seat % 2 == 0) CHECK(order(server.url(), hold).status == 201);
        }
        CHECK(server.stop() == 0);
    }
    check_audit(folder.path() / "data");
}
