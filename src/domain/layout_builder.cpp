#include <holdfast/base/assert.hpp>
#include <holdfast/domain/layout.hpp>
#include <holdfast/domain/limits.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace holdfast {
namespace {

using Kind = LayoutError::Kind;

constexpr std::size_t names_reported_max = 1'000;

template <class Items, class Key>
std::vector<std::string> repeated_keys(Items const& items, Key key) {
    std::vector<std::string_view> keys;
    keys.reserve(items.size());
    for (auto const& item : items) keys.emplace_back(item.*key);
    std::ranges::sort(keys);
    std::vector<std::string> repeated;
    for (std::size_t i = 1; i < keys.size(); ++i) {
        bool const known = !repeated.empty() && repeated.back() == keys[i];
        if (keys[i] == keys[i - 1] && !known) repeated.emplace_back(keys[i]);
    }
    return repeated;
}

}  // namespace

void LayoutBuilder::note(Kind kind, std::string_view name) {
    auto error = std::ranges::find(errors_, kind, &LayoutError::kind);
    if (error == errors_.end()) error = errors_.insert(error, LayoutError{kind, {}});
    if (error->names.size() < names_reported_max) error->names.emplace_back(name);
}

void LayoutBuilder::check_text(std::string_view text, bool may_be_empty) {
    if (text.size() > limits::name_bytes_max) note(Kind::name_too_long, text);
    if (text.empty() && !may_be_empty) note(Kind::empty, text);
}

void LayoutBuilder::check_section(Section const& section) {
    check_text(section.id, false);
    check_text(section.name, true);
    HOLDFAST_ASSERT(!section.zone || *section.zone < layout_.zones_.size());
    if (section.category.value() >= layout_.categories_.size()) {
        note(Kind::unknown_category, section.id);
    }
}

CategoryIndex LayoutBuilder::add_category(Category category) {
    check_text(category.key, false);
    check_text(category.name, true);
    if (category.price < 0 || category.price > limits::price_max) {
        note(Kind::price_out_of_range, category.key);
    }
    layout_.categories_.push_back(std::move(category));
    return CategoryIndex{static_cast<std::uint32_t>(layout_.categories_.size() - 1)};
}

std::uint32_t LayoutBuilder::add_zone(Zone zone) {
    check_text(zone.key, false);
    check_text(zone.name, true);
    layout_.zones_.push_back(std::move(zone));
    return static_cast<std::uint32_t>(layout_.zones_.size() - 1);
}

void LayoutBuilder::set_focal(Point focal) {
    layout_.focal_ = focal;
}

void LayoutBuilder::add_section(Section section) {
    // Beyond a bound nothing is stored any more; build() refuses by the counts.
    if (++sections_added_ > limits::sections_per_event_max) return;
    check_section(section);
    section.general = false;
    section.first_row = RowIndex{static_cast<std::uint32_t>(layout_.rows_.size())};
    section.row_count = 0;
    section.first = SeatIndex{layout_.labelled_count()};
    section.capacity = 0;
    layout_.sections_.push_back(std::move(section));
}

void LayoutBuilder::add_row(std::string label) {
    HOLDFAST_ASSERT(!layout_.sections_.empty());
    if (++rows_added_ > limits::rows_per_event_max) return;
    check_text(label, true);
    auto const section = static_cast<std::uint32_t>(layout_.sections_.size() - 1);
    layout_.rows_.push_back(
        {std::move(label), SectionIndex{section}, SeatIndex{layout_.labelled_count()}, 0});
    ++layout_.sections_.back().row_count;
}

void LayoutBuilder::add_seat(NewSeat const& seat) {
    HOLDFAST_ASSERT(!layout_.rows_.empty());
    HOLDFAST_ASSERT(layout_.rows_.back().section.value() == layout_.sections_.size() - 1);
    if (++seats_added_ > limits::places_per_event_max) return;
    HOLDFAST_ASSERT(layout_.rows_.back().count > 0 || !has(seat.seat.flags, SeatFlag::joined));
    check_text(seat.name, false);
    check_text(seat.label, true);
    if (seat.seat.category.value() >= layout_.categories_.size()) {
        note(Kind::unknown_category, seat.name);
    }
    // The lengths are one byte each; a longer text is an error noted above and is cut here.
    auto const name = seat.name.substr(0, limits::name_bytes_max);
    auto const label = seat.label.substr(0, limits::name_bytes_max);
    layout_.name_starts_.push_back(static_cast<std::uint32_t>(layout_.names_.size()));
    layout_.name_lengths_.push_back(static_cast<std::uint8_t>(name.size()));
    layout_.label_lengths_.push_back(static_cast<std::uint8_t>(label.size()));
    layout_.names_.append(name);
    if (!name.ends_with(label)) layout_.names_.append(label);
    layout_.seats_.push_back(seat.seat);
    ++layout_.rows_.back().count;
    ++layout_.sections_.back().capacity;
}

