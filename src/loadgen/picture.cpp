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

/// Seats that are sold together only, or a seat alone.
Picture::Span Picture::group_of(std::uint32_t seat) const {
    auto const& row = venue_.rows[row_of_seat_[seat]];
    auto const end = row.first + row.seats;
    Span group{.first = seat, .last = seat};
    while (group.first > row.first && venue_.joined[group.first]) --group.first;
    while (group.last + 1 < end && venue_.joined[group.last + 1]) ++group.last;
    return group;
}

Places Picture::pick_seats(Dice& dice, std::uint32_t wanted) const {
    auto const seat = free_seats_[dice.below(static_cast<std::uint32_t>(free_seats_.size()))];
    auto const& row = venue_.rows[row_of_seat_[seat]];
    auto picked = group_of(seat);
    bool const alone = picked.first == picked.last;
    auto const also = [this](std::uint32_t index) {
        auto const group = group_of(index);
        return snapshot_.seats[index] == SeatState::free && group.first == group.last;
    };
    while (alone && picked.last - picked.first + 1 < wanted) {
        if (picked.last + 1 < row.first + row.seats && also(picked.last + 1)) {
            ++picked.last;
        } else if (picked.first > row.first && also(picked.first - 1)) {
            --picked.first;
        } else {
            break;
        }
    }
    Places places;
    for (auto index = picked.first; index <= picked.last; ++index) places.seats.push_back(index);
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
