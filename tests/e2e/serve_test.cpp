#include "tests/support/server_process.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <signal.h>
#include <utility>

using namespace std::chrono_literals;
using namespace holdfast;
using namespace holdfast::test;

namespace {

std::string const bearer = std::string("Bearer ") + admin_token;

/// An open event with rows A-1-1 … A-1-20 and a floor of 50.
void make_event(ServerProcess& server, int hold_ttl_s = 300) {
    std::string const body =
        R"({"id":"show","name":"Show","publish":true,"policy":{"orphan_rule":"off","hold_ttl_s":)" +
        std::to_string(hold_ttl_s) +
        R"(},
           "categories":[{"key":"std","name":"Standard","price":4500}],
           "sections":[{"id":"A","name":"Stalls","category":"std",
                        "rows":[{"label":"1","seats":20}]},
                       {"id":"GA","name":"Floor","category":"std","capacity":50}]})";
    auto const made = call(server.url(), "POST", "/v1/events", body, bearer);
    INFO(made.body);
    REQUIRE(made.status == 202);
    std::string state;
    auto const deadline = std::chrono::steady_clock::now() + 10s;
    while (state != "open" && std::chrono::steady_clock::now() < deadline) {
        state = json_text(call(server.url(), "GET", "/v1/events/show").body, "state");
    }
    REQUIRE(state == "open");
}

struct Hold {
    std::string id;
    std::string token;
    std::string seats;
    std::string expires_at;
    [[nodiscard]] std::string authorization() const { return "Hold " + token; }
};

Hold claim(ServerProcess& server, std::string const& body) {
    auto const reply = call(server.url(), "POST", "/v1/events/show/holds", body);
    INFO(reply.body);
    REQUIRE(reply.status == 201);
    return {json_text(reply.body, "hold"), json_text(reply.body, "token"),
            json_part(reply.body, "seats"), json_text(reply.body, "expires_at")};
}

}  // namespace

TEST_CASE("a served sale: claim, read, order, release, stop with exit 0", "[e2e]") {
    TempFolder const folder;
    ServerProcess server({.data = folder.path() / "data", .flags = {}, .variables = {}});
    CHECK(call(server.url(), "GET", "/healthz").status == 200);
    CHECK(call(server.url(), "GET", "/readyz").status == 200);
    CHECK(call(server.admin_url(), "GET", "/metrics").status == 200);
    CHECK(call(server.url(), "GET", "/metrics").status == 404);
    make_event(server);
    Hold const first = claim(server, R"({"seats":["A-1-1","A-1-2"]})");
    CHECK(call(server.url(), "POST", "/v1/events/show/holds", R"({"seats":["A-1-2"]})").status ==
          409);
    CHECK(call(server.url(), "GET", "/v1/holds/" + first.id, {}, first.authorization()).status ==
          200);
    auto const order = call(server.url(), "POST", "/v1/orders",
                            R"({"holds":[")" + first.id + R"("],"payment":{"method":"none"}})",
                            first.authorization());
    INFO(order.body);
    CHECK(order.status == 201);
    auto const read = call(server.url(), "GET", "/v1/orders/" + json_text(order.body, "order"), {},
                           first.authorization());
    CHECK(read.status == 200);
    CHECK(json_part(read.body, "tickets") == json_part(order.body, "tickets"));
    Hold const second = claim(server, R"({"section":"GA","quantity":3})");
    CHECK(
        call(server.url(), "DELETE", "/v1/holds/" + second.id, {}, second.authorization()).status ==
        204);
    CHECK(server.stop() == 0);
    CHECK(server.child().rest_of_output().empty());
}

TEST_CASE("the demo flag opens the event once, and a guest's first claim works", "[e2e]") {
    TempFolder const folder;
    for (int start = 0; start < 2; ++start) {
        ServerProcess server({.data = folder.path(), .flags = {"--demo"}, .variables = {}});
        auto const held =
            call(server.url(), "POST", "/v1/events/demo/holds", R"({"best":{"quantity":2}})");
        INFO(held.body);
        CHECK(held.status == 201);
        REQUIRE(server.stop() == 0);
    }
}

