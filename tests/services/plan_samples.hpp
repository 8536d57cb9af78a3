// Reading of plans for the tests of the importers.
#pragma once

#include <holdfast/services/plan_import.hpp>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::samples {

inline std::string file_text(std::filesystem::path const& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// A plan of our own.
inline std::string plan(std::string const& name) {
    auto text =
        file_text(std::filesystem::path{HOLDFAST_SOURCE_DIR} / "tests/services/plans" / name);
    REQUIRE(!text.empty());
    return text;
}

/// A real plan, which the repository does not hold; nothing where that folder is absent.
inline std::optional<std::string> real_plan(std::string const& name) {
    auto const file = std::filesystem::path{HOLDFAST_SOURCE_DIR} / "../shared/seatmaps" / name;
    if (!std::filesystem::exists(file)) {
        std::cout << "skipped: " << name << " is not here\n";
        return std::nullopt;
    }
    return file_text(file);
}

inline services::ImportedPlan import_as(services::PlanFormat format, std::string_view text,
                                        bool disambiguate = false) {
    services::ImportRequest request;
    request.format = format;
    request.plan = text;
    request.disambiguate = disambiguate;
    return services::import_plan(request);
}

inline std::size_t count_of(std::vector<services::LintItem> const& items, std::string_view code) {
    return static_cast<std::size_t>(std::ranges::count(items, code, &services::LintItem::code));
}

inline services::LintItem const* first_of(std::vector<services::LintItem> const& items,
                                          std::string_view code) {
    auto const item = std::ranges::find(items, code, &services::LintItem::code);
    return item == items.end() ? nullptr : &*item;
}

inline Seat seat_of(Layout const& layout, std::string_view name) {
    auto const seat = layout.find_seat(name);
    INFO("seat " << name);
    REQUIRE(seat.has_value());
    return layout.seats()[seat->value()];
}

}  // namespace holdfast::samples
