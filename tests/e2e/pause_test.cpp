// A server that stands still (SIGSTOP) while deadlines pass: what it does first when it goes on is
// judged by the time of then (RELIABILITY.md 4.2, row 22).
#include "tests/e2e/audited.hpp"
#include "tests/http/live.hpp"
#include "tests/support/server_process.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <optional>
#include <signal.h>
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

std::vector<PausedHold> claim_some(ServerProcess const& server, std::string const& event) {
    std::vector<PausedHold> holds;
    for (int seat = 1; seat <= short_holds; ++seat)
        holds.push_back(claim_seat(server, event, seat));
    return holds;
}

/// An event with holds that were alive when the server was stopped.
struct Paused {
    std::string event;
    std::chrono::seconds ttl{};
    std::vector<PausedHold> holds;
};

/// The first event whose holds live longer than this machine takes to make them all.
std::optional<Paused> pause_with_live_holds(ServerProcess& server) {
    for (int ttl_s = 1; ttl_s <= 64; ttl_s *= 2) {
        std::string const event = "show-" + std::to_string(ttl_s);
        make_paused_event(server, event, ttl_s);
        auto const before = std::chrono::steady_clock::now();
        auto holds = claim_some(server, event);
        server.pause();
        std::chrono::seconds const ttl{ttl_s};
        if (std::chrono::steady_clock::now() < before + ttl)
            return Paused{event, ttl, std::move(holds)};
        server.child().signal(SIGCONT);
    }
    return std::nullopt;
}

std::string order_bytes(PausedHold const& hold) {
    return live::post("/v1/orders",
                      R"({"holds":[")" + hold.id + R"("],"payment":{"method":"none"}})",
                      "Authorization: " + hold.authorization() + "\r\n");
}

}  // namespace

TEST_CASE("P7: a server that was paused ends no hold early and sells none past its deadline",
          "[e2e][pause]") {
    TempFolder const folder;
    {
        ServerProcess server({.data = folder.path() / "data",
                              .flags = {},
                              .variables = {{"HOLDFAST_HOLD_TTL_MIN_S", "1"}}});
        std::string const address = server.url().substr(std::string_view("http://").size());
        make_paused_event(server, "long", 600);
        auto const long_ones = claim_some(server, "long");
        auto const paused = pause_with_live_holds(server);
        REQUIRE(paused.has_value());
        // Requests that come while it stands still are in the kernel before it goes on.
        std::vector<live::Client> late(short_holds);
        for (std::size_t at = 0; at < late.size(); ++at) {
            late[at].connect(address);
            REQUIRE(late[at].send(order_bytes(paused->holds[at])));
        }
        live::Client paying(address);
        REQUIRE(paying.send(order_bytes(long_ones.front())));
        // It still runs when each deadline has passed: counted from the last answer.
        REQUIRE(server.child().wait(paused->ttl + 100ms) == -1);
        server.child().signal(SIGCONT);
        for (auto& each : late) {
            auto const answer = each.answer();
            INFO(answer.body);
            CHECK(answer.status == 410);
        }
        CHECK(paying.answer().status == 201);
        for (std::size_t at = 1; at < long_ones.size(); ++at) {
            PausedHold const& hold = long_ones[at];
            CHECK(call(server.url(), "GET", "/v1/holds/" + hold.id, {}, hold.authorization())
                      .status == 200);
        }
        // Their seats are for sale again.
        static_cast<void>(claim_some(server, paused->event));
        CHECK(server.stop() == 0);
    }
    check_audit(folder.path() / "data");
}
