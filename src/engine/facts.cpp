#include "engine/fact_bytes.hpp"
#include "engine/fact_codec.hpp"
#include "engine/mark_bytes.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/engine/facts.hpp>
#include <holdfast/journal/record.hpp>

#include <cstring>
#include <utility>

namespace holdfast::engine {
namespace {

constexpr std::uint8_t clock_restart_grace = 1;
constexpr std::int64_t order_total_max =
    limits::price_max * limits::seats_per_claim_max * limits::holds_per_order_max;

static_assert(claim_fact_bytes(limits::seats_per_claim_max) + mark_header_bytes +
                  mark_bytes_least <=
              journal::payload_bytes_max);

template <class Fact>
[[nodiscard]] std::optional<Fact> decode(std::span<std::byte const> payload) {
    std::optional<Fact> fact{std::in_place};
    if (!decode_into(payload, *fact)) fact.reset();
    return fact;
}

}  // namespace

bool decode_into(std::span<std::byte const> payload, ClaimFact& fact) {
    FactReader reader{payload};
    fact.hold = reader.hold();
    fact.holder = reader.number<std::uint64_t>();
    fact.created_at = reader.time();
    fact.expires_at = reader.time();
    reader.seats(fact.seats, 1);
    return reader.finished(fact.mark);
}

bool decode_into(std::span<std::byte const> payload, EditFact& fact) {
    FactReader reader{payload};
    fact.hold = reader.hold();
    reader.require(reader.edit_kind() == EditKind::extend);
    fact.holder = reader.number<std::uint64_t>();
    fact.expires_at = reader.time();
    return reader.finished(fact.mark);
}

bool decode_into(std::span<std::byte const> payload, EndFact& fact) {
    FactReader reader{payload};
    fact.hold = reader.hold();
    fact.cause = reader.choice(EndCause::released, EndCause::closed);
    return reader.finished(fact.mark);
}

bool decode_into(std::span<std::byte const> payload, OrderFact& fact) {
    FactReader reader{payload};
    fact.order = reader.order();
    fact.created_at = reader.time();
    fact.method = reader.choice(PaymentMethod::none, PaymentMethod::external);
    fact.total = reader.number<std::int64_t>();
    reader.require(fact.total >= 0);
    reader.require(fact.total <= order_total_max);
    reader.holds(fact.holds);
    return reader.finished(fact.mark);
}

bool decode_into(std::span<std::byte const> payload, CancelFact& fact) {
    FactReader reader{payload};
    fact.order = reader.order();
    fact.at = reader.time();
    reader.holds(fact.holds);
    return reader.finished(fact.mark);
}

bool decode_into(std::span<std::byte const> payload, EventFact& fact) {
    FactReader reader{payload};
    fact.event = reader.event();
    fact.step = reader.choice(LifeStep::drafted, LifeStep::cancelled);
    fact.at = reader.time();
    return reader.finished(fact.mark);
}

bool decode_into(std::span<std::byte const> payload, ClockFact& fact) {
    FactReader reader{payload};
    fact.at = reader.time();
    reader.require(reader.number<std::uint8_t>() == clock_restart_grace);
    return reader.finished(fact.mark);
}

std::optional<ClaimFact> decode_claim(std::span<std::byte const> payload) {
    return decode<ClaimFact>(payload);
}
std::optional<EditFact> decode_edit(std::span<std::byte const> payload) {
    return decode<EditFact>(payload);
}
std::optional<EndFact> decode_end(std::span<std::byte const> payload) {
    return decode<EndFact>(payload);
}
std::optional<OrderFact> decode_order(std::span<std::byte const> payload) {
    return decode<OrderFact>(payload);
}
std::optional<CancelFact> decode_cancel(std::span<std::byte const> payload) {
    return decode<CancelFact>(payload);
}
std::optional<EventFact> decode_event(std::span<std::byte const> payload) {
    return decode<EventFact>(payload);
}
std::optional<ClockFact> decode_clock(std::span<std::byte const> payload) {
    return decode<ClockFact>(payload);
}

std::vector<std::byte> encode(ClaimFact const& fact) {
    HOLDFAST_ASSERT(!fact.seats.empty());
    HOLDFAST_ASSERT(fact.seats.size() <= limits::seats_per_claim_max);
    FactWriter writer;
    writer.hold(fact.hold);
    writer.number(fact.holder);
    writer.time(fact.created_at);
    writer.time(fact.expires_at);
    writer.seats(fact.seats);
    writer.mark(fact.mark);
    return std::move(writer).take();
}

std::vector<std::byte> encode(EditFact const& fact) {
    FactWriter writer;
    writer.hold(fact.hold);
    writer.choice(EditKind::extend);
    writer.number(fact.holder);
    writer.time(fact.expires_at);
    writer.mark(fact.mark);
    return std::move(writer).take();
}

std::vector<std::byte> encode(EndFact const& fact) {
    FactWriter writer;
    writer.hold(fact.hold);
    writer.choice(fact.cause);
    writer.mark(fact.mark);
    return std::move(writer).take();
}

std::vector<std::byte> encode(OrderFact const& fact) {
    FactWriter writer;
    writer.order(fact.order);
    writer.time(fact.created_at);
    writer.choice(fact.method);
    writer.number(fact.total);
    writer.holds(fact.holds);
    writer.mark(fact.mark);
    return std::move(writer).take();
}

std::vector<std::byte> encode(CancelFact const& fact) {
    FactWriter writer;
    writer.order(fact.order);
    writer.time(fact.at);
    writer.holds(fact.holds);
    writer.mark(fact.mark);
    return std::move(writer).take();
}

void put_event(std::span<std::byte> encoded, EventId id) noexcept {
    std::uint32_t const number = id.value();
    HOLDFAST_ASSERT(encoded.size() >= sizeof number);
    std::memcpy(encoded.data(), &number, sizeof number);  // the first that encode() writes
}

std::vector<std::byte> encode(EventFact const& fact) {
    FactWriter writer;
    writer.number(fact.event.value());
    writer.choice(fact.step);
    writer.time(fact.at);
    writer.mark(fact.mark);
    return std::move(writer).take();
}

std::vector<std::byte> encode(ClockFact const& fact) {
    FactWriter writer;
    writer.time(fact.at);
    writer.number(clock_restart_grace);
    writer.mark(fact.mark);
    return std::move(writer).take();
}

}  // namespace holdfast::engine
