// The rule of best available, word operations against a plain reading of it, on random venues.

#include "tests/inventory/venue.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <random>
#include <tuple>

namespace holdfast::inventory::test {
namespace {

using Random = std::mt19937;

std::uint32_t pick(Random& random, std::uint32_t below) {
    return static_cast<std::uint32_t>(random() % below);
}

/// Rows of 1 to 150 seats in two sections, with aisles, accessible and unsold seats, two
/// categories, and seats in lines, in arcs (all as near) or anywhere.
Layout random_layout(Random& random) {
    LayoutBuilder builder;
    builder.add_category({"a", "A", 100});
    builder.add_category({"b", "B", 200});
    if (pick(random, 2) == 0) builder.set_focal({pick(random, 60) * 1.0, -3});
    std::uint32_t const shape = pick(random, 3);
    std::uint32_t const longest = pick(random, 4) == 0 ? 150 : 12;
    for (std::uint32_t number = 0, row = 0; number < 2; ++number) {
        Section section;
        section.id = std::string(1, static_cast<char>('A' + number));
        builder.add_section(section);
        for (std::uint32_t rows = 1 + pick(random, 5); rows > 0; --rows, ++row) {
            builder.add_row(std::to_string(row));
            bool const mixed = pick(random, 3) == 0;
            std::uint32_t const count = 1 + pick(random, longest);
            for (std::uint32_t seat = 0; seat < count; ++seat) {
                std::string const name = std::to_string(row) + "-" + std::to_string(seat);
                std::uint32_t flags = 0;
                if (pick(random, 9) == 0) flags |= static_cast<unsigned>(SeatFlag::aisle_before);
                if (pick(random, 9) == 0) flags |= static_cast<unsigned>(SeatFlag::accessible);
                if (pick(random, 15) == 0) flags |= static_cast<unsigned>(SeatFlag::not_for_sale);
                Point at{seat * 1.0, row * 1.0};
                if (shape == 1) at = {};
                if (shape == 2) at = {pick(random, 6) * 1.0, pick(random, 6) * 1.0};
                builder.add_seat({name,
                                  name,
                                  {at, CategoryIndex{mixed ? pick(random, 2) : number},
                                   static_cast<std::uint8_t>(flags)}});
            }
        }
    }
    auto layout = std::move(builder).build();
    return std::move(*layout);
}

/// API.md section 3, rules 1 to 4, seat by seat.
std::optional<std::uint32_t> plain_rule(Venue& venue, Wish const& wish) {
    Geometry const& geometry = venue.geometry;
    std::optional<std::tuple<bool, std::uint64_t, std::uint32_t>> best;
    for (RowGeometry const& row : geometry.rows()) {
        if (!row_allowed(row, wish)) continue;
        auto const usable = [&](std::uint32_t at) {
            std::uint32_t const seat = row.first + at;
            return at < row.count && venue.is_free(seat) && seat_allowed(geometry, seat, wish);
        };
        auto const linked = [&](std::uint32_t at) {  // to the one before
            return at > 0 && usable(at) && usable(at - 1) && !geometry.aisle_before(row.first + at);
        };
        for (std::uint32_t at = 0; at + wish.quantity <= row.count; ++at) {
            std::uint32_t accessible = 0;
            std::uint64_t cost = 0;
            bool together = true;
            for (std::uint32_t i = at; i < at + wish.quantity; ++i) {
                together = together && usable(i) && (i == at || linked(i));
                accessible += geometry.accessible(row.first + i) ? 1 : 0;
                cost += geometry.distance(row.first + i);
            }
            if (!together || accessible != wish.accessible) continue;
            std::uint32_t const end = at + wish.quantity;
            bool const orphan =
                (linked(at) && !linked(at - 1)) || (linked(end) && !linked(end + 1));
            std::tuple const candidate{orphan && wish.prevent_orphans, cost, row.first + at};
            if (!best || candidate < *best) best = candidate;
        }
    }
    if (!best) return std::nullopt;
    return std::get<2>(*best);
}

Wish random_wish(Random& random, std::vector<SeatIndex> const& excluded,
                 std::vector<SectionIndex> const& sections,
                 std::vector<CategoryIndex> const& categories) {
    Wish wish;
    wish.quantity = pick(random, 12) == 0 ? 60 + pick(random, 30) : 1 + pick(random, 5);
    if (pick(random, 3) == 0) wish.accessible = pick(random, std::min(wish.quantity, 3U) + 1);
    wish.prevent_orphans = pick(random, 4) != 0;
    if (pick(random, 4) == 0) wish.sections = sections;
    if (pick(random, 3) == 0) wish.categories = categories;
    if (pick(random, 3) == 0) wish.excluded = excluded;
    return wish;
}

TEST_CASE("the best block is that of the rule on any venue in any state", "[inventory]") {
    auto const* const given = std::getenv("HOLDFAST_SEED");
    auto const seed = given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10))
                                       : std::random_device{}();
    std::cout << "HOLDFAST_SEED=" << seed << '\n';
    Random random(seed);
    int found = 0;
    for (int world = 0; world < 300; ++world) {
        Venue venue(random_layout(random));
        std::vector<HoldRef> held;
        std::vector<SeatIndex> excluded;
        for (int step = 0; step < 30; ++step) {
            std::uint32_t const seat = pick(random, venue.places.count());
            if (venue.geometry.for_sale(seat)) {
                auto const outcome = venue.take({seat});
                if (outcome.kind == ClaimOutcome::Kind::won) held.push_back(outcome.ref);
            }
            if (!held.empty() && pick(random, 4) == 0) {
                REQUIRE(venue.release(held.back()).kind == EndOutcome::Kind::ended);
                held.pop_back();
            }
            if (step == 10) excluded = {SeatIndex{seat}};
            std::vector<SectionIndex> const sections{SectionIndex{pick(random, 2)}};
            std::vector<CategoryIndex> const categories{CategoryIndex{pick(random, 2)}};
            Wish plain;  // the usual kind, of which rows keep notes
            plain.quantity = 1 + pick(random, 4);
            for (Wish const& wish : {random_wish(random, excluded, sections, categories), plain}) {
                auto const block = BestBlock(venue.places, wish).find();
                found += block ? 1 : 0;
                auto const wanted = plain_rule(venue, wish);
                REQUIRE(block.has_value() == wanted.has_value());
                if (block) REQUIRE(block->first == *wanted);
            }
        }
    }
    CHECK(found > 1'000);
}

}  // namespace
}  // namespace holdfast::inventory::test
