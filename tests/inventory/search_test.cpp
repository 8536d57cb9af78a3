#include "tests/inventory/venue.hpp"

#include <catch2/catch.hpp>
#include <set>

namespace holdfast::inventory::test {
namespace {

Wish plain(std::uint32_t quantity) {
    Wish wish;
    wish.quantity = quantity;
    return wish;
}

Wish neighbours(std::uint32_t quantity) {
    Wish wish = plain(quantity);
    wish.together = true;
    return wish;
}

std::vector<std::uint32_t> best(Venue& venue, Wish const& wish, TimePoint now = at(0)) {
    std::vector<SeatIndex> chosen;
    Choice const choice = venue.search.best(wish, now, chosen);
    REQUIRE(choice.kind == Choice::Kind::chosen);
    return numbers(chosen);
}

TEST_CASE("best available takes the neighbours nearest to the focal point", "[inventory]") {
    Venue venue(plain_layout(3, 10));
    CHECK(best(venue, plain(2)) == std::vector<std::uint32_t>{4, 5});
    // 4 and 5 are equally near: the lower index wins.
    CHECK(best(venue, plain(1)) == std::vector<std::uint32_t>{4});
    REQUIRE(venue.take({4, 5}).kind == ClaimOutcome::Kind::won);
    // Beside them in the first row is still nearer than the middle of the second.
    CHECK(best(venue, plain(2)) == std::vector<std::uint32_t>{2, 3});
}

TEST_CASE("a choice that leaves a single seat comes after all others", "[inventory]") {
    Venue venue(plain_layout(2, 4));
    REQUIRE(venue.take({0}).kind == ClaimOutcome::Kind::won);  // free: 1 2 3 | 4 5 6 7
    CHECK(best(venue, plain(2)) == std::vector<std::uint32_t>{4, 5});
    Wish careless = plain(2);
    careless.prevent_orphans = false;
    CHECK(best(venue, careless) == std::vector<std::uint32_t>{1, 2});
    REQUIRE(venue.take({4, 5, 6, 7}).kind == ClaimOutcome::Kind::won);
    CHECK(best(venue, plain(2)) == std::vector<std::uint32_t>{1, 2});
}

TEST_CASE("a choice takes groups whole or not at all", "[inventory]") {
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 100});
    builder.set_focal({2.5, -1});
    Section section;
    section.id = "A";
    builder.add_section(section);
    builder.add_row("1");
    // Seats 2 and 3 are a sofa, and so are 4, 5 and 6.
    for (int i = 0; i < 8; ++i) {
        std::string const name = "A-1-" + std::to_string(i);
        bool const joined = i == 3 || i == 5 || i == 6;
        auto const flags = static_cast<std::uint8_t>(joined ? SeatFlag::joined : SeatFlag::none);
        builder.add_seat({name, name, {{i * 1.0, 0}, {}, flags}});
    }
    Venue venue(std::move(*std::move(builder).build()));
    CHECK(best(venue, plain(1)) == std::vector<std::uint32_t>{0});
    CHECK(best(venue, plain(2)) == std::vector<std::uint32_t>{2, 3});
    CHECK(best(venue, plain(3)) == std::vector<std::uint32_t>{1, 2, 3});
    CHECK(best(venue, plain(5)) == std::vector<std::uint32_t>{2, 3, 4, 5, 6});
    REQUIRE(venue.take({0, 1, 2, 3, 7}).kind == ClaimOutcome::Kind::won);
    CHECK(best(venue, plain(3)) == std::vector<std::uint32_t>{4, 5, 6});
    std::vector<SeatIndex> chosen;
    // Two sofas and a chair together, but no part of a sofa; nor apart.
    CHECK(venue.search.best(plain(2), at(0), chosen).kind == Choice::Kind::none_together);
    CHECK(chosen.empty());
    Wish table = plain(2);
    table.table_max = 3;
    CHECK(best(venue, table) == std::vector<std::uint32_t>{4, 5, 6});
}

TEST_CASE("neither an aisle nor the end of a row is crossed", "[inventory]") {
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 100});
    Section section;
    section.id = "A";
    builder.add_section(section);
    builder.add_row("1");
    for (int i = 0; i < 4; ++i) {
        std::string const name = "A-1-" + std::to_string(i);
        auto const aisle =
            static_cast<std::uint8_t>(i == 2 ? SeatFlag::aisle_before : SeatFlag::none);
        builder.add_seat({name, name, {{i * 1.0, 0}, {}, aisle}});
    }
    auto layout = std::move(builder).build();
    Venue venue(std::move(*layout));
    CHECK(best(venue, plain(2)) == std::vector<std::uint32_t>{0, 1});
    std::vector<SeatIndex> chosen;
    Choice const choice = venue.search.best(neighbours(3), at(0), chosen);
    CHECK(choice.kind == Choice::Kind::none_together);
    CHECK(choice.number == 2);
    CHECK(chosen.empty());
    CHECK(best(venue, plain(3)).size() == 3);
}

