// Wish: what a request that leaves the choice to us may be given.
//
// Purpose: the filter of API.md section 3, and the rules (1) to (6) that a request allows.
// Thread safety: a value; what it points to belongs to the caller. Cost: none of note.
#pragma once

#include <holdfast/inventory/geometry.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>

namespace holdfast::inventory {

/// What is wanted. Empty lists allow everything; lists need not be sorted.
struct Wish {
    std::uint32_t quantity{};
    std::uint32_t accessible{};
    bool prevent_orphans{true};
    bool together{};            // rules (1) and (2) only
    std::uint32_t table_max{};  // rule (5): seats of the largest table that may be given
    std::uint32_t pass_over{};  // so many better blocks are left to others
    std::span<SectionIndex const> sections;
    std::span<CategoryIndex const> categories;
    std::optional<std::uint32_t> zone;
    std::span<SeatIndex const>
        excluded;     // ascending: places chosen by other lines of the same claim
    bool in_haste{};  // any split will do: better ones were lost to others
};

[[nodiscard]] inline bool section_allowed(std::uint32_t section,
                                          std::optional<std::uint32_t> const& zone,
                                          Wish const& wish) noexcept {
    if (wish.zone && zone != wish.zone) return false;
    return wish.sections.empty() ||
           std::ranges::find(wish.sections, SectionIndex{section}) != wish.sections.end();
}

[[nodiscard]] inline bool category_allowed(std::uint32_t category, Wish const& wish) noexcept {
    return wish.categories.empty() ||
           std::ranges::find(wish.categories, CategoryIndex{category}) != wish.categories.end();
}

[[nodiscard]] inline bool row_allowed(RowGeometry const& row, Wish const& wish) noexcept {
    return section_allowed(row.section, row.zone, wish) &&
           (!row.category || category_allowed(*row.category, wish));
}

/// Whether places of this section are within the filter: free ones say that it is not sold out.
[[nodiscard]] inline bool general_in_filter(GeneralGeometry const& general,
                                            Wish const& wish) noexcept {
    return wish.accessible == 0 && section_allowed(general.section, general.zone, wish) &&
           category_allowed(general.category, wish);
}
/// Whether places of this cell are within the filter.
[[nodiscard]] inline bool cell_allowed(CellGeometry const& cell, Wish const& wish) noexcept {
    if (!cell.for_sale) return false;
    if (wish.accessible > 0 ? cell.general : cell.accessible) return false;
    return section_allowed(cell.section, cell.zone, wish) && category_allowed(cell.category, wish);
}
/// Whether the wish may take places of this section by rule (6).
[[nodiscard]] inline bool general_allowed(GeneralGeometry const& general,
                                          Wish const& wish) noexcept {
    return !wish.together && general_in_filter(general, wish);
}

/// Whether the wish may take this seat of an allowed row, free or not.
[[nodiscard]] inline bool seat_allowed(Geometry const& geometry, std::uint32_t seat,
                                       Wish const& wish) noexcept {
    if (!geometry.for_sale(seat)) return false;
    if (!wish.categories.empty() && !category_allowed(geometry.category_of(seat), wish))
        return false;
    return wish.excluded.empty() || !std::ranges::binary_search(wish.excluded, SeatIndex{seat});
}

/// Takes out of a row's windows (row_windows.hpp) what the wish does not allow in an allowed row;
/// whether that may be anything.
template <class Windows>
bool leave_out(Windows& windows, Geometry const& geometry, RowGeometry const& row,
               Wish const& wish) {
    std::uint32_t const end = row.first + row.count;
    if (!wish.categories.empty() && !row.category) {
        for (std::uint32_t seat = row.first; seat < end; ++seat)
            if (!seat_allowed(geometry, seat, wish)) windows.remove(seat);
        return true;
    }
    if (wish.excluded.empty()) return false;
    auto seat = std::ranges::lower_bound(wish.excluded, SeatIndex{row.first});
    for (; seat != wish.excluded.end() && seat->value() < end; ++seat)
        windows.remove(seat->value());
    return true;
}

/// Calls `visit` with each seat of the row that looks free, ascending. `Free` as in BestBlock.
template <class Free, class Visit>
void for_each_free(Free const& free, RowGeometry const& row, Visit visit) {
    std::uint32_t const last = row.first + row.count - 1;
    for (std::uint32_t word = row.first / 64; word <= last / 64; ++word) {
        std::uint64_t bits = free.hint_word(word);
        if (word == row.first / 64) bits &= ~std::uint64_t{0} << (row.first % 64);
        if (word == last / 64) bits &= ~std::uint64_t{0} >> (63 - last % 64);
        for (; bits != 0; bits &= bits - 1)
            visit(64 * word + static_cast<std::uint32_t>(std::countr_zero(bits)));
    }
}

/// Calls `visit` with each row that may have free seats and that the wish allows, the nearest
/// first.
template <class Free, class Visit>
void for_each_open_row(Free const& free, Wish const& wish, Visit visit) {
    Geometry const& geometry = free.geometry();
    for (std::uint32_t word = 0; word < free.open_row_words(); ++word) {
        for (std::uint64_t bits = free.open_rows(word); bits != 0; bits &= bits - 1) {
            std::uint32_t const rank =
                64 * word + static_cast<std::uint32_t>(std::countr_zero(bits));
            std::uint32_t const index = geometry.rows_by_distance()[rank];
            if (row_allowed(geometry.rows()[index], wish)) visit(index, geometry.rows()[index]);
        }
    }
}

}  // namespace holdfast::inventory
