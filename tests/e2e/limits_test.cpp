// What the front door tells whoever asks too often, over sockets and in /metrics.
#include "tests/support/server_process.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <string>

using namespace holdfast;
using namespace holdfast::test;

namespace {

std::string claimed(ServerProcess const& server, std::string& authorization) {
    auto const held =
        call(server.url(), "POST", "/v1/events/demo/holds", R"({"best":{"quantity":1}})");
    INFO(held.body);
    REQUIRE(held.status == 201);
    authorization = "Hold " + json_text(held.body, "token");
    return "/v1/holds/" + json_text(held.body, "hold");
}

long long metric(ServerProcess const& server, std::string const& name) {
    std::string const text = call(server.admin_url(), "GET", "/metrics").body;
    auto const at = text.find("\n" + name + " ");
    if (at == std::string::npos) return -1;
    return std::stoll(text.substr(at + name.size() + 2));
}

/// The first answer of that status to the same request, again and again; else the last one.
loadgen::Reply asked_until(ServerProcess const& server, loadgen::Query const& query,
                           unsigned status) {
    loadgen::Reply answer;
    for (int i = 0; i < 100'000 && answer.status != status; ++i) {
        auto const reply = loadgen::fetch(server.url(), query, std::chrono::seconds{15});
        REQUIRE(reply.has_value());
        answer = *reply;
    }
    return answer;
}

}  // namespace

TEST_CASE("who asks too often with a hold's token is told to wait, and nobody else is",
          "[e2e][limits]") {
    TempFolder const folder;
    // A bucket that gets one more only every second: what is refused shows in any run.
    ServerProcess server({.data = folder.path(),
                          .flags = {"--demo"},
                          .variables = {{"HOLDFAST_HTTP_READS_PER_HOLD_S", "1"}}});
    std::string mine;
    std::string others;
    std::string const my_hold = claimed(server, mine);
    std::string const other_hold = claimed(server, others);
    loadgen::Query const read{
        .method = "GET", .target = my_hold, .fields = {{"Authorization", mine}}, .body = {}};
    auto const answer = asked_until(server, read, 429);
    INFO(answer.body);
    REQUIRE(answer.status == 429);
    CHECK(json_text(answer.body, "code") == "rate-limited");
    CHECK(call(server.url(), "GET", other_hold, {}, others).status == 200);
    CHECK(call(server.url(), "DELETE", my_hold, {}, mine).status == 204);
    CHECK(metric(server, "holdfast_hold_rate_limited_total{class=\"read\"}") >= 1);
    CHECK(metric(server, "holdfast_hold_rate_limited_total{class=\"write\"}") == 0);
    CHECK(metric(server, "holdfast_rate_limited_holds") == 2);
    CHECK(server.stop() == 0);
}

TEST_CASE("what no route takes is counted for its network, and refused with the others",
          "[e2e][limits]") {
    TempFolder const folder;
    ServerProcess server({.data = folder.path(),
                          .flags = {"--demo"},
                          .variables = {{"HOLDFAST_HTTP_LIMIT_LOOPBACK", "true"},
                                        {"HOLDFAST_HTTP_READS_PER_NETWORK_S", "1"}}});
    std::vector<loadgen::Query> const queries{
        {.method = "GET", .target = "/nowhere", .fields = {}, .body = {}},
        {.method = "DELETE", .target = "/v1/events", .fields = {}, .body = {}},
        {.method = "OPTIONS", .target = "/v1/orders", .fields = {}, .body = {}},
        {.method = "POST",
         .target = "/v1/orders",
         .fields = {{"Content-Type", "text/plain"}},
         .body = "hi"}};
    for (loadgen::Query const& query : queries) {
        auto const refused = asked_until(server, query, 429);
        CAPTURE(query.method, refused.body);
        CHECK(refused.status == 429);
        CHECK(json_text(refused.body, "code") == "rate-limited");
    }
    // They had the bucket of reads, and none of the others.
    loadgen::Query const read{
        .method = "GET", .target = "/v1/events/demo", .fields = {}, .body = {}};
    CHECK(asked_until(server, read, 429).status == 429);
    CHECK(call(server.url(), "GET", "/healthz").status == 200);
    std::string authorization;
    claimed(server, authorization);
    CHECK(metric(server, "holdfast_rate_limited_total{class=\"read\"}") >= 5);
    CHECK(metric(server, "holdfast_rate_limited_total{class=\"write\"}") == 0);
    CHECK(server.stop() == 0);
}

TEST_CASE("who sends nothing but faults is answered no more, and claims go on", "[e2e][limits]") {
    TempFolder const folder;
    ServerProcess server({.data = folder.path(),
                          .flags = {"--demo"},
                          .variables = {{"HOLDFAST_HTTP_LIMIT_LOOPBACK", "true"},
                                        {"HOLDFAST_HTTP_READS_PER_NETWORK_S", "1"}}});
    loadgen::Query const fault{
        .method = std::string(100, 'X'), .target = "/v1/events", .fields = {}, .body = {}};
    int answered = 0;
    for (bool told = true; told && answered < 10'000; answered += told ? 1 : 0) {
        auto const reply = loadgen::fetch(server.url(), fault, std::chrono::seconds{15});
        told = reply.has_value();
        if (told) REQUIRE(reply->status == 501);
    }
    CHECK(answered >= 10);
    CHECK(answered < 10'000);
    std::string authorization;
    std::string const hold = claimed(server, authorization);
    CHECK(call(server.url(), "DELETE", hold, {}, authorization).status == 204);
    CHECK(call(server.url(), "GET", "/healthz").status == 200);
    CHECK(metric(server, "holdfast_rate_limited_total{class=\"read\"}") >= 1);
    CHECK(metric(server, "holdfast_rate_limited_total{class=\"write\"}") == 0);
    CHECK(server.stop() == 0);
}
