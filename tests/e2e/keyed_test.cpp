// Idempotency keys over real sockets, real threads and kill -9: one effect, and the same answer.
#include "loadgen/client.hpp"
#include "tests/support/shoppers.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <set>
#include <vector>

using namespace holdfast;
using namespace holdfast::test;
using namespace std::chrono_literals;

namespace {

struct Ask {
    std::string method, target, body, key, authorization;
};

loadgen::Reply send(std::string const& url, Ask const& ask) {
    loadgen::Query query{
        .method = ask.method, .target = ask.target, .fields = {}, .body = ask.body};
    if (!ask.body.empty()) query.fields.emplace_back("Content-Type", "application/json");
    if (!ask.authorization.empty()) query.fields.emplace_back("Authorization", ask.authorization);
    query.fields.emplace_back("Idempotency-Key", ask.key);
    loadgen::Session session(*loadgen::parse_url(url), 15s);
    auto const reply = session.call(query);
    // No check here: other threads call it.
    return reply ? *reply : loadgen::Reply{};
}

bool is_repeat(loadgen::Reply const& reply) {
    return reply.field("idempotency-replayed") == "true";
}

std::string const staff_token = std::string("Bearer ") + admin_token;

using Asked = std::vector<std::pair<Ask, loadgen::Reply>>;

/// One of each request that changes something.
Asked ask_everything(std::string const& url) {
    Asked asked;
    auto const ask = [&](unsigned status, Ask const& one) {
        auto const reply = send(url, one);
        CAPTURE(one.target, reply.body);
        REQUIRE(reply.status == status);
        CHECK_FALSE(is_repeat(reply));
        asked.emplace_back(one, reply);
        return reply.body;
    };
    std::string const claim = ask(201, {"POST",
                                        "/v1/events/show/holds",
                                        R"({"seats":["A-1-1","A-1-2","A-1-3"]})",
                                        "one-claim-of-three-seats",
                                        {}});
    std::string const path = "/v1/holds/" + json_text(claim, "hold");
    std::string const who = "Hold " + json_text(claim, "token");
    ask(200, {"POST", path + "/extend", R"({"seconds":7200})", "1", who});
    ask(200, {"PUT", path + "/seats", R"({"seats":["A-1-2","A-1-3"]})", "2", who});
    ask(200, {"PUT", path + "/seats", R"({"seats":["A-1-3","A-1-2"]})", "2-again", who});
    std::string const order = ask(
        201,
        {"POST", "/v1/orders", R"({"holds":[")" + json_text(claim, "hold") + R"("]})", "3", who});
    std::string const ticket = json_text(order.substr(order.find("\"ticket\"")), "ticket");
    std::string const orders = "/v1/orders/" + json_text(order, "order");
    ask(200, {"POST", orders + "/reseat",
              R"({"seats":[{"ticket":")" + ticket + R"(","to":"A-9-9"}]})", "4", staff_token});
    ask(200,
        {"POST", orders + "/refund", R"({"tickets":[")" + ticket + R"("]})", "5", staff_token});
    ask(200, {"POST", orders + "/cancel", {}, "6", staff_token});
    std::string const block =
        ask(201, {"POST", "/v1/events/show/blocks", R"({"seats":["A-5-5"]})", "7", staff_token});
    ask(204, {"DELETE", "/v1/blocks/" + json_text(block, "hold"), {}, "8", staff_token});
    ask(202,
        {"POST", "/v1/events",
         R"({"id":"gala","name":"Gala","sections":[{"id":"A","rows":[{"label":"1","seats":20}]}]})",
         "9", staff_token});
    ask(200, {"POST", "/v1/events/show/pause", {}, "10", staff_token});
    return asked;
}

}  // namespace

TEST_CASE("C20: of fifty equal requests at once one has an effect", "[e2e][keyed]") {
    TempFolder const folder;
    ServerProcess::Options options;
    options.data = folder.path();
    options.variables = {{"HOLDFAST_SERVER_IO_THREADS", "4"}, {"HOLDFAST_LOG_LEVEL", "warn"}};
    ServerProcess server(options);
    make_show(server.url());
    for (int round = 1; round <= 5; ++round) {
        CAPTURE(round);
        std::string const seat = "A-" + std::to_string(round);
        Ask const ask{"POST",
                      "/v1/events/show/holds",
                      R"({"seats":[")" + seat + R"(-1",")" + seat + R"(-2"]})",
                      "fifty-at-once-in-round-" + std::to_string(round),
                      {}};
        std::vector<std::future<loadgen::Reply>> crowd;
        for (int i = 0; i < 50; ++i)
            crowd.push_back(
                std::async(std::launch::async, [&] { return send(server.url(), ask); }));
        std::set<std::string> holds;
        int firsts = 0;
        for (auto& one : crowd) {
            loadgen::Reply const reply = one.get();
            CAPTURE(reply.status, reply.body);
            if (reply.status == 409) {
                CHECK(json_text(reply.body, "code") == "in-flight");
                continue;
            }
            REQUIRE(reply.status == 201);
            holds.insert(json_text(reply.body, "hold"));
            firsts += is_repeat(reply) ? 0 : 1;
        }
        CHECK(firsts == 1);
        CHECK(holds.size() == 1);
        CHECK(json_number(call(server.url(), "GET", "/v1/events/show").body, "held") == 2 * round);
    }
    CHECK(server.stop() == 0);
}

TEST_CASE("P4: a key tells after kill -9 what was answered before it", "[e2e][keyed]") {
    TempFolder const folder;
    ServerProcess::Options options;
    options.data = folder.path();
    options.variables = {{"HOLDFAST_LOG_LEVEL", "warn"}};
    auto server = std::make_unique<ServerProcess>(options);
    make_show(server->url());
    auto const asked = ask_everything(server->url());
    for (int restart = 0; restart < 2; ++restart) {
        restart == 0 ? server->kill() : static_cast<void>(server->stop());
        server.reset();
        server = std::make_unique<ServerProcess>(options);
        auto const places = [&server] {
            return json_part(call(server->url(), "GET", "/v1/events/show").body, "availability");
        };
        std::string const before = places();
        for (auto const& [one, first] : asked) {
            auto const again = send(server->url(), one);
            CAPTURE(restart, one.target, first.body, again.body);
            CHECK(again.status == first.status);
            CHECK(is_repeat(again));
            CHECK(again.field("location") == first.field("location"));
            for (char const* const part : {"seats", "tickets", "general"})
                CHECK(json_part(again.body, part) == json_part(first.body, part));
            for (char const* const text :
                 {"hold", "token", "order", "state", "expires_at", "created_at", "job", "event"})
                CHECK(json_text(again.body, text) == json_text(first.body, text));
            CHECK(json_number(again.body, "total") == json_number(first.body, "total"));
        }
        // Another body is another request, also after a restart.
        Ask other = asked.front().first;
        other.body = R"({"seats":["A-7-7"]})";
        CHECK(send(server->url(), other).status == 422);
        CHECK(places() == before);
    }
    CHECK(server->stop() == 0);
}
