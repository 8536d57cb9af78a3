// The rules (3) to (7) of best available against a plain reading of them, on random small houses.

#include "tests/inventory/plain_rules.hpp"
#include "tests/inventory/random_house.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>

namespace holdfast::inventory::test {
namespace {

using Seats = PlainRules::Seats;

/// HOLDFAST_HOUSES: how many.
int houses_of_run() {
    auto const* const given = std::getenv("HOLDFAST_HOUSES");
    return given != nullptr ? std::atoi(given) : 3'000;
}

/// A random house with so much taken that trying every set takes no time.
struct House {
    explicit House(Random& random) : venue(random_house(random, 7)) {
        std::uint32_t const most = 6 + below(random, 9);
        for (std::uint32_t place = 0; place < venue.places.count(); ++place) {
            bool const labelled = place < venue.geometry.labelled_count();
            if (labelled && venue.geometry.for_sale(place)) free.push_back(place);
            if (!labelled && below(random, 2) == 0) take(place);
        }
        while (free.size() > most) {
            std::size_t const index = below(random, static_cast<std::uint32_t>(free.size()));
            take(free[index]);
            free.erase(free.begin() + static_cast<std::ptrdiff_t>(index));
        }
    }
    void take(std::uint32_t place) { REQUIRE(venue.take({place}).kind == ClaimOutcome::Kind::won); }
    Venue venue;
    Seats free;
};

TEST_CASE("a split is the best of all sets of seats", "[inventory]") {
    Random random(seed_of_run());
    int found = 0;
    SplitScratch<Places<StdAtomics>> scratch;
    for (int round = houses_of_run(); round > 0; --round) {
        House house(random);
        for (int ask = 0; ask < 4; ++ask) {
            RandomWish const random_wish(random, house.venue);
            Wish const& wish = random_wish.wish;
            if (wish.quantity == 1) continue;
            PlainRules const plain(house.venue, wish);
            auto const best = plain.best_split();
            for (std::size_t const rows : {64, 1}) {
                std::vector<SeatIndex> chosen;
                SplitBlocks split(house.venue.places, wish, scratch, rows);
                REQUIRE(split.find(chosen) == best.has_value());
                if (!best) continue;
                ++found;
                auto const key = plain.judge(numbers(chosen));
                REQUIRE(key.has_value());
                REQUIRE(*key == split.key());
                // From the nearest row alone, people alone and blocks are the fewest still.
                std::uint64_t const exact = rows == 1 ? ~(SplitKey::block - 1) : ~std::uint64_t{0};
                REQUIRE((key->seating & exact) == (best->seating & exact));
                if (rows > 1) REQUIRE(key->cost == best->cost);
            }
        }
    }
    CHECK(found > 1'000);
}

TEST_CASE("where the best split is too much work there is one all the same", "[inventory]") {
    Random random(seed_of_run());
    int found = 0;
    int missed = 0;
    SplitScratch<Places<StdAtomics>> scratch;
    for (int round = houses_of_run(); round > 0; --round) {
        House house(random);
        for (int ask = 0; ask < 4; ++ask) {
            RandomWish const random_wish(random, house.venue);
            Wish const& wish = random_wish.wish;
            if (wish.quantity == 1) continue;
            PlainRules const plain(house.venue, wish);
            bool const possible = plain.best_split().has_value();
            std::vector<SeatIndex> chosen;
            SplitBlocks split(house.venue.places, wish, scratch, 64, 0);
            if (!split.find(chosen)) {
                REQUIRE(chosen.empty());
                missed += possible ? 1 : 0;
                if (!house.venue.geometry.has_groups()) REQUIRE_FALSE(possible);
                continue;
            }
            ++found;
            REQUIRE(chosen.size() == wish.quantity);
            REQUIRE(plain.judge(numbers(chosen)).has_value());
        }
    }
    CHECK(found > 1'000);
    CHECK(missed * 5 < found);
}

TEST_CASE("a large party with accessible seats is split, however large", "[inventory]") {
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 100});
    Section section;
    section.id = "A";
    builder.add_section(section);
    for (int row = 0; row < 20; ++row) {
        builder.add_row(std::to_string(row));
        for (int seat = 0; seat < 10; ++seat) {
            auto const name = std::to_string(row) + "-" + std::to_string(seat);
            auto const flags =
                static_cast<std::uint8_t>(seat == 4 ? SeatFlag::accessible : SeatFlag::none);
            builder.add_seat({name, name, {{seat * 1.0, row * 1.0}, {}, flags}});
        }
    }
    Venue venue(std::move(*std::move(builder).build()));
    for (std::uint32_t const quantity : {90U, 100U, 110U, 200U}) {
        Wish wish;
        wish.quantity = quantity;
        wish.accessible = quantity / 10;
        std::vector<SeatIndex> chosen;
        REQUIRE(venue.search.best(wish, at(0), chosen).kind == Choice::Kind::chosen);
        Seats const seats = numbers(chosen);
        CHECK(std::set(seats.begin(), seats.end()).size() == quantity);
        CHECK(std::ranges::count_if(seats, [&](std::uint32_t seat) {
                  return venue.geometry.accessible(seat);
              }) == wish.accessible);
    }
}

/// What a search must answer.
void check_search(House& house, Wish const& wish, std::array<int, 7>& met) {
    PlainRules plain(house.venue, wish);
    std::vector<SeatIndex> chosen;
    Choice const choice = house.venue.search.best(wish, at(0), chosen);
    Seats const seats = numbers(chosen);
    bool const got = choice.kind == Choice::Kind::chosen;
    REQUIRE(got != seats.empty());
    if (plain.has_block()) {
        ++met[0];
        REQUIRE(seats.size() == wish.quantity);
        REQUIRE(seats.back() - seats.front() + 1 == wish.quantity);
        return;
    }
    auto const split = wish.together ? std::nullopt : plain.best_split();
    if (split) {
        ++met[1];
        REQUIRE(seats.size() == wish.quantity);
        REQUIRE(plain.judge(seats) == split);
        return;
    }
    Seats const table = wish.together ? Seats{} : plain.best_table();
    if (!table.empty()) {
        ++met[2];
        REQUIRE(seats == table);
        return;
    }
    auto const generals = plain.free_generals();
    auto const one = std::ranges::find_if(
        generals, [&](Seats const& places) { return places.size() >= wish.quantity; });
    if (one != generals.end()) {
        ++met[3];
        REQUIRE(seats.size() == wish.quantity);
        for (std::uint32_t const place : seats) REQUIRE(std::ranges::count(*one, place) == 1);
        return;
    }
    REQUIRE_FALSE(got);
    std::uint32_t const free = plain.free_seats() + plain.free_general_places();
    if (free < wish.quantity) {
        ++met[4];
        REQUIRE(choice.kind == Choice::Kind::sold_out);
        REQUIRE(choice.number == free);
    } else {
        ++met[5];
        REQUIRE(choice.kind == Choice::Kind::none_together);
        REQUIRE(choice.number == plain.largest());
        if (choice.number < wish.quantity && wish.accessible == 0) ++met[6];
    }
}

TEST_CASE("a search follows the rules in their order", "[inventory]") {
    Random random(seed_of_run());
    std::array<int, 7> met{};
    for (int round = houses_of_run(); round > 0; --round) {
        House house(random);
        for (int ask = 0; ask < 4; ++ask) {
            RandomWish const wish(random, house.venue);
            check_search(house, wish.wish, met);
        }
    }
    // Ten to twenty times for the rarest of them.
    for (int const times : met) CHECK(times > 0);
}

}  // namespace
}  // namespace holdfast::inventory::test
