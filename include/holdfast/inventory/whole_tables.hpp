// Whole tables: a table that is sold as a whole, for a party smaller than it.
//
// Purpose: API.md section 3, rule (5). A table is a group of joined seats. Where it has just as
//   many seats as wanted, it is a block like any other (rules (1) and (2)); else a party gets all
//   seats of the smallest table that takes it, the nearest of those; never a larger one than
//   Wish::table_max. It has exactly the wanted number of accessible seats.
// Thread safety: reads only; any thread. The claim decides.
// Cost: one look at each open row that has groups; nothing in an event without.
#pragma once

#include <holdfast/inventory/wish.hpp>

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace holdfast::inventory {

/// Appends the seats of the table to `chosen`, ascending; false: there is none.
template <class Free>
[[nodiscard]] bool find_whole_table(Free const& free, Wish const& wish,
                                    std::vector<SeatIndex>& chosen) {
    Geometry const& geometry = free.geometry();
    if (!geometry.has_groups() || wish.table_max <= wish.quantity) return false;
    struct Table {
        std::uint32_t seats{};
        std::uint64_t cost{};
        std::uint32_t first{};
        auto operator<=>(Table const&) const = default;
    };
    std::optional<Table> best;
    for_each_open_row(free, wish, [&](std::uint32_t, RowGeometry const& row) {
        if (row.plain) return;
        std::uint32_t const end = row.first + row.count;
        for (std::uint32_t first = row.first, next = first; first < end; first = next) {
            Table table{0, 0, first};
            std::uint32_t accessible = 0;
            bool usable = true;
            do {
                usable = usable && free.hinted(next) && seat_allowed(geometry, next, wish);
                accessible += geometry.accessible(next) ? 1 : 0;
                table.cost += geometry.distance(next);
                ++table.seats;
                ++next;
            } while (next < end && geometry.joined(next));
            bool const fits = table.seats > wish.quantity && table.seats <= wish.table_max &&
                              accessible == wish.accessible;
            if (usable && fits && (!best || table < *best)) best = table;
        }
    });
    if (!best) return false;
    for (std::uint32_t i = 0; i < best->seats; ++i) chosen.push_back(SeatIndex{best->first + i});
    return true;
}

}  // namespace holdfast::inventory
