// What an account may have of an event, over the verbs.
#include "tests/engine/sale_fixture.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <thread>

namespace holdfast::engine::test {
namespace {

constexpr std::uint64_t me = 41;

EventPolicy most(std::uint32_t places) {
    EventPolicy policy;
    policy.guest = false;
    policy.max_per_user = places;
    policy.orphan_rule = OrphanRule::off;
    return policy;
}

struct AccountSale : SaleFixture {
    using SaleFixture::SaleFixture;

    Result<HoldView> claim_for(std::uint64_t account, std::vector<ClaimLine> const& lines,
                               Milliseconds when = 0ms) {
        ClaimCommand command;
        command.event = event;
        command.lines = lines;
        command.holder = account;
        return engine.claim(command, at(when), seats);
    }
    Result<HoldView> seat_for(std::uint64_t account, std::string const& name,
                              Milliseconds when = 0ms) {
        return claim_for(account, {named({name})}, when);
    }
    OrderId buy(HoldName const& hold, std::uint64_t number, Milliseconds when = 0ms) {
        OrderId const order{9, number};
        if (!ok(confirm({hold}, when, order))) throw std::runtime_error("not sold");
        return order;
    }
};

TEST_CASE("four orders of one where four are allowed, and a fifth after a cancellation",
          "[engine][limits]") {
    AccountSale sale(most(4));
    std::vector<std::pair<HoldName, OrderId>> bought;
    for (std::uint64_t i = 1; i <= 4; ++i) {
        auto const hold = sale.claim_for(me, {SaleFixture::best(1)});
        REQUIRE(ok(hold));
        bought.emplace_back(hold->name, sale.buy(hold->name, i));
    }
    auto const fifth = sale.claim_for(me, {SaleFixture::best(1)});
    REQUIRE_FALSE(ok(fifth));
    CHECK(fifth.error().code == RefusalCode::user_limit);
    CHECK(fifth.error().limit == LimitKind::places);
    CHECK(fifth.error().number == 4);
    CHECK(fifth.error().have == 4);
    CHECK(ok(sale.claim_for(me + 1, {SaleFixture::best(4)})));
    std::vector<HoldName> const holds{bought[2].first};
    REQUIRE(ok(sale.engine.cancel(bought[2].second, holds, at(1s))));
    CHECK(ok(sale.claim_for(me, {SaleFixture::best(1)}, 2s)));
    CHECK_FALSE(ok(sale.claim_for(me, {SaleFixture::best(1)}, 2s)));
}

TEST_CASE("an account at its limit is told so before stock or search is touched",
          "[engine][limits]") {
    AccountSale sale(most(2));
    REQUIRE(ok(sale.claim_for(me, {sale.named({"A-1-1", "A-1-2"})})));
    REQUIRE(ok(sale.seat_for(me + 1, "A-1-3")));
    auto const records = sale.journal.records().size();
    auto const free = sale.free();
    std::vector<ClaimLine> const wishes{SaleFixture::best(1), sale.general(1),
                                        sale.named({"A-1-4"}), sale.named({"A-1-3"})};
    for (int i = 0; i < 1'000; ++i) {
        auto const refused = sale.claim_for(me, {wishes[static_cast<std::size_t>(i) % 4]});
        REQUIRE_FALSE(ok(refused));
        REQUIRE(refused.error().code == RefusalCode::user_limit);
    }
    CHECK(sale.journal.records().size() == records);
    CHECK(sale.free() == free);
    // A choice that cannot be held is not shown either.
    ClaimCommand preview;
    std::vector<ClaimLine> const lines{SaleFixture::best(1)};
    preview.event = sale.event;
    preview.lines = lines;
    preview.holder = me;
    preview.preview = true;
    CHECK(sale.engine.claim(preview, at(0ms), sale.seats).error().code == RefusalCode::user_limit);
}

TEST_CASE("an expired hold gives its limit back, with the expiry thread and without",
          "[engine][limits]") {
    bool const thread = GENERATE(false, true);
    AccountSale sale(most(2));
    REQUIRE(ok(sale.claim_for(me, {sale.named({"A-1-1", "A-1-2"})})));
    CHECK_FALSE(ok(sale.seat_for(me, "A-1-3", 299'999ms)));
    if (thread) CHECK(sale.engine.expire(at(300s)) == 1);
    CHECK(ok(sale.claim_for(me, {sale.named({"A-1-2", "A-1-3"})}, 300s)));
    CHECK_FALSE(ok(sale.seat_for(me, "A-1-4", 300s)));
}

TEST_CASE("a limit is given back to the millisecond, between two ticks of the timer",
          "[engine][limits]") {
    AccountSale sale(most(2));
    REQUIRE(ok(sale.seat_for(me, "A-2-1", 0ms)));
    REQUIRE(ok(sale.seat_for(me, "A-1-1", 3ms)));
    for (auto when = 0ms; when <= 300s; when += 10ms) sale.engine.expire(at(when));
    REQUIRE(ok(sale.seat_for(me, "A-1-3", 300s)));
    CHECK(sale.seat_for(me, "A-1-5", 300'002ms).error().code == RefusalCode::user_limit);
    CHECK(ok(sale.seat_for(me, "A-1-5", 300'003ms)));
    // And with one that has stopped for good.
    CHECK_FALSE(ok(sale.seat_for(me, "A-1-7", 599'999ms)));
    CHECK(ok(sale.seat_for(me, "A-1-7", 600s)));
}

TEST_CASE("an exchange is bound by a budget and spends what was held", "[engine][limits]") {
    EventPolicy policy;
    policy.hold_seconds_budget = 150;
    policy.orphan_rule = OrphanRule::off;
    AccountSale sale(policy);
    auto const put = [&](HoldName const& hold, std::vector<std::string> const& seats,
                         Milliseconds when) {
        std::vector<ClaimLine> const lines{sale.named(seats)};
        ExchangeCommand command;
        command.hold = hold;
        command.lines = lines;
        return sale.engine.exchange(command, at(when), sale.seats);
    };
    auto const moved = sale.seat_for(me, "A-1-1");
    auto const kept = sale.seat_for(me, "A-2-1", 101s);
    REQUIRE(ok(put(moved->name, {"A-1-3"}, 100s)));
    REQUIRE(ok(put(moved->name, {"A-1-5"}, 101s)));
    REQUIRE(ok(sale.engine.release(moved->name, at(102s))));  // one place for 102 s
    auto const last = sale.seat_for(me, "A-1-7", 103s);
    REQUIRE(ok(last));
    REQUIRE(ok(put(kept->name, {"A-2-1", "A-2-2", "A-2-3"}, 103s)));
    SECTION("spent by a release") {
        REQUIRE(ok(sale.engine.release(last->name, at(151s))));
    }
    SECTION("spent by a deadline that nobody has noticed") {
        REQUIRE(ok(sale.engine.extend(kept->name, 300s, at(390s), sale.seats)));
    }
    auto const when = sale.free(151s) == 27 ? 151s : 403s;
    for (auto const& seats :
         {std::vector<std::string>{"A-2-1", "A-2-2", "A-2-3", "A-2-4"}, {"A-2-1", "A-2-4"}}) {
        auto const refused = put(kept->name, seats, when);
        REQUIRE_FALSE(ok(refused));
        CHECK(refused.error().code == RefusalCode::hold_budget);
        CHECK(refused.error().number == 150);
    }
    CHECK(ok(put(kept->name, {"A-2-2"}, when)));
}

TEST_CASE("the seats of an own expired hold can be held again with the thread stopped",
          "[engine][limits]") {
    AccountSale sale(most(2));
    auto const hold = sale.claim_for(me, {sale.named({"A-1-1", "A-1-2"})});
    REQUIRE(ok(hold));
    SECTION("the same seats") {
        CHECK(ok(sale.claim_for(me, {sale.named({"A-1-1", "A-1-2"})}, 300s)));
    }
    SECTION("others") {
        CHECK(ok(sale.claim_for(me, {sale.named({"A-1-4", "A-1-5"})}, 300s)));
    }
    SECTION("best available") {
        CHECK(ok(sale.claim_for(me, {SaleFixture::best(2)}, 300s)));
    }
}

TEST_CASE("open holds are counted in holds", "[engine][limits]") {
    EventPolicy policy;
    policy.max_open_holds_per_user = 2;
    AccountSale sale(policy);
    auto const first = sale.claim_for(me, {SaleFixture::best(4)});
    REQUIRE(ok(first));
    REQUIRE(ok(sale.claim_for(me, {sale.general(3)})));
    auto const third = sale.claim_for(me, {sale.general(1)});
    REQUIRE_FALSE(ok(third));
    CHECK(third.error().code == RefusalCode::user_limit);
    CHECK(third.error().limit == LimitKind::open_holds);
    CHECK(third.error().have == 2);
    sale.buy(first->name, 1);
    CHECK(ok(sale.claim_for(me, {sale.general(1)})));
    // Guests are bound by the order only.
    for (int i = 0; i < 3; ++i) CHECK(ok(sale.claim_for(0, {sale.general(1)})));
}

TEST_CASE("a spent budget refuses, whoever waits and buys keeps it", "[engine][limits]") {
    EventPolicy policy;
    policy.hold_seconds_budget = 100;
    AccountSale sale(policy);
    auto const bought = sale.claim_for(me, {SaleFixture::best(4)});
    sale.buy(bought->name, 1, 200s);
    auto const hold = sale.claim_for(me, {sale.general(2)}, 200s);
    REQUIRE(ok(sale.engine.release(hold->name, at(249'500ms))));  // 2 x 49.5 s
    auto const again = sale.claim_for(me, {sale.general(1)}, 250s);
    REQUIRE(ok(again));
    REQUIRE(ok(sale.engine.release(again->name, at(251s))));  // 1 s: all is spent
    auto const refused = sale.claim_for(me, {sale.general(1)}, 252s);
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::hold_budget);
    CHECK(refused.error().number == 100);
    CHECK(refused.error().at > at(252s));
    CHECK(ok(sale.claim_for(me + 1, {sale.general(1)}, 252s)));
}

TEST_CASE("a spent budget refuses an extension, too", "[engine][limits]") {
    EventPolicy policy;
    policy.hold_seconds_budget = 100;
    policy.orphan_rule = OrphanRule::off;
    AccountSale sale(policy);
    auto const kept = sale.seat_for(me, "A-1-1");
    auto const spent = sale.seat_for(me, "A-1-2");
    REQUIRE(ok(sale.engine.extend(kept->name, 301s, at(0s), sale.seats)));
    auto const other = sale.seat_for(me, "A-1-3", 1s);
    REQUIRE(ok(sale.engine.release(spent->name, at(100s))));
    auto const refused = sale.engine.extend(other->name, 300s, at(101s), sale.seats);
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::hold_budget);
    CHECK(refused.error().number == 100);
    CHECK(sale.engine.read(other->name, at(101s), sale.seats)->expires_at == at(301s));
    auto const stranger = sale.seat_for(me + 1, "A-1-4", 101s);
    CHECK(ok(sale.engine.extend(stranger->name, 301s, at(101s), sale.seats)));
}

TEST_CASE("a seat cools down for who left it, and is free for others", "[engine][limits]") {
    EventPolicy policy;
    policy.rehold_cooldown = 30s;
    policy.orphan_rule = OrphanRule::off;
    AccountSale sale(policy);
    auto const hold = sale.claim_for(me, {sale.named({"A-1-4", "A-1-5"})});
    REQUIRE(ok(hold));
    Milliseconds end = 10s;
    SECTION("released") {
        REQUIRE(ok(sale.engine.release(hold->name, at(end))));
    }
    SECTION("expired and noticed by this claim") {
        end = 300s;
    }
    auto const refused = sale.claim_for(me, {sale.named({"A-1-3", "A-1-4"})}, end);
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::hold_budget);
    CHECK(refused.error().seat == sale.seat("A-1-4"));
    CHECK(refused.error().seat_reason == SeatReason::cooling_down);
    CHECK(refused.error().at == at(end + 30s));
    CHECK_FALSE(ok(sale.seat_for(me, "A-1-5", end + 29'999ms)));
    CHECK(ok(sale.seat_for(me + 1, "A-1-5", end)));
    // Waiting would not help: somebody else has it.
    auto const taken = sale.seat_for(me, "A-1-5", end + 1s);
    REQUIRE_FALSE(ok(taken));
    CHECK(taken.error().code == RefusalCode::seats_unavailable);
    CHECK(taken.error().seat_reason == SeatReason::held);
    CHECK(ok(sale.seat_for(me, "A-1-4", end + 30s)));
}

TEST_CASE("searches leave out what cools down", "[engine][limits]") {
    EventPolicy policy;
    policy.orphan_rule = OrphanRule::off;
    policy.rehold_cooldown = 30s;
    AccountSale sale(policy);
    auto const best = sale.claim_for(me, {SaleFixture::best(2)});
    REQUIRE(ok(best));
    auto const first_choice = sale.names();
    REQUIRE(ok(sale.engine.release(best->name, at(1s))));
    REQUIRE(ok(sale.claim_for(me, {SaleFixture::best(2)}, 1s)));
    for (auto const& name : sale.names())
        CHECK(std::ranges::find(first_choice, name) == first_choice.end());
    REQUIRE(ok(sale.claim_for(me + 1, {SaleFixture::best(2)}, 1s)));
    CHECK(sale.names() == first_choice);

    ClaimLine candidates = sale.named({"B-10-1", "B-10-2", "B-10-3"});
    candidates.kind = ClaimLine::Kind::candidates;
    candidates.count = 2;
    auto const two = sale.claim_for(me, {candidates}, 2s);
    REQUIRE(ok(two));
    REQUIRE(ok(sale.engine.release(two->name, at(3s))));
    auto const none = sale.claim_for(me, {candidates}, 3s);
    REQUIRE_FALSE(ok(none));
    CHECK(none.error().code == RefusalCode::hold_budget);
    candidates.count = 1;
    REQUIRE(ok(sale.claim_for(me, {candidates}, 3s)));
    CHECK(sale.names() == std::vector<std::string>{"B-10-3"});

    auto const floor = sale.claim_for(me, {sale.general(10)}, 4s);
    REQUIRE(ok(floor));
    REQUIRE(ok(sale.engine.release(floor->name, at(5s))));
    auto const empty = sale.claim_for(me, {sale.general(1)}, 5s);
    REQUIRE_FALSE(ok(empty));
    CHECK(empty.error().code == RefusalCode::hold_budget);  // nothing is sold out
    CHECK(empty.error().seat_reason == SeatReason::cooling_down);
    CHECK(empty.error().at == at(35s));
    CHECK(ok(sale.claim_for(me + 1, {sale.general(1)}, 5s)));
    CHECK(ok(sale.claim_for(me, {sale.general(9)}, 35s)));
}

TEST_CASE("the counts are the same after a restart", "[engine][limits]") {
    EventPolicy policy = most(5);
    policy.max_open_holds_per_user = 2;
    AccountSale sale(policy);
    auto const sold = sale.claim_for(me, {SaleFixture::best(3)});
    sale.buy(sold->name, 1);
    auto const open = sale.claim_for(me, {sale.general(1)});
    REQUIRE(ok(open));
    REQUIRE(ok(sale.claim_for(me + 1, {sale.general(2)})));

    Engine second(sale.journal, {});
    LiveEvent* const event = second.add(std::make_shared<EventSpec const>(sale.event->spec()));
    second.build(*event, sale.replayed());
    std::vector<SeatIndex> seats;
    auto const claim = [&](std::uint64_t account, std::uint32_t count) {
        std::vector<ClaimLine> const lines{sale.general(count)};
        ClaimCommand command;
        command.event = event;
        command.lines = lines;
        command.holder = account;
        return second.claim(command, at(1s), seats);
    };
    auto const over = claim(me, 2);
    REQUIRE_FALSE(ok(over));
    CHECK(over.error().limit == LimitKind::places);
    CHECK(over.error().have == 4);
    REQUIRE(ok(second.release(open->name, at(2s))));
    REQUIRE(ok(claim(me, 1)));
    REQUIRE(ok(claim(me, 1)));
    auto const third = claim(me, 1);
    REQUIRE_FALSE(ok(third));
    CHECK(third.error().code == RefusalCode::user_limit);
    REQUIRE(ok(claim(me + 1, 3)));
    CHECK(claim(me + 1, 1).error().have == 5);
    std::vector<HoldName> const holds{sold->name};
    REQUIRE(ok(second.cancel({9, 1}, holds, at(3s))));
}

TEST_CASE("a double tap gives one place where one is allowed", "[engine][limits][stress]") {
    AccountSale sale(most(1));
    std::atomic<int> won{0};
    std::atomic<int> refused{0};
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < 32; ++i) {
        threads.emplace_back([&, i] {
            std::vector<ClaimLine> lines{i < 22 ? ClaimLine{} : sale.general(1)};
            if (i < 20) lines[0].seats = {SeatIndex{i}};
            if (i >= 20 && i < 22) lines[0] = SaleFixture::best(1);
            ClaimCommand command;
            command.event = sale.event;
            command.lines = lines;
            command.holder = me;
            std::vector<SeatIndex> seats;
            for (;;) {
                auto const hold = sale.engine.claim(command, at(0ms), seats);
                bool const busy = !hold && hold.error().code == RefusalCode::busy;
                if (hold) ++won;
                if (!hold && hold.error().code == RefusalCode::user_limit) ++refused;
                if (!busy) return;
                std::this_thread::yield();
            }
        });
    }
    for (auto& thread : threads) thread.join();
    CHECK(won == 1);
    CHECK(refused == 31);
    CHECK(sale.free() == 29);
}

TEST_CASE("an account whose budget is spent extends no hold", "[engine][limits]") {
    EventPolicy policy;
    policy.guest = false;
    policy.hold_seconds_budget = 10;
    AccountSale sale(policy);
    auto const kept = sale.seat_for(me, "A-2-1");
    auto const other = sale.seat_for(me + 1, "B-10-1");
    auto const given_back = sale.seat_for(me, "A-1-1");
    REQUIRE(ok(kept));
    REQUIRE(ok(given_back));
    REQUIRE(ok(sale.engine.release(given_back->name, at(10s))));
    auto const refused = sale.engine.extend(kept->name, 600s, at(11s), sale.seats);
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::hold_budget);
    CHECK(refused.error().number == 10);
    CHECK(ok(sale.engine.read(kept->name, at(11s), sale.seats)));
    CHECK(sale.journal.count(journal::RecordType::edit) == 0);
    CHECK(ok(sale.engine.extend(other->name, 600s, at(11s), sale.seats)));
}

TEST_CASE("a refusal of candidates names one that is taken, not one that cools down",
          "[engine][limits]") {
    EventPolicy policy;
    policy.guest = false;
    policy.rehold_cooldown = 30s;
    policy.orphan_rule = OrphanRule::off;
    AccountSale sale(policy);
    auto const mine = sale.seat_for(me, "A-1-1");
    REQUIRE(ok(sale.engine.release(mine->name, at(1s))));
    REQUIRE(ok(sale.claim_for(me + 1, {sale.named({"A-1-3", "A-1-5"})}, 1s)));
    auto candidates = sale.named({"A-1-1", "A-1-3", "A-1-5"});
    candidates.kind = ClaimLine::Kind::candidates;
    candidates.count = 2;
    auto const refused = sale.claim_for(me, {candidates}, 2s);
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::seats_unavailable);
    CHECK(refused.error().seat == sale.seat("A-1-3"));
    CHECK(refused.error().seat_reason == SeatReason::held);
    // Where waiting would do, the one that cools down is named.
    candidates.count = 1;
    auto const cooling = sale.claim_for(me, {candidates}, 2s);
    REQUIRE_FALSE(ok(cooling));
    CHECK(cooling.error().code == RefusalCode::hold_budget);
    CHECK(cooling.error().seat == sale.seat("A-1-1"));
    CHECK(ok(sale.claim_for(me, {candidates}, 31s)));
}

TEST_CASE("what only cools down is never called sold out", "[engine][limits]") {
    EventPolicy policy;
    policy.orphan_rule = OrphanRule::off;
    policy.rehold_cooldown = 30s;
    AccountSale sale(policy);
    auto const one = sale.seat_for(me, "B-10-2");
    REQUIRE(ok(one));
    REQUIRE(ok(sale.engine.release(one->name, at(1s))));
    ClaimLine row = SaleFixture::best(4);
    row.best.sections = {sale.section("B")};
    auto const early = sale.claim_for(me, {row}, 2s);
    REQUIRE_FALSE(ok(early));
    CHECK(early.error().code == RefusalCode::hold_budget);
    CHECK(early.error().seat == sale.seat("B-10-2"));
    CHECK(early.error().at == at(31s));
    // What is refused to everybody is told as it is.
    row.best.quantity = 5;
    auto const none = sale.claim_for(me, {row}, 2s);
    REQUIRE_FALSE(ok(none));
    CHECK(none.error().code == RefusalCode::sold_out);
    CHECK(none.error().number == 4);
    row.best.quantity = 4;
    CHECK(ok(sale.claim_for(me, {row}, 31s)));
}

TEST_CASE("an exchange to general places waits for a cool-down as a claim does",
          "[engine][limits]") {
    EventPolicy policy;
    policy.orphan_rule = OrphanRule::off;
    policy.rehold_cooldown = 30s;
    AccountSale sale(policy);
    auto const floor = sale.claim_for(me, {sale.general(8)});
    REQUIRE(ok(floor));
    REQUIRE(ok(sale.engine.release(floor->name, at(1s))));
    auto const hold = sale.seat_for(me, "A-1-1", 2s);
    REQUIRE(ok(hold));
    auto const change = [&](std::uint32_t count, Milliseconds when) {
        std::vector<ClaimLine> const lines{sale.general(count)};
        return sale.engine.exchange({hold->name, lines, false, false, nullptr}, at(when),
                                    sale.seats);
    };
    auto const refused = change(3, 2s);
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::hold_budget);
    CHECK(refused.error().seat_reason == SeatReason::cooling_down);
    CHECK(refused.error().at == at(31s));
    CHECK(change(11, 2s).error().code == RefusalCode::sold_out);
    CHECK(ok(change(2, 2s)));
    CHECK(ok(change(3, 31s)));
}

}  // namespace
}  // namespace holdfast::engine::test
