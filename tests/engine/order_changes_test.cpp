#include "tests/engine/sale_fixture.hpp"

#include <catch2/catch.hpp>
#include <thread>

namespace holdfast::engine::test {
namespace {

constexpr OrderId sold_order{3, 4};

/// A-1-1 ... A-1-3 in one hold and A-2-1 in another, sold as one order.
struct Sold : SaleFixture {
    Sold() : SaleFixture(policy()) {
        for (auto const& seats_of : {std::vector<std::string>{"A-1-1", "A-1-2", "A-1-3"},
                                     std::vector<std::string>{"A-2-1"}})
            holds.push_back(claim({named(seats_of)})->name);
        REQUIRE(ok(confirm(holds, 1s, sold_order)));
    }
    static EventPolicy policy() {
        EventPolicy made;
        made.orphan_rule = OrphanRule::off;
        return made;
    }
    Result<RefundedOrder> refund(std::vector<std::string> const& names_of) {
        std::vector<PlaceName> places;
        for (auto const& name : names_of) places.push_back({EventId{7}, seat(name)});
        return engine.refund({sold_order, holds, places}, at(2s));
    }
    Result<Lsn> reseat(std::vector<std::pair<std::string, std::string>> const& pairs) {
        std::vector<ReseatFact::Move> moves;
        for (auto const& [from, to] : pairs) moves.push_back({seat(from), seat(to)});
        return engine.reseat({sold_order, holds, EventId{7}, moves, {}}, at(2s));
    }
    /// Tickets of the places `from` go to the floor, those of `moves` where they say.
    Result<Lsn> to_floor(std::vector<SeatIndex> const& from,
                         std::vector<ReseatFact::Move> const& moves = {}) {
        std::vector<ReseatCommand::ToSection> to;
        for (SeatIndex const place : from) to.push_back({place, section("GA")});
        return engine.reseat({sold_order, holds, EventId{7}, moves, to}, at(2s));
    }
    std::vector<std::string> names_of(std::size_t hold) {
        REQUIRE(ok(engine.read(holds[hold], at(9s), seats)));
        return names();
    }
    std::vector<HoldName> holds;
};
using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a refund ends its tickets and leaves the rest sold", "[orders]") {
    Sold sale;
    auto const first = sale.refund({"A-1-2"});
    REQUIRE(ok(first));
    CHECK_FALSE(first->whole);
    CHECK(sale.names_of(0) == Names{"A-1-1", "A-1-3"});
    CHECK(sale.free() == 27);
    CHECK(ok(sale.claim({sale.named({"A-1-2"})})));
    // A whole hold of the order, and a part of the other.
    auto const second = sale.refund({"A-2-1", "A-1-3"});
    REQUIRE(ok(second));
    CHECK_FALSE(second->whole);
    CHECK(sale.names_of(0) == Names{"A-1-1"});
    CHECK_FALSE(ok(sale.engine.read(sale.holds[1], at(9s), sale.seats)));
    CHECK(sale.free() == 28);
    auto const last = sale.refund({"A-1-1"});
    REQUIRE(ok(last));
    CHECK(last->whole);
    CHECK(sale.journal.count(journal::RecordType::cancel) == 1);
    CHECK(sale.free() == 29);
    CHECK(sale.refund({"A-1-1"}).error().code == RefusalCode::already_released);
    CHECK(sale.engine.cancel(sold_order, sale.holds, at(3s)).error().code ==
          RefusalCode::already_released);
    CHECK(sale.replayed().holds.size() == 1);
    CHECK(sale.journal.reserved() == 0);
}

TEST_CASE("a refund of everything is a cancellation, and one after a refund takes the rest",
          "[orders]") {
    Sold sale;
    bool const by_refund = GENERATE(true, false);
    if (by_refund) {
        auto const all = sale.refund({"A-1-1", "A-1-2", "A-1-3", "A-2-1"});
        REQUIRE(ok(all));
        CHECK(all->whole);
    } else {
        REQUIRE(ok(sale.refund({"A-2-1"})));
        REQUIRE(ok(sale.engine.cancel(sold_order, sale.holds, at(3s))));
    }
    CHECK(sale.free() == 30);
    CHECK(sale.replayed().holds.empty());
}

TEST_CASE("a refund of what the order does not have changes nothing", "[orders]") {
    Sold sale;
    REQUIRE(ok(sale.claim({sale.named({"B-10-1"})})));
    CHECK(sale.refund({"A-1-1", "B-10-1"}).error().code == RefusalCode::already_released);
    REQUIRE(ok(sale.refund({"A-1-1"})));
    CHECK(sale.refund({"A-1-1", "A-1-2"}).error().code == RefusalCode::already_released);
    std::vector<PlaceName> const places{{EventId{7}, sale.seat("A-1-2")}};
    CHECK(sale.engine.refund({{9, 9}, sale.holds, places}, at(2s)).error().code ==
          RefusalCode::already_released);
    CHECK(sale.names_of(0) == Names{"A-1-2", "A-1-3"});
    CHECK(sale.journal.reserved() == 0);
    CHECK(sale.free() == 26);
}

TEST_CASE("a reseat moves tickets, also onto each other's seats", "[orders]") {
    Sold sale;
    REQUIRE(ok(sale.reseat({{"A-1-1", "B-10-1"}})));
    CHECK(sale.names_of(0) == Names{"A-1-2", "A-1-3", "B-10-1"});
    CHECK(ok(sale.claim({sale.named({"A-1-1"})})));
    // A circle over both holds, and a chain within one.
    REQUIRE(ok(sale.reseat({{"A-1-2", "A-2-1"}, {"A-2-1", "A-1-2"}})));
    CHECK(sale.names_of(0) == Names{"A-1-3", "A-2-1", "B-10-1"});
    CHECK(sale.names_of(1) == Names{"A-1-2"});
    REQUIRE(ok(sale.reseat({{"A-1-3", "A-1-4"}, {"A-2-1", "A-1-3"}})));
    CHECK(sale.names_of(0) == Names{"A-1-3", "A-1-4", "B-10-1"});
    CHECK(*sale.reseat({{"A-1-3", "A-1-3"}}) == no_lsn);
    CHECK(sale.free() == 25);
    auto const restored = sale.replayed();
    CHECK(restored.holds.size() == 3);
    CHECK(sale.journal.count(journal::RecordType::edit) == 3);
    REQUIRE(ok(sale.engine.cancel(sold_order, sale.holds, at(3s))));
    CHECK(sale.free() == 29);
}

TEST_CASE("a reseat in conflict changes nothing and names the seat", "[orders]") {
    Sold sale;
    REQUIRE(ok(sale.claim({sale.named({"B-10-1"})})));
    auto const taken = sale.reseat({{"A-1-1", "B-10-2"}, {"A-1-2", "B-10-1"}});
    REQUIRE_FALSE(ok(taken));
    CHECK(taken.error().code == RefusalCode::seats_unavailable);
    CHECK(taken.error().seat == sale.seat("B-10-1"));
    CHECK(taken.error().seat_reason == SeatReason::held);
    // A ticket of the order that stays is in the way, in the same hold or another.
    for (auto const* to : {"A-1-3", "A-2-1"}) {
        auto const own = sale.reseat({{"A-1-1", to}});
        REQUIRE_FALSE(ok(own));
        CHECK(own.error().seat == sale.seat(to));
        CHECK(own.error().seat_reason == SeatReason::sold);
    }
    CHECK(sale.reseat({{"B-10-1", "B-10-2"}}).error().code == RefusalCode::already_released);
    CHECK(sale.names_of(0) == Names{"A-1-1", "A-1-2", "A-1-3"});
    CHECK(sale.free() == 25);
    CHECK(sale.journal.count(journal::RecordType::edit) == 0);
    CHECK(sale.journal.reserved() == 0);
}

TEST_CASE("of refunds and cancellations at one time each ticket ends once", "[orders][stress]") {
    for (int run = 0; run < 200; ++run) {
        Sold sale;
        std::vector<std::thread> threads;
        for (auto const* name : {"A-1-1", "A-1-2", "A-2-1"}) {
            threads.emplace_back([&sale, name, run] {
                std::vector<PlaceName> const places{{EventId{7}, sale.seat(name)}};
                if (run % 2 == 0 && std::string_view(name) == "A-1-1") {
                    static_cast<void>(sale.engine.cancel(sold_order, sale.holds, at(2s)));
                } else {
                    static_cast<void>(sale.engine.refund({sold_order, sale.holds, places}, at(2s)));
                }
            });
        }
        for (auto& thread : threads) thread.join();
        static_cast<void>(sale.engine.cancel(sold_order, sale.holds, at(3s)));
        REQUIRE(sale.free() == 30);
        REQUIRE(sale.replayed().holds.empty());
        REQUIRE(sale.journal.reserved() == 0);
    }
}

TEST_CASE("a ticket goes to any place of a general section, and back", "[orders]") {
    Sold sale;
    REQUIRE(ok(sale.to_floor({sale.seat("A-1-1"), sale.seat("A-2-1")})));
    CHECK(sale.names_of(0) == Names{"A-1-2", "A-1-3", ""});
    SeatIndex const place = sale.seats.back();
    CHECK(sale.layout().section_of(place) == sale.section("GA"));
    CHECK(sale.names_of(1) == Names{""});
    CHECK(sale.seats.back() != place);
    CHECK(sale.free() == 26);
    CHECK(ok(sale.claim({sale.named({"A-1-1"})})));
    // Who is there stays there.
    CHECK(*sale.to_floor({place}) == no_lsn);
    // Back to a seat, while another takes its place.
    REQUIRE(ok(sale.to_floor({sale.seat("A-1-2")}, {{place, sale.seat("A-1-4")}})));
    CHECK(sale.names_of(0) == Names{"A-1-3", "A-1-4", ""});
    CHECK(sale.replayed().holds.size() == 3);
    CHECK(sale.to_floor({sale.seat("B-10-1")}).error().code == RefusalCode::already_released);
    REQUIRE(ok(sale.engine.cancel(sold_order, sale.holds, at(3s))));
    CHECK(sale.free() == 29);
    CHECK(sale.journal.reserved() == 0);
}

TEST_CASE("a full general section takes a ticket only for one that leaves it", "[orders]") {
    Sold sale;
    REQUIRE(ok(sale.to_floor({sale.seat("A-1-1")})));
    REQUIRE(ok(sale.engine.read(sale.holds[0], at(9s), sale.seats)));
    SeatIndex const place = sale.seats.back();
    REQUIRE(ok(sale.claim({sale.general(8)})));
    auto const refused = sale.to_floor({sale.seat("A-1-2"), sale.seat("A-1-3")});
    REQUIRE_FALSE(ok(refused));
    CHECK(refused.error().code == RefusalCode::sold_out);
    CHECK(refused.error().number == 1);
    CHECK(sale.layout().section_of(refused.error().seat) == sale.section("GA"));
    CHECK(sale.names_of(0) == Names{"A-1-2", "A-1-3", ""});
    REQUIRE(
        ok(sale.to_floor({sale.seat("A-1-2"), sale.seat("A-1-3")}, {{place, sale.seat("A-1-2")}})));
    CHECK(sale.names_of(0) == Names{"A-1-2", "", ""});
    CHECK(sale.free() == 18);
}

}  // namespace holdfast::engine::test
