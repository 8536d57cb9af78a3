// Power cuts of a real file system under load, again and again.
#include "tests/e2e/audited.hpp"
#include "tests/e2e/journal_folder.hpp"
#include "tests/support/mounts.hpp"
#include "tests/support/shoppers.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <iostream>
#include <memory>

using namespace holdfast;
using namespace holdfast::test;

TEST_CASE("P3 P4 P7 P11: a power cut under load loses nothing that was acknowledged",
          "[e2e][power]") {
    if (auto const why = why_no_own_mounts(); !why.empty()) {
        std::cout << "power cut test: skipped, " << why << "\n";
        return;
    }
    long const cycles = cycles_of_run("HOLDFAST_POWER_CUTS", 5, 100);
    std::mt19937_64 random(seed_of_run("power cut test"));
    TempFolder const folder;
    auto const data = folder.path() / "disk" / "data";
    Ext4 const disk(folder.path() / "image", folder.path() / "disk", std::uint64_t{1} << 30);
    ServerProcess::Options options{
        .data = data,
        .flags = {},
        .variables = {{"HOLDFAST_STORAGE_SEGMENT_BYTES", "131072"},
                      {"HOLDFAST_HTTP_READS_PER_HOLD_S", "0"},  // one hold is the clock of all
                      {"HOLDFAST_LOG_LEVEL", "error"}}};
    Grace grace(options);
    auto const began = std::chrono::steady_clock::now();
    auto server = std::make_unique<ServerProcess>(options);
    make_show(server->url());
    Ledger ledger;
    make_brief(server->url(), ledger);
    for (long cycle = 0; cycle < cycles; ++cycle) {
        CAPTURE(cycle);
        std::chrono::milliseconds const moment(5 + random() % (cycle % 10 == 0 ? 500 : 60));
        // A crowd where there is time for one; in all cycles it would sell out too soon.
        int const buyers = cycle % 10 == 0 ? 64 : 4;
        shop_until(server->url(), buyers, moment, random, ledger, [&] {
            disk.cut_power();
            server->kill();
        });
        server.reset();
        disk.mount_again();
        if (cycle % 50 == 49) check_audit(data);
        auto const given = grace.of_cycle(cycle);
        server = std::make_unique<ServerProcess>(options);
        ledger.note_start(given);
        ledger.check(server->url(), cycle % 50 == 49);
    }
    ledger.check_all_expired(server->url());
    CHECK(server->stop() == 0);
    server.reset();
    check_audit(data);
    std::size_t torn = 0;
    for (auto const& entry : std::filesystem::directory_iterator(data / "quarantine"))
        torn += entry.is_regular_file() ? 1 : 0;
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - began;
    std::cout << "power cut test: " << cycles << " cuts, " << torn << " torn tails, "
              << ledger.size() << " acknowledged holds, nothing lost, " << ledger.expired()
              << " ended by their deadline; " << first_segment(data) - 1 << " segments deleted; "
              << took.count() << " s\n";
    CHECK(ledger.size() > 0);
    CHECK(ledger.expired() > 0);
}
