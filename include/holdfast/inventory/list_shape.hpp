// ListShape: what an end must know of the list of a hold without a walk along it.
//
// Purpose: how many places it has, and the cell (geometry.hpp) that all of them are of, as they
//   mostly are; in one word, so that the two always belong together.
// Thread safety: a value.
// Invariants: a cell that is named is the cell of every place of the list. Of a list that has
//   several cells, or one whose number is too large, only that is known.
// Cost: shifts and masks; to make one, a look at each place.
#pragma once

#include <holdfast/domain/limits.hpp>
#include <holdfast/inventory/geometry.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

namespace holdfast::inventory {

class ListShape {
public:
    explicit constexpr ListShape(std::uint32_t bits) noexcept : bits_(bits) {}
    [[nodiscard]] static ListShape of(Geometry const& geometry,
                                      std::span<SeatIndex const> seats) noexcept {
        std::uint32_t const cell = geometry.cell_of(seats.front().value());
        bool const one =
            cell < several &&
            std::ranges::all_of(
                seats, [&](SeatIndex seat) { return geometry.cell_of(seat.value()) == cell; });
        return ListShape{(one ? cell : several) << count_bits |
                         static_cast<std::uint32_t>(seats.size())};
    }

    [[nodiscard]] constexpr std::uint32_t bits() const noexcept { return bits_; }
    /// Places. Bounded, as the word may be read of a slot that is no hold's yet.
    [[nodiscard]] constexpr std::uint32_t count() const noexcept {
        return std::min(bits_ & count_max, limits::seats_per_claim_max);
    }
    [[nodiscard]] constexpr bool one_cell() const noexcept { return cell() != several; }
    /// Only if one_cell().
    [[nodiscard]] constexpr std::uint32_t cell() const noexcept { return bits_ >> count_bits; }

private:
    static constexpr unsigned count_bits = 14;
    static constexpr std::uint32_t count_max = (1U << count_bits) - 1;
    static_assert(limits::seats_per_claim_max <= count_max);
    static constexpr std::uint32_t several = (1U << (32 - count_bits)) - 1;

    std::uint32_t bits_;
};

}  // namespace holdfast::inventory
