#include "loadgen/checks.hpp"

#include <catch2/catch.hpp>

using namespace holdfast::loadgen;

namespace {

/// Seats A-1-1 … A-1-4 and an area GA of 3 places.
Venue small_venue() {
    auto venue = read_venue(R"({"event":"e","version":1,"categories":[],"sections":[
        {"id":"A","name":"Stalls","rows":[{"label":"1","first":0,"seats":[
            {"name":"A-1-1"},{"name":"A-1-2"},{"name":"A-1-3"},{"name":"A-1-4"}]}]},
        {"id":"GA","capacity":3}]})");
    REQUIRE(venue.has_value());
    return *venue;
}

HoldEntry hold(std::string id, Places places) {
    HoldEntry entry;
    entry.id = std::move(id);
    entry.token = "t";
    entry.wish.places = places;
    entry.places = std::move(places);
    entry.total = 100;
    return entry;
}

void sell(Ledger& ledger, std::string id, Places places) {
    OrderEntry order{.id = "o_" + id,
                     .hold = ledger.holds.size(),
                     .places = places,
                     .tickets = {},
                     .total = 100};
    for (auto const seat : places.seats) {
        order.tickets.push_back({"t_" + id + std::to_string(seat), seat, false});
    }
    for (auto const& [area, quantity] : places.general) {
        for (std::uint32_t i = 0; i < quantity; ++i) {
            order.tickets.push_back({"t_" + id + "g" + std::to_string(i), area, true});
        }
    }
    ledger.holds.push_back(hold("h_" + id, std::move(places)));
    ledger.add_order(std::move(order));
}

/// Everything sold: two seats and one place; one seat; one seat and two places.
Ledger good_ledger() {
    Ledger ledger;
    sell(ledger, "a", {{0, 1}, {{0, 1}}});
    sell(ledger, "b", {{2}, {}});
    sell(ledger, "c", {{3}, {{0, 2}}});
    return ledger;
}

Snapshot all_sold() {
    return {std::vector<SeatState>(4, SeatState::sold),
            {{.free = 0, .held = 0, .sold = 3, .blocked = 0}}};
}

std::string order_json(std::string const& tickets, std::string const& state = "confirmed") {
    return R"({"order":"o_b","state":")" + state + R"(","event":"e","tickets":[)" + tickets +
           R"(],"total":100,"currency":"EUR","created_at":"x"})";
}

std::string hold_json(std::string const& seats, std::string const& state = "held") {
    return R"({"hold":"h_b","event":"e","state":")" + state + R"(","seats":[)" + seats +
           R"(],"general":[],"total":100})";
}

}  // namespace

TEST_CASE("a good sale passes every check", "[loadgen]") {
    auto const venue = small_venue();
    auto const ledger = good_ledger();
    CHECK(check_no_seat_twice(venue, ledger).holds());
    CHECK(check_all_or_nothing(small_venue(), ledger).holds());
    CHECK(check_sold_out(venue, ledger, all_sold(), 0).holds());
    CHECK(check_sold_by_orders(venue, ledger, all_sold()).holds());
}

TEST_CASE("a seat in two orders is found", "[loadgen]") {
    auto const venue = small_venue();
    auto ledger = good_ledger();
    sell(ledger, "d", {{2}, {}});
    auto const check = check_no_seat_twice(venue, ledger);
    CHECK_FALSE(check.holds());
    CHECK(check.broken == 1);
    REQUIRE(check.first.size() == 1);
    CHECK(check.first.front() == "A-1-3 is in 2 orders");
}

TEST_CASE("an area sold beyond its capacity is found", "[loadgen]") {
    auto const venue = small_venue();
    auto ledger = good_ledger();
    sell(ledger, "d", {{}, {{0, 1}}});
    CHECK_FALSE(check_no_seat_twice(venue, ledger).holds());
}

TEST_CASE("a hold with other places than asked for is found", "[loadgen]") {
    auto ledger = good_ledger();
    SECTION("a named seat is missing") {
        ledger.holds[0].wish.places.seats = {0, 1, 2};
    }
    SECTION("another seat than the named one") {
        ledger.holds[1].wish.places.seats = {1};
    }
    SECTION("fewer than the best wanted") {
        ledger.holds[1].wish = Wish{.best = 2, .places = {}};
    }
    SECTION("more than the best wanted") {
        ledger.holds[0].wish = Wish{.best = 2, .places = {}};
    }
    SECTION("two seats for one") {
        ledger.holds[0].wish = Wish{.best = 1, .places = {}};
        ledger.holds[0].places.general.clear();
        ledger.orders[0].places.general.clear();
    }
    auto const check = check_all_or_nothing(small_venue(), ledger);
    CHECK(check.broken == 1);
    CHECK_FALSE(check.holds());
}

