// What the orphan rule costs, in looks and not in time; and long rows, where it looks at a part.
#include "tests/engine/drawn_house.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <random>

namespace holdfast::engine::test {
namespace {

std::string seat_name(std::size_t row, std::size_t seat) {
    return std::to_string(row) + "-" + std::to_string(seat);
}

/// What a claim of so many seats may cost: looks at the places around each, the walk for the
/// alternatives, and one count of the hints of the house.
std::size_t looks_allowed(std::size_t chosen, std::size_t house) {
    return 14 * chosen + limits::orphan_walk_max + 64 + house / 64 + 1;
}

/// Every other seat of a row from the second one on.
Names every_other(std::size_t count) {
    Names names;
    for (std::size_t i = 1; i <= count; ++i) names.push_back(seat_name(1, 2 * i));
    return names;
}

/// Pairs of seats with a gap within, `apart` seats from pair to pair.
Names pairs(std::size_t count, std::size_t apart) {
    Names names;
    for (std::size_t i = 0; i < count; ++i) {
        names.push_back(seat_name(1, apart * i + 100));
        names.push_back(seat_name(1, apart * i + 102));
    }
    return names;
}

}  // namespace

TEST_CASE("the orphan rule looks at each seat of a claim a few times, wherever they are",
          "[engine][orphans]") {
    for (OrphanRule const rule : {OrphanRule::lenient, OrphanRule::strict}) {
        for (std::size_t const house : {1'100U, 20'000U}) {
            for (std::size_t const chosen : {5U, 100U, 500U}) {
                // 100 %: the hints of the section are counted to the end.
                for (std::uint32_t const endgame : {0U, 10U, 100U}) {
                    CAPTURE(int(rule), house, chosen, endgame);
                    DrawnHouse drawn({std::string(house, 'a')}, rule, endgame);
                    REQUIRE_FALSE(ok(drawn.claim(every_other(chosen))));
                    CHECK(drawn.report.orphans.size() == chosen);
                    CHECK(drawn.report.looks >= chosen);
                    CHECK(drawn.report.looks <= looks_allowed(chosen, house));
                }
            }
        }
    }
}

TEST_CASE("a claim that is spread over a long row costs no more", "[engine][orphans]") {
    for (std::size_t const apart : {40U, 120U, 200U}) {
        CAPTURE(apart);
        DrawnHouse house({std::string(apart * 250 + 200, 'a')}, OrphanRule::lenient);
        REQUIRE_FALSE(ok(house.claim(pairs(250, apart))));
        CHECK(house.report.orphans.size() == 250);
        CHECK(house.report.looks <= looks_allowed(500, apart * 250 + 200));
        CHECK(house.report.alternatives.empty());  // too far to walk
    }
}

TEST_CASE("gaps that are excused cost no more", "[engine][orphans]") {
    std::string row;
    Names names;
    for (std::size_t run = 0; run < 250; ++run) {
        row += "aaa|";
        names.push_back(seat_name(1, 3 * run + 1));
        names.push_back(seat_name(1, 3 * run + 3));
    }
    DrawnHouse house({row}, OrphanRule::lenient, 0);
    REQUIRE(ok(house.claim(names)));
    CHECK(house.report.looks >= 500);
    CHECK(house.report.looks <= 14 * 500);
    // Long runs of chosen seats around the only gap are walked along once.
    Names all_but_one;
    for (std::size_t seat = 1; seat <= 501; ++seat)
        if (seat != 250) all_but_one.push_back(seat_name(1, seat));
    DrawnHouse other({std::string(501, 'a')}, OrphanRule::lenient, 0);
    REQUIRE(ok(other.claim(all_but_one)));
    CHECK(other.report.looks <= 14 * 500);
}

TEST_CASE("the end of a sale is judged once a section, and no further than needed",
          "[engine][orphans]") {
    DrawnHouse house({std::string(64'000, 'a')}, OrphanRule::strict, 10);
    REQUIRE_FALSE(ok(house.claim(every_other(100))));
    // 6,400 free seats are enough: 100 words of hints of the 1,000.
    CHECK(house.report.looks >= 100 + 100);
    CHECK(house.report.looks <= 14 * 100 + 2 * 100 + 2 * 64 + 101);
}

TEST_CASE("every alternative in a long row can be claimed", "[engine][orphans]") {
    char const* const given = std::getenv("HOLDFAST_SEED");
    auto const seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::cout << "HOLDFAST_SEED=" << seed << '\n';
    std::mt19937_64 random(seed);
    std::size_t offered = 0;
    for (int round = 0; round < 60; ++round) {
        std::size_t const size = 150 + random() % 300;
        std::string row(size, 'a');
        if (random() % 2 == 0) row[random() % size] = 's';
        Names names;
        for (std::size_t at = random() % 70; at < size; at += 1 + random() % (1 + random() % 150)) {
            if (row[at] != 'a') continue;
            names.push_back(seat_name(1, at + 1));
            if (names.size() == 12) break;
        }
        if (names.empty()) continue;
        OrphanRule const rule = random() % 2 == 0 ? OrphanRule::lenient : OrphanRule::strict;
        DrawnHouse house({row}, rule, 0);
        CAPTURE(seed, row, names);
        if (ok(house.claim(names))) continue;
        for (auto const& alternative : house.report.alternatives) {
            ++offered;
            REQUIRE(alternative.size() == names.size());
            DrawnHouse again({row}, rule, 0);
            REQUIRE(again.answer(house.names_of(alternative)) == "ok");
        }
    }
    CHECK(offered > 0);
}

}  // namespace holdfast::engine::test
