#include "tests/domain/layout_samples.hpp"

#include <holdfast/domain/layout.hpp>
#include <holdfast/domain/limits.hpp>

#include <catch2/catch.hpp>
#include <stdexcept>

using namespace holdfast;
using Kind = LayoutError::Kind;
using Names = std::vector<std::string>;

namespace {

LayoutError refused(LayoutBuilder builder) {
    auto const layout = std::move(builder).build();
    REQUIRE(layout.has_error());
    return layout.error();
}

LayoutBuilder small() {
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 4'500});
    builder.add_section(samples::section("A"));
    builder.add_row("1");
    builder.add_seat({"A-1-1", "1", {}});
    return builder;
}

}  // namespace

TEST_CASE("seats are numbered in order, general places after all of them", "[layout]") {
    auto const layout = samples::built(samples::mixed());
    CHECK(layout.labelled_count() == 8);
    CHECK(layout.place_count() == 17);
    REQUIRE(layout.sections().size() == 4);
    CHECK(layout.sections()[0].id == "A");
    CHECK(layout.sections()[1].id == "B");
    CHECK(layout.sections()[2].id == "GA");
    CHECK(layout.sections()[3].id == "GB");
    CHECK(layout.sections()[1].first == SeatIndex{6});
    CHECK(layout.sections()[1].capacity == 2);
    CHECK(layout.sections()[1].first_row == RowIndex{2});
    CHECK(layout.sections()[1].zone == 0U);
    CHECK(layout.sections()[2].first == SeatIndex{8});
    CHECK(layout.sections()[3].first == SeatIndex{13});
    REQUIRE(layout.rows().size() == 3);
    CHECK(layout.rows()[1].first == SeatIndex{3});
    CHECK(layout.rows()[1].count == 3);
    CHECK(layout.rows()[2].section == SectionIndex{1});
    CHECK(layout.focal() == Point{100, 0});
}

TEST_CASE("section_of is right at both ends of every section", "[layout]") {
    auto const layout = samples::built(samples::mixed());
    for (std::uint32_t index = 0; index < layout.sections().size(); ++index) {
        auto const& section = layout.sections()[index];
        auto const first = section.first.value();
        CHECK(layout.section_of(SeatIndex{first}) == SectionIndex{index});
        CHECK(layout.section_of(SeatIndex{first + section.capacity - 1}) == SectionIndex{index});
    }
}

