// Surroundings: the seats around a claim, as they would be after it. For the orphan rule.
//
// Thread safety: one question, one thread. Invariants: an expired hold's seats are free, to the
//   millisecond; so is what the claimer gives back. Cost: at most one look at a place a question;
//   noting what was seen allocates.
#pragma once

#include "engine/orphans.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace holdfast::engine {

/// What a seat sees on one side of it.
enum class Beside : std::uint8_t { free, taken, row_end, edge };

/// Whether Surroundings::state() is free, of a seat that is for sale.
[[nodiscard]] inline bool is_free_before(Sale const& sale, OrphanQuestion const& question,
                                         std::uint32_t seat, TimePoint now) {
    auto const& back = question.given_back;
    if (!back.empty() && std::ranges::binary_search(back, SeatIndex{seat})) return true;
    return sale.inventory().holds.is_free(seat, now);
}

class Surroundings {
public:
    Surroundings(Sale const& sale, OrphanQuestion const& question, TimePoint now)
        : sale_(sale), geometry_(sale.inventory().geometry), question_(question), now_(now) {}

    /// From now on notes what each answer rests on.
    void note_looks() {
        noted_.clear();
        notes_ = true;
    }
    /// Whether all that was noted is still as it was: then it was so at one instant. Ends noting.
    [[nodiscard]] bool still_so() {
        notes_ = false;
        return std::ranges::all_of(noted_, [this](auto const& seen) {
            return sale_.inventory().holds.stamp(seen.first) == seen.second;
        });
    }

    /// Before the claim, but with what is given back.
    [[nodiscard]] PlaceState state(std::uint32_t seat) const {
        if (!question_.given_back.empty() && contains(question_.given_back, seat))
            return PlaceState::free;
        ++looks_;
        if (notes_) noted_.emplace_back(seat, sale_.inventory().holds.stamp(seat));
        return sale_.place(SeatIndex{seat}, now_);
    }
    [[nodiscard]] Beside beside(std::uint32_t seat, int side) const {
        Beside const link = joins(seat, side);
        if (link != Beside::free) return link;
        std::uint32_t const next = seat + static_cast<std::uint32_t>(side);
        if (contains(question_.places, next)) return Beside::taken;
        switch (state(next)) {
            case PlaceState::free:
                return Beside::free;
            case PlaceState::blocked:
                return Beside::edge;
            default:
                return Beside::taken;
        }
    }
    /// Whether the seat to that side was free before the claim and is one of the same run.
    [[nodiscard]] bool run_goes_on(std::uint32_t seat, int side) const {
        if (joins(seat, side) != Beside::free) return false;
        std::uint32_t const next = seat + static_cast<std::uint32_t>(side);
        // What the other lines choose counts as taken by somebody else.
        if (contains(question_.places, next)) return is_picked(next);
        return state(next) == PlaceState::free;
    }
    [[nodiscard]] bool is_picked(std::uint32_t seat) const {
        return contains(question_.hand_picked, seat);
    }
    /// Places looked at so far.
    [[nodiscard]] std::size_t looks() const noexcept { return looks_; }

private:
    [[nodiscard]] static bool contains(std::span<SeatIndex const> ascending, std::uint32_t seat) {
        return std::ranges::binary_search(ascending, SeatIndex{seat});
    }
    /// Whether the seat to the right (1) or left (-1) of `seat` is one of its run's, if free.
    [[nodiscard]] Beside joins(std::uint32_t seat, int side) const {
        inventory::RowGeometry const& row = geometry_.rows()[geometry_.row_of(seat)];
        if (seat == (side < 0 ? row.first : row.first + row.count - 1)) return Beside::row_end;
        std::uint32_t const next = seat + static_cast<std::uint32_t>(side);
        bool const aisle = geometry_.aisle_before(side < 0 ? seat : next);
        bool const same = geometry_.category_of(seat) == geometry_.category_of(next);
        return aisle || !same ? Beside::edge : Beside::free;
    }

    Sale const& sale_;
    inventory::Geometry const& geometry_;
    OrphanQuestion const& question_;
    TimePoint now_;
    using Stamp = decltype(SaleInventory::holds)::Stamp;
    // Of one thread's question.
    mutable std::size_t looks_{};
    mutable bool notes_{};
    mutable std::vector<std::pair<std::uint32_t, Stamp>> noted_;
};

}  // namespace holdfast::engine
