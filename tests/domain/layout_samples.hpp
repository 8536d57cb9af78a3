// Layouts that the tests of domain build.
#pragma once

#include <holdfast/domain/layout.hpp>

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <utility>

namespace holdfast::samples {

inline std::uint64_t seed() {
    auto const* const given = std::getenv("HOLDFAST_SEED");
    auto const value =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::cout << "HOLDFAST_SEED=" << value << '\n';
    return value;
}

inline Layout built(LayoutBuilder builder) {
    auto layout = std::move(builder).build();
    REQUIRE(layout.has_value());
    return std::move(*layout);
}

inline Section section(std::string id, std::uint32_t category = 0) {
    Section made;
    made.name = "Section " + id;
    made.id = std::move(id);
    made.category = CategoryIndex{category};
    return made;
}

inline Section general(std::string id, std::uint32_t capacity, std::uint32_t category = 0) {
    auto made = section(std::move(id), category);
    made.capacity = capacity;
    return made;
}

inline void add_rows(LayoutBuilder& builder, std::string const& section, std::uint32_t rows,
                     std::uint32_t seats) {
    for (std::uint32_t row = 1; row <= rows; ++row) {
        builder.add_row(std::to_string(row));
        for (std::uint32_t number = 1; number <= seats; ++number) {
            auto const label = std::to_string(number);
            auto const name = section + "-" + std::to_string(row) + "-" + label;
            Seat const seat{{number * 20.0, row * 25.0}, CategoryIndex{0}, 0};
            builder.add_seat({name, label, seat});
        }
    }
}

/// Two sections with rows around two general ones, one zone, one seat whose label is no tail.
inline LayoutBuilder mixed() {
    LayoutBuilder builder;
    builder.add_category({"vip", "VIP", 12'000});
    builder.add_category({"std", "Standard", 4'500});
    auto const zone = builder.add_zone({"z", "Zone", Point{1.5, -2}});
    builder.set_focal({100, 0});
    builder.add_section(section("A"));
    add_rows(builder, "A", 2, 3);
    builder.add_general(general("GA", 5, 1));
    auto balcony = section("B", 1);
    balcony.zone = zone;
    balcony.focal = Point{7, 8};
    builder.add_section(balcony);
    builder.add_row("left");
    Seat const wheelchair{
        {0, 90}, CategoryIndex{1}, static_cast<std::uint8_t>(SeatFlag::accessible)};
    builder.add_seat({"8f2c", "12", wheelchair});
    builder.add_seat({"B-left-", "", wheelchair});
    builder.add_general(general("GB", 4, 0));
    return builder;
}

}  // namespace holdfast::samples
