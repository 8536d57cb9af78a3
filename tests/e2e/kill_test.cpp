// kill -9, or SIGTERM, in the middle of load, again and again: nothing that was acknowledged may be
// lost.
#include "tests/e2e/audited.hpp"
#include "tests/e2e/journal_folder.hpp"
#include "tests/support/shoppers.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <iostream>
#include <memory>

using namespace holdfast;
using namespace holdfast::test;

TEST_CASE("P3 P4 P7 P15: kill -9 under load loses nothing that was acknowledged", "[e2e][kill]") {
    // Every fourth is a stop: 200 of 268 are kills.
    long const cycles = cycles_of_run("HOLDFAST_KILL_CYCLES", 12, 268);
    std::mt19937_64 random(seed_of_run("kill test"));
    TempFolder const folder;
    // Small segments, so that many kills fall into a change of segments.
    ServerProcess::Options options{
        .data = folder.path(),
        .flags = {},
        .variables = {{"HOLDFAST_STORAGE_SEGMENT_BYTES", "131072"},
                      {"HOLDFAST_HTTP_READS_PER_HOLD_S", "0"},  // one hold is the clock of all
                      {"HOLDFAST_LOG_LEVEL", "warn"}}};
    Grace grace(options);
    auto const began = std::chrono::steady_clock::now();
    auto server = std::make_unique<ServerProcess>(options);
    make_show(server->url());
    Ledger ledger;
    make_brief(server->url(), ledger);
    for (long cycle = 0; cycle < cycles; ++cycle) {
        CAPTURE(cycle);
        std::chrono::milliseconds const moment(5 + random() % (cycle % 10 == 0 ? 500 : 50));
        // A crowd where there is time for one; in all cycles it would sell out too soon.
        int const buyers = cycle % 10 == 0 ? 64 : 4;
        shop_until(server->url(), buyers, moment, random, ledger, [&] {
            if (cycle % 4 == 3)
                CHECK(server->stop() == 0);
            else
                server->kill();
        });
        server.reset();  // its folder is free only now
        if (cycle % 50 == 49) check_audit(folder.path());
        auto const given = grace.of_cycle(cycle);
        server = std::make_unique<ServerProcess>(options);
        ledger.note_start(given);
        ledger.check(server->url(), cycle % 50 == 49);
    }
    ledger.check_all_expired(server->url());
    CHECK(server->stop() == 0);
    server.reset();
    check_audit(folder.path());
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - began;
    std::cout << "kill test: " << cycles - cycles / 4 << " kills and " << cycles / 4 << " stops, "
              << ledger.size() << " acknowledged holds, nothing lost, " << ledger.expired()
              << " ended by their deadline; " << first_segment(folder.path()) - 1
              << " segments deleted; " << took.count() << " s\n";
    CHECK(ledger.size() > 0);
    CHECK(ledger.expired() > 0);
}
