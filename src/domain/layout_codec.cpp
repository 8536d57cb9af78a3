#include "domain/layout_bytes.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/base/crc32c.hpp>
#include <holdfast/domain/layout_codec.hpp>
#include <holdfast/domain/limits.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast {
namespace {

constexpr std::uint8_t version_plain = 1;
constexpr std::uint8_t version_joined = 2;
constexpr unsigned joined_bit = static_cast<unsigned>(SeatFlag::joined);

void write_section(LayoutWriter& writer, Section const& section) {
    writer.text(section.id);
    writer.text(section.name);
    writer.number(section.category.value());
    writer.optional(section.zone);
    writer.optional(section.focal);
    writer.flag(section.general);
    writer.number(section.row_count);
    writer.number(section.capacity);
}

Section read_section(LayoutReader& reader, std::size_t zones) {
    Section section;
    section.id = reader.text();
    section.name = reader.text();
    section.category = CategoryIndex{reader.number<std::uint32_t>()};
    if (reader.flag()) {
        section.zone = reader.number<std::uint32_t>();
        reader.require(*section.zone < zones);
    }
    section.focal = reader.optional_point();
    section.general = reader.flag();
    section.row_count = reader.number<std::uint32_t>();
    section.capacity = reader.number<std::uint32_t>();
    reader.require(!section.general || section.row_count == 0);
    return section;
}

struct RowHead {
    std::string label;
    std::uint32_t seats{};
};

/// The lists of a blob, not yet joined.
struct Lists {
    std::vector<Section> sections;
    std::vector<RowHead> rows;
    std::vector<Seat> seats;
};

void read_categories(LayoutReader& reader, LayoutBuilder& builder) {
    for (auto left = reader.count(12); left > 0 && !reader.failed(); --left) {
        Category category;
        category.key = reader.text();
        category.name = reader.text();
        auto const price = reader.number<std::uint64_t>();
        reader.require(price <= std::uint64_t{limits::price_max});
        category.price = static_cast<std::int64_t>(price);
        builder.add_category(std::move(category));
    }
}

std::size_t read_zones(LayoutReader& reader, LayoutBuilder& builder) {
    auto const zones = reader.count(5);
    for (auto left = zones; left > 0 && !reader.failed(); --left) {
        Zone zone;
        zone.key = reader.text();
        zone.name = reader.text();
        zone.focal = reader.optional_point();
        builder.add_zone(std::move(zone));
    }
    return zones;
}

Lists read_lists(LayoutReader& reader, std::size_t zones) {
    Lists lists;
    for (auto left = reader.count(19); left > 0 && !reader.failed(); --left) {
        lists.sections.push_back(read_section(reader, zones));
    }
    for (auto left = reader.count(6); left > 0 && !reader.failed(); --left) {
        RowHead row;
        row.label = reader.text();
        row.seats = reader.number<std::uint32_t>();
        lists.rows.push_back(std::move(row));
    }
    for (auto left = reader.count(21); left > 0 && !reader.failed(); --left) {
        Seat seat;
        seat.at = reader.point();
        seat.category = CategoryIndex{reader.number<std::uint32_t>()};
        seat.flags = reader.number<std::uint8_t>();
        reader.require((seat.flags & ~unsigned{seat_flags_known}) == 0);
        lists.seats.push_back(seat);
    }
    return lists;
}

/// Each number of a section and row must use up exactly what the lists have.
bool lists_fit(Lists const& lists) noexcept {
    std::size_t row = 0;
    std::uint64_t seats = 0;
    bool general_seen = false;
    for (auto const& section : lists.sections) {
        if (general_seen && !section.general) return false;
        general_seen = section.general;
        if (section.row_count > lists.rows.size() - row) return false;
        std::uint64_t capacity = 0;
        for (auto const end = row + section.row_count; row < end; ++row) {
            auto const first = seats + capacity;
            bool const joined = lists.rows[row].seats > 0 && first < lists.seats.size() &&
                                (lists.seats[first].flags & joined_bit) != 0;
            if (joined) return false;  // the first seat of a row has none before it
            capacity += lists.rows[row].seats;
        }
        if (!section.general && capacity != section.capacity) return false;
        seats += capacity;
    }
    return row == lists.rows.size() && seats == lists.seats.size();
}

void add_named_seat(LayoutReader& reader, LayoutBuilder& builder, Seat const& seat) {
    auto const name = reader.text();
    std::size_t const tail = reader.number<std::uint8_t>();
    reader.require(tail <= name.size());
    if (reader.failed()) return;
    auto const label = tail == 0 ? reader.text() : name.substr(name.size() - tail);
    builder.add_seat({name, label, seat});
}

void join_lists(LayoutReader& reader, Lists& lists, LayoutBuilder& builder) {
    reader.require(reader.count(3) == lists.seats.size());
    std::size_t row = 0;
    std::size_t seat = 0;
    for (auto& section : lists.sections) {
        if (section.general) {
            builder.add_general(std::move(section));
            continue;
        }
        auto const end = row + section.row_count;
        builder.add_section(std::move(section));
        for (; row < end; ++row) {
            builder.add_row(std::move(lists.rows[row].label));
            for (auto left = lists.rows[row].seats; left > 0 && !reader.failed(); --left) {
                add_named_seat(reader, builder, lists.seats[seat++]);
            }
        }
    }
}

}  // namespace

