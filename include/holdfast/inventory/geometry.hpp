// Geometry: what a search needs to know about a layout, in arrays. Immutable.
//
// Purpose: section of each place, which places plain and accessible requests may take, rows with
//   the distances of their seats to the focal point.
// Thread safety: const after construction; any thread.
// Invariants: rows and sections are those of the Layout, by index.
// Cost: 4 bytes a place and 10 a labelled seat, plus four bits.
//
// Distances are whole numbers: straight-line distances scaled so that the farthest seat of the
// event has about 2^30. So sums are exact and equal distances tie, in any order of adding them up.
#pragma once

#include <holdfast/domain/layout.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace holdfast::inventory {

struct RowGeometry {
    std::uint32_t first{};  // SeatIndex of its first seat
    std::uint32_t count{};
    std::uint32_t section{};
    std::uint32_t nearest{};  // least distance of its seats
    std::uint32_t closest{};  // the first seat at that distance
    std::uint32_t rank{};     // its place in rows_by_distance()
    std::optional<std::uint32_t> zone;
    std::optional<std::uint32_t> category;  // if all its seats have the same
    bool plain{};                           // no aisle, no accessible seat, no group, all for sale
    bool bending{};  // distances are convex along the row, as they are along every straight one
};

/// A general-admission section: places without rows and distances.
struct GeneralGeometry {
    std::uint32_t section{};
    std::uint32_t category{};
    std::optional<std::uint32_t> zone;
};

/// Places that no filter of a wish tells apart: one section, one category, one kind. So what a wish
/// may take is some whole cells.
struct CellGeometry {
    std::uint32_t section{};
    std::uint32_t category{};
    std::optional<std::uint32_t> zone;
    bool general{};  // places without a name
    bool accessible{};
    bool for_sale{};
    std::uint32_t places{};
};

class Geometry {
public:
    explicit Geometry(Layout const& layout);

    [[nodiscard]] std::uint32_t place_count() const noexcept { return place_count_; }
    [[nodiscard]] std::uint32_t labelled_count() const noexcept {
        return static_cast<std::uint32_t>(distances_.size());
    }
    [[nodiscard]] std::uint32_t section_count() const noexcept {
        return static_cast<std::uint32_t>(section_first_.size());
    }
    [[nodiscard]] std::uint32_t section_of(std::uint32_t place) const noexcept {
        return section_of_cell(cell_of(place));
    }
    [[nodiscard]] std::uint32_t section_of_cell(std::uint32_t cell) const noexcept {
        return cells_.data()[cell].section;
    }
    /// Those of one section follow each other.
    [[nodiscard]] std::span<CellGeometry const> cells() const noexcept { return cells_; }
    [[nodiscard]] std::uint32_t cell_of(std::uint32_t place) const noexcept {
        return cell_of_.data()[place];  // unchecked, as every end asks it for each place
    }
    [[nodiscard]] std::uint32_t section_first(std::uint32_t section) const noexcept {
        return section_first_[section];
    }
    [[nodiscard]] std::uint32_t section_places(std::uint32_t section) const noexcept {
        return section_places_[section];
    }
    [[nodiscard]] std::uint32_t category_of(std::uint32_t seat) const noexcept {
        return cells_.data()[cell_of(seat)].category;
    }
    /// The same number for categories of the same price.
    [[nodiscard]] std::uint32_t price_class_of(std::uint32_t category) const noexcept {
        return price_classes_[category];
    }
    [[nodiscard]] std::uint32_t distance(std::uint32_t seat) const noexcept {
        return distances_.data()[seat];  // unchecked, as a search asks it for every window
    }
    /// Index of a labelled seat's row.
    [[nodiscard]] std::uint32_t row_of(std::uint32_t seat) const noexcept { return row_of_[seat]; }

    // 64 places a word, place p in bit p % 64 of word p / 64.
    [[nodiscard]] std::uint64_t for_sale_word(std::uint32_t word) const noexcept {
        return for_sale_[word];
    }
    [[nodiscard]] std::uint64_t accessible_word(std::uint32_t word) const noexcept {
        return accessible_[word];
    }
    [[nodiscard]] std::uint64_t aisle_before_word(std::uint32_t word) const noexcept {
        return aisle_before_[word];
    }
    [[nodiscard]] std::uint64_t joined_word(std::uint32_t word) const noexcept {
        return joined_[word];
    }
    [[nodiscard]] bool for_sale(std::uint32_t place) const noexcept {
        return bit(for_sale_, place);
    }
    [[nodiscard]] bool accessible(std::uint32_t place) const noexcept {
        return bit(accessible_, place);
    }
    [[nodiscard]] bool aisle_before(std::uint32_t place) const noexcept {
        return bit(aisle_before_, place);
    }
    /// Inseparable from the place before it. No place behind the last one is.
    [[nodiscard]] bool joined(std::uint32_t place) const noexcept {
        return place < place_count_ && bit(joined_, place);
    }

    /// Whether any seats are joined to groups.
    [[nodiscard]] bool has_groups() const noexcept { return has_groups_; }
    /// In plan order.
    [[nodiscard]] std::span<GeneralGeometry const> generals() const noexcept { return generals_; }

    [[nodiscard]] std::span<RowGeometry const> rows() const noexcept { return rows_; }
    /// Row indices by `nearest`, then by index: the order of a best-available search.
    [[nodiscard]] std::span<std::uint32_t const> rows_by_distance() const noexcept {
        return rows_by_distance_;
    }
    /// `nearest` of the row of that rank.
    [[nodiscard]] std::uint32_t nearest_of(std::uint32_t rank) const noexcept {
        return nearest_by_rank_.data()[rank];
    }

private:
    void add_cells(Layout const& layout);
    [[nodiscard]] bool is_plain(RowGeometry const& row) const noexcept;
    [[nodiscard]] static bool bit(std::vector<std::uint64_t> const& bits,
                                  std::uint32_t place) noexcept {
        return (bits[place / 64] >> (place % 64) & 1U) != 0;
    }

    std::uint32_t place_count_;
    std::vector<CellGeometry> cells_;
    std::vector<std::uint32_t> cell_of_;    // of places
    std::vector<std::uint32_t> distances_;  // of labelled seats
    std::vector<std::uint32_t> row_of_;     // of labelled seats
    std::vector<std::uint32_t> section_first_, section_places_;
    std::vector<std::uint64_t> for_sale_, accessible_, aisle_before_, joined_;
    bool has_groups_{};
    std::vector<std::uint16_t> price_classes_;  // of categories
    std::vector<GeneralGeometry> generals_;
    std::vector<RowGeometry> rows_;
    std::vector<std::uint32_t> rows_by_distance_, nearest_by_rank_;
};

}  // namespace holdfast::inventory