TEST_CASE("a whole table for a smaller party is what was asked for", "[loadgen]") {
    auto venue = small_venue();
    venue.joined[1] = true;
    auto ledger = good_ledger();
    ledger.holds[0].wish = Wish{.best = 1, .places = {}};
    ledger.holds[0].places.general.clear();
    ledger.orders[0].places.general.clear();
    CHECK(check_all_or_nothing(venue, ledger).holds());
}

TEST_CASE("an order that is not its hold is found", "[loadgen]") {
    auto ledger = good_ledger();
    SECTION("a seat less") {
        ledger.orders[0].places.seats = {0};
    }
    SECTION("another price") {
        ledger.orders[0].total = 99;
    }
    SECTION("a place of an area less") {
        ledger.orders[2].places.general = {{0, 1}};
    }
    CHECK(check_all_or_nothing(small_venue(), ledger).broken == 1);
}

TEST_CASE("a sale that is not sold out is found", "[loadgen]") {
    auto const venue = small_venue();
    auto ledger = good_ledger();
    auto state = all_sold();
    std::uint64_t blocked_at_start = 0;
    SECTION("a seat is held") {
        state.seats[0] = SeatState::held;
    }
    SECTION("a place is free") {
        state.areas[0] = {.free = 1, .held = 0, .sold = 2, .blocked = 0};
    }
    SECTION("a seat was blocked meanwhile") {
        state.seats[0] = SeatState::blocked;
    }
    SECTION("an order is missing") {
        ledger.places_ordered -= ledger.orders.back().places.count();
        ledger.orders.pop_back();
    }
    SECTION("a ticket is in two orders") {
        ledger.orders[1].tickets[0].id = ledger.orders[0].tickets[0].id;
    }
    SECTION("a ticket is missing") {
        ledger.orders[0].tickets.pop_back();
    }
    SECTION("a blocked place is unblocked") {
        blocked_at_start = 1;
    }
    CHECK_FALSE(check_sold_out(venue, ledger, state, blocked_at_start).holds());
}

TEST_CASE("seats sold without an order and orders without sold seats are found", "[loadgen]") {
    auto const venue = small_venue();
    auto ledger = good_ledger();
    auto state = all_sold();
    SECTION("a seat in an order is free") {
        state.seats[3] = SeatState::free;
    }
    SECTION("a place in an order is free") {
        state.areas[0] = {.free = 1, .held = 0, .sold = 2, .blocked = 0};
    }
    SECTION("nobody ordered what is sold") {
        ledger.orders.pop_back();
    }
    CHECK_FALSE(check_sold_by_orders(venue, ledger, state).holds());
}

TEST_CASE("an order whose answer was lost may have sold its places, or not", "[loadgen]") {
    auto const venue = small_venue();
    auto ledger = good_ledger();
    auto const lost = ledger.orders.back().hold;
    ledger.orders.pop_back();
    ledger.holds[lost].fate = Fate::ordering;
    auto state = all_sold();
    CHECK(check_sold_by_orders(venue, ledger, state).holds());
    state.seats[3] = SeatState::held;
    state.areas[0] = {.free = 0, .held = 2, .sold = 1, .blocked = 0};
    CHECK(check_sold_by_orders(venue, ledger, state).holds());
    ledger.holds[lost].fate = Fate::abandoned;
    CHECK_FALSE(check_sold_by_orders(venue, ledger, all_sold()).holds());
}

