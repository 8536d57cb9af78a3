#include "tests/support/shoppers.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <deque>
#include <future>
#include <iostream>

namespace holdfast::test {

using namespace std::chrono_literals;

long number_from_environment(char const* name, long otherwise) {
    char const* const text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtol(text, nullptr, 10);
}

std::uint64_t seed_of_run(char const* what) {
    auto const seed = static_cast<std::uint64_t>(
        number_from_environment("HOLDFAST_SEED", static_cast<long>(std::random_device{}())));
    std::cout << what << ": HOLDFAST_SEED=" << seed << std::endl;
    return seed;
}

long cycles_of_run(char const* name, long few, long many) {
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    if (std::getenv("HOLDFAST_CI") != nullptr) few = many;
#else
    static_cast<void>(many);
#endif
    return number_from_environment(name, few);
}

namespace {

/// An open event; `life`: of its holds, as the policy has it.
void make_event(std::string const& url, std::string const& id, std::string const& life) {
    std::string body = R"({"id":")" + id + R"(","name":"Show","publish":true,"policy":{)" + life +
                       R"(,"orphan_rule":"off"},
            "categories":[{"key":"std","name":"Standard","price":4500}],
            "sections":[{"id":"A","name":"Stalls","category":"std","rows":[)";
    for (int row = 1; row <= show_rows; ++row) {
        if (row > 1) body += ',';
        body += "{\"label\":\"" + std::to_string(row) +
                "\",\"seats\":" + std::to_string(show_seats_per_row) + "}";
    }
    body += "]}]}";
    auto const made = call(url, "POST", "/v1/events", body, std::string("Bearer ") + admin_token);
    INFO(made.body);
    REQUIRE(made.status == 202);
    std::string state;
    auto const deadline = std::chrono::steady_clock::now() + 20s;
    while (state != "open" && std::chrono::steady_clock::now() < deadline) {
        state = json_text(call(url, "GET", "/v1/events/" + id).body, "state");
    }
    REQUIRE(state == "open");
}

}  // namespace

void make_show(std::string const& url) {
    make_event(url, "show", R"("hold_ttl_s":3600,"hold_max_life_s":7200)");
}

void make_brief(std::string const& url, Ledger& ledger) {
    make_event(url, brief, R"("hold_ttl_s":1,"hold_max_life_s":3)");
    make_event(url, "clock", R"("hold_ttl_s":3600)");
    auto const claimed = call(url, "POST", "/v1/events/clock/holds", R"({"seats":["A-1-1"]})");
    INFO(claimed.body);
    REQUIRE(claimed.status == 201);
    ServerClock const clock{json_text(claimed.body, "hold"), json_text(claimed.body, "token")};
    auto const sold = call(url, "POST", "/v1/orders",
                           R"({"holds":[")" + clock.hold + R"("],"payment":{"method":"none"}})",
                           "Hold " + clock.token);
    INFO(sold.body);
    REQUIRE(sold.status == 201);
    ledger.set_clock(clock);
}

void shop_until(std::string const& url, int buyers, std::chrono::milliseconds moment,
                std::mt19937_64& random, Ledger& ledger, std::function<void()> const& end) {
    std::deque<Buyer> crowd;
    for (int buyer = 0; buyer < buyers; ++buyer) {
        if (ledger.clock() && buyer % 4 == 3)
            crowd.emplace_back(url, random(), *ledger.clock());
        else
            crowd.emplace_back(url, random(), Habits::all);
    }
    std::vector<std::future<void>> shopping;
    for (Buyer& buyer : crowd) {
        shopping.push_back(std::async(std::launch::async, [&buyer] { buyer.run(); }));
    }
    // No buyer may find the server gone before its end.
    CHECK(shopping.front().wait_for(moment) == std::future_status::timeout);
    end();
    for (std::future<void>& one : shopping) one.get();
    for (Buyer const& buyer : crowd) ledger.add(buyer);
}

}  // namespace holdfast::test
