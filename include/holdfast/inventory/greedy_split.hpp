// Greedy split: some split for a party, where the best one is too much work (split_blocks.hpp).
//
// Purpose: blocks at one price, the longest first and of equal ones the nearest, until the party
//   sits, with exactly the wanted number of accessible seats.
// Thread safety: a value of one thread.
// Invariants: without groups it finds a split wherever there is one, because a seat of the kind
//   that is still lacking is always left. With groups (whole or not at all) it may miss one.
// Cost: a few looks at each usable seat of the slice; allocates.
#pragma once

#include <holdfast/inventory/split_slices.hpp>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

namespace holdfast::inventory {

template <class Free>
class GreedySplit {
public:
    GreedySplit(Geometry const& geometry, SplitSlices<Free> const& slices, Wish const& wish)
        : geometry_(geometry), slices_(slices), wish_(wish) {}

    /// Appends the seats, in no order, to `chosen`; false: none were found, nothing is appended.
    [[nodiscard]] bool find(SplitSlice const& slice, std::vector<SeatIndex>& chosen) {
        std::size_t const before = chosen.size();
        plain_ = wish_.quantity - wish_.accessible;
        accessible_ = wish_.accessible;
        gather(slice);
        while (plain_ + accessible_ > 0) {
            if (take_blocks(chosen)) continue;
            chosen.resize(before);
            return false;
        }
        return true;
    }

private:
    struct Seat {
        std::uint32_t index{};
        std::uint32_t rank{};  // of its row
        bool linked{};         // with the seat before it
        bool taken{};
    };
    struct Window {
        std::size_t first{}, length{};
        std::uint32_t accessible{};
        std::uint32_t rank{};
    };

    void gather(SplitSlice const& slice) {
        seats_.clear();
        for (SplitPiece const& piece : slices_.pieces().subspan(slice.first, slice.pieces)) {
            std::uint32_t before = ~0U - 1;
            for (std::uint32_t const seat : slices_.seats_of(piece)) {
                bool const linked = seat == before + 1 && !geometry_.aisle_before(seat);
                seats_.push_back({seat, slices_.row_of(piece).rank, linked, false});
                before = seat;
            }
        }
    }

    /// The longest block of each run, as far as they still fit; false: there is none.
    [[nodiscard]] bool take_blocks(std::vector<SeatIndex>& chosen) {
        find_windows();
        std::ranges::sort(windows_, [](Window const& a, Window const& b) {
            return std::tuple(b.length, a.rank, a.first) < std::tuple(a.length, b.rank, b.first);
        });
        bool took = false;
        for (Window const& window : windows_) {
            auto const plain = static_cast<std::uint32_t>(window.length) - window.accessible;
            if (plain > plain_ || window.accessible > accessible_) continue;
            plain_ -= plain;
            accessible_ -= window.accessible;
            for (std::size_t i = window.first; i < window.first + window.length; ++i) {
                seats_[i].taken = true;
                chosen.push_back(SeatIndex{seats_[i].index});
            }
            took = true;
        }
        return took;
    }

    [[nodiscard]] bool usable(Seat const& seat) const noexcept {
        return !seat.taken && (wish_.accessible > 0 || !geometry_.accessible(seat.index));
    }
    void find_windows() {
        windows_.clear();
        for (std::size_t first = 0, end = 0; first < seats_.size(); first = end) {
            end = first + 1;
            if (!usable(seats_[first])) continue;
            while (end < seats_.size() && seats_[end].linked && usable(seats_[end])) ++end;
            Window const longest = longest_in(first, end);
            if (longest.length > 0) windows_.push_back(longest);
        }
    }
    /// Of whole groups, and of no more seats of either kind than are still wanted.
    [[nodiscard]] Window longest_in(std::size_t first, std::size_t end) const {
        Window longest{first, 0, 0, seats_[first].rank};
        std::size_t start = first;
        std::uint32_t accessible = 0;
        auto const drop = [&] {
            accessible -= geometry_.accessible(seats_[start++].index) ? 1 : 0;
        };
        for (std::size_t seat = first; seat < end; ++seat) {
            accessible += geometry_.accessible(seats_[seat].index) ? 1 : 0;
            while (accessible > accessible_ || seat + 1 - start - accessible > plain_) drop();
            while (start <= seat && geometry_.joined(seats_[start].index)) drop();
            bool const whole = !geometry_.joined(seats_[seat].index + 1);
            if (whole && seat + 1 - start > longest.length)
                longest = {start, seat + 1 - start, accessible, longest.rank};
        }
        return longest;
    }

    Geometry const& geometry_;
    SplitSlices<Free> const& slices_;
    Wish const& wish_;
    std::uint32_t plain_{}, accessible_{};  // still wanted
    std::vector<Seat> seats_;
    std::vector<Window> windows_;
};

}  // namespace holdfast::inventory
