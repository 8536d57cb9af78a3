#include <holdfast/base/assert.hpp>
#include <holdfast/domain/limits.hpp>
#include <holdfast/inventory/geometry.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <tuple>

namespace holdfast::inventory {
namespace {

void set_bit(std::vector<std::uint64_t>& bits, std::uint32_t place) {
    bits[place / 64] |= std::uint64_t{1} << (place % 64);
}

/// Middle of the first row: the focal point of a plan that names none.
Point middle_of_first_row(Layout const& layout) {
    if (layout.rows().empty()) return {};
    Row const& row = layout.rows().front();
    auto const seats = layout.seats().subspan(row.first.value(), row.count);
    return {(seats.front().at.x + seats.back().at.x) / 2,
            (seats.front().at.y + seats.back().at.y) / 2};
}

Point focal_of(Layout const& layout, Section const& section, Point fallback) {
    if (section.focal) return *section.focal;
    if (section.zone && layout.zones()[*section.zone].focal)
        return *layout.zones()[*section.zone].focal;
    return layout.focal().value_or(fallback);
}

std::vector<double> straight_distances(Layout const& layout) {
    Point const fallback = middle_of_first_row(layout);
    std::vector<double> distances(layout.labelled_count());
    for (Row const& row : layout.rows()) {
        Point const focal = focal_of(layout, layout.sections()[row.section.value()], fallback);
        for (std::uint32_t seat = row.first.value(); seat < row.first.value() + row.count; ++seat) {
            Point const at = layout.seats()[seat].at;
            distances[seat] = std::hypot(at.x - focal.x, at.y - focal.y);
        }
    }
    return distances;
}

/// A power of two, so that scaling rounds each distance once and keeps equal ones equal.
double scale_for(std::vector<double> const& distances) {
    double const farthest =
        distances.empty() ? 0 : *std::max_element(distances.begin(), distances.end());
    if (!(farthest > 0)) return 1;
    return std::exp2(30 - std::ceil(std::log2(farthest)));
}

/// Whether the steps from seat to seat never shrink: then the sum over a window of any length has
/// one valley along the row.
bool is_convex(std::span<std::uint32_t const> distances) {
    for (std::size_t i = 2; i < distances.size(); ++i) {
        std::int64_t const step = std::int64_t{distances[i]} - distances[i - 1];
        std::int64_t const before = std::int64_t{distances[i - 1]} - distances[i - 2];
        if (step < before) return false;
    }
    return true;
}

/// For each category the first one of the same price.
std::vector<std::uint16_t> price_classes(std::span<Category const> categories) {
    std::map<std::int64_t, std::uint16_t> first;
    std::vector<std::uint16_t> classes;
    for (Category const& category : categories) {
        auto const number = static_cast<std::uint16_t>(classes.size());
        classes.push_back(first.emplace(category.price, number).first->second);
    }
    return classes;
}

}  // namespace

Geometry::Geometry(Layout const& layout)
    : place_count_(layout.place_count()),
      has_groups_(layout.largest_group() > 1),
      price_classes_(price_classes(layout.categories())) {
    std::size_t const words = (place_count_ + 63) / 64;
    for_sale_.resize(words);
    accessible_.resize(words);
    aisle_before_.resize(words);
    joined_.resize(words);
    for (std::uint32_t index = 0; Section const& section : layout.sections()) {
        section_first_.push_back(section.first.value());
        section_places_.push_back(section.capacity);
        if (section.general) generals_.push_back({index, section.category.value(), section.zone});
        ++index;
    }
    for (std::uint32_t place = 0; place < place_count_; ++place) {
        std::uint8_t const flags =
            place < layout.labelled_count() ? layout.seats()[place].flags : std::uint8_t{0};
        if (!has(flags, SeatFlag::not_for_sale)) set_bit(for_sale_, place);
        if (has(flags, SeatFlag::accessible)) set_bit(accessible_, place);
        if (has(flags, SeatFlag::aisle_before)) set_bit(aisle_before_, place);
        if (has(flags, SeatFlag::joined)) set_bit(joined_, place);
    }
    add_cells(layout);
    std::vector<double> const straight = straight_distances(layout);
    double const scale = scale_for(straight);
    for (double const distance : straight)
        distances_.push_back(static_cast<std::uint32_t>(std::llround(distance * scale)));
    for (Row const& row : layout.rows()) {
        HOLDFAST_ASSERT(row.count > 0);
        std::span const distances = std::span(distances_).subspan(row.first.value(), row.count);
        RowGeometry geometry;
        geometry.first = row.first.value();
        geometry.count = row.count;
        geometry.section = row.section.value();
        auto const closest = std::ranges::min_element(distances);
        geometry.nearest = *closest;
        geometry.closest = geometry.first + static_cast<std::uint32_t>(closest - distances.begin());
        geometry.bending = is_convex(distances);
        geometry.plain = is_plain(geometry);
        geometry.zone = layout.sections()[row.section.value()].zone;
        auto const seats = layout.seats().subspan(row.first.value(), row.count);
        bool const one = std::ranges::all_of(
            seats, [&](Seat const& seat) { return seat.category == seats.front().category; });
        if (one) geometry.category = seats.front().category.value();
        row_of_.insert(row_of_.end(), row.count, static_cast<std::uint32_t>(rows_.size()));
        rows_.push_back(geometry);
    }
    rows_by_distance_.resize(rows_.size());
    std::iota(rows_by_distance_.begin(), rows_by_distance_.end(), 0U);
    std::stable_sort(
        rows_by_distance_.begin(), rows_by_distance_.end(),
        [this](std::uint32_t a, std::uint32_t b) { return rows_[a].nearest < rows_[b].nearest; });
    for (std::uint32_t rank = 0; std::uint32_t const row : rows_by_distance_)
        rows_[row].rank = rank++;
    for (std::uint32_t const row : rows_by_distance_)
        nearest_by_rank_.push_back(rows_[row].nearest);
}

void Geometry::add_cells(Layout const& layout) {
    cell_of_.resize(place_count_);
    for (std::uint32_t index = 0; Section const& section : layout.sections()) {
        std::map<std::tuple<std::uint32_t, bool, bool>, std::uint32_t> known;  // of this section
        std::uint32_t const first = section.first.value();
        for (std::uint32_t place = first; place < first + section.capacity; ++place) {
            CategoryIndex const category =
                section.general ? section.category : layout.seats()[place].category;
            CellGeometry const cell{index,
                                    category.value(),
                                    section.zone,
                                    section.general,
                                    accessible(place),
                                    for_sale(place),
                                    0};
            auto const [found, is_new] =
                known.try_emplace({cell.category, cell.accessible, cell.for_sale},
                                  static_cast<std::uint32_t>(cells_.size()));
            if (is_new) cells_.push_back(cell);
            ++cells_[found->second].places;
            cell_of_[place] = found->second;
        }
        ++index;
    }
}

bool Geometry::is_plain(RowGeometry const& row) const noexcept {
    for (std::uint32_t seat = row.first; seat < row.first + row.count; ++seat)
        if (!for_sale(seat) || accessible(seat) || aisle_before(seat) || joined(seat)) return false;
    return true;
}

}  // namespace holdfast::inventory
