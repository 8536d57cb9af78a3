// The map of an event: geometry, names and prices.
#include "api/event_documents.hpp"
#include "api/event_members.hpp"
#include "api/json_writer.hpp"

#include <array>
#include <charconv>

namespace holdfast::api {
namespace {

/// The shortest digits that read back as the same number; coordinates are always finite.
void append_coordinate(std::string& out, double number) {
    std::array<char, 32> digits;
    auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), end);
}

void append_point(std::string& out, Point point) {
    append_name(out, "x");
    append_coordinate(out, point.x);
    append_name(out, "y");
    append_coordinate(out, point.y);
}

void append_focal(std::string& out, std::optional<Point> const& focal) {
    if (!focal) return;
    append_name(out, "focal");
    out += '{';
    append_point(out, *focal);
    out += '}';
}

std::string_view category_key(Layout const& layout, CategoryIndex category) {
    return layout.categories()[category.value()].key;
}

void append_seat(std::string& out, Layout const& layout, SeatIndex index,
                 CategoryIndex of_section) {
    auto const& seat = layout.seats()[index.value()];
    append_separator(out);
    out += '{';
    append_text_member(out, "name", layout.name_of(index));
    append_text_member(out, "label", layout.label_of(index));
    append_point(out, seat.at);
    if (seat.category != of_section) {
        append_text_member(out, "category", category_key(layout, seat.category));
    }
    struct Named {
        SeatFlag flag;
        std::string_view name;
    };
    constexpr std::array names{Named{SeatFlag::accessible, "accessible"},
                               Named{SeatFlag::companion, "companion"},
                               Named{SeatFlag::restricted_view, "restricted_view"},
                               Named{SeatFlag::aisle_before, "aisle_before"},
                               Named{SeatFlag::not_for_sale, "not_for_sale"},
                               Named{SeatFlag::joined, "joined"}};
    for (auto const& [flag, name] : names) {
        if (has(seat.flags, flag)) append_bool_member(out, name, true);
    }
    out += '}';
}

void append_rows(std::string& out, Layout const& layout, Section const& section) {
    append_name(out, "rows");
    out += '[';
    for (auto const& row : layout.rows().subspan(section.first_row.value(), section.row_count)) {
        append_separator(out);
        out += '{';
        append_text_member(out, "label", row.label);
        append_integer_member(out, "first", row.first.value());
        append_name(out, "seats");
        out += '[';
        for (std::uint32_t i = 0; i < row.count; ++i) {
            append_seat(out, layout, SeatIndex{row.first.value() + i}, section.category);
        }
        out += "]}";
    }
    out += ']';
}

void append_section(std::string& out, Layout const& layout, Section const& section) {
    append_separator(out);
    out += '{';
    append_text_member(out, "id", section.id);
    append_text_member(out, "name", section.name);
    append_text_member(out, "category", category_key(layout, section.category));
    if (section.zone) append_text_member(out, "zone", layout.zones()[*section.zone].key);
    append_focal(out, section.focal);
    if (section.general) {
        append_integer_member(out, "first", section.first.value());
        append_integer_member(out, "capacity", section.capacity);
    } else {
        append_rows(out, layout, section);
    }
    out += '}';
}

}  // namespace

void append_categories(std::string& out, Layout const& layout) {
    append_name(out, "categories");
    out += '[';
    for (auto const& category : layout.categories()) {
        append_separator(out);
        out += '{';
        append_text_member(out, "key", category.key);
        append_text_member(out, "name", category.name);
        append_integer_member(out, "price", category.price);
        out += '}';
    }
    out += ']';
}

std::string map_document(EventSpec const& spec) {
    auto const& layout = spec.layout;
    std::string out{"{"};
    out.reserve(1'024 + std::size_t{layout.labelled_count()} * 64);
    append_text_member(out, "event", spec.slug);
    append_integer_member(out, "version", 1);
    append_text_member(out, "currency", spec.currency);
    append_focal(out, layout.focal());
    append_categories(out, layout);
    append_name(out, "zones");
    out += '[';
    for (auto const& zone : layout.zones()) {
        append_separator(out);
        out += '{';
        append_text_member(out, "key", zone.key);
        append_text_member(out, "name", zone.name);
        append_focal(out, zone.focal);
        out += '}';
    }
    out += ']';
    append_name(out, "sections");
    out += '[';
    for (auto const& section : layout.sections()) append_section(out, layout, section);
    out += "]}";
    return out;
}

}  // namespace holdfast::api
