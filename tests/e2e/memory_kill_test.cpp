// The kernel ends a server for which it has no memory (RELIABILITY.md 4.2, row 26).
#include "tests/e2e/audited.hpp"
#include "tests/support/memory_group.hpp"
#include "tests/support/shoppers.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <iostream>
#include <memory>

using namespace std::chrono_literals;
using namespace holdfast;
using namespace holdfast::test;

namespace {

constexpr int killed_by_kernel = 128 + 9;

/// An event of 40,000 seats.
std::string dear_event(int number) {
    std::string body = R"({"id":"dear-)" + std::to_string(number) +
                       R"(","name":"Dear","publish":true,
            "categories":[{"key":"std","name":"Standard","price":4500}],
            "sections":[{"id":"A","name":"Stalls","category":"std","rows":[)";
    for (int row = 1; row <= 200; ++row) {
        if (row > 1) body += ',';
        body += "{\"label\":\"" + std::to_string(row) + "\",\"seats\":200}";
    }
    return body + "]}]}";
}

/// Events until nobody answers any more.
void ask_for_memory(ServerProcess& server) {
    std::string const staff = std::string("Bearer ") + admin_token;
    for (int number = 0; number < 200; ++number) {
        if (call(server.url(), "POST", "/v1/events", dear_event(number), staff).status == 0) return;
    }
}

}  // namespace

TEST_CASE("P3 P4: a server that the kernel ends for want of memory has lost nothing acknowledged",
          "[e2e][kill]") {
    MemoryGroup const group;
    if (!group.why_not().empty()) {
        std::cout << "memory kill test: skipped, " << group.why_not() << "\n";
        return;
    }
    long const cycles = cycles_of_run("HOLDFAST_MEMORY_KILLS", 2, 5);
    std::mt19937_64 random(seed_of_run("memory kill test"));
    TempFolder const folder;
    auto const data = folder.path() / "data";
    ServerProcess::Options const options{.data = data,
                                         .flags = {},
                                         .variables = {{"HOLDFAST_STORAGE_SEGMENT_BYTES", "131072"},
                                                       {"HOLDFAST_LOG_LEVEL", "error"}}};
    Ledger ledger;
    {
        ServerProcess server(options);
        make_show(server.url());
        REQUIRE(server.stop() == 0);
    }
    for (long cycle = 0; cycle < cycles; ++cycle) {
        CAPTURE(cycle);
        {
            ServerProcess server(options);
            group.take_in(server.child().pid());
            int code = -1;
            shop_until(server.url(), 4, 50ms, random, ledger, [&] {
                group.allow_only(4U << 20);
                ask_for_memory(server);
                code = server.child().wait(20s);
                if (code == -1) server.kill();  // the buyers end with it
            });
            REQUIRE(code == killed_by_kernel);
            CHECK(group.kills() == cycle + 1);
        }
        group.allow_only(std::uint64_t{1} << 40);
        ServerProcess server(options);
        ledger.check(server.url(), true);
        REQUIRE(server.stop() == 0);
    }
    check_audit(data);
    std::cout << "memory kill test: " << cycles << " kills, " << ledger.size()
              << " acknowledged holds, nothing lost\n";
    CHECK(ledger.size() > 0);
}
