#include "engine/event_facts.hpp"

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
    thread_local std::array<std::byte, claim_fact_bytes(limits::seats_per_claim_max)> payload;
    InPlaceWriter writer(payload.data());
    writer.put(event_.value());
    writer.put(ref.bits());
    writer.put(terms.holder);
    writer.put(inventory::to_ms(terms.now));
    writer.put(inventory::to_ms(terms.expires_at));
    writer.put(static_cast<std::uint32_t>(seats.size()));
    static_assert(sizeof(SeatIndex) == sizeof(std::uint32_t));
    std::memcpy(writer.position(), seats.data(), seats.size_bytes());
    return journal_.append(journal::RecordType::claim, fact_version,
                           std::span(payload).first(claim_fact_bytes(seats.size())));
}

Lsn EventFacts::end(HoldRef ref, inventory::State cause) noexcept {
    EndCause const ended_by = cause_of(cause);
    if (ended_by == EndCause::released || ended_by == EndCause::staff) releases_.remember(ref);
    std::array<std::byte, end_fact_bytes> payload;
    InPlaceWriter writer(payload.data());
    writer.put(event_.value());
    writer.put(ref.bits());
    writer.put(static_cast<std::uint8_t>(ended_by));
    return journal_.append(journal::RecordType::end, fact_version, payload);
}

}  // namespace holdfast::engine
