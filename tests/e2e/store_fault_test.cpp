// SQLite's own writes and syncs fail under the release program: the journal goes on, what was
// acknowledged stays true, everybody can see it, and afterwards the rows are what they would be.
#include "tests/e2e/faulty_server.hpp"
#include "tests/support/shoppers.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace holdfast;
using namespace holdfast::test;

namespace {

constexpr int store_visits = 8;
std::string const late_event =
    R"({"id":"late","name":"Late","categories":[{"key":"std","name":"Standard","price":4500}],
        "sections":[{"id":"A","name":"Stalls","category":"std",
                     "rows":[{"label":"1","seats":9}]}]})";
std::string const staff = std::string("Bearer ") + admin_token;

template <class Condition>
bool comes_true(Condition const& condition) {
    auto const deadline = std::chrono::steady_clock::now() + 40s;
    while (std::chrono::steady_clock::now() < deadline) {
        if (condition()) return true;
    }
    return false;
}

bool is_degraded(ServerProcess& server) {
    return call(server.admin_url(), "GET", "/metrics").body.find("holdfast_store_degraded 1\n") !=
           std::string::npos;
}

/// Lives on one data folder, each with one fault in the store's files.
class StoreLoop {
public:
    explicit StoreLoop(std::uint64_t seed) : random_(seed) {
        FaultyServer server(data(), "");
        REQUIRE(server.started());
        make_show(server->url());
        REQUIRE(server->stop() == 0);
    }

    /// Until a whole life has fewer such calls; how many faults were met.
    long fail_at_each(std::string const& call, std::string const& how, long step) {
        long failures = 0;
        for (long n = 1 + static_cast<long>(random_() % static_cast<std::uint64_t>(step));;
             n += step) {
            CAPTURE(call, how, n);
            REQUIRE(n < 5'000);
            FaultyServer server(data(), call + ":" + std::to_string(n) + ":" + how + ":store.db");
            bool const met = server.started() ? live(server, how) : is_refused(server);
            if (!met) return failures;
            if (++failures % 4 == 0) check();
        }
    }

    void check() {
        FaultyServer server(data(), "");
        INFO(server.why_not());
        REQUIRE(server.started());
        ledger_.check(server->url());
        CHECK_FALSE(is_degraded(*server));
        REQUIRE(server->stop() == 0);
    }
    /// The orders that were made.
    std::vector<std::string> shop(FaultyServer& server) {
        Buyer buyer(server->url(), random_());
        for (int visit = 0; visit < store_visits && buyer.visit(); ++visit) continue;
        // The store is none of the buyers' business.
        CHECK_FALSE(buyer.was_refused());
        ledger_.add(buyer);
        std::vector<std::string> orders;
        for (Known const& known : buyer.known())
            if (!known.order.empty()) orders.push_back(known.order);
        return orders;
    }
    [[nodiscard]] std::filesystem::path data() const { return folder_.path() / "data"; }
    Ledger& ledger() { return ledger_; }

private:
    /// True: the fault was met.
    bool live(FaultyServer& server, std::string const& how) {
        static_cast<void>(shop(server));
        bool const lasts = how.starts_with("from");
        if (server.met() && lasts) CHECK(comes_true([&] { return is_degraded(*server); }));
        CHECK(server->stop() == 0);
        return server.met();
    }
    static bool is_refused(FaultyServer& server) {
        INFO(server.why_not());
        REQUIRE(server.met());
        bool const said = server.why_not().find("exit 76") != std::string::npos ||
                          server.why_not().find("exit 1:") != std::string::npos;
        REQUIRE(said);
        return true;
    }

    TempFolder folder_;
    Ledger ledger_;
    std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("P9: each write and sync of the store may fail, once or from then on, and sales go on",
          "[e2e][fault]") {
    long const step = cycles_of_run("HOLDFAST_FAULT_STEP", 15, 4);
    StoreLoop loop(seed_of_run("store errors"));
    long failures = 0;
    for (char const* const how : {"once", "from"}) {
        failures += loop.fail_at_each("pwrite", how + std::string("=28"), 3 * step);  // ENOSPC
        failures += loop.fail_at_each("pwrite", how + std::string("=5"), 3 * step);   // EIO
        failures += loop.fail_at_each("fdatasync", how + std::string("=5"), 1);
    }
    loop.check();
    std::cout << "store errors: " << failures << ", " << loop.ledger().size()
              << " acknowledged holds, nothing lost\n";
    CHECK(failures > 10);
}

TEST_CASE("P9: a store without space is told, and follows again when there is some",
          "[e2e][fault]") {
    StoreLoop loop(seed_of_run("a full store"));
    {
        FaultyServer server(loop.data(), "pwrite:1:while=28:store.db-wal", true);
        INFO(server.why_not());
        REQUIRE(server.started());
        std::vector<std::string> orders;
        while (orders.empty()) orders = loop.shop(server);
        REQUIRE(comes_true([&] { return is_degraded(*server); }));
        auto const ready = call(server->admin_url(), "GET", "/readyz");
        CHECK(ready.status == 200);  // sales go on
        CHECK(json_text(ready.body, "store") == "degraded");
        // It was acknowledged and is in the journal, and the store has it later.
        std::string const order = "/v1/orders/" + orders.front();
        auto const read = call(server->url(), "GET", order, {}, staff);
        CHECK(read.status == 503);
        CHECK(json_text(read.body, "code") == "overloaded");
        auto const event = call(server->url(), "POST", "/v1/events", late_event, staff);
        CHECK(event.status == 503);
        CHECK(json_text(event.body, "code") == "read-only");
        static_cast<void>(loop.shop(server));
        server.end_of_fault();
        REQUIRE(comes_true([&] { return !is_degraded(*server); }));
        CHECK(call(server->admin_url(), "GET", "/readyz").status == 200);
        CHECK(call(server->url(), "GET", order, {}, staff).status == 200);
        loop.ledger().check(server->url(), true);
        CHECK(server->stop() == 0);
    }
    loop.check();
}

TEST_CASE("a store whose sync failed is not believed by the next start", "[e2e][fault]") {
    StoreLoop loop(seed_of_run("a store that cannot be synced"));
    {
        FaultyServer server(loop.data(), "fdatasync:1:once=5:store.db");
        CHECK_FALSE(server.started());
        CHECK_THAT(server.why_not(), Catch::Contains("exit 76"));
        CHECK_THAT(server.why_not(), Catch::Contains("cannot be synced"));
    }
    loop.check();
}
