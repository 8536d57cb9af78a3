// Longest block: how many neighbours a wish could get at the most, judged by the hints.
//
// Purpose: the `largest_block` of a refusal (API.md section 3).
// Thread safety: any thread. `Free` as in BestBlock.
// Cost: each row of the filter that is longer than what was found: a few word operations for each
//   doubling; of a row with aisles, groups or accessible seats a look at each seat.
#pragma once

#include <holdfast/base/assert.hpp>
#include <holdfast/inventory/geometry.hpp>
#include <holdfast/inventory/row_windows.hpp>
#include <holdfast/inventory/wish.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace holdfast::inventory {

template <class Free>
class LongestBlock {
public:
    LongestBlock(Free const& free, Wish const& wish)
        : free_(free), geometry_(free.geometry()), wish_(wish) {}

    /// Length of the longest block that the wish could take if it asked for so many: groups whole,
    /// and with the wanted number of accessible seats.
    [[nodiscard]] std::uint32_t find() const {
        std::uint32_t most = 0;
        for (RowGeometry const& row : geometry_.rows()) {
            if (row.count <= most || !row_allowed(row, wish_)) continue;
            most = row.plain && wish_.accessible == 0 ? longest_of_plain(row, most)
                                                      : std::max(most, longest_of(row));
        }
        return most;
    }

private:
    /// At least `least`. If there is a block of so many there is one of fewer.
    [[nodiscard]] std::uint32_t longest_of_plain(RowGeometry const& row,
                                                 std::uint32_t least) const {
        RowWindows<0> windows(geometry_, row);
        windows.load_free([this](std::uint32_t word) { return free_.hint_word(word); });
        static_cast<void>(leave_out(windows, geometry_, row, wish_));
        std::uint32_t too_many = row.count + 1;
        for (std::uint32_t next = least + 1; least + 1 < too_many;) {
            windows.find(next, 0);
            (windows.none_found() ? too_many : least) = next;
            next = least + (too_many - least) / 2;
        }
        return least;
    }
    [[nodiscard]] std::uint32_t longest_of(RowGeometry const& row) const {
        constexpr auto nowhere = RowWindowsFacts::no_seat;
        std::uint32_t longest = 0;
        std::uint32_t accessible = 0;       // of this run so far
        std::vector<std::uint32_t> begins;  // with so many before it: the first seat of a block
        for (std::uint32_t seat = row.first; seat < row.first + row.count; ++seat) {
            bool const usable = free_.hinted(seat) && seat_allowed(geometry_, seat, wish_) &&
                                (wish_.accessible > 0 || !geometry_.accessible(seat));
            if (!usable || geometry_.aisle_before(seat)) {
                begins.clear();
                accessible = 0;
            }
            if (!usable) continue;
            if (begins.size() == accessible) begins.push_back(nowhere);
            if (begins[accessible] == nowhere && !geometry_.joined(seat)) begins[accessible] = seat;
            accessible += geometry_.accessible(seat) ? 1 : 0;
            if (geometry_.joined(seat + 1) || accessible < wish_.accessible) continue;
            std::uint32_t const before = accessible - wish_.accessible;
            HOLDFAST_ASSERT(before < begins.size());
            if (begins[before] != nowhere) longest = std::max(longest, seat + 1 - begins[before]);
        }
        return longest;
    }

    Free const& free_;
    Geometry const& geometry_;
    Wish const& wish_;
};

}  // namespace holdfast::inventory