TEST_CASE("sums that do not add up are found", "[loadgen]") {
    auto const venue = small_venue();
    EventReply event{.state = "open",
                     .sections = {{"A", {.free = 1, .held = 1, .sold = 2, .blocked = 0}},
                                  {"GA", {.free = 0, .held = 0, .sold = 2, .blocked = 1}}},
                     .capacity = {{"A", 4}, {"GA", 3}}};
    auto state = all_sold();
    auto check = new_sums_check();
    CHECK_FALSE(check.holds());  // nothing was looked at yet
    add_sums(check, venue, event);
    add_sums(check, venue, state);
    CHECK(check.holds());
    CHECK(check.looked_at == 3);
    SECTION("a seat too many") {
        ++event.sections["A"].free;
    }
    SECTION("a seat too few") {
        --event.sections["A"].sold;
    }
    SECTION("another capacity than the map") {
        event.capacity["GA"] = 4;
    }
    SECTION("a section is missing") {
        event.sections.erase("GA");
        event.sections["B"] = {};
    }
    SECTION("a section too many") {
        event.sections["B"] = {};
    }
    SECTION("a place of an area too few") {
        --state.areas[0].sold;
    }
    add_sums(check, venue, event);
    add_sums(check, venue, state);
    CHECK_FALSE(check.holds());
}

TEST_CASE("an order that is lost or changed after a restart is found", "[loadgen]") {
    auto const venue = small_venue();
    Ledger ledger;
    sell(ledger, "b", {{1, 2}, {}});
    auto const ticket_1 = R"({"ticket":"t_b1","seat":"A-1-2"})";
    auto const ticket_2 = R"({"ticket":"t_b2","seat":"A-1-3"})";
    auto const both = std::string(ticket_2) + "," + ticket_1;
    CHECK(check_orders_found(venue, ledger, {{0, 200, order_json(both)}}).holds());
    auto const bad = GENERATE_REF(values<ReadBack>({
        {0, 404, ""},
        {0, 0, ""},
        {0, 200, ""},
        {0, 200, order_json(ticket_1)},
        {0, 200, order_json(both, "refunded")},
        {0, 200, order_json(std::string(ticket_1) + R"(,{"ticket":"t_b2","seat":"A-1-4"})")},
        {0, 200, order_json(std::string(ticket_1) + R"(,{"ticket":"t_x","seat":"A-1-3"})")},
        // The right tickets and seats, in the wrong pairs.
        {0, 200,
         order_json(R"({"ticket":"t_b1","seat":"A-1-3"},{"ticket":"t_b2","seat":"A-1-2"})")},
    }));
    CAPTURE(bad.status, bad.body);
    CHECK_FALSE(check_orders_found(venue, ledger, {bad}).holds());
    CHECK_FALSE(check_orders_found(venue, ledger, {}).holds());
}

TEST_CASE("a hold that is lost or changed after a restart is found", "[loadgen]") {
    auto const venue = small_venue();
    Ledger ledger;
    ledger.holds.push_back(hold("h_b", {{1, 2}, {}}));
    auto const both = R"("A-1-2","A-1-3")";
    auto const found = [&](unsigned status, std::string body) {
        return check_holds_found(venue, ledger, {{0, status, std::move(body)}}).holds();
    };
    CHECK(check_holds_found(venue, ledger, {}).holds());
    CHECK(found(200, hold_json(both)));
    CHECK_FALSE(found(410, ""));
    CHECK_FALSE(found(404, ""));
    CHECK_FALSE(found(200, hold_json(R"("A-1-2")")));
    CHECK_FALSE(found(200, hold_json(both, "confirmed")));
    ledger.holds[0].fate = Fate::ordering;
    CHECK(found(200, hold_json(both, "confirmed")));
    CHECK_FALSE(found(410, ""));
}

TEST_CASE("a released hold that is alive after a restart is found", "[loadgen]") {
    Ledger ledger;
    ledger.holds.push_back(hold("h_b", {{1}, {}}));
    CHECK(check_releases_kept(ledger, {{0, 410, ""}}).holds());
    CHECK(check_releases_kept(ledger, {{0, 409, ""}}).holds());
    CHECK_FALSE(check_releases_kept(ledger, {{0, 200, hold_json("\"A-1-2\"")}}).holds());
    CHECK_FALSE(check_releases_kept(ledger, {{0, 404, ""}}).holds());
}

TEST_CASE("a check tells the first few of many faults", "[loadgen]") {
    Check check{.name = "n", .promise = "p"};
    for (int i = 0; i < 100; ++i) check.fail(std::to_string(i));
    check.look(true);
    CHECK(check.broken == 100);
    CHECK(check.looked_at == 101);
    CHECK(check.first == std::vector<std::string>{"0", "1", "2", "3", "4"});
}
