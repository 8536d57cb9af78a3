#include "loadgen/wire.hpp"

#include "loadgen/dice.hpp"
#include "loadgen/picture.hpp"

#include <catch2/catch.hpp>

using namespace holdfast::loadgen;

namespace {

Venue venue_of_two_rows() {
    auto venue = read_venue(R"({"sections":[
        {"id":"A","rows":[{"first":0,"seats":[{"name":"A-1-1"},{"name":"A-1-2"},{"name":"A-1-3"}]},
                          {"first":3,"seats":[{"name":"A-2-1"},{"name":"A-2-2"}]}]},
        {"id":"GA","capacity":7}]})");
    REQUIRE(venue.has_value());
    return *venue;
}

}  // namespace

TEST_CASE("seat states are read from two bits a seat", "[loadgen]") {
    using enum SeatState;
    // Seats 0 … 4 as in API.md: free held sold blocked | held -> bytes 0b11100100, 0b00000001.
    auto const states = decode_states("5AE=", 5);
    REQUIRE(states.has_value());
    CHECK(*states == std::vector<SeatState>{free, held, sold, blocked, held});
    auto const none = decode_states("", 0);
    REQUIRE(none.has_value());
    CHECK(none->empty());
    CHECK(decode_states("AAAA", 12).has_value());
    CHECK_FALSE(decode_states("5AE=", 9).has_value());  // too short
    CHECK_FALSE(decode_states("5AE=", 4).has_value());  // too long
    CHECK_FALSE(decode_states("5ABE", 5).has_value());  // no padding
    CHECK_FALSE(decode_states("5A?=", 5).has_value());  // no base64
    CHECK_FALSE(decode_states("5AQ=", 5).has_value());  // bits of a sixth seat
    CHECK_FALSE(decode_states("5AE=\n", 5).has_value());
}

TEST_CASE("a map becomes a venue", "[loadgen]") {
    auto const venue = venue_of_two_rows();
    CHECK(venue.capacity() == 12);
    CHECK(venue.seats.size() == 5);
    CHECK(venue.rows.size() == 2);
    CHECK(venue.seat_index.at("A-2-1") == 3);
    CHECK(venue.section_capacity.at("A") == 5);
    CHECK(venue.section_capacity.at("GA") == 7);
    auto const bad = GENERATE(
        as<std::string>{}, "", "[]", "{}", R"({"sections":[{"id":"A"}]})",
        R"({"sections":[{"id":"A","rows":[{"first":1,"seats":[{"name":"x"}]}]}]})",
        R"({"sections":[{"id":"A","rows":[{"first":0,"seats":[{"name":"x"},{"name":"x"}]}]}]})",
        R"({"sections":[{"id":"A","rows":[{"first":0,"seats":["x"]}]}]})",
        R"({"sections":[{"id":"A","capacity":-1}]})");
    CAPTURE(bad);
    CHECK_FALSE(read_venue(bad).has_value());
}

TEST_CASE("a hold is believed only whole", "[loadgen]") {
    auto const venue = venue_of_two_rows();
    auto const hold = read_hold(
        R"({"hold":"h_1","token":"abc","state":"held","seats":["A-1-2","A-1-1"],
            "general":[{"section":"GA","quantity":2}],"total":300})",
        venue);
    REQUIRE(hold.has_value());
    CHECK(hold->places == Places{{0, 1}, {{0, 2}}});
    CHECK(hold->total == 300);
    auto const bad = GENERATE(
        as<std::string>{}, R"({"hold":"h_1","state":"held","seats":["B"],"general":[],"total":1})",
        R"({"hold":"h_1","state":"held","seats":["A-1-1","A-1-1"],"general":[],"total":1})",
        R"({"hold":"h_1","state":"held","seats":[1],"general":[],"total":1})",
        R"({"hold":"h_1","state":"held","seats":[],"total":1,
            "general":[{"section":"A","quantity":1}]})",
        R"({"hold":"h_1","state":"held","seats":[],"general":[],"total":"1"})",
        R"({"hold":"h\r\n1","state":"held","seats":[],"general":[],"total":1})",
        R"({"hold":"","state":"held","seats":[],"general":[],"total":1})",
        R"({"state":"held","seats":[],"general":[],"total":1})", "not json");
    CAPTURE(bad);
    auto const reply = read_hold(bad, venue);
    REQUIRE_FALSE(reply.has_value());
    CHECK_FALSE(reply.error().text.empty());
}

