// Public bug reports of other systems that are races, by their row of the list of cases.
#include "tests/engine/sale_fixture.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <latch>
#include <thread>

namespace holdfast::engine::test {
namespace {

EventPolicy no_orphan_rule() {
    EventPolicy policy;
    policy.orphan_rule = OrphanRule::off;
    return policy;
}

struct Answers {
    std::atomic<int> won{0}, sold_out{0}, unavailable{0}, other{0};

    void count(Result<HoldView> const& result) {
        if (result) {
            ++won;
        } else if (result.error().code == RefusalCode::sold_out) {
            ++sold_out;
        } else if (result.error().code == RefusalCode::seats_unavailable) {
            ++unavailable;
        } else {
            ++other;
        }
    }
};

/// `threads` threads at once, each `times` claims of the lines.
void claim_at_once(SaleFixture& sale, Answers& tally, int threads, int times,
                   std::vector<ClaimLine> const& lines) {
    std::latch start(threads);
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i) {
        running.emplace_back([&] {
            std::vector<SeatIndex> seats;
            start.arrive_and_wait();
            for (int k = 0; k < times; ++k)
                tally.count(sale.engine.claim({sale.event, lines, 0, {}, false}, at(0ms), seats));
        });
    }
    for (auto& each : running) each.join();
}

}  // namespace

TEST_CASE("#1: of 200 claims for the last two places one wins", "[reported][stress]") {
    SaleFixture sale(no_orphan_rule());
    REQUIRE(ok(sale.claim({sale.general(8)})));
    Answers tally;
    claim_at_once(sale, tally, 8, 25, {sale.general(2)});
    CHECK(tally.won == 1);
    CHECK(tally.sold_out == 199);
    CHECK(sale.free() == 20);
}

TEST_CASE("#14: an account that may have one gets one, however fast it asks",
          "[reported][stress]") {
    EventPolicy policy = no_orphan_rule();
    policy.max_per_user = 1;
    SaleFixture sale(policy);
    std::vector<ClaimLine> const lines{sale.general(1)};
    std::atomic<int> won{0}, wrong{0};
    std::latch start(8);
    std::vector<std::thread> running;
    for (int i = 0; i < 8; ++i) {
        running.emplace_back([&] {
            std::vector<SeatIndex> seats;
            start.arrive_and_wait();
            for (int k = 0; k < 25; ++k) {
                auto const hold =
                    sale.engine.claim({sale.event, lines, 7, {}, false}, at(0ms), seats);
                if (hold) {
                    ++won;
                } else {
                    RefusalCode const code = hold.error().code;
                    if (code != RefusalCode::user_limit && code != RefusalCode::busy) ++wrong;
                }
            }
        });
    }
    for (auto& each : running) each.join();
    CHECK(won == 1);
    CHECK(wrong == 0);
    CHECK(sale.free() == 29);
}

TEST_CASE("#5: of 64 threads that want the last seat one gets it", "[reported][stress]") {
    SaleFixture sale(no_orphan_rule());
    Answers tally;
    claim_at_once(sale, tally, 64, 1, {sale.named({"B-10-1"})});
    CHECK(tally.won == 1);
    CHECK(tally.unavailable == 63);
    CHECK(sale.free() == 29);
}

TEST_CASE("#2: a claim that fails in one zone never costs another buyer a place",
          "[reported][stress]") {
    for (int round = 0; round < 200; ++round) {
        SaleFixture sale(no_orphan_rule());
        REQUIRE(ok(sale.claim({sale.general(8)})));
        Answers fails;
        Answers wins;
        std::vector const too_much{sale.named({"A-1-1"}), sale.general(3), sale.named({"B-10-1"})};
        std::thread other([&] { claim_at_once(sale, fails, 1, 20, too_much); });
        claim_at_once(sale, wins, 1, 1, {sale.general(2)});
        other.join();
        REQUIRE(wins.won == 1);
        REQUIRE(fails.sold_out == 20);
        REQUIRE(sale.free() == 20);
    }
}

}  // namespace holdfast::engine::test
