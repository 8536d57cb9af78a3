// Tickets that end one by one or move, in the store's rows.
#include "tests/engine/projector_world.hpp"

#include <catch2/catch.hpp>

namespace holdfast::engine::test {
namespace {

using journal::RecordType;

/// An order of places 0, 1 and 2, in two holds, with its right total.
Lsn sell_three(World& world) {
    world.claim(hold(1, 1), {0, 1});
    world.claim(hold(2, 1), {2});
    Layout const& layout = world.find(demo)->layout;
    std::int64_t total = 0;
    for (std::uint32_t const seat : {0U, 1U, 2U}) total += layout.price_of(SeatIndex{seat});
    return world.put(
        RecordType::order,
        OrderFact{order(1), at(200), PaymentMethod::none, total, {hold(1, 1), hold(2, 1)}});
}

Lsn put_refund(World& world, std::vector<RefundFact::Part> parts) {
    return world.put(RecordType::edit, RefundFact{order(1), at(300), std::move(parts)});
}
Lsn put_reseat(World& world, std::vector<ReseatFact::Part> parts) {
    return world.put(RecordType::edit, ReseatFact{order(1), at(310), std::move(parts)});
}
store::OrderRow row_at(World& world, Lsn lsn) {
    REQUIRE(world.projector().wait_applied(lsn, patience));
    CHECK_FALSE(world.projector().degraded());
    return read_order(world, order(1));
}

}  // namespace

TEST_CASE("an order has the places its hold had at last", "[projector]") {
    World world;
    world.start();
    world.claim(hold(1, 1), {0, 1});
    world.put(RecordType::edit, ExchangeFact{hold(1, 1), {SeatIndex{0}}, {SeatIndex{5}}});
    world.put(RecordType::edit, ExchangeFact{hold(1, 1), {SeatIndex{1}}, {SeatIndex{3}}});
    auto const row = row_at(world, world.sell(order(1), {hold(1, 1)}));
    REQUIRE(row.tickets.size() == 2);
    CHECK(row.tickets[0].seat == SeatIndex{3});
    CHECK(row.tickets[1].seat == SeatIndex{5});
    CHECK(row.tickets[1].ticket == world.key.ticket_id(order(1), demo, SeatIndex{5}));
}

TEST_CASE("a refunded ticket says so and the total is what is left", "[projector]") {
    World world;
    world.start();
    auto const before = row_at(world, sell_three(world));
    auto const row = row_at(
        world, put_refund(world, {{hold(1, 1), {SeatIndex{1}}}, {hold(2, 1), {SeatIndex{2}}}}));
    CHECK(row.state == store::OrderState::confirmed);
    CHECK(row.total == before.tickets[0].price);
    REQUIRE(row.tickets.size() == 3);
    CHECK(row.tickets[0].live);
    CHECK_FALSE(row.tickets[0].refunded);
    for (std::size_t const i : {1U, 2U}) {
        CHECK_FALSE(row.tickets[i].live);
        CHECK(row.tickets[i].refunded);
        CHECK(row.tickets[i].ticket == before.tickets[i].ticket);
        CHECK(row.tickets[i].price == before.tickets[i].price);
    }
    // The places sell again, and the rest of the order can be cancelled.
    world.claim(hold(3, 1), {1, 2});
    world.sell(order(2), {hold(3, 1)});
    auto const last = row_at(world, world.cancel(order(1), {hold(1, 1)}));
    CHECK(last.state == store::OrderState::cancelled);
    CHECK_FALSE(last.tickets[0].live);
    CHECK_FALSE(last.tickets[0].refunded);
}

TEST_CASE("a ticket that moves keeps its id and its price", "[projector]") {
    World world;
    world.start();
    auto const before = row_at(world, sell_three(world));
    // Round in a circle, over both holds; then one of them further.
    put_reseat(world, {{hold(1, 1), {{SeatIndex{0}, SeatIndex{1}}, {SeatIndex{1}, SeatIndex{2}}}},
                       {hold(2, 1), {{SeatIndex{2}, SeatIndex{0}}}}});
    auto const row =
        row_at(world, put_reseat(world, {{hold(1, 1), {{SeatIndex{1}, SeatIndex{5}}}}}));
    REQUIRE(row.tickets.size() == 3);
    std::vector<std::uint32_t> const expected{5, 2, 0};
    Layout const& layout = world.find(demo)->layout;
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(row.tickets[i].ticket == before.tickets[i].ticket);
        CHECK(row.tickets[i].price == before.tickets[i].price);
        CHECK(row.tickets[i].live);
        SeatIndex const seat{expected[i]};
        CHECK(row.tickets[i].seat == seat);
        CHECK(row.tickets[i].seat_name == layout.name_of(seat));
        CHECK(row.tickets[i].section == layout.sections()[layout.section_of(seat).value()].id);
    }
    CHECK(row.total == before.total);
    // The place it left sells to somebody else.
    world.claim(hold(3, 1), {1});
    static_cast<void>(row_at(world, world.sell(order(2), {hold(3, 1)})));
}

TEST_CASE("applying refunds and reseats twice changes nothing", "[projector]") {
    World world;
    world.start();
    sell_three(world);
    put_refund(world, {{hold(2, 1), {SeatIndex{2}}}});
    Lsn const last = put_reseat(world, {{hold(1, 1), {{SeatIndex{0}, SeatIndex{7}}}}});
    static_cast<void>(row_at(world, last));
    world.stop();
    auto const rows = world.dump();
    world.open_store();
    REQUIRE(world.store->begin());
    std::vector<std::pair<EventId, SeatIndex>> const places{{demo, SeatIndex{2}}};
    std::vector<store::ReseatRow> const moves{{demo, SeatIndex{0}, SeatIndex{7}, "x", "y"}};
    Lsn const refunded{last.value() - 1};
    CHECK(world.store->apply_refund(places, {refunded, at(300), order(1), "refunded"}));
    CHECK(world.store->apply_reseat(moves, {last, at(310), order(1), "reseated"}));
    // Of another order there is nothing to apply, and that is an error.
    CHECK_FALSE(world.store->apply_refund(places, {refunded, at(300), order(2), "refunded"}));
    world.store->roll_back();
    world.stop();
    CHECK(world.dump() == rows);
}

TEST_CASE("EDIT records that contradict the rows degrade the projector", "[projector]") {
    World world;
    world.start();
    sell_three(world);
    Lsn lsn = no_lsn;
    SECTION("a refund of a place the order does not have") {
        lsn = put_refund(world, {{hold(1, 1), {SeatIndex{5}}}});
    }
    SECTION("a refund twice") {
        put_refund(world, {{hold(1, 1), {SeatIndex{1}}}});
        lsn = put_refund(world, {{hold(1, 1), {SeatIndex{1}}}});
    }
    SECTION("a reseat onto another's ticket") {
        world.claim(hold(3, 1), {5});
        world.sell(order(2), {hold(3, 1)});
        lsn = put_reseat(world, {{hold(1, 1), {{SeatIndex{1}, SeatIndex{5}}}}});
    }
    SECTION("a reseat to a place that is not there") {
        lsn = put_reseat(world, {{hold(1, 1), {{SeatIndex{1}, SeatIndex{1'000'000}}}}});
    }
    SECTION("an exchange of a sold hold") {
        lsn = world.put(RecordType::edit, ExchangeFact{hold(1, 1), {SeatIndex{0}}, {SeatIndex{5}}});
    }
    CHECK_FALSE(world.projector().wait_applied(lsn, patience));
    CHECK(world.projector().degraded());
}

}  // namespace holdfast::engine::test
