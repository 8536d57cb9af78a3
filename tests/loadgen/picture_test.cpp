#include "loadgen/picture.hpp"

#include "loadgen/wire.hpp"

#include <catch2/catch.hpp>
#include <set>

using namespace holdfast::loadgen;

namespace {

/// Row 1: a seat, a table of three, two seats; row 2: a table of two.
Venue hall_with_tables() {
    auto venue = read_venue(R"({"sections":[{"id":"A","rows":[
        {"first":0,"seats":[{"name":"a"},{"name":"b"},{"name":"c","joined":true},
                            {"name":"d","joined":true},{"name":"e"},{"name":"f"}]},
        {"first":6,"seats":[{"name":"g"},{"name":"h","joined":true}]}]}]})");
    REQUIRE(venue.has_value());
    return *venue;
}

using Seats = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("a buyer who names seats takes a table that is sold as a whole wholly and alone",
          "[loadgen]") {
    auto const venue = hall_with_tables();
    Picture picture(venue);
    picture.show({std::vector<SeatState>(8, SeatState::free), {}});
    Dice dice(1);
    std::set<Seats> picked;
    for (int i = 0; i < 1'000; ++i) {
        auto const wanted = 1 + dice.below(4);
        auto const seats = picture.pick_seats(dice, wanted).seats;
        bool const table = seats == Seats{1, 2, 3} || seats == Seats{6, 7};
        bool const single = seats == Seats{0} || seats == Seats{4} || seats == Seats{5};
        bool const pair = wanted > 1 && seats == Seats{4, 5};
        CAPTURE(wanted, seats);
        REQUIRE((table || single || pair));
        picked.insert(seats);
    }
    CHECK(picked.size() == 6);
}

TEST_CASE("neighbours end where a seat is taken or the row ends", "[loadgen]") {
    auto const venue = hall_with_tables();
    Picture picture(venue);
    std::vector<SeatState> states(8, SeatState::sold);
    states[5] = SeatState::free;
    picture.show({states, {}});
    Dice dice(1);
    CHECK(picture.pick_seats(dice, 4).seats == Seats{5});
}