void LayoutBuilder::add_general(Section section) {
    if (++sections_added_ > limits::sections_per_event_max) return;
    check_section(section);
    section.general = true;
    general_.push_back(std::move(section));
}

void LayoutBuilder::check_groups() {
    auto places = seats_added_;
    for (auto const& section : general_) places += section.capacity;
    if (places == 0) note(Kind::empty, {});
    if (places > limits::places_per_event_max) note(Kind::too_many_places, {});
    if (rows_added_ > limits::rows_per_event_max) note(Kind::too_many_rows, {});
    if (sections_added_ > limits::sections_per_event_max) note(Kind::too_many_sections, {});
    if (layout_.zones_.size() > limits::sections_per_event_max) note(Kind::too_many_sections, {});
    if (layout_.categories_.size() > limits::categories_per_event_max) {
        note(Kind::too_many_categories, {});
    }
    for (auto const& section : layout_.sections_) {
        if (section.capacity == 0) note(Kind::empty, section.id);
    }
    for (auto const& section : general_) {
        if (section.capacity == 0) note(Kind::empty, section.id);
    }
    for (auto const& row : layout_.rows_) {
        if (row.count == 0) note(Kind::empty, row.label);
    }
}

void LayoutBuilder::place_general() {
    auto next = layout_.labelled_count();
    for (auto& section : general_) {
        section.first = SeatIndex{next};
        section.first_row = RowIndex{static_cast<std::uint32_t>(layout_.rows_.size())};
        section.row_count = 0;
        next += section.capacity;
        layout_.sections_.push_back(std::move(section));
    }
    layout_.place_count_ = next;
    general_.clear();
}

void LayoutBuilder::check_ids() {
    for (auto const& key : repeated_keys(layout_.categories_, &Category::key)) {
        note(Kind::duplicate_category, key);
    }
    for (auto const& id : repeated_keys(layout_.sections_, &Section::id)) {
        note(Kind::duplicate_section, id);
    }
    auto& order = layout_.section_order_;
    order.resize(layout_.sections_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [this](std::uint32_t index) -> std::string_view {
        return layout_.sections_[index].id;
    });
}

void LayoutBuilder::fill_name_table() {
    auto& table = layout_.name_table_;
    auto const seats = layout_.labelled_count();
    table.assign(seats == 0 ? 0 : seats + seats / 3 + 1, 0);
    std::vector<SeatIndex> repeated;  // as indexes: with names a hostile plan would cost far more
    auto const name_at = [this](SeatIndex seat) { return layout_.name_of(seat); };
    for (std::uint32_t seat = 0; seat < seats; ++seat) {
        auto const name = layout_.name_of(SeatIndex{seat});
        auto place = layout_.table_place(name);
        while (table[place] != 0 && layout_.name_of(SeatIndex{table[place] - 1}) != name) {
            place = place + 1 == table.size() ? 0 : place + 1;
        }
        if (table[place] == 0) {
            table[place] = seat + 1;
        } else {
            repeated.emplace_back(seat);
        }
    }
    std::ranges::sort(repeated, {}, name_at);
    auto const rest = std::ranges::unique(repeated, {}, name_at);
    repeated.erase(rest.begin(), rest.end());
    for (auto const seat : repeated) note(Kind::duplicate_seat, name_at(seat));
}

void LayoutBuilder::measure_groups() {
    std::uint32_t length = 0;
    for (Seat const& seat : layout_.seats_) {
        length = has(seat.flags, SeatFlag::joined) ? length + 1 : 1;
        layout_.largest_group_ = std::max(layout_.largest_group_, length);
    }
}

ResultOf<Layout, LayoutError> LayoutBuilder::build() && {
    check_groups();
    if (!errors_.empty()) return std::move(errors_.front());
    place_general();
    check_ids();
    layout_.name_starts_.push_back(static_cast<std::uint32_t>(layout_.names_.size()));
    // Growing leaves up to half of each list unused; a layout lives long.
    layout_.names_.shrink_to_fit();
    layout_.name_starts_.shrink_to_fit();
    layout_.name_lengths_.shrink_to_fit();
    layout_.label_lengths_.shrink_to_fit();
    layout_.seats_.shrink_to_fit();
    layout_.rows_.shrink_to_fit();
    fill_name_table();
    measure_groups();
    if (!errors_.empty()) return std::move(errors_.front());
    return std::move(layout_);
}

}  // namespace holdfast