TEST_CASE("an order counts a general ticket as one place", "[loadgen]") {
    auto const venue = venue_of_two_rows();
    auto const order = read_order(
        R"({"order":"o_1","state":"confirmed","total":1,"tickets":[{"ticket":"t_2","section":"GA"},
            {"ticket":"t_1","seat":"A-2-2"},{"ticket":"t_3","section":"GA"}]})",
        venue);
    REQUIRE(order.has_value());
    CHECK(order->places == Places{{4}, {{0, 2}}});
    CHECK(order->tickets ==
          std::vector<Ticket>{{"t_1", 4, false}, {"t_2", 0, true}, {"t_3", 0, true}});
    CHECK_FALSE(read_order(R"({"order":"o_1","state":"confirmed","total":1,
        "tickets":[{"ticket":"t_1","seat":"A-9-9"}]})",
                           venue)
                    .has_value());
}

TEST_CASE("a state has every section of the map", "[loadgen]") {
    auto const venue = venue_of_two_rows();
    auto const state = read_snapshot(
        R"({"seq":1,"seats":"5AE=",
            "general":[{"section":"GA","free":1,"held":2,"sold":3,"blocked":1}]})",
        venue);
    REQUIRE(state.has_value());
    CHECK(state->total().sum() == 12);
    CHECK(state->total().held == 4);
    CHECK_FALSE(read_snapshot(R"({"seq":1,"seats":"5AE=","general":[]})", venue).has_value());
}

TEST_CASE("a problem's code is read, anything else has none", "[loadgen]") {
    auto const problem = read_problem(R"({"code":"already-confirmed","order":"o_1"})");
    CHECK(problem.code == "already-confirmed");
    CHECK(problem.order == "o_1");
    CHECK(read_problem("<html>").code.empty());
    CHECK(read_problem("[]").code.empty());
}

TEST_CASE("a plan's format is seen from its own keys", "[loadgen]") {
    auto const seatsio =
        recognise_plan(R"({"categories":{"list":[{"key":9},{"key":"b"}]},"subChart":{}})");
    REQUIRE(seatsio.has_value());
    CHECK(seatsio->format == "seatsio");
    CHECK(seatsio->categories == std::vector<std::string>{"9", "b"});
    auto const pretix = recognise_plan(R"({"zones":[],"categories":[{"name":"VIP"}]})");
    REQUIRE(pretix.has_value());
    CHECK(pretix->format == "pretix");
    CHECK(pretix->categories == std::vector<std::string>{"VIP"});
    CHECK_FALSE(recognise_plan("{}").has_value());
    CHECK_FALSE(recognise_plan("{").has_value());
}

TEST_CASE("requests carry what was asked for", "[loadgen]") {
    auto const venue = venue_of_two_rows();
    CHECK(claim_body(venue, {{0, 1}, {}}) == R"({"seats":["A-1-1","A-1-2"]})");
    CHECK(claim_body(venue, {{}, {{0, 3}}}) == R"({"section":"GA","quantity":3})");
    CHECK(claim_body(venue, {{2}, {{0, 1}}}) ==
          R"({"lines":[{"seats":["A-1-3"]},{"section":"GA","quantity":1}]})");
    CHECK(best_body(4) == R"({"best":{"quantity":4}})");
    auto const body = event_body(
        {.id = "e", .plan = R"({"a":1.50})", .facts = {"seatsio", {"9"}}, .hold_ttl_s = 2});
    CHECK_THAT(body, Catch::Contains(R"("plan":{"a":1.50}}})"));
    CHECK_THAT(body, Catch::Contains(R"("prices":{"9":1500})"));
    CHECK_THAT(body, Catch::Contains(R"("hold_ttl_s":2)"));
}

TEST_CASE("a buyer picks free neighbours only", "[loadgen]") {
    using enum SeatState;
    auto const venue = venue_of_two_rows();
    Picture picture(venue);
    picture.show(
        {{free, free, sold, free, held}, {{.free = 2, .held = 0, .sold = 5, .blocked = 0}}});
    CHECK_FALSE(picture.sold_out());
    Dice dice(7);
    for (int round = 0; round < 200; ++round) {
        auto const wanted = 1 + dice.below(4);
        auto const seats = picture.pick_seats(dice, wanted).seats;
        bool const pair = seats == std::vector<std::uint32_t>{0, 1};
        bool const single = seats.size() == 1 && picture.snapshot().seats[seats[0]] == free;
        REQUIRE((pair || single));
        REQUIRE(seats.size() <= wanted);
        auto const general = picture.pick_general(dice, wanted);
        REQUIRE(general.count() == std::min(wanted, 2U));
    }
    picture.show(
        {{sold, sold, sold, sold, blocked}, {{.free = 0, .held = 0, .sold = 7, .blocked = 0}}});
    CHECK(picture.sold_out());
    CHECK_FALSE(picture.has_free_seats());
    CHECK_FALSE(picture.has_free_areas());
}