TEST_CASE("a second server on the same folder exits 75 and harms nothing", "[e2e]") {
    TempFolder const folder;
    ServerProcess server({.data = folder.path(), .flags = {}, .variables = {}});
    make_event(server);
    auto const second = run(serve_words(folder.path()));
    CHECK(second.exit_code == 75);
    CHECK(second.output.empty());
    CHECK_THAT(second.errors, Catch::Contains("in use by process"));
    claim(server, R"({"seats":["A-1-1"]})");
    CHECK(server.stop() == 0);
}

TEST_CASE("P3: a server whose folder was moved away harms no other one in its place", "[e2e]") {
    TempFolder const folder;
    auto const data = folder.path() / "data";
    auto const away = folder.path() / "away";
    ServerProcess::Options const options{
        .data = data, .flags = {}, .variables = {{"HOLDFAST_STORAGE_SEGMENT_BYTES", "131072"}}};
    ServerProcess first(options);
    make_event(first);
    auto const kept = claim(first, R"({"seats":["A-1-1"]})");
    std::filesystem::rename(data, away);
    ServerProcess second(options);
    make_event(second);
    auto const others = claim(second, R"({"seats":["A-1-2"]})");
    // Until it needs a segment that it cannot make.
    int status = 201;
    for (int visit = 0; visit < 500 && status == 201; ++visit) {
        std::string const body = R"({"section":"GA","quantity":1})";
        auto const made = call(first.url(), "POST", "/v1/events/show/holds", body);
        status = made.status;
        if (status != 201) break;
        auto const freed = call(first.url(), "DELETE", "/v1/holds/" + json_text(made.body, "hold"),
                                "", "Hold " + json_text(made.body, "token"));
        CHECK(freed.status / 100 != 4);
    }
    CHECK(status == 503);
    first.kill();
    second.kill();
    for (auto const& [place, hold] : {std::pair{away, kept}, std::pair{data, others}}) {
        ServerProcess again({.data = place, .flags = {}, .variables = options.variables});
        auto const read =
            call(again.url(), "GET", "/v1/holds/" + hold.id, "", hold.authorization());
        CHECK(read.status == 200);
        CHECK(again.stop() == 0);
    }
}

TEST_CASE("a server without standard descriptors writes into no file of its own", "[e2e]") {
    TempFolder const folder;
    auto const data = folder.path() / "data";
    auto words = serve_words(data);
    std::vector<std::string> const shell{"/bin/sh", "-c", R"(exec "$0" "$@" <&- 2>&-)"};
    words.insert(words.begin(), shell.begin(), shell.end());
    Child child(words);
    REQUIRE_THAT(child.read_line(60s), Catch::StartsWith("ready "));
    for (char const* const descriptor : {"0", "2"}) {
        auto const link = "/proc/" + std::to_string(child.pid()) + "/fd/" + std::string(descriptor);
        CHECK(std::filesystem::read_symlink(link) == "/dev/null");
    }
    child.signal(SIGTERM);
    CHECK(child.wait(30s) == 0);
}

TEST_CASE("an address in use refuses the start with exit 1", "[e2e]") {
    TempFolder const folder;
    ServerProcess server({.data = folder.path() / "a", .flags = {}, .variables = {}});
    auto words = serve_words(folder.path() / "b");
    words[3] = server.url().substr(std::string("http://").size());
    auto const second = run(words);
    CHECK(second.exit_code == 1);
    CHECK(second.output.empty());
    CHECK_THAT(second.errors, Catch::Contains("in use"));
}

