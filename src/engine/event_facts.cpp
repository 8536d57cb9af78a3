#include "engine/event_facts.hpp"

#include "engine/mark_bytes.hpp"

#include <holdfast/base/assert.hpp>

#include <array>
#include <bit>
#include <cstring>

namespace holdfast::engine {
namespace {

static_assert(std::endian::native == std::endian::little,
              "facts are written as they lie in memory");

/// Writes little-endian values one after another; the caller has made room.
class InPlaceWriter {
public:
    explicit InPlaceWriter(std::byte* out) noexcept : out_(out) {}
    template <class T>
    void put(T value) noexcept {
        std::memcpy(out_, &value, sizeof value);
        out_ += sizeof value;
    }
    [[nodiscard]] std::byte* position() const noexcept { return out_; }

private:
    std::byte* out_;
};

/// Behind a fact; the bytes it takes.
std::size_t put_mark(std::byte* out, MarkBytes mark) noexcept {
    InPlaceWriter writer(out);
    writer.put(mark_tag);
    writer.put(static_cast<std::uint16_t>(mark.size()));
    std::memcpy(writer.position(), mark.data(), mark.size());
    return mark_header_bytes + mark.size();
}

EndCause cause_of(inventory::State ending) noexcept {
    switch (ending) {
        case inventory::State::ending_expired:
            return EndCause::expired;
        case inventory::State::ending_staff:
            return EndCause::staff;
        default:
            return EndCause::released;
    }
}

}  // namespace

Lsn EventFacts::claim(HoldRef ref, inventory::ClaimTerms const& terms,
                      std::span<SeatIndex const> seats) noexcept {
    // One buffer a thread: the largest claim is 40 KB, too much for the stack of a small thread.
    constexpr std::size_t bytes_max = claim_fact_bytes(limits::seats_per_claim_max);
    thread_local std::array<std::byte, bytes_max + mark_header_bytes + mark_bytes_least> payload;
    InPlaceWriter writer(payload.data());
    writer.put(event_.value());
    writer.put(ref.bits());
    writer.put(terms.holder);
    writer.put(inventory::to_ms(terms.now));
    writer.put(inventory::to_ms(terms.expires_at));
    writer.put(static_cast<std::uint32_t>(seats.size()));
    static_assert(sizeof(SeatIndex) == sizeof(std::uint32_t));
    std::memcpy(writer.position(), seats.data(), seats.size_bytes());
    std::size_t bytes = claim_fact_bytes(seats.size());
    if (!terms.mark.empty()) {
        HOLDFAST_ASSERT(terms.mark.size() == mark_bytes_least);
        bytes += put_mark(payload.data() + bytes, terms.mark);
    }
    return journal_.append(journal::RecordType::claim, fact_version,
                           std::span(payload).first(bytes));
}

Lsn EventFacts::end(HoldRef ref, inventory::State cause, MarkBytes mark) noexcept {
    EndCause const ended_by = cause_of(cause);
    if (ended_by == EndCause::released || ended_by == EndCause::staff) releases_.remember(ref);
    constexpr std::size_t mark_max = 64;  // the answer names the hold and no more
    std::array<std::byte, end_fact_bytes + mark_header_bytes + mark_max> payload;
    InPlaceWriter writer(payload.data());
    writer.put(event_.value());
    writer.put(ref.bits());
    writer.put(static_cast<std::uint8_t>(ended_by));
    std::size_t bytes = end_fact_bytes;
    if (!mark.empty()) {
        HOLDFAST_ASSERT(mark.size() <= mark_max);
        bytes += put_mark(payload.data() + bytes, mark);
    }
    return journal_.append(journal::RecordType::end, fact_version, std::span(payload).first(bytes));
}

}  // namespace holdfast::engine
