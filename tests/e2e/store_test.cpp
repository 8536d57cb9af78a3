// The journal's old segments go and everything stays; a store that is lost or damaged is told so.
#include "tests/support/server_process.hpp"
#include "tests/support/temp_folder.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>

using namespace std::chrono_literals;
using namespace holdfast::test;

namespace {

std::string const staff_bearer = std::string("Bearer ") + admin_token;

void make_event(std::string const& url) {
    auto const made =
        call(url, "POST", "/v1/events",
             R"({"id":"show","name":"Show","publish":true,"policy":{"orphan_rule":"off"},
                 "categories":[{"key":"std","name":"Standard","price":4500}],
                 "sections":[{"id":"A","name":"Stalls","category":"std",
                              "rows":[{"label":"1","seats":100}]}]})",
             staff_bearer);
    INFO(made.body);
    REQUIRE(made.status == 202);
    auto const deadline = std::chrono::steady_clock::now() + 20s;
    while (json_text(call(url, "GET", "/v1/events/show").body, "state") != "open")
        REQUIRE(std::chrono::steady_clock::now() < deadline);
}

struct Held {
    std::string hold;
    std::string token;
    [[nodiscard]] std::string authorization() const { return "Hold " + token; }
};

Held claim(std::string const& url) {
    auto const reply = call(url, "POST", "/v1/events/show/holds", R"({"best":{"quantity":2}})");
    INFO(reply.body);
    REQUIRE(reply.status == 201);
    return {json_text(reply.body, "hold"), json_text(reply.body, "token")};
}

std::string buy(std::string const& url, Held const& held) {
    auto const reply = call(url, "POST", "/v1/orders",
                            "{\"holds\":[\"" + held.hold + "\"],\"payment\":{\"method\":\"none\"}}",
                            held.authorization());
    INFO(reply.body);
    REQUIRE(reply.status == 201);
    return json_text(reply.body, "order");
}

std::size_t files_of(std::filesystem::path const& data, std::string const& ending) {
    std::size_t count = 0;
    for (auto const& entry : std::filesystem::directory_iterator(data / "journal"))
        if (entry.path().extension() == ending) ++count;
    return count;
}

}  // namespace

TEST_CASE("old segments are deleted, and a restart knows all they said", "[e2e][store]") {
    TempFolder const folder;
    ServerProcess::Options const options{
        .data = folder.path(),
        .flags = {},
        .variables = {{"HOLDFAST_STORAGE_SEGMENT_BYTES", "131072"}}};
    Held kept;
    std::string order;
    std::string tickets;
    {
        ServerProcess server(options);
        make_event(server.url());
        kept = claim(server.url());
        Held const sold = claim(server.url());
        order = buy(server.url(), sold);
        // One group a request: some thirty of them fill a segment.
        for (int i = 0; i < 200; ++i) {
            Held const gone = claim(server.url());
            REQUIRE(call(server.url(), "DELETE", "/v1/holds/" + gone.hold, {}, gone.authorization())
                        .status == 204);
        }
        auto const deadline = std::chrono::steady_clock::now() + 60s;
        while (files_of(folder.path(), ".hfb") == 0 || files_of(folder.path(), ".hfj") > 8)
            REQUIRE(std::chrono::steady_clock::now() < deadline);
        CHECK_FALSE(std::filesystem::exists(folder.path() / "journal/0000000000000001.hfj"));
        tickets = json_part(call(server.url(), "GET", "/v1/orders/" + order, {}, staff_bearer).body,
                            "tickets");
        server.kill();
    }
    ServerProcess again(options);
    CHECK(call(again.url(), "GET", "/v1/holds/" + kept.hold, {}, kept.authorization()).status ==
          200);
    auto const read = call(again.url(), "GET", "/v1/orders/" + order, {}, staff_bearer);
    CHECK(read.status == 200);
    CHECK(json_part(read.body, "tickets") == tickets);
    std::string const event = call(again.url(), "GET", "/v1/events/show").body;
    CHECK(json_number(event, "held") == 2);
    CHECK(json_number(event, "sold") == 2);
    // The hold's places are known to the store's side, too.
    CHECK(buy(again.url(), kept) != order);
    CHECK(again.stop() == 0);
}

TEST_CASE("a missing store.db is told as such, with exit code 77", "[e2e][store]") {
    TempFolder const folder;
    {
        ServerProcess server({.data = folder.path(), .flags = {}, .variables = {}});
        make_event(server.url());
        static_cast<void>(claim(server.url()));
        CHECK(server.stop() == 0);
    }
    for (char const* const name : {"store.db", "store.db-wal", "store.db-shm"})
        std::filesystem::remove(folder.path() / name);
    auto const refused = run(serve_words(folder.path()));
    CHECK(refused.exit_code == 77);
    CHECK_THAT(refused.errors, Catch::Contains("store.db: is missing"));
    CHECK_FALSE(std::filesystem::exists(folder.path() / "store.db"));
}

TEST_CASE("a damaged store.db shows in /readyz, and sales go on", "[e2e][store]") {
    TempFolder const folder;
    {
        ServerProcess server({.data = folder.path(), .flags = {}, .variables = {}});
        make_event(server.url());
        static_cast<void>(buy(server.url(), claim(server.url())));
        CHECK(server.stop() == 0);
    }
    {
        std::fstream file(folder.path() / "store.db",
                          std::ios::in | std::ios::out | std::ios::binary);
        auto const bytes = std::filesystem::file_size(folder.path() / "store.db");
        file.seekp(static_cast<std::streamoff>(bytes - 4'096));
        file << std::string(64, '\x5A');
    }
    ServerProcess server({.data = folder.path(), .flags = {}, .variables = {}});
    auto const deadline = std::chrono::steady_clock::now() + 20s;
    std::string ready;
    while (json_text(ready, "store") != "degraded") {
        REQUIRE(std::chrono::steady_clock::now() < deadline);
        ready = call(server.url(), "GET", "/readyz").body;
    }
    CHECK_THAT(call(server.admin_url(), "GET", "/metrics").body,
               Catch::Contains("holdfast_store_degraded 1\n"));
    static_cast<void>(claim(server.url()));
    CHECK(server.stop() == 0);
    auto const log = server.child().rest_of_errors();
    CHECK_THAT(log, Catch::Contains("follows the journal no longer") &&
                        Catch::Contains("stop the server and `holdfast rebuild`"));
}