TEST_CASE("starts that fail for an address in use leave no segment behind", "[e2e]") {
    TempFolder const folder;
    auto const data = folder.path() / "data";
    // Whole segments and such as are being made.
    auto const segments = [&data] {
        std::size_t found = 0;
        for (auto const& file : std::filesystem::recursive_directory_iterator(data))
            if (file.is_regular_file() && file.file_size() >= 1U << 20) ++found;
        return found;
    };
    ServerProcess busy({.data = folder.path() / "busy", .flags = {}, .variables = {}});
    std::string const scheme = "http://";
    auto const taken = busy.url().substr(scheme.size());
    auto const admin_taken = busy.admin_url().substr(scheme.size());
    auto const fail = [&](std::size_t word, std::string const& address) {
        auto words = serve_words(data);
        words[word] = address;
        auto const refused = run(words);
        CHECK(refused.exit_code == 1);
        CHECK_THAT(refused.errors, Catch::Contains("in use"));
    };
    for (int i = 0; i < 3; ++i) fail(3, taken);
    CHECK(segments() == 0);
    {
        ServerProcess server({.data = data, .flags = {}, .variables = {}});
        CHECK(server.stop() == 0);
    }
    auto const before = segments();
    CHECK(before > 0);
    for (int i = 0; i < 3; ++i) fail(i % 2 == 0 ? 3 : 5, i % 2 == 0 ? taken : admin_taken);
    CHECK(segments() == before);
    // One address for both listeners is in use by the other one.
    CHECK(busy.stop() == 0);
    auto words = serve_words(data);
    words[3] = words[5] = taken;
    CHECK(run(words).exit_code == 1);
    CHECK(segments() == before);
}

TEST_CASE("a data folder that cannot be written ends the start with 76", "[e2e]") {
    if (!std::filesystem::is_directory("/sys/kernel")) {
        std::cout << "skipped: there is no sysfs here\n";
        return;
    }
    auto const refused = run(serve_words("/sys/kernel/data"));
    CHECK(refused.exit_code == 76);
    CHECK(refused.output.empty());
    CHECK_THAT(refused.errors, Catch::Contains("/sys/kernel/data: cannot be made"));
}

