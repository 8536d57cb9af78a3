// Replay's state as bytes, and back.
#include "engine/base_state.hpp"
#include "engine/replay_steps.hpp"

#include <holdfast/base/assert.hpp>

#include <utility>

namespace holdfast::engine {
namespace {

/// A hold of a base file must be able to stand where it says, as a CLAIM must.
[[nodiscard]] bool fits(ReplayedEvent& event, RestoredHold const& hold) {
    if (!event.has_slot(hold.ref.slot())) return false;
    if (event.in_slot(hold.ref.slot()) != nullptr) return false;
    if (hold.ref.generation() != event.generation(hold.ref.slot())) return false;
    std::optional<SeatIndex> before;
    for (SeatIndex const seat : hold.seats) {
        if (seat.value() >= event.places()) return false;
        if (before >= seat) return false;
        before = seat;
        if (event.owner(seat) != nullptr) return false;
    }
    return !hold.seats.empty();
}

}  // namespace

BaseEvent ReplayedEvent::base(EventId id) const {
    auto const holds = static_cast<std::uint32_t>(holds_.size() - unused_.size());
    return {id, places_, life_, generations_, holds};
}

void ReplayedEvent::save_holds(BaseStateWriter& writer) const {
    // By slot, so that the same state is the same bytes however it came about.
    for (std::uint32_t const index : hold_of_) {
        if (index == no_hold) continue;
        ReplayedHold const& entry = holds_[index];
        writer.put_hold({entry.hold, entry.claimed, entry.sold});
    }
}

void ReplayedEvent::load(BaseEvent const& event) {
    if (!event.generations.empty()) have_slots(event.generations.size());
    std::ranges::copy(event.generations, generations_.begin());
    life_ = event.life;
}

std::size_t ReplayedEvent::bytes_of_base() const noexcept {
    std::size_t bytes = base_event_bytes + generations_.size() * sizeof(std::uint64_t);
    for (ReplayedHold const& entry : holds_)
        bytes += base_hold_bytes + entry.hold.seats.size() * sizeof(std::uint32_t);
    return bytes;
}

bool ReplayedEvent::load(BaseHold&& entry) {
    if (!fits(*this, entry.hold)) return false;
    RestoredHold& hold = entry.hold;
    claim({{EventId{}, hold.ref},
           hold.holder,
           hold.created_at,
           hold.expires_at,
           std::move(hold.seats)},
          entry.claimed);
    ReplayedHold& loaded = *in_slot(hold.ref.slot());
    loaded.hold.order = hold.order;
    loaded.sold = entry.sold;
    touch(hold.ref.slot(), hold.order == OrderId{} ? entry.claimed : entry.sold);
    return true;
}

std::vector<std::byte> Replay::save() const {
    std::size_t bytes = base_event_bytes;
    for (auto const& [id, event] : state_->events) bytes += event.bytes_of_base();
    auto const marks = state_->marks.in_order();
    for (MarkEntry const* entry : marks) bytes += base_mark_bytes + entry->answer.size();
    BaseStateWriter writer(bytes, marks.empty() ? base_state_version : marked_base_state_version);
    writer.count_events(static_cast<std::uint32_t>(state_->events.size()));
    for (auto const& [id, event] : state_->events) {
        writer.put_event(event.base(id));
        event.save_holds(writer);
    }
    if (!marks.empty()) writer.put_marks(marks);
    return std::move(writer).take();
}

bool Replay::load(std::span<std::byte const> bytes) {
    BaseStateReader reader(bytes);
    BaseEvent event;
    BaseHold hold;
    for (std::uint32_t events = reader.events(); reader.good() && events > 0; --events) {
        reader.event(event);
        if (!reader.good()) break;
        ReplayedEvent* const known = state_->find(event.id);
        bool const fitting = known != nullptr && known->places() == event.places;
        if (!fitting) {
            if (known == nullptr) state_->missing = event.id;
            return state_->refuse(no_lsn,
                                  fmt::format("the base file has event {} of {} places, the "
                                              "catalogue has not",
                                              event.id.value(), event.places));
        }
        known->load(event);
        for (std::uint32_t holds = event.holds; holds > 0; --holds) {
            reader.hold(hold);
            if (!reader.good()) break;
            if (known->load(std::move(hold))) continue;
            return state_->refuse(no_lsn, fmt::format("the base file has {}, which cannot be",
                                                      text({event.id, hold.hold.ref})));
        }
    }
    MarkEntry entry;
    for (std::uint32_t marks = reader.marks(); reader.good() && marks > 0; --marks) {
        reader.mark(entry);
        if (reader.good() && !state_->put_entry(entry, {})) return false;
    }
    if (reader.at_end()) return true;
    return state_->refuse(no_lsn, "the base file is no state of a replay");
}

}  // namespace holdfast::engine
