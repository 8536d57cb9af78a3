// The event that the tests of api sell: two sections with rows, two general ones.
#pragma once

#include <holdfast/domain/event.hpp>

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <utility>

namespace holdfast::test {

inline std::uint64_t seed_of_run() {
    char const* const given = std::getenv("HOLDFAST_SEED");
    std::uint64_t const seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::cout << "HOLDFAST_SEED=" << seed << '\n';
    return seed;
}

inline void add_rows(LayoutBuilder& builder, std::string const& section, CategoryIndex category) {
    for (std::string const row : {"1", "2"}) {
        builder.add_row(row);
        for (int number = 1; number <= 10; ++number) {
            std::string const label = std::to_string(number);
            Seat seat;
            seat.at = {number * 20.0, row == "1" ? 0.0 : 25.0};
            seat.category = category;
            if (section == "B" && number == 10) {
                seat.flags = static_cast<std::uint8_t>(SeatFlag::not_for_sale);
            }
            builder.add_seat({section + "-" + row + "-" + label, label, seat});
        }
    }
}

/// Sections A (vip, 12,000) and B (std, 4,500) of two rows of ten, the last seats of B not for
/// sale; GA of 50 places and BAR of 5. At most 10 places an order; guests may buy; no orphan rule.
inline EventSpec sample_event(std::string slug = "demo") {
    LayoutBuilder builder;
    CategoryIndex const vip = builder.add_category({"vip", "VIP", 12'000});
    CategoryIndex const standard = builder.add_category({"std", "Standard", 4'500});
    CategoryIndex const floor = builder.add_category({"floor", "Floor", 2'000});
    std::uint32_t const zone = builder.add_zone({"north", "North", {}});
    Section a;
    a.id = "A";
    a.category = vip;
    a.zone = zone;
    builder.add_section(a);
    add_rows(builder, "A", vip);
    Section b;
    b.id = "B";
    b.category = standard;
    builder.add_section(b);
    add_rows(builder, "B", standard);
    Section ga;
    ga.id = "GA";
    ga.category = floor;
    ga.capacity = 50;
    builder.add_general(ga);
    Section bar;
    bar.id = "BAR";
    bar.category = standard;
    bar.capacity = 5;
    builder.add_general(bar);
    auto layout = std::move(builder).build();
    REQUIRE(layout.has_value());
    EventSpec spec;
    spec.id = EventId{1};
    spec.slug = std::move(slug);
    spec.name = "Demo";
    spec.publish = true;
    spec.policy.orphan_rule = OrphanRule::off;  // most tests choose their seats freely
    spec.layout = std::move(*layout);
    return spec;
}

/// One row A-1 ... A-6, of which 2 and 3 are sold together only, and so are 4, 5 and 6.
inline EventSpec sofa_event() {
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 100});
    Section section;
    section.id = "A";
    builder.add_section(section);
    builder.add_row("1");
    for (int seat = 1; seat <= 6; ++seat) {
        bool const joined = seat == 3 || seat == 5 || seat == 6;
        auto const flags = static_cast<std::uint8_t>(joined ? SeatFlag::joined : SeatFlag::none);
        std::string const label = std::to_string(seat);
        builder.add_seat({"A-" + label, label, {{seat * 1.0, 0}, {}, flags}});
    }
    EventSpec spec = sample_event();
    spec.layout = std::move(*std::move(builder).build());
    return spec;
}

}  // namespace holdfast::test
