// 500 buyers at one time over real connections (cases/bugs.md 73).

#include "tests/support/server_process.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

using namespace std::chrono_literals;
using namespace holdfast;
using namespace holdfast::test;

namespace {

void make_house(ServerProcess& server) {
    std::string rows;
    for (int row = 1; row <= 20; ++row)
        rows +=
            (row == 1 ? "" : ",") + ("{\"label\":\"" + std::to_string(row)) + "\",\"seats\":50}";
    auto const made = call(server.url(), "POST", "/v1/events",
                           R"({"id":"rush","name":"Rush","publish":true,
                               "categories":[{"key":"std","name":"Standard","price":4500}],
                               "sections":[{"id":"A","name":"Stalls","category":"std","rows":[)" +
                               rows + "]}]}",
                           std::string("Bearer ") + admin_token);
    INFO(made.body);
    REQUIRE(made.status == 202);
    std::string state;
    auto const deadline = std::chrono::steady_clock::now() + 10s;
    while (state != "open" && std::chrono::steady_clock::now() < deadline)
        state = json_text(call(server.url(), "GET", "/v1/events/rush").body, "state");
    REQUIRE(state == "open");
}

}  // namespace

TEST_CASE("500 parallel calls for two of 1,000 seats are all 201 with seats of their own",
          "[e2e][73]") {
    TempFolder const folder;
    ServerProcess server({.data = folder.path() / "data", .flags = {}, .variables = {}});
    make_house(server);
    constexpr int crowd = 50;
    std::mutex mutex;
    std::vector<std::string> others;  // answers that are not 201
    std::set<std::string> seats;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < crowd; ++thread) {
        threads.emplace_back([&] {
            for (int i = 0; i < 500 / crowd; ++i) {
                auto const reply = call(server.url(), "POST", "/v1/events/rush/holds",
                                        R"({"best":{"quantity":2}})");
                std::scoped_lock const lock(mutex);
                if (reply.status != 201) others.push_back(reply.body);
                std::string list = json_part(reply.body, "seats");
                for (char& c : list)
                    if (c == '[' || c == ']' || c == ',' || c == '"') c = ' ';
                std::istringstream names(list);
                for (std::string name; names >> name;)
                    if (!seats.insert(name).second) others.push_back("twice: " + name);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    INFO((others.empty() ? std::string() : others.front()));
    CHECK(others.empty());
    CHECK(seats.size() == 1'000);
    auto const more =
        call(server.url(), "POST", "/v1/events/rush/holds", R"({"best":{"quantity":1}})");
    CHECK(more.status == 409);
    CHECK(json_text(more.body, "code") == "sold-out");
    CHECK(server.stop() == 0);
}
