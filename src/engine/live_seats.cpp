#include "engine/live_seats.hpp"

#include <algorithm>

namespace holdfast::engine {

LiveSeats::Entry* LiveSeats::entry_of(HoldKey const& hold) const {
    auto const event = events_.find(hold.event.value());
    if (event == events_.end()) return nullptr;
    Pages const& pages = event->second;
    std::size_t const slot = hold.ref.slot().value();
    bool const known = slot / page_slots < pages.size() && pages[slot / page_slots] != nullptr;
    return known ? &(*pages[slot / page_slots])[slot % page_slots] : nullptr;
}

LiveSeats::Entry& LiveSeats::make_entry(HoldKey const& hold) {
    if (Entry* const known = entry_of(hold)) return *known;
    Pages& pages = events_[hold.event.value()];
    std::size_t const slot = hold.ref.slot().value();
    if (pages.size() <= slot / page_slots) pages.resize(slot / page_slots + 1);
    pages[slot / page_slots] = std::make_unique<Page>();
    return (*pages[slot / page_slots])[slot % page_slots];
}

void LiveSeats::clear(HoldKey const& hold, Entry& entry) {
    if (entry.count == no_hold) return;
    if (entry.count > kept_here) many_.erase(place_of(hold));
    entry.count = no_hold;
    --size_;
}

void LiveSeats::put(HoldKey const& hold, std::span<SeatIndex const> seats) {
    Entry& entry = make_entry(hold);
    clear(hold, entry);
    if (seats.size() > kept_here) {
        many_[place_of(hold)].assign(seats.begin(), seats.end());
    } else {
        std::ranges::copy(seats, entry.seats.begin());
    }
    entry.ref = hold.ref;
    entry.count = static_cast<std::uint32_t>(seats.size());
    ++size_;
}

std::optional<std::span<SeatIndex const>> LiveSeats::find(HoldKey const& hold) const {
    Entry const* const entry = entry_of(hold);
    if (!has(entry, hold)) return std::nullopt;
    if (entry->count > kept_here) return std::span(many_.at(place_of(hold)));
    return std::span(entry->seats).first(entry->count);
}

void LiveSeats::erase(HoldKey const& hold) {
    Entry* const entry = entry_of(hold);
    if (has(entry, hold)) clear(hold, *entry);
}

}  // namespace holdfast::engine
