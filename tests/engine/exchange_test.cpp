#include "tests/engine/sale_fixture.hpp"

#include <catch2/catch.hpp>
#include <thread>

namespace holdfast::engine::test {
namespace {

using Names = std::vector<std::string>;

EventPolicy no_orphan_rule() {
    EventPolicy policy;
    policy.orphan_rule = OrphanRule::off;
    return policy;
}

struct Exchange : SaleFixture {
    explicit Exchange(EventPolicy const& policy = no_orphan_rule()) : SaleFixture(policy) {}

    Result<HoldView> put(HoldName const& hold, std::vector<ClaimLine> const& lines,
                         Milliseconds when = 1s) {
        return engine.exchange({hold, lines, false, false, nullptr}, at(when), seats);
    }
    Result<HoldView> give_back(HoldName const& hold, std::vector<ClaimLine> const& lines,
                               Milliseconds when = 1s) {
        return engine.exchange({hold, lines, true, false, nullptr}, at(when), seats);
    }
    Names names_of(HoldName const& hold, Milliseconds when = 1s) {
        REQUIRE(ok(engine.read(hold, at(when), seats)));
        return names();
    }
    std::size_t edits() { return journal.count(journal::RecordType::edit); }
};

}  // namespace

TEST_CASE("an exchange gives the hold the new set and keeps what it is", "[exchange]") {
    Exchange sale;
    auto const hold = sale.claim({sale.named({"A-1-1", "A-1-2"})});
    auto const view = sale.put(hold->name, {sale.named({"A-1-2", "B-10-1"})}, 100s);
    REQUIRE(ok(view));
    CHECK(view->name == hold->name);
    CHECK(view->expires_at == at(300s));
    CHECK(view->created_at == at(0s));
    CHECK(view->extensions_left == hold->extensions_left);
    CHECK(view->total == 4'500 + 12'000);
    CHECK_FALSE(view->together);
    CHECK(view->lsn == Lsn{2});
    CHECK(sale.names() == Names{"A-1-2", "B-10-1"});
    CHECK(sale.names_of(hold->name) == Names{"A-1-2", "B-10-1"});
    CHECK(sale.free() == 28);
    CHECK(ok(sale.claim({sale.named({"A-1-1"})})));
    CHECK(sale.journal.reserved() == 0);
    CHECK(ok(sale.confirm({hold->name}, 200s)));
}

TEST_CASE("an exchange for what the hold has changes nothing", "[exchange]") {
    Exchange sale;
    auto const hold = sale.claim({sale.named({"A-1-1", "A-1-2"}), sale.general(2)});
    auto const view = sale.put(hold->name, {sale.named({"A-1-2", "A-1-1"}), sale.general(2)});
    REQUIRE(ok(view));
    CHECK(view->lsn == no_lsn);
    CHECK(sale.edits() == 0);
    CHECK(sale.seats.size() == 4);
}

TEST_CASE("a hundred failed additions never move the deadline", "[exchange][B27]") {
    Exchange sale;
    auto const hold = sale.claim({sale.named({"A-1-1"})});
    REQUIRE(ok(sale.claim({sale.named({"A-1-3"})})));
    for (int i = 1; i <= 100; ++i) {
        auto const refused = sale.put(hold->name, {sale.named({"A-1-1", "A-1-2", "A-1-3"})},
                                      Milliseconds{1'000 * i});
        REQUIRE_FALSE(ok(refused));
        REQUIRE(refused.error().code == RefusalCode::seats_unavailable);
        REQUIRE(refused.error().seat == sale.seat("A-1-3"));
        REQUIRE(refused.error().seat_reason == SeatReason::held);
        REQUIRE(sale.names() == Names{"A-1-1"});
    }
    auto const read = sale.engine.read(hold->name, at(200s), sale.seats);
    CHECK(read->expires_at == at(300s));
    CHECK(read->extensions_left == hold->extensions_left);
    CHECK(sale.free() == 28);
    CHECK(sale.edits() == 0);
    CHECK(sale.journal.reserved() == 0);
}

TEST_CASE("general places are counted: the hold keeps its own and gets what it lacks",
          "[exchange]") {
    Exchange sale;
    auto const hold = sale.claim({sale.general(3)});
    auto const first = sale.seats;
    REQUIRE(ok(sale.put(hold->name, {sale.general(5), sale.named({"A-1-1"})})));
    CHECK(sale.seats.size() == 6);
    for (SeatIndex const place : first) CHECK(std::ranges::binary_search(sale.seats, place));
    REQUIRE(ok(sale.put(hold->name, {sale.general(1)})));
    CHECK(sale.seats == std::vector{first.front()});
    CHECK(sale.free() == 29);
    REQUIRE(ok(sale.claim({sale.general(7)})));
    auto const refused = sale.put(hold->name, {sale.general(4)});
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::sold_out);
    CHECK(refused.error().number == 2);
}

TEST_CASE("giving back a part keeps the rest, and all of it releases the hold", "[exchange]") {
    Exchange sale;
    auto const hold = sale.claim({sale.named({"A-1-1", "A-1-2", "A-1-3"}), sale.general(2)});
    REQUIRE(ok(sale.give_back(hold->name, {sale.named({"A-1-2"}), sale.general(1)})));
    CHECK(sale.names() == Names{"A-1-1", "A-1-3", ""});
    CHECK(sale.free() == 27);
    auto const foreign = sale.give_back(hold->name, {sale.named({"A-1-2"})});
    REQUIRE_FALSE(ok(foreign));
    CHECK(foreign.error().code == RefusalCode::seats_unavailable);
    CHECK(foreign.error().seat == sale.seat("A-1-2"));
    CHECK(foreign.error().seat_reason == SeatReason::none);
    CHECK_FALSE(ok(sale.give_back(hold->name, {sale.general(2)})));
    CHECK(sale.names_of(hold->name).size() == 3);
    auto const all = sale.give_back(hold->name, {sale.named({"A-1-1", "A-1-3"}), sale.general(1)});
    REQUIRE(ok(all));
    CHECK(sale.seats.empty());
    CHECK(all->lsn != no_lsn);
    CHECK(sale.free() == 30);
    CHECK(sale.engine.read(hold->name, at(1s), sale.seats).error().code ==
          RefusalCode::already_released);
}

TEST_CASE("giving back all ends nothing that the hold has got meanwhile", "[exchange]") {
    for (bool const by_put : {false, true}) {
        CAPTURE(by_put);
        Exchange sale;
        auto const hold = sale.claim({sale.named({"A-1-1"})});
        std::vector<SeatIndex> theirs;
        std::vector const more{sale.named({"A-1-1", "A-1-2"})};
        sale.journal.before_reserve([&] {
            auto const grown =
                sale.engine.exchange({hold->name, more, false, false, nullptr}, at(1s), theirs);
            if (!grown) throw std::runtime_error("the hold cannot grow");
        });
        auto const back =
            by_put ? sale.put(hold->name, {}) : sale.give_back(hold->name, {sale.named({"A-1-1"})});
        REQUIRE(ok(back));
        CHECK(theirs.size() == 2);
        if (by_put) {  // in one order of the two nothing is left
            CHECK(sale.free() == 30);
            continue;
        }
        CHECK(sale.names() == Names{"A-1-2"});
        CHECK(sale.names_of(hold->name) == Names{"A-1-2"});
        CHECK(sale.free() == 29);
        CHECK(sale.journal.count(journal::RecordType::end) == 0);
        REQUIRE(ok(sale.give_back(hold->name, {sale.named({"A-1-2"})})));
        CHECK(sale.engine.read(hold->name, at(1s), sale.seats).error().code ==
              RefusalCode::already_released);
    }
}

TEST_CASE("giving back all of a hold that is sold or gone by then changes nothing", "[exchange]") {
    Exchange sale;
    auto const hold = sale.claim({sale.named({"A-1-1"})});
    sale.journal.before_reserve([&] {
        if (!sale.confirm({hold->name}, 1s)) throw std::runtime_error("the hold cannot be sold");
    });
    CHECK(sale.give_back(hold->name, {sale.named({"A-1-1"})}).error().code ==
          RefusalCode::already_confirmed);
    CHECK(sale.free() == 29);
    auto const other = sale.claim({sale.named({"A-1-3"})});
    sale.journal.before_reserve([&] {
        if (!sale.engine.release(other->name, at(1s))) throw std::runtime_error("not released");
    });
    CHECK_FALSE(ok(sale.give_back(other->name, {sale.named({"A-1-3"})})));
    CHECK(sale.journal.count(journal::RecordType::end) == 1);
    CHECK(sale.journal.reserved() == 0);
}

TEST_CASE("an exchange is bound by the rules of a claim", "[exchange]") {
    EventPolicy policy = no_orphan_rule();
    policy.max_per_order = 3;
    Exchange sale(policy);
    auto const hold = sale.claim({sale.named({"A-1-1", "A-1-2"})});
    auto const over = sale.put(hold->name, {sale.named({"A-1-1", "A-1-2", "A-1-3", "A-1-4"})});
    REQUIRE_FALSE(ok(over));
    CHECK(over.error().code == RefusalCode::user_limit);
    CHECK(over.error().number == 3);
    REQUIRE(ok(sale.engine.step(*sale.event, LifeStep::paused, at(1s))));
    CHECK(sale.put(hold->name, {sale.named({"A-1-1", "A-1-3"})}).error().code ==
          RefusalCode::sale_not_open);
    REQUIRE(ok(sale.engine.step(*sale.event, LifeStep::closed, at(1s))));
    CHECK(sale.put(hold->name, {sale.named({"A-1-1", "A-1-3"})}).error().code ==
          RefusalCode::sale_closed);
    // Less is always possible.
    CHECK(ok(sale.put(hold->name, {sale.named({"A-1-1"})})));
    CHECK(sale.names_of(hold->name) == Names{"A-1-1"});
}

TEST_CASE("an exchange by hand leaves no single seat, unless staff make it", "[exchange]") {
    EventPolicy policy;
    policy.orphan_rule = OrphanRule::strict;
    Exchange sale(policy);
    auto const hold = sale.claim({sale.named({"A-1-1", "A-1-2"})});
    REQUIRE(ok(hold));
    OrphanReport report;
    std::vector const lines{sale.named({"A-1-1", "A-1-2", "A-1-4"})};
    auto const refused =
        sale.engine.exchange({hold->name, lines, false, false, &report}, at(1s), sale.seats);
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::orphan_seat);
    CHECK(report.orphans == std::vector{sale.seat("A-1-3")});
    CHECK(ok(sale.engine.exchange({hold->name, lines, false, true, nullptr}, at(1s), sale.seats)));
}

TEST_CASE("only a live hold can be exchanged", "[exchange]") {
    Exchange sale;
    auto const sold = sale.claim({sale.named({"A-1-1"})});
    REQUIRE(ok(sale.confirm({sold->name})));
    auto const confirmed = sale.put(sold->name, {sale.named({"A-1-2"})});
    CHECK(confirmed.error().code == RefusalCode::already_confirmed);
    CHECK(confirmed.error().order == OrderId{1, 2});
    auto const late = sale.claim({sale.named({"A-2-1"})});
    auto const gone = sale.claim({sale.named({"A-2-3"})});
    REQUIRE(ok(sale.engine.release(gone->name, at(1s))));
    CHECK(sale.put(gone->name, {sale.named({"A-1-2"})}).error().code ==
          RefusalCode::already_released);
    CHECK(sale.give_back(gone->name, {sale.named({"A-2-3"})}).error().code ==
          RefusalCode::already_released);
    CHECK(sale.put(late->name, {sale.named({"A-1-2"})}, 300s).error().code ==
          RefusalCode::hold_expired);
    CHECK(sale.free(300s) == 29);
    CHECK(sale.edits() == 0);
}

TEST_CASE("without room in the journal an exchange changes nothing", "[exchange]") {
    Exchange sale;
    auto const hold = sale.claim({sale.named({"A-1-1"})});
    sale.journal.set_mode(journal::Mode::read_only);
    CHECK(sale.put(hold->name, {sale.named({"A-1-2"})}).error().code == RefusalCode::read_only);
    sale.journal.set_mode(journal::Mode::running);
    CHECK(sale.names_of(hold->name) == Names{"A-1-1"});
    CHECK(sale.free() == 29);
}

TEST_CASE("a restart brings an exchanged hold back as it was", "[exchange]") {
    Exchange sale;
    auto const hold = sale.claim({sale.named({"A-1-1", "A-1-2"})});
    REQUIRE(ok(sale.put(hold->name, {sale.named({"A-1-2", "A-2-5"})})));
    auto const restored = sale.replayed();
    REQUIRE(restored.holds.size() == 1);
    CHECK(restored.holds[0].seats == sale.seats);
    CHECK(restored.holds[0].expires_at == at(300s));
}

TEST_CASE("many threads exchange the same seats and each seat stays one hold's",
          "[exchange][stress]") {
    Exchange sale;
    std::vector<HoldName> holds;
    for (auto const* seat : {"A-1-1", "A-1-2", "A-1-3"})
        holds.push_back(sale.claim({sale.named({seat})})->name);
    struct Count {
        std::size_t done{}, lost{}, same{}, other{};
    };
    std::vector<Count> counts(holds.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < holds.size(); ++i) {
        threads.emplace_back([&sale, &holds, &mine = counts[i], i] {
            std::vector<SeatIndex> seats;
            for (std::uint32_t step = 0; step < 2'000; ++step) {
                ClaimLine line;
                line.seats = {SeatIndex{(step * 7 + static_cast<std::uint32_t>(i) * 3) % 8}};
                if (step % 3 == 0) line.seats.push_back(SeatIndex{8 + step % 5});
                std::vector const lines{line};
                auto const view =
                    sale.engine.exchange({holds[i], lines, false, false, nullptr}, at(1s), seats);
                if (view)
                    ++(view->lsn == no_lsn ? mine.same : mine.done);
                else
                    ++(view.error().code == RefusalCode::seats_unavailable ? mine.lost
                                                                           : mine.other);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    std::size_t done = 0;
    for (Count const& each : counts) {
        CHECK(each.done > 0);
        CHECK(each.lost > 0);
        CHECK(each.other == 0);
        CHECK(each.done + each.lost + each.same == 2'000);
        done += each.done;
    }
    CHECK(done == sale.edits());
    std::size_t held = 0;
    for (HoldName const& hold : holds) held += sale.names_of(hold).size();
    CHECK(sale.free() == 30 - held);
    CHECK(sale.replayed().holds.size() == 3);  // replay finds no seat with two owners
    for (HoldName const& hold : holds) REQUIRE(ok(sale.engine.release(hold, at(1s))));
    CHECK(sale.free() == 30);
    CHECK(sale.journal.reserved() == 0);
}

}  // namespace holdfast::engine::test