TEST_CASE("names, labels, categories and prices of seats and general places", "[layout]") {
    auto const layout = samples::built(samples::mixed());
    CHECK(layout.name_of(SeatIndex{4}) == "A-2-2");
    CHECK(layout.label_of(SeatIndex{4}) == "2");
    CHECK(layout.name_of(SeatIndex{6}) == "8f2c");
    CHECK(layout.label_of(SeatIndex{6}) == "12");
    CHECK(layout.name_of(SeatIndex{7}) == "B-left-");
    CHECK(layout.label_of(SeatIndex{7}).empty());
    CHECK(layout.name_of(SeatIndex{8}).empty());
    CHECK(layout.label_of(SeatIndex{16}).empty());
    CHECK(layout.name_of(SeatIndex{4'000'000'000}).empty());
    CHECK(layout.price_of(SeatIndex{0}) == 12'000);
    CHECK(layout.price_of(SeatIndex{6}) == 4'500);
    CHECK(layout.price_of(SeatIndex{8}) == 4'500);
    CHECK(layout.price_of(SeatIndex{16}) == 12'000);
}

TEST_CASE("every name finds its seat and nothing else does", "[layout]") {
    auto const layout = samples::built(samples::mixed());
    for (std::uint32_t seat = 0; seat < layout.labelled_count(); ++seat) {
        CHECK(layout.find_seat(layout.name_of(SeatIndex{seat})) == SeatIndex{seat});
    }
    for (auto const* const name : {"", "A", "A-1", "A-1-4", "a-1-1", "A-1-11", "12", "8f2c12"}) {
        CAPTURE(name);
        CHECK(!layout.find_seat(name).has_value());
    }
}

TEST_CASE("sections are found by id, categories by key and then by name in any case", "[layout]") {
    auto const layout = samples::built(samples::mixed());
    CHECK(layout.find_section("GA") == SectionIndex{2});
    CHECK(layout.find_section("A") == SectionIndex{0});
    CHECK(!layout.find_section("ga").has_value());
    CHECK(!layout.find_section("").has_value());
    CHECK(!layout.find_section("ZZ").has_value());
    CHECK(layout.find_category("std") == CategoryIndex{1});
    CHECK(layout.find_category("STANDARD") == CategoryIndex{1});
    CHECK(layout.find_category("vIp") == CategoryIndex{0});
    CHECK(!layout.find_category("standar").has_value());
}

TEST_CASE("a layout of general places alone has no names", "[layout]") {
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 0});
    builder.add_general(samples::general("GA", limits::places_per_event_max));
    auto const layout = samples::built(std::move(builder));
    CHECK(layout.place_count() == limits::places_per_event_max);
    CHECK(!layout.find_seat("GA").has_value());
    CHECK(layout.section_of(SeatIndex{limits::places_per_event_max - 1}) == SectionIndex{0});
}

TEST_CASE("repeated seats are reported once each, in order", "[layout]") {
    auto builder = small();
    for (auto const* const name : {"B", "A-1-1", "B", "C", "B"}) builder.add_seat({name, "", {}});
    auto const error = refused(std::move(builder));
    CHECK(error.kind == Kind::duplicate_seat);
    CHECK(error.names == Names{"A-1-1", "B"});
}

TEST_CASE("at most a thousand repeated seats are listed", "[layout]") {
    auto builder = small();
    for (int i = 0; i < 1'200; ++i) {
        builder.add_seat({"s" + std::to_string(i), "", {}});
        builder.add_seat({"s" + std::to_string(i), "", {}});
    }
    CHECK(refused(std::move(builder)).names.size() == 1'000);
}

TEST_CASE("repeated sections and categories are refused", "[layout]") {
    auto builder = small();
    SECTION("section") {
        builder.add_general(samples::general("A", 3));
        auto const error = refused(std::move(builder));
        CHECK(error.kind == Kind::duplicate_section);
        CHECK(error.names == Names{"A"});
    }
    SECTION("category") {
        builder.add_category({"std", "Other", 1});
        auto const error = refused(std::move(builder));
        CHECK(error.kind == Kind::duplicate_category);
        CHECK(error.names == Names{"std"});
    }
}

TEST_CASE("what has no places or no name is refused", "[layout]") {
    CHECK(refused(LayoutBuilder{}).kind == Kind::empty);
    auto builder = small();
    SECTION("section") {
        builder.add_section(samples::section("B"));
    }
    SECTION("row") {
        builder.add_row("2");
    }
    SECTION("general section") {
        builder.add_general(samples::general("GA", 0));
    }
    SECTION("seat name") {
        builder.add_seat({"", "1", {}});
    }
    SECTION("section id") {
        builder.add_general(samples::general("", 4));
    }
    SECTION("category key") {
        builder.add_category({"", "None", 1});
    }
    CHECK(refused(std::move(builder)).kind == Kind::empty);
}

TEST_CASE("names of 255 bytes are good, longer ones are not", "[layout]") {
    auto builder = small();
    std::string const longest(limits::name_bytes_max, 'x');
    builder.add_seat({longest, longest, {}});
    SECTION("good") {
        auto const layout = samples::built(std::move(builder));
        CHECK(layout.label_of(SeatIndex{1}) == longest);
        CHECK(layout.find_seat(longest) == SeatIndex{1});
    }
    SECTION("one more") {
        builder.add_seat({longest + "y", "1", {}});
        auto const error = refused(std::move(builder));
        CHECK(error.kind == Kind::name_too_long);
        CHECK(error.names == Names{longest + "y"});
    }
}

TEST_CASE("categories must exist and prices must be in range", "[layout]") {
    auto builder = small();
    SECTION("of a seat") {
        builder.add_seat({"A-1-2", "2", {{}, CategoryIndex{1}, 0}});
        auto const error = refused(std::move(builder));
        CHECK(error.kind == Kind::unknown_category);
        CHECK(error.names == Names{"A-1-2"});
    }
    SECTION("of a section") {
        builder.add_general(samples::general("GA", 3, 9));
        CHECK(refused(std::move(builder)).kind == Kind::unknown_category);
    }
    SECTION("below zero") {
        builder.add_category({"x", "X", -1});
        CHECK(refused(std::move(builder)).kind == Kind::price_out_of_range);
    }
    SECTION("above the highest") {
        builder.add_category({"x", "X", limits::price_max + 1});
        CHECK(refused(std::move(builder)).kind == Kind::price_out_of_range);
    }
}

TEST_CASE("bounds on places, sections, rows and categories hold exactly", "[layout]") {
    auto builder = small();
    SECTION("places") {
        builder.add_general(samples::general("GA", limits::places_per_event_max - 1));
        CHECK(samples::built(builder).place_count() == limits::places_per_event_max);
        builder.add_general(samples::general("GB", 1));
        CHECK(refused(std::move(builder)).kind == Kind::too_many_places);
    }
    SECTION("places whose sum does not fit 32 bits") {
        for (int i = 0; i < 3; ++i) {
            builder.add_general(samples::general("G" + std::to_string(i), 0xFFFF'FFFF));
        }
        CHECK(refused(std::move(builder)).kind == Kind::too_many_places);
    }
    SECTION("sections") {
        for (std::uint32_t i = 1; i < limits::sections_per_event_max; ++i) {
            builder.add_general(samples::general("G" + std::to_string(i), 1));
        }
        CHECK(samples::built(builder).sections().size() == limits::sections_per_event_max);
        builder.add_general(samples::general("last", 1));
        CHECK(refused(std::move(builder)).kind == Kind::too_many_sections);
    }
    SECTION("categories") {
        for (std::uint32_t i = 1; i < limits::categories_per_event_max; ++i) {
            builder.add_category({"c" + std::to_string(i), "", 1});
        }
        CHECK(samples::built(builder).categories().size() == limits::categories_per_event_max);
        builder.add_category({"last", "", 1});
        CHECK(refused(std::move(builder)).kind == Kind::too_many_categories);
    }
}

TEST_CASE("a million rows are good, one more is not", "[layout]") {
    auto builder = small();
    for (std::uint32_t row = 1; row < limits::rows_per_event_max; ++row) {
        builder.add_row("");
        builder.add_seat({std::to_string(row), "", {}});
    }
    SECTION("good") {
        CHECK(samples::built(std::move(builder)).rows().size() == limits::rows_per_event_max);
    }
    SECTION("one more") {
        builder.add_row("");
        builder.add_seat({"last", "", {}});
        CHECK(refused(std::move(builder)).kind == Kind::too_many_rows);
    }
}

TEST_CASE("joined seats of a row are groups that are whole or broken", "[layout]") {
    LayoutBuilder builder;
    builder.add_category({"std", "", 1});
    builder.add_section(samples::section("A"));
    auto const joined = static_cast<std::uint8_t>(SeatFlag::joined);
    for (char const* const row : {"-==-", "-=-="}) {
        builder.add_row(row);
        for (int seat = 0; row[seat] != 0; ++seat) {
            std::string const name = row + std::to_string(seat);
            builder.add_seat({name, "", {{}, {}, row[seat] == '=' ? joined : std::uint8_t{0}}});
        }
    }
    builder.add_general(samples::general("GA", 3));
    auto const layout = samples::built(std::move(builder));
    CHECK(layout.largest_group() == 3);
    CHECK(layout.group_of(SeatIndex{0}) == SeatGroup{SeatIndex{0}, 3});
    CHECK(layout.group_of(SeatIndex{2}) == SeatGroup{SeatIndex{0}, 3});
    CHECK(layout.group_of(SeatIndex{3}) == SeatGroup{SeatIndex{3}, 1});
    CHECK(layout.group_of(SeatIndex{7}) == SeatGroup{SeatIndex{6}, 2});
    auto const broken = [&layout](std::vector<std::uint32_t> const& numbers) {
        std::vector<SeatIndex> seats;
        for (auto const number : numbers) seats.emplace_back(number);
        auto const group = layout.broken_group(seats);
        return group ? static_cast<int>(group->first.value()) : -1;
    };
    CHECK(broken({}) == -1);
    CHECK(broken({0, 1, 2}) == -1);
    CHECK(broken({3, 8, 9}) == -1);
    CHECK(broken({0, 1, 2, 3, 4, 5, 6, 7, 8}) == -1);
    CHECK(broken({0, 1}) == 0);
    CHECK(broken({1, 2}) == 0);
    CHECK(broken({0, 2}) == 0);
    CHECK(broken({0, 1, 2, 5}) == 4);
    CHECK(broken({3, 4, 5, 7}) == 6);
    CHECK(broken({6, 8}) == 6);
    CHECK(samples::built(small()).largest_group() == 1);
}

TEST_CASE("value() of a refused layout throws", "[layout]") {
    auto const layout = LayoutBuilder{}.build();
    CHECK_THROWS_AS(layout.value(), std::logic_error);
}
