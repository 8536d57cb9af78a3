#include <holdfast/base/assert.hpp>
#include <holdfast/domain/layout.hpp>
#include <holdfast/domain/limits.hpp>

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace holdfast {
namespace {

constexpr char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_in_any_case(std::string_view a, std::string_view b) noexcept {
    return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace

void throw_exception_from_error(LayoutError const& error, boost::source_location const& where) {
    throw std::logic_error("value() of a layout with errors, kind " +
                           std::to_string(static_cast<int>(error.kind)) + ", in " +
                           where.file_name() + ":" + std::to_string(where.line()));
}

std::size_t Layout::table_place(std::string_view name) const noexcept {
    // The upper half of the hash is spread over the table by one multiplication, so that the table
    // needs no power of two and is never emptier than it has to be.
    auto const high = std::uint64_t{std::hash<std::string_view>{}(name)} >> 32U;
    return static_cast<std::size_t>((high * name_table_.size()) >> 32U);
}

std::string_view Layout::name_of(SeatIndex seat) const noexcept {
    if (seat.value() >= labelled_count()) return {};
    return std::string_view{names_}.substr(name_starts_[seat.value()], name_lengths_[seat.value()]);
}

std::string_view Layout::label_of(SeatIndex seat) const noexcept {
    if (seat.value() >= labelled_count()) return {};
    std::size_t const length = label_lengths_[seat.value()];
    return std::string_view{names_}.substr(name_starts_[seat.value() + 1] - length, length);
}

SectionIndex Layout::section_of(SeatIndex seat) const noexcept {
    HOLDFAST_ASSERT(seat.value() < place_count_);
    // Sections are never empty, so their first places ascend strictly.
    auto const after = std::ranges::upper_bound(sections_, seat, {}, &Section::first);
    return SectionIndex{static_cast<std::uint32_t>(after - sections_.begin() - 1)};
}

CategoryIndex Layout::category_of(SeatIndex seat) const noexcept {
    if (seat.value() < labelled_count()) return seats_[seat.value()].category;
    return sections_[section_of(seat).value()].category;
}

std::int64_t Layout::price_of(SeatIndex seat) const noexcept {
    return categories_[category_of(seat).value()].price;
}

std::optional<SeatIndex> Layout::find_seat(std::string_view name) const noexcept {
    if (name_table_.empty()) return std::nullopt;
    // A quarter of the table is empty, so the walk ends.
    for (std::size_t place = table_place(name); name_table_[place] != 0;
         place = place + 1 == name_table_.size() ? 0 : place + 1) {
        SeatIndex const seat{name_table_[place] - 1};
        if (name_of(seat) == name) return seat;
    }
    return std::nullopt;
}

std::optional<SectionIndex> Layout::find_section(std::string_view id) const noexcept {
    auto const id_at = [this](std::uint32_t index) -> std::string_view {
        return sections_[index].id;
    };
    auto const found = std::ranges::lower_bound(section_order_, id, {}, id_at);
    if (found == section_order_.end() || id_at(*found) != id) return std::nullopt;
    return SectionIndex{*found};
}

SeatGroup Layout::group_of(SeatIndex seat) const noexcept {
    HOLDFAST_ASSERT(seat.value() < labelled_count());
    auto const joined = [this](std::uint32_t at) {
        return at < labelled_count() && has(seats_[at].flags, SeatFlag::joined);
    };
    std::uint32_t first = seat.value();
    while (joined(first)) --first;  // ends at the row's first seat, which is joined to none
    std::uint32_t end = seat.value() + 1;
    while (joined(end)) ++end;
    return {SeatIndex{first}, end - first};
}

std::optional<SeatGroup> Layout::broken_group(std::span<SeatIndex const> seats) const noexcept {
    if (largest_group_ <= 1) return std::nullopt;
    for (std::size_t at = 0; at < seats.size() && seats[at].value() < labelled_count();) {
        SeatGroup const group = group_of(seats[at]);
        bool const whole =
            seats[at] == group.first && group.count <= seats.size() - at &&
            seats[at + group.count - 1].value() == group.first.value() + group.count - 1;
        if (!whole) return group;
        at += group.count;
    }
    return std::nullopt;
}

std::size_t Layout::memory_bytes() const noexcept {
    auto const of = [](auto const& list) { return list.capacity() * sizeof(list[0]); };
    return of(categories_) + of(zones_) + of(sections_) + of(rows_) + of(seats_) + of(names_) +
           of(name_starts_) + of(name_lengths_) + of(label_lengths_) + of(name_table_) +
           of(section_order_);
}

std::optional<CategoryIndex> Layout::find_category(std::string_view key) const noexcept {
    auto found = std::ranges::find(categories_, key, &Category::key);
    if (found == categories_.end()) {
        found = std::ranges::find_if(categories_, [key](Category const& category) {
            return same_in_any_case(category.name, key);
        });
    }
    if (found == categories_.end()) return std::nullopt;
    return CategoryIndex{static_cast<std::uint32_t>(found - categories_.begin())};
}

}  // namespace holdfast
