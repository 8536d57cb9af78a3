// LiveEvent::follow, and what a follower keeps.
#include "engine/sale.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/engine/following.hpp>

#include <algorithm>

namespace holdfast::engine {
namespace {

using Stamp = inventory::Holds<Atomics, EventFacts>::Stamp;

/// State and version of the word; its generation is that of the owner.
constexpr std::uint32_t version_mask = (1U << 24U) - 1;

std::uint32_t& count_in(SectionCount& count, PlaceState state) noexcept {
    switch (state) {
        case PlaceState::free:
            return count.free;
        case PlaceState::held:
            return count.held;
        case PlaceState::sold:
            return count.sold;
        case PlaceState::blocked:
            break;
    }
    return count.blocked;
}

/// Its fact may or may not be in the journal; or, of an edit, which of its versions this is.
bool is_on_its_way(inventory::State state) noexcept {
    using inventory::State;
    return state == State::won || state == State::editing || state == State::confirming ||
           inventory::is_ending(state);
}

}  // namespace

std::vector<SeatIndex> SeatFollower::touched() const {
    std::vector<SeatIndex> seats = touched_;
    std::ranges::sort(seats);
    auto const twice = std::ranges::unique(seats);
    seats.erase(twice.begin(), twice.end());
    return seats;
}

std::vector<SectionCount> SeatFollower::touched_general() const {
    std::vector<SectionCount> counts;
    for (std::size_t i = 0; i < general_.size(); ++i)
        if (general_touched_[i]) counts.push_back(general_[i]);
    return counts;
}

bool SeatFollower::any_touched() const noexcept {
    return !touched_.empty() || std::ranges::find(general_touched_, true) != general_touched_.end();
}

void SeatFollower::forget() noexcept {
    touched_.clear();
    general_touched_.assign(general_.size(), false);
}

SeatStates SeatFollower::states() const {
    SeatStates states;
    states.seats.assign((labelled_ + 3) / 4, 0);
    for (std::uint32_t seat = 0; seat < labelled_; ++seat) {
        auto const bits = static_cast<unsigned>(state(SeatIndex{seat})) << (2 * (seat % 4));
        states.seats[seat / 4] = static_cast<std::uint8_t>(states.seats[seat / 4] | bits);
    }
    states.general = general_;
    return states;
}

void Sale::begin_following(SeatFollower& follower) const {
    std::uint32_t const places = spec_->layout.place_count();
    follower.labelled_ = spec_->layout.labelled_count();
    follower.general_.clear();  // of a beginning that lacked memory
    for (std::uint32_t index = 0; Section const& section : spec_->layout.sections()) {
        SectionIndex const name{index++};
        if (!section.general) continue;
        follower.general_.push_back({name, section.capacity, section.capacity, 0, 0, 0});
    }
    follower.general_touched_.assign(follower.general_.size(), false);
    follower.kept_.assign(places, {});  // last: with it it has begun
    for (std::uint32_t place = 0; place < places; ++place) {
        if (inventory_->geometry.for_sale(place)) continue;
        follower.kept_[place].mark = static_cast<std::uint32_t>(PlaceState::blocked)
                                     << SeatFollower::state_shift;
    }
}

std::optional<PlaceState> Sale::look_again(SeatFollower& follower, SeatIndex place,
                                           Patience& patience) const {
    auto& kept = follower.kept_[place.value()];
    auto const& holds = inventory_->holds;
    for (;;) {
        Stamp const before = holds.stamp(place.value());
        auto const look = holds.display(place.value(), TimePoint::min());
        if (look && is_on_its_way(look->word.state())) {
            if (!patience.lasts()) return std::nullopt;
            continue;
        }
        if (holds.stamp(place.value()) != before) continue;
        PlaceState const state = look ? state_of(*look) : PlaceState::free;
        kept.owner_high = static_cast<std::uint32_t>(before.owner >> 32U);
        kept.owner_low = static_cast<std::uint32_t>(before.owner);
        kept.mark = (static_cast<std::uint32_t>(before.word) & version_mask) |
                    static_cast<std::uint32_t>(state) << SeatFollower::state_shift;
        return state;
    }
}

bool Sale::follow_range(SeatFollower& follower, std::uint32_t first, std::uint32_t count,
                        SectionCount* general, Patience& patience) const {
    auto const& holds = inventory_->holds;
    for (std::uint32_t place = first; place < first + count; ++place) {
        auto& kept = follower.kept_[place];
        Stamp const stamp = holds.stamp(place);
        std::uint64_t const owner = std::uint64_t{kept.owner_high} << 32U | kept.owner_low;
        bool const same = stamp.owner == owner && (static_cast<std::uint32_t>(stamp.word) &
                                                   version_mask) == (kept.mark & version_mask);
        // While the stamp is the same, so is what was seen.
        if (same || !inventory_->geometry.for_sale(place)) continue;
        PlaceState const before = follower.state(SeatIndex{place});
        // First, for it may lack memory: what was looked at again is not found another time.
        if (general == nullptr) follower.touched_.push_back(SeatIndex{place});
        auto const state = look_again(follower, SeatIndex{place}, patience);
        if (!state) {
            if (general == nullptr) follower.touched_.pop_back();
            return false;
        }
        if (general != nullptr) {
            --count_in(*general, before);
            ++count_in(*general, *state);
            // Kept at once: a look that ends early has touched it all the same.
            auto const index = static_cast<std::size_t>(general - follower.general_.data());
            follower.general_touched_[index] = true;
        }
    }
    return true;
}

bool Sale::follow(SeatFollower& follower) const {
    if (!ready()) return false;
    if (follower.kept_.empty()) begin_following(follower);
    Patience patience(turn_wait_);
    if (!follow_range(follower, 0, follower.labelled_, nullptr, patience)) return false;
    for (SectionCount& count : follower.general_) {
        Section const& section = spec_->layout.sections()[count.section.value()];
        if (!follow_range(follower, section.first.value(), section.capacity, &count, patience))
            return false;
    }
    return true;
}

}  // namespace holdfast::engine
