// Picture: the seat map as the buyers last saw it.
//
// Purpose: buyers pick seats from a map that is a little old, as people do; that is where refused
// claims come from. Thread safety: one owner. Cost: show() is linear in seats, a pick is O(1)
// but for the length of a group.
#pragma once

#include "loadgen/dice.hpp"
#include "loadgen/venue.hpp"

#include <cstdint>
#include <vector>

namespace holdfast::loadgen {

class Picture {
public:
    explicit Picture(Venue const& venue);
    void show(Snapshot snapshot);

    [[nodiscard]] Snapshot const& snapshot() const noexcept { return snapshot_; }
    [[nodiscard]] Counts const& total() const noexcept { return total_; }
    /// Neither free nor held places are left.
    [[nodiscard]] bool sold_out() const noexcept { return total_.free + total_.held == 0; }
    [[nodiscard]] bool has_free_seats() const noexcept { return !free_seats_.empty(); }
    [[nodiscard]] bool has_free_areas() const noexcept { return !free_areas_.empty(); }

    /// Up to `wanted` free neighbours around a random free seat, or the whole group if it is of
    /// those that are sold together only; needs has_free_seats().
    [[nodiscard]] Places pick_seats(Dice& dice, std::uint32_t wanted) const;
    /// Up to `wanted` places of a random area; needs has_free_areas().
    [[nodiscard]] Places pick_general(Dice& dice, std::uint32_t wanted) const;

private:
    struct Span {
        std::uint32_t first, last;  // SeatIndex, both within
    };
    [[nodiscard]] Span group_of(std::uint32_t seat) const;

    Venue const& venue_;
    std::vector<std::uint32_t> row_of_seat_;
    Snapshot snapshot_;
    Counts total_;
    std::vector<std::uint32_t> free_seats_;
    std::vector<std::uint32_t> free_areas_;
};

}  // namespace holdfast::loadgen
