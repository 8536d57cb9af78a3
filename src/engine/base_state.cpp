#include "engine/base_state.hpp"

namespace holdfast::engine {
namespace {

std::int64_t number(TimePoint time) noexcept {
    return time.time_since_epoch().count();
}

}  // namespace

void BaseStateWriter::put_event(BaseEvent const& event) {
    put(event.id.value());
    put(event.places);
    put(event.life ? static_cast<std::uint8_t>(*event.life) : std::uint8_t{0});
    std::size_t used = event.generations.size();
    while (used > 0 && event.generations[used - 1] == 0) --used;
    put(static_cast<std::uint32_t>(used));
    for (std::size_t slot = 0; slot < used; ++slot) put(event.generations[slot]);
    put(event.holds);
}

void BaseStateWriter::put_hold(BaseHold const& entry) {
    RestoredHold const& hold = entry.hold;
    put(hold.ref.bits());
    put(hold.holder);
    put(number(hold.created_at));
    put(number(hold.expires_at));
    put(hold.order.high);
    put(hold.order.low);
    put(entry.claimed.value());
    put(entry.sold.value());
    put(static_cast<std::uint32_t>(hold.seats.size()));
    for (SeatIndex const seat : hold.seats) put(seat.value());
}

void BaseStateWriter::put_marks(std::span<MarkEntry* const> marks) {
    put(static_cast<std::uint32_t>(marks.size()));
    for (MarkEntry const* const entry : marks) {
        for (MarkHash const& hash : {entry->mark.scope, entry->mark.request}) {
            put(hash.high);
            put(hash.low);
        }
        put(number(entry->at));
        put(number(entry->keep_until));
        put(entry->lsn.value());
        put(static_cast<std::uint32_t>(entry->answer.size()));
        bytes_.insert(bytes_.end(), entry->answer.begin(), entry->answer.end());
    }
}

std::uint32_t BaseStateReader::marks() {
    if (version_ == base_state_version) return 0;
    auto const marks = reader_.number<std::uint32_t>();
    reader_.require(marks > 0);
    return marks;
}

void BaseStateReader::mark(MarkEntry& entry) {
    for (MarkHash* const hash : {&entry.mark.scope, &entry.mark.request}) {
        hash->high = reader_.number<std::uint64_t>();
        hash->low = reader_.number<std::uint64_t>();
    }
    entry.at = reader_.time();
    entry.keep_until = reader_.time();
    entry.lsn = Lsn{reader_.number<std::uint64_t>()};
    auto const answer = reader_.bytes(reader_.number<std::uint32_t>());
    reader_.require(decode_answer(answer).has_value());
    entry.answer.assign(answer.begin(), answer.end());
}

void BaseStateReader::event(BaseEvent& event) {
    event.id = reader_.event();
    event.places = reader_.number<std::uint32_t>();
    reader_.require(event.places <= limits::places_per_event_max);
    auto const life = reader_.number<std::uint8_t>();
    reader_.require(life <= static_cast<std::uint8_t>(LifeStep::cancelled));
    event.life.reset();
    if (life != 0) event.life = static_cast<LifeStep>(life);
    auto const slots = reader_.number<std::uint32_t>();
    reader_.require(slots <= event.places + limits::spare_slots_max + 1);
    event.generations.clear();
    for (std::uint32_t slot = 0; reader_.good() && slot < slots; ++slot)
        event.generations.push_back(reader_.number<std::uint64_t>());
    event.holds = reader_.number<std::uint32_t>();
}

void BaseStateReader::hold(BaseHold& entry) {
    RestoredHold& hold = entry.hold;
    hold.ref = HoldRef{reader_.number<std::uint64_t>()};
    reader_.require(hold.ref.generation() != 0);
    reader_.require(hold.ref.slot() != SlotIndex{});
    hold.holder = reader_.number<std::uint64_t>();
    hold.created_at = TimePoint{Milliseconds{reader_.number<std::int64_t>()}};
    hold.expires_at = TimePoint{Milliseconds{reader_.number<std::int64_t>()}};
    hold.order.high = reader_.number<std::uint64_t>();
    hold.order.low = reader_.number<std::uint64_t>();
    entry.claimed = Lsn{reader_.number<std::uint64_t>()};
    entry.sold = Lsn{reader_.number<std::uint64_t>()};
    auto const seats = reader_.number<std::uint32_t>();
    reader_.require(seats <= limits::places_per_event_max);
    hold.seats.clear();
    for (std::uint32_t i = 0; reader_.good() && i < seats; ++i)
        hold.seats.emplace_back(reader_.number<std::uint32_t>());
}

}  // namespace holdfast::engine
