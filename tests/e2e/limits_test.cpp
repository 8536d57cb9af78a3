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
    loadgen::Reply answer;
    for (int i = 0; i < 100'000 && answer.status != 429; ++i)
        answer = call(server.url(), "GET", my_hold, {}, mine);
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
