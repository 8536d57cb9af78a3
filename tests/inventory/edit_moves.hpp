// Edit moves: what an engine does around Edits, and the checks of a venue at rest.
#pragma once

#include "tests/inventory/venue.hpp"

#include <map>
#include <optional>

namespace holdfast::inventory::test {

using SeatNumbers = std::vector<std::uint32_t>;

inline std::vector<SeatIndex> indices(SeatNumbers const& numbers) {
    std::vector<SeatIndex> seats;
    for (std::uint32_t const number : numbers) seats.push_back(SeatIndex{number});
    return seats;
}

/// How a change ended: as ChangeOutcome says, or the hold was gone or changed meanwhile.
enum class Moved : std::uint8_t { done, lost, busy, gone };

/// Gives holds of one state new lists, all at once, as a verb of the engine does.
template <class House>
Moved change_lists(House& house, std::vector<std::pair<HoldRef, SeatNumbers>> const& wanted,
                   TimePoint now, SeatIndex* refusing = nullptr) {
    Change change;
    std::vector<HoldLook> looks;
    for (auto const& [ref, after] : wanted) {
        std::vector<SeatIndex> before;
        auto const look = house.holds.look(ref, before);
        bool const usable =
            look && (look->word.state() == State::held || look->word.state() == State::sold);
        if (!usable) return Moved::gone;
        if (look->word.state() == State::held && look->expires_at <= now) return Moved::gone;
        looks.push_back(*look);
        change.lists.push_back({{}, before, indices(after)});
    }
    change.plan();
    State const back = looks.front().word.state();
    auto const leave = [&](std::size_t entered) {
        for (std::size_t i = 0; i < entered; ++i) house.holds.leave(change.lists[i].edit, back);
    };
    for (std::size_t i = 0; i < looks.size(); ++i) {
        auto const edit = house.holds.enter(wanted[i].first, looks[i].word, State::editing);
        if (!edit) return leave(i), Moved::gone;
        change.lists[i].edit = *edit;
    }
    auto const outcome =
        house.edits.prepare(change, {now, looks.front().expires_at, looks.front().holder});
    if (outcome.kind != ChangeOutcome::Kind::ready) {
        leave(looks.size());
        if (refusing != nullptr) *refusing = outcome.seat;
        return outcome.kind == ChangeOutcome::Kind::lost ? Moved::lost : Moved::busy;
    }
    house.facts.edit(change);
    house.edits.apply(change, back);
    return Moved::done;
}

template <class House>
Moved exchange(House& house, HoldRef ref, SeatNumbers const& after, TimePoint now = at(0),
               SeatIndex* refusing = nullptr) {
    return change_lists(house, {{ref, after}}, now, refusing);
}

/// The list of a hold; empty if it is gone.
template <class House>
SeatNumbers list_of(House& house, HoldRef ref) {
    std::vector<SeatIndex> seats;
    SeatNumbers numbers;
    if (!house.holds.look(ref, seats)) return numbers;
    for (SeatIndex const seat : seats) numbers.push_back(seat.value());
    return numbers;
}

/// At rest: every live hold owns exactly what it lists, no place is in two lists, hints of all free
/// places are set, and every slot that no list uses is on the free list.
template <class House>
bool is_sound(House& house) {
    using A = typename House::Policy;
    std::map<std::uint32_t, HoldRef> listed;
    std::uint32_t slots = 0;
    for (std::uint32_t slot = 1; slot <= house.places.pool().count(); ++slot) {
        HoldWord const word{house.places.pool()[slot].word.load(A::acquire)};
        if (word.state() == State::dead) continue;
        if (word.state() != State::held && word.state() != State::sold) return false;
        HoldRef const ref{word.generation(), SlotIndex{slot}};
        SeatNumbers const seats = list_of(house, ref);
        if (seats.empty()) return false;
        slots += (static_cast<std::uint32_t>(seats.size()) + seats_inline - 1) / seats_inline;
        for (std::uint32_t const seat : seats)
            if (!listed.emplace(seat, ref).second) return false;
    }
    for (std::uint32_t place = 0; place < house.places.count(); ++place) {
        HoldRef const owner{house.places.owner(place).load(A::acquire)};
        auto const found = listed.find(place);
        bool const free = house.is_free(place, TimePoint::min());
        if (free != (found == listed.end())) return false;
        if (!free && owner != found->second) return false;
        if (free && !house.places.hinted(place)) return false;
    }
    return house.slots_in_use() == slots;
}

}  // namespace holdfast::inventory::test