TEST_CASE("a verdict on neighbours refuses no wish that a floor can serve", "[inventory]") {
    Venue venue(plain_layout(1, 4, 6));
    REQUIRE(venue.take({0, 1, 2}, at(0), at(100'000)).kind == ClaimOutcome::Kind::won);
    std::vector<SeatIndex> chosen;
    for (int round = 0; round < 2; ++round) {
        Choice const refused = venue.search.best(neighbours(2), at(0), chosen);
        CHECK(refused.kind == Choice::Kind::none_together);
        CHECK(refused.number == 1);
    }
    CHECK(venue.search.refused({}, {}, {}, 2, true, at(0)) == venue.search.not_refused);
    CHECK(venue.search.refused({}, {}, {}, 2, false, at(0)) == venue.search.not_refused);
    CHECK(venue.search.best(neighbours(8), at(0), chosen).kind == Choice::Kind::sold_out);
    CHECK(venue.search.refused({}, {}, {}, 8, true, at(0)) == 7);
    CHECK(best(venue, plain(2)) == std::vector<std::uint32_t>{4, 5});
    // Seven are left, six of them on the floor: not sold out, and six can be had.
    Choice const seven = venue.search.best(plain(7), at(0), chosen);
    CHECK(seven.kind == Choice::Kind::none_together);
    CHECK(seven.number == 6);
    Choice const eight = venue.search.best(plain(8), at(0), chosen);
    CHECK(eight.kind == Choice::Kind::sold_out);
    CHECK(eight.number == 7);
    CHECK(venue.search.refused({}, {}, {}, 8, false, at(0)) == 7);
    CHECK(venue.search.refused({}, {}, {}, 7, false, at(0)) == venue.search.not_refused);
}

TEST_CASE("a choice that passes over better ones shares no seat with them", "[inventory]") {
    Venue venue(plain_layout(2, 6));
    Wish wish = neighbours(2);
    std::set<std::uint32_t> seen;
    for (std::uint32_t over = 0; over < 4; ++over) {
        wish.pass_over = over;
        for (std::uint32_t const seat : best(venue, wish)) CHECK(seen.insert(seat).second);
    }
    wish.pass_over = 1'000;
    CHECK(best(venue, wish).size() == 2);  // the last there is
}

TEST_CASE("sold out is answered with what is left, kept, and forgotten when places come free",
          "[inventory]") {
    Venue venue(plain_layout(1, 4));
    auto const hold = venue.take({0, 1, 2}, at(0), at(100'000));
    std::vector<SeatIndex> chosen;
    auto const refused = venue.search.best(plain(2), at(0), chosen);
    CHECK(refused.kind == Choice::Kind::sold_out);
    CHECK(refused.number == 1);
    CHECK(venue.search.best(plain(2), at(1), chosen).kind == Choice::Kind::sold_out);
    // A verdict for two does not refuse one (PROTOCOL.md F2).
    CHECK(best(venue, plain(1)) == std::vector<std::uint32_t>{3});
    chosen.clear();
    REQUIRE(venue.release(hold.ref).kind == EndOutcome::Kind::ended);
    CHECK(best(venue, plain(2)).size() == 2);
}

TEST_CASE("a kept verdict ends with the earliest deadline, without any timer", "[inventory]") {
    Venue venue(plain_layout(1, 2));
    REQUIRE(venue.take({0, 1}, at(0), at(1'000)).kind == ClaimOutcome::Kind::won);
    std::vector<SeatIndex> chosen;
    CHECK(venue.search.best(plain(2), at(10), chosen).kind == Choice::Kind::sold_out);
    CHECK(venue.search.best(plain(2), at(999), chosen).kind == Choice::Kind::sold_out);
    CHECK(best(venue, plain(2), at(1'000)) == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("general places come from anywhere in the section, never from another", "[inventory]") {
    Venue venue(plain_layout(2, 5, 130));
    std::vector<SeatIndex> chosen;
    for (int round = 0; round < 13; ++round) {
        chosen.clear();
        REQUIRE(venue.search.general(SectionIndex{1}, 10, {}, at(0), chosen).kind ==
                Choice::Kind::chosen);
        REQUIRE(std::is_sorted(chosen.begin(), chosen.end()));
        CHECK(chosen.front().value() >= 10);
        REQUIRE(venue.claims.claim(chosen, {at(0), at(5'000), 0}).kind == ClaimOutcome::Kind::won);
    }
    chosen.clear();
    CHECK(venue.search.general(SectionIndex{1}, 1, {}, at(0), chosen).kind ==
          Choice::Kind::sold_out);
    CHECK(venue.free_count() == 10);
}

TEST_CASE("places chosen by other lines are left out", "[inventory]") {
    Venue venue(plain_layout(1, 6, 4));
    std::vector<SeatIndex> const taken{SeatIndex{2}, SeatIndex{6}, SeatIndex{7}};
    Wish wish = plain(2);
    wish.excluded = taken;
    CHECK(best(venue, wish) == std::vector<std::uint32_t>{0, 1});
    std::vector<SeatIndex> chosen;
    REQUIRE(venue.search.general(SectionIndex{1}, 2, taken, at(0), chosen).kind ==
            Choice::Kind::chosen);
    CHECK(numbers(chosen) == std::vector<std::uint32_t>{8, 9});
    chosen.clear();
    CHECK(venue.search.general(SectionIndex{1}, 3, taken, at(0), chosen).kind ==
          Choice::Kind::sold_out);
    // That refusal depended on the other lines, so it is not kept.
    CHECK(venue.search.general(SectionIndex{1}, 3, {}, at(0), chosen).kind == Choice::Kind::chosen);
}

TEST_CASE("too few accessible seats among enough free ones is not sold out", "[inventory]") {
    Venue venue(plain_layout(1, 6));
    Wish wish = plain(2);
    wish.accessible = 1;
    std::vector<SeatIndex> chosen;
    Choice const none = venue.search.best(wish, at(0), chosen);
    CHECK(none.kind == Choice::Kind::none_together);
    CHECK(none.number == 0);  // no block has just one of them
    REQUIRE(venue.take({0, 1, 2, 3, 4}).kind == ClaimOutcome::Kind::won);
    CHECK(venue.search.best(wish, at(0), chosen).kind == Choice::Kind::sold_out);
}

}  // namespace
}  // namespace holdfast::inventory::test