std::vector<std::byte> encode_layout(Layout const& layout) {
    LayoutWriter writer;
    writer.reserve(1'024 + std::size_t{layout.labelled_count()} * 40);
    writer.number(layout.largest_group() > 1 ? version_joined : version_plain);
    writer.optional(layout.focal());
    writer.count(layout.categories().size());
    for (auto const& category : layout.categories()) {
        HOLDFAST_ASSERT(category.price >= 0);
        HOLDFAST_ASSERT(category.price <= limits::price_max);
        writer.text(category.key);
        writer.text(category.name);
        writer.number(static_cast<std::uint64_t>(category.price));
    }
    writer.count(layout.zones().size());
    for (auto const& zone : layout.zones()) {
        writer.text(zone.key);
        writer.text(zone.name);
        writer.optional(zone.focal);
    }
    writer.count(layout.sections().size());
    for (auto const& section : layout.sections()) write_section(writer, section);
    writer.count(layout.rows().size());
    for (auto const& row : layout.rows()) {
        writer.text(row.label);
        writer.number(row.count);
    }
    writer.count(layout.seats().size());
    for (auto const& seat : layout.seats()) {
        writer.point(seat.at);
        writer.number(seat.category.value());
        writer.number(seat.flags);
    }
    writer.count(layout.seats().size());
    for (std::uint32_t seat = 0; seat < layout.labelled_count(); ++seat) {
        auto const name = layout.name_of(SeatIndex{seat});
        auto const label = layout.label_of(SeatIndex{seat});
        bool const is_tail = !label.empty() && name.ends_with(label);
        writer.text(name);
        writer.number(static_cast<std::uint8_t>(is_tail ? label.size() : 0));
        if (!is_tail) writer.text(label);
    }
    return std::move(writer).take();
}

std::optional<Layout> decode_layout(std::span<std::byte const> bytes) {
    if (bytes.size() < 4) return std::nullopt;
    auto const body = bytes.first(bytes.size() - 4);
    LayoutReader check(bytes.last(4));
    if (check.number<std::uint32_t>() != crc32c(body)) return std::nullopt;

    LayoutReader reader(body);
    auto const version = reader.number<std::uint8_t>();
    reader.require(version == version_plain || version == version_joined);
    LayoutBuilder builder;
    if (auto const focal = reader.optional_point()) builder.set_focal(*focal);
    read_categories(reader, builder);
    auto const zones = read_zones(reader, builder);
    auto lists = read_lists(reader, zones);
    if (reader.failed() || !lists_fit(lists)) return std::nullopt;
    join_lists(reader, lists, builder);
    if (!reader.at_end()) return std::nullopt;
    auto layout = std::move(builder).build();
    if (!layout) return std::nullopt;
    if ((layout->largest_group() > 1) != (version == version_joined)) return std::nullopt;
    return std::move(*layout);
}

}  // namespace holdfast