TEST_CASE("holds, orders and steps survive a stop, with their names and tokens", "[e2e]") {
    TempFolder const folder;
    Hold hold;
    Hold bought;
    std::string order;
    {
        ServerProcess server({.data = folder.path(), .flags = {}, .variables = {}});
        make_event(server);
        hold = claim(server, R"({"seats":["A-1-5","A-1-6"]})");
        bought = claim(server, R"({"seats":["A-1-7"]})");
        auto const reply = call(server.url(), "POST", "/v1/orders",
                                R"({"holds":[")" + bought.id + R"("],"payment":{"method":"none"}})",
                                bought.authorization());
        REQUIRE(reply.status == 201);
        order = json_text(reply.body, "order");
        REQUIRE(server.stop() == 0);
    }
    ServerProcess server({.data = folder.path(), .flags = {}, .variables = {}});
    auto const read = call(server.url(), "GET", "/v1/holds/" + hold.id, {}, hold.authorization());
    INFO(read.body);
    REQUIRE(read.status == 200);
    CHECK(json_part(read.body, "seats") == hold.seats);
    CHECK(json_text(read.body, "expires_at") == hold.expires_at);
    CHECK(call(server.url(), "GET", "/v1/orders/" + order, {}, bought.authorization()).status ==
          200);
    for (char const* seat : {"A-1-5", "A-1-6", "A-1-7"}) {
        auto const refused = call(server.url(), "POST", "/v1/events/show/holds",
                                  std::string(R"({"seats":[")") + seat + R"("]})");
        CHECK(refused.status == 409);
    }
    claim(server, R"({"seats":["A-1-8"]})");
    CHECK(server.stop() == 0);
}

TEST_CASE("P7: a restart gives each live hold the grace, and the grace itself is durable",
          "[e2e][restart]") {
    TempFolder const folder;
    std::map<std::string, std::string> const variables{{"HOLDFAST_HOLD_TTL_MIN_S", "1"},
                                                       {"HOLDFAST_HOLD_RESTART_GRACE_S", "60"}};
    Hold hold;
    {
        ServerProcess server({.data = folder.path(), .flags = {}, .variables = variables});
        make_event(server, 2);
        hold = claim(server, R"({"seats":["A-1-1"]})");
        server.kill();
    }
    std::string raised;
    {
        ServerProcess server({.data = folder.path(), .flags = {}, .variables = variables});
        auto const read =
            call(server.url(), "GET", "/v1/holds/" + hold.id, {}, hold.authorization());
        INFO(read.body);
        REQUIRE(read.status == 200);
        CHECK(json_number(read.body, "expires_in_s") > 50);
        raised = json_text(read.body, "expires_at");
        CHECK(raised > hold.expires_at);
        server.kill();
    }
    // A third run without any grace still keeps what the second one promised.
    auto without = variables;
    without["HOLDFAST_HOLD_RESTART_GRACE_S"] = "0";
    ServerProcess server({.data = folder.path(), .flags = {}, .variables = without});
    auto const read = call(server.url(), "GET", "/v1/holds/" + hold.id, {}, hold.authorization());
    CHECK(read.status == 200);
    CHECK(json_text(read.body, "expires_at") == raised);
    CHECK(server.stop() == 0);
}

TEST_CASE("without grace a hold that ran out during the outage is free after it",
          "[e2e][restart]") {
    TempFolder const folder;
    std::map<std::string, std::string> const variables{{"HOLDFAST_HOLD_TTL_MIN_S", "1"},
                                                       {"HOLDFAST_HOLD_RESTART_GRACE_S", "0"}};
    Hold hold;
    {
        ServerProcess server({.data = folder.path(), .flags = {}, .variables = variables});
        make_event(server, 1);
        hold = claim(server, R"({"seats":["A-1-1"]})");
        server.kill();
    }
    ServerProcess server({.data = folder.path(), .flags = {}, .variables = variables});
    // Its time goes on: at most a second is left, and then the seat can be had.
    unsigned status = 0;
    auto const deadline = std::chrono::steady_clock::now() + 10s;
    while (status != 201 && std::chrono::steady_clock::now() < deadline) {
        status =
            call(server.url(), "POST", "/v1/events/show/holds", R"({"seats":["A-1-1"]})").status;
    }
    CHECK(status == 201);
    CHECK(call(server.url(), "GET", "/v1/holds/" + hold.id, {}, hold.authorization()).status ==
          410);
    CHECK(server.stop() == 0);
}

TEST_CASE("SIGHUP opens the log again after it was rotated", "[e2e]") {
    TempFolder const folder;
    auto const log = folder.path() / "log";
    ServerProcess server({.data = folder.path() / "data",
                          .flags = {},
                          .variables = {{"HOLDFAST_LOG_FILE", log.string()}}});
    // Lines are written by a thread of their own, so the one about being ready may come later.
    auto const written = std::chrono::steady_clock::now() + 10s;
    while (read_file(log).find("\"ready\"") == std::string::npos &&
           std::chrono::steady_clock::now() < written)
        continue;
    std::filesystem::rename(log, folder.path() / "log.1");
    server.child().signal(SIGHUP);
    auto const deadline = std::chrono::steady_clock::now() + 10s;
    while (!std::filesystem::exists(log) && std::chrono::steady_clock::now() < deadline) continue;
    CHECK(std::filesystem::exists(log));
    CHECK(server.stop() == 0);
    CHECK_THAT(read_file(log), Catch::Contains("\"stopped\""));
    CHECK_THAT(read_file(folder.path() / "log.1"), Catch::Contains("\"ready\""));
}

TEST_CASE("a lost key or a lost journal refuses the start by its exit code", "[e2e][restart]") {
    TempFolder const folder;
    {
        ServerProcess server({.data = folder.path(), .flags = {}, .variables = {}});
        make_event(server);
        claim(server, R"({"seats":["A-1-1"]})");
        REQUIRE(server.stop() == 0);
    }
    SECTION("the key") {
        std::filesystem::rename(folder.path() / "server.key", folder.path() / "lost.key");
        auto const refused = run(serve_words(folder.path()));
        CHECK(refused.exit_code == 78);
        CHECK_THAT(refused.errors, Catch::Contains("server.key"));
        std::filesystem::rename(folder.path() / "lost.key", folder.path() / "server.key");
    }
    SECTION("the journal") {
        auto const kept = folder.path() / "kept";
        std::filesystem::rename(folder.path() / "journal", kept);
        auto const refused = run(serve_words(folder.path()));
        CHECK(refused.exit_code >= 77);
        CHECK(refused.output.empty());
        std::filesystem::remove_all(folder.path() / "journal");
        std::filesystem::rename(kept, folder.path() / "journal");
    }
    ServerProcess server({.data = folder.path(), .flags = {}, .variables = {}});
    CHECK(server.stop() == 0);
}
