// Random small houses for the rules of best available.
#pragma once

#include "tests/inventory/venue.hpp"

#include <cstdlib>
#include <iostream>
#include <random>

namespace holdfast::inventory::test {

using Random = std::mt19937;

/// HOLDFAST_SEED, else any; printed.
inline unsigned seed_of_run() {
    auto const* const given = std::getenv("HOLDFAST_SEED");
    auto const seed = given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10))
                                       : std::random_device{}();
    std::cout << "HOLDFAST_SEED=" << seed << '\n';
    return seed;
}

inline std::uint32_t below(Random& random, std::uint32_t bound) {
    return static_cast<std::uint32_t>(random() % bound);
}

/// Up to three sections of up to four rows of up to `longest` seats in three categories, of which
/// two have one price; aisles, groups, accessible and unsold seats; up to two general sections.
inline Layout random_house(Random& random, std::uint32_t longest) {
    LayoutBuilder builder;
    builder.add_category({"a", "A", 100});
    builder.add_category({"b", "B", 200});
    builder.add_category({"c", "C", 100});
    std::uint32_t const zone = builder.add_zone({"z", "Z", {}});
    builder.set_focal({below(random, 8) * 1.0, -2});
    bool const odd = below(random, 2) == 0;  // aisles, groups and so on
    std::uint32_t const sections = 1 + below(random, 3);
    for (std::uint32_t number = 0, row = 0; number < sections; ++number) {
        Section section;
        section.id = std::string(1, static_cast<char>('A' + number));
        if (below(random, 2) == 0) section.zone = zone;
        builder.add_section(section);
        std::uint32_t const usual = below(random, 3);
        for (std::uint32_t rows = 1 + below(random, 4); rows > 0; --rows, ++row) {
            builder.add_row(std::to_string(row));
            bool const mixed = below(random, 5) == 0;
            bool const table = odd && below(random, 4) == 0;
            std::uint32_t const count = 1 + below(random, longest);
            for (std::uint32_t seat = 0; seat < count; ++seat) {
                std::string const name = std::to_string(row) + "-" + std::to_string(seat);
                unsigned flags = 0;
                auto const mark = [&](std::uint32_t one_in, SeatFlag flag) {
                    if (odd && below(random, one_in) == 0) flags |= static_cast<unsigned>(flag);
                };
                mark(9, SeatFlag::aisle_before);
                mark(7, SeatFlag::accessible);
                mark(15, SeatFlag::not_for_sale);
                if (seat > 0 && (table || (odd && below(random, 8) == 0)))
                    flags |= static_cast<unsigned>(SeatFlag::joined);
                CategoryIndex const category{mixed ? below(random, 3) : usual};
                builder.add_seat(
                    {name,
                     name,
                     {{seat * 1.0, row * 1.0}, category, static_cast<std::uint8_t>(flags)}});
            }
        }
    }
    for (std::uint32_t number = below(random, 3); number > 0; --number) {
        Section floor;
        floor.id = "G" + std::to_string(number);
        floor.general = true;
        floor.capacity = 1 + below(random, 5);
        floor.category = CategoryIndex{below(random, 3)};
        if (below(random, 2) == 0) floor.zone = zone;
        builder.add_general(floor);
    }
    return std::move(*std::move(builder).build());
}

/// A wish with filters now and then; the lists it points to.
struct RandomWish {
    Wish wish;
    std::vector<SectionIndex> sections;
    std::vector<CategoryIndex> categories;
    std::vector<SeatIndex> excluded;

    RandomWish(Random& random, Venue const& venue) {
        wish.quantity = 1 + below(random, 6);
        if (below(random, 4) == 0) wish.accessible = below(random, std::min(wish.quantity, 2U) + 1);
        wish.prevent_orphans = below(random, 4) != 0;
        wish.together = below(random, 5) == 0;
        wish.table_max = wish.quantity + below(random, 4);
        auto const section_count = static_cast<std::uint32_t>(venue.layout.sections().size());
        if (below(random, 4) == 0)
            for (std::uint32_t i = 1 + below(random, 2); i > 0; --i)
                sections.emplace_back(below(random, section_count));
        if (below(random, 4) == 0)
            for (std::uint32_t i = 1 + below(random, 2); i > 0; --i)
                categories.emplace_back(below(random, 3));
        if (below(random, 5) == 0) wish.zone = 0;
        for (std::uint32_t place = 0; below(random, 3) == 0 && place < venue.geometry.place_count();
             place += 1 + below(random, 4))
            excluded.emplace_back(place);
        excluded.erase(std::unique(excluded.begin(), excluded.end()), excluded.end());
        wish.sections = sections;
        wish.categories = categories;
        wish.excluded = excluded;
    }
    RandomWish(RandomWish const&) = delete;
    RandomWish& operator=(RandomWish const&) = delete;
};

}  // namespace holdfast::inventory::test
