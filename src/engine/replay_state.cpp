#include "engine/replay_state.hpp"

#include <holdfast/base/assert.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace holdfast::engine {

ReplayedEvent::ReplayedEvent(std::uint32_t places) : places_(places) {
    HOLDFAST_ASSERT(places <= limits::places_per_event_max);
}

// Slots are numbered 1 ... places + spare_slots_max at most; number 0 is never used.
std::size_t ReplayedEvent::slots_max() const noexcept {
    return std::size_t{places_} + limits::spare_slots_max + 1;
}

void ReplayedEvent::have_slots(std::size_t wanted) {
    HOLDFAST_ASSERT(wanted <= slots_max());
    if (slot_of_.empty()) slot_of_.resize(places_);
    if (wanted <= hold_of_.size()) return;
    std::size_t const slots = std::min(std::max(wanted, 2 * hold_of_.size()), slots_max());
    generations_.resize(slots);
    last_lsns_.resize(slots);
    hold_of_.resize(slots, no_hold);
}

bool ReplayedEvent::has_slot(SlotIndex slot) const noexcept {
    HOLDFAST_ASSERT(slot != SlotIndex{});  // what is read was checked for it
    return slot.value() < slots_max();
}

std::uint64_t ReplayedEvent::generation(SlotIndex slot) const noexcept {
    return slot.value() < generations_.size() ? generations_[slot.value()] : 0;
}

Lsn ReplayedEvent::last_lsn(SlotIndex slot) const noexcept {
    return slot.value() < last_lsns_.size() ? last_lsns_[slot.value()] : no_lsn;
}

void ReplayedEvent::touch(SlotIndex slot, Lsn lsn) noexcept {
    last_lsns_[slot.value()] = lsn;
}

ReplayedHold* ReplayedEvent::in_slot(SlotIndex slot) noexcept {
    if (slot.value() >= hold_of_.size()) return nullptr;
    std::uint32_t const index = hold_of_[slot.value()];
    return index == no_hold ? nullptr : &holds_[index];
}

ReplayedHold* ReplayedEvent::find(HoldRef ref) noexcept {
    ReplayedHold* const found = in_slot(ref.slot());
    if (found == nullptr) return nullptr;
    return found->hold.ref == ref ? found : nullptr;
}

ReplayedHold* ReplayedEvent::owner(SeatIndex seat) noexcept {
    if (slot_of_.empty()) return nullptr;
    std::uint32_t const slot = slot_of_[seat.value()];
    return slot == 0 ? nullptr : in_slot(SlotIndex{slot});
}

void ReplayedEvent::claim(ClaimFact const& fact, Lsn lsn) {
    std::uint32_t const slot = fact.hold.ref.slot().value();
    have_slots(std::size_t{slot} + 1);
    HOLDFAST_ASSERT(hold_of_[slot] == no_hold);
    if (unused_.empty()) {
        unused_.push_back(static_cast<std::uint32_t>(holds_.size()));
        holds_.emplace_back();
    }
    std::uint32_t const index = unused_.back();
    unused_.pop_back();
    ReplayedHold& entry = holds_[index];
    entry.hold.ref = fact.hold.ref;
    entry.hold.holder = fact.holder;
    entry.hold.created_at = fact.created_at;
    entry.hold.expires_at = fact.expires_at;
    entry.hold.order = OrderId{};
    entry.hold.seats = fact.seats;
    entry.claimed = lsn;
    entry.sold = no_lsn;
    generations_[slot] = fact.hold.ref.generation();
    hold_of_[slot] = index;
    for (SeatIndex const seat : fact.seats) {
        HOLDFAST_ASSERT(slot_of_[seat.value()] == 0);
        slot_of_[seat.value()] = slot;
    }
}

void ReplayedEvent::end(ReplayedHold const& hold) noexcept {
    std::uint32_t const slot = hold.hold.ref.slot().value();
    std::uint32_t const index = hold_of_[slot];
    HOLDFAST_ASSERT(index != no_hold);
    for (SeatIndex const seat : hold.hold.seats) {
        HOLDFAST_ASSERT(slot_of_[seat.value()] == slot);
        slot_of_[seat.value()] = 0;
    }
    hold_of_[slot] = no_hold;
    holds_[index].hold.ref = HoldRef{};
    unused_.push_back(index);
}

void ReplayedEvent::set_owner(SeatIndex seat, ReplayedHold const* hold) noexcept {
    slot_of_[seat.value()] = hold == nullptr ? 0 : hold->hold.ref.slot().value();
}

void ReplayedEvent::set_seats(ReplayedHold& hold, std::span<SeatIndex const> more) {
    std::uint32_t const slot = hold.hold.ref.slot().value();
    std::vector<SeatIndex>& seats = hold.hold.seats;
    seats.insert(seats.end(), more.begin(), more.end());
    std::ranges::sort(seats);
    // A place that went and came back stands there twice.
    seats.erase(std::unique(seats.begin(), seats.end()), seats.end());
    std::erase_if(seats, [&](SeatIndex const seat) { return slot_of_[seat.value()] != slot; });
}

void ReplayedEvent::raise_deadlines(TimePoint at) noexcept {
    for (ReplayedHold& entry : holds_) {
        if (entry.hold.ref == HoldRef{}) continue;
        if (entry.hold.order != OrderId{}) continue;
        // no_deadline is later than every time and so stays what it is.
        entry.hold.expires_at = std::max(entry.hold.expires_at, at);
    }
}

RestoredEvent ReplayedEvent::take() {
    RestoredEvent restored;
    restored.holds.reserve(holds_.size() - unused_.size());
    for (ReplayedHold& entry : holds_) {
        if (entry.hold.ref == HoldRef{}) continue;
        restored.holds.push_back(std::move(entry.hold));
    }
    restored.generations = std::move(generations_);
    restored.life = life_;
    restored.first_step = first_step_;
    return restored;
}

}  // namespace holdfast::engine
