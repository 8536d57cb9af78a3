#include "loadgen/picture.hpp"

#include <holdfast/base/assert.hpp>

#include <algorithm>

namespace holdfast::loadgen {

Picture::Picture(Venue const& venue) : venue_(venue), row_of_seat_(venue.seats.size()) {
    for (std::uint32_t row = 0; row < venue.rows.size(); ++row) {
        auto const begin = row_of_seat_.begin() + venue.rows[row].first;
        std::fill(begin, begin + venue.rows[row].seats, row);
    }
}

void Picture::show(Snapshot snapshot) {
    HOLDFAST_ASSERT(snapshot.seats.size() == venue_.seats.size());
    HOLDFAST_ASSERT(snapshot.areas.size() == venue_.areas.size());
    snapshot_ = std::move(snapshot);
    total_ = snapshot_.total();
    free_seats_.clear();
    for (std::uint32_t seat = 0; seat < snapshot_.seats.size(); ++seat) {
        if (snapshot_.seats[seat] == SeatState::free) free_seats_.push_back(seat);
    }
    free_areas_.clear();
    for (std::uint32_t area = 0; area < snapshot_.areas.size(); ++area) {
        if (snapshot_.areas[area].free > 0) free_areas_.push_back(area);
    }
}

Places Picture::pick_seats(Dice& dice, std::uint32_t wanted) const {
    auto const seat = free_seats_[dice.below(static_cast<std::uint32_t>(free_seats_.size()))];
    auto const& row = venue_.rows[row_of_seat_[seat]];
    auto const free = [this](std::uint32_t index) {
        return snapshot_.seats[index] == SeatState::free;
    };
    auto first = seat;
    auto last = seat;
    while (last - first + 1 < wanted) {
        if (last + 1 < row.first + row.seats && free(last + 1)) {
            ++last;
        } else if (first > row.first && free(first - 1)) {
            --first;
        } else {
            break;
        }
    }
    Places places;
    for (auto index = first; index <= last; ++index) places.seats.push_back(index);
    return places;
}

Places Picture::pick_general(Dice& dice, std::uint32_t wanted) const {
    auto const area = free_areas_[dice.below(static_cast<std::uint32_t>(free_areas_.size()))];
    auto const free = snapshot_.areas[area].free;
    auto const quantity = static_cast<std::uint32_t>(std::min<std::uint64_t>(free, wanted));
    Places places;
    places.general.emplace(area, quantity);
    return places;
}

}  // namespace holdfast::loadgen
