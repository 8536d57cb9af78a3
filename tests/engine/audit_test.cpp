// Audit: a sound sale passes, and each contradiction that is planted is named.
#include "tests/engine/resting_world.hpp"

#include <catch2/catch.hpp>

namespace holdfast::engine::test {
namespace {

/// A hold, a block, two sold orders, one of them changed, and one cancelled order.
void trade(World& world) {
    world.claim(hold(1, 1), {0, 1});
    ClaimFact block{hold(2, 1), std::uint64_t{1} << 56, at(100), at(900), {SeatIndex{2}}};
    world.put(journal::RecordType::claim, block);
    world.claim(hold(3, 1), {3, 4});
    sell_for_price(world, order(1), hold(3, 1), {3, 4});
    world.claim(hold(4, 1), {5, 6});
    world.put(journal::RecordType::edit, ExchangeFact{hold(4, 1), {SeatIndex{6}}, {SeatIndex{7}}});
    sell_for_price(world, order(2), hold(4, 1), {5, 7});
    world.put(journal::RecordType::edit,
              ReseatFact{order(2), at(210), {{hold(4, 1), {{SeatIndex{5}, SeatIndex{8}}}}}});
    world.put(journal::RecordType::edit,
              RefundFact{order(1), at(220), {{hold(3, 1), {SeatIndex{3}}}}});
    world.claim(hold(5, 1), {9});
    sell_for_price(world, order(3), hold(5, 1), {9});
    world.cancel(order(3), {hold(5, 1)});
    world.claim(hold(6, 1), {9});
    Lsn const last = world.end(hold(6, 1));
    world.close_journal();
    REQUIRE_FALSE(catch_up_to(world, last).has_value());
}

void edit_store(World& world, std::string const& sql) {
    auto database = store::Database::open_writer(world.folder.file());
    REQUIRE(database.has_value());
    auto const done = database->run(sql.c_str());
    INFO(sql);
    REQUIRE(done.has_value());
}

struct Planted {
    char const* what;
    char const* sql;
    char const* found;
};

}  // namespace

TEST_CASE("an audit of a sound sale finds nothing, and counts all places", "[audit]") {
    World world;
    world.open_store();
    trade(world);
    AuditFindings const findings = audit_of(world);
    CHECK(findings.contradictions == std::vector<std::string>{});
    CHECK(findings.contradiction_count == 0);
    CHECK(findings.places.held == 2);
    CHECK(findings.places.blocked == 1);
    CHECK(findings.places.sold == 3);
    CHECK(findings.places.free == world.find(demo)->layout.place_count() - 6);
    CHECK(findings.confirmed == 2);
    CHECK(findings.cancelled == 1);
}

TEST_CASE("an audit names each contradiction that is planted in the store", "[audit]") {
    Planted const planted = GENERATE(
        Planted{"a ticket more",
                "INSERT INTO tickets SELECT order_lsn, 77, zeroblob(16), event, 10, 'x', section, "
                "0, 1, NULL FROM tickets WHERE live = 1 LIMIT 1",
                "but by the journal it is not sold"},
        Planted{"a ticket less", "UPDATE tickets SET live = 0 WHERE seat = 4",
                "but store.db has no live ticket of it"},
        Planted{"two tickets of a seat",
                "DROP INDEX tickets_owner; INSERT INTO tickets SELECT order_lsn, 77, zeroblob(16), "
                "event, seat, seat_name, section, 0, 1, NULL FROM tickets WHERE seat = 4",
                "two live tickets"},
        Planted{"a ticket of another order",
                "UPDATE tickets SET order_lsn = (SELECT max(lsn) FROM orders WHERE state = "
                "'confirmed'), number = 77 WHERE seat = 4 AND live = 1",
                "but by the journal it is of"},
        Planted{"a wrong sum", "UPDATE orders SET total = total + 1 WHERE state = 'confirmed'",
                "its tickets cost"},
        Planted{"a wrong price, and a sum to fit it",
                "UPDATE tickets SET price = price + 1 WHERE seat = 4;"
                "UPDATE orders SET total = total + 1 WHERE lsn = "
                "(SELECT order_lsn FROM tickets WHERE seat = 4 AND live = 1)",
                "its ticket says the price"},
        Planted{"an order less",
                "PRAGMA foreign_keys = OFF; DELETE FROM orders WHERE state = 'cancelled'",
                "in the journal, but not in store.db"},
        Planted{"an order more",
                "INSERT INTO orders SELECT 99, randomblob(16), event, 'cancelled', payment_method, "
                "1, currency, 1 FROM orders LIMIT 1",
                "in store.db, but not in the journal"},
        Planted{"an order that is cancelled in one account only",
                "UPDATE orders SET state = 'confirmed' WHERE state = 'cancelled'",
                "confirmed in store.db, but not in the journal"},
        Planted{"an order at another LSN",
                "PRAGMA foreign_keys = OFF; UPDATE orders SET lsn = 99 WHERE state = 'cancelled'",
                "store.db has it at LSN 99"},
        Planted{"a cancelled order with tickets", "UPDATE tickets SET live = 1 WHERE seat = 9",
                "but it has live tickets"});
    World world;
    world.open_store();
    trade(world);
    edit_store(world, planted.sql);
    AuditFindings const findings = audit_of(world);
    std::string all;
    for (std::string const& line : findings.contradictions) all += line + '\n';
    INFO(planted.what);
    CHECK_THAT(all, Catch::Contains(planted.found));
    CHECK(findings.contradiction_count >= 1);
}

TEST_CASE("an audit finds an order of the journal that charges another price", "[audit]") {
    World world;
    world.open_store();
    world.claim(hold(1, 1), {0});
    Lsn const last = world.sell(order(1), {hold(1, 1)});  // 777, which no place costs
    world.close_journal();
    REQUIRE_FALSE(catch_up_to(world, last).has_value());
    AuditFindings const findings = audit_of(world);
    REQUIRE(findings.contradiction_count == 2);
    CHECK_THAT(findings.contradictions[0] + findings.contradictions[1],
               Catch::Contains("the journal charges 777 for places that cost"));
}

TEST_CASE("an audit finds a replay that differs from the recount", "[audit]") {
    World world;
    world.open_store();
    trade(world);
    Recount const nothing([&world](EventId id) { return world.find(id); });
    RestoredEvent replayed;
    replayed.holds.push_back({HoldRef{1, SlotIndex{1}}, 0, at(1), at(2), order(1), {SeatIndex{3}}});
    std::map<EventId, RestoredEvent> const all{{demo, replayed}};
    AuditFindings const findings = audit({.catalogue = world.specs,
                                          .replayed = all,
                                          .recount = nothing,
                                          .counted_from = no_lsn,
                                          .tickets = {},
                                          .orders = {}});
    CHECK(findings.contradiction_count == 2);  // the section, and the place
}

TEST_CASE("an audit finds holds that have each other's places", "[audit]") {
    World world;
    world.open_store();
    world.claim(hold(1, 1), {0, 1});
    Lsn const last = world.claim(hold(2, 1), {2, 3});
    world.close_journal();
    Recount recount([&world](EventId id) { return world.find(id); });
    journal::TailReader reader("data", world.disk, no_lsn);
    REQUIRE(reader.read(last, 1'000, recount).has_value());
    RestoredEvent replayed;
    auto const put = [&replayed](std::uint32_t slot, std::vector<SeatIndex> seats,
                                 std::uint64_t holder = 0) {
        replayed.holds.push_back(
            {HoldRef{1, SlotIndex{slot}}, holder, at(1), at(2), {}, std::move(seats)});
    };
    std::string found;
    SECTION("as they are") {
        put(1, {SeatIndex{0}, SeatIndex{1}});
        put(2, {SeatIndex{2}, SeatIndex{3}});
    }
    SECTION("the places of two holds, changed about") {
        put(1, {SeatIndex{2}, SeatIndex{3}});
        put(2, {SeatIndex{0}, SeatIndex{1}});
        found = "slot 1 generation 1: replay gives it other places";
    }
    SECTION("another hold") {
        put(1, {SeatIndex{0}, SeatIndex{1}});
        put(3, {SeatIndex{2}, SeatIndex{3}});
        found = "slot 3 generation 1: replay has it, the journal does not";
    }
    std::map<EventId, RestoredEvent> const all{{demo, replayed}};
    AuditFindings const findings = audit({.catalogue = world.specs,
                                          .replayed = all,
                                          .recount = recount,
                                          .counted_from = no_lsn,
                                          .tickets = {},
                                          .orders = {}});
    std::string lines;
    for (std::string const& line : findings.contradictions) lines += line + '\n';
    CHECK_THAT(lines, Catch::Contains(found));
    CHECK(findings.contradiction_count == (found.empty() ? 0 : 2));
}

TEST_CASE("a recount gives up where records contradict each other", "[audit]") {
    World world;
    world.open_store();
    world.claim(hold(1, 1), {0});
    SECTION("an order of a hold that is not live") {
        world.sell(order(1), {hold(2, 1)});
    }
    SECTION("a place that is sold twice") {
        world.sell(order(1), {hold(1, 1)});
        world.claim(hold(2, 1), {0});
        world.sell(order(2), {hold(2, 1)});
    }
    SECTION("an order id twice") {
        world.claim(hold(2, 1), {1});
        world.sell(order(1), {hold(1, 1)});
        world.sell(order(1), {hold(2, 1)});
    }
    SECTION("a cancel of an unknown order") {
        world.cancel(order(9), {hold(1, 1)});
    }
    SECTION("a refund of a place that the order has not") {
        world.sell(order(1), {hold(1, 1)});
        world.put(journal::RecordType::edit,
                  RefundFact{order(1), at(220), {{hold(1, 1), {SeatIndex{5}}}}});
    }
    Lsn const last = world.step(LifeStep::closed);
    world.close_journal();
    Recount recount([&world](EventId id) { return world.find(id); });
    journal::TailReader reader("data", world.disk, no_lsn);
    CHECK_FALSE(reader.read(last, 1'000'000, recount).has_value());
    CHECK_THAT(recount.failure(), Catch::StartsWith("LSN "));
}

}  // namespace holdfast::engine::test
