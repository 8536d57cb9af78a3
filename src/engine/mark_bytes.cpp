#include "engine/mark_bytes.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/journal/record.hpp>

#include <utility>

namespace holdfast::engine {
namespace {

enum class AnswerKind : std::uint8_t { hold = 1, end, order, change, step };

constexpr std::size_t answer_ref_at = 1 + 4;                              // in a HoldAnswer
constexpr std::size_t unnamed_bytes = answer_ref_at + 8 + 8 + 8 + 8 + 4;  // without its places
constexpr std::uint32_t refunded_bit = 1U << 31;
constexpr std::uint32_t tickets_max = limits::seats_per_order_max * limits::holds_per_order_max;
constexpr std::int64_t total_max =
    limits::price_max * limits::seats_per_claim_max * limits::holds_per_order_max;

// The largest record with a mark: every ticket of the largest order is refunded by name, but one.
constexpr std::size_t largest_refund = 13 + 24 + 16 * limits::holds_per_order_max + 4 * tickets_max;
constexpr std::size_t largest_change = 3 + mark_bytes_least + 30 + 4 * tickets_max;
static_assert(largest_refund + largest_change <= journal::payload_bytes_max);
// An exchange drops and keeps together what the hold had, and adds an order's worth at most.
static_assert(2 * 64 + mark_bytes_least +
                  4 * (limits::seats_per_claim_max + 2 * limits::seats_per_order_max) <=
              journal::payload_bytes_max);

void write_name(FactWriter& writer, HoldName const& hold) {
    writer.hold({hold.event, hold.ref});
}
HoldName read_name(FactReader& reader) {
    HoldKey const key = reader.hold();
    return {key.event, key.ref};
}

void write(FactWriter& writer, HoldAnswer const& answer) {
    writer.choice(AnswerKind::hold);
    write_name(writer, answer.hold);
    writer.time(answer.created_at);
    writer.time(answer.expires_at);
    writer.number(answer.holder);
    writer.seats(answer.seats);
}
void write(FactWriter& writer, EndAnswer const& answer) {
    writer.choice(AnswerKind::end);
    write_name(writer, answer.hold);
}
void write(FactWriter& writer, OrderAnswer const& answer) {
    writer.choice(AnswerKind::order);
    writer.order(answer.order);
    writer.time(answer.created_at);
    writer.choice(answer.method);
    writer.number(answer.total);
    writer.number(static_cast<std::uint16_t>(answer.parts.size()));
    for (OrderAnswer::Part const& part : answer.parts) {
        writer.number(part.event.value());
        writer.seats(part.seats);
    }
}
void write(FactWriter& writer, ChangeAnswer const& answer) {
    writer.choice(AnswerKind::change);
    writer.order(answer.order);
    writer.number(static_cast<std::uint8_t>(answer.cancelled));
    writer.number(answer.total);
    writer.number(static_cast<std::uint32_t>(answer.tickets.size()));
    for (ChangeAnswer::Ticket const& ticket : answer.tickets)
        writer.number(ticket.seat.value() | (ticket.refunded ? refunded_bit : 0));
}
void write(FactWriter& writer, StepAnswer const& answer) {
    writer.choice(AnswerKind::step);
    writer.number(answer.event.value());
    writer.choice(answer.state);
}

Answer read_hold(FactReader& reader) {
    HoldAnswer answer;
    answer.hold = read_name(reader);
    answer.created_at = reader.time();
    answer.expires_at = reader.time();
    answer.holder = reader.number<std::uint64_t>();
    reader.seats(answer.seats, 1);
    return answer;
}
std::int64_t read_total(FactReader& reader) {
    auto const total = reader.number<std::int64_t>();
    reader.require(total >= 0);
    reader.require(total <= total_max);
    return total;
}
Answer read_order(FactReader& reader) {
    OrderAnswer answer;
    answer.order = reader.order();
    answer.created_at = reader.time();
    answer.method = reader.choice(PaymentMethod::none, PaymentMethod::external);
    answer.total = read_total(reader);
    auto const parts = reader.number<std::uint16_t>();
    reader.require(parts >= 1);
    reader.require(parts <= limits::holds_per_order_max);
    for (std::uint16_t i = 0; reader.good() && i < parts; ++i) {
        auto& part = answer.parts.emplace_back();
        part.event = reader.event();
        reader.seats(part.seats, 1);
    }
    return answer;
}
Answer read_change(FactReader& reader) {
    ChangeAnswer answer;
    answer.order = reader.order();
    auto const cancelled = reader.number<std::uint8_t>();
    reader.require(cancelled <= 1);
    answer.cancelled = cancelled == 1;
    answer.total = read_total(reader);
    auto const tickets = reader.number<std::uint32_t>();
    reader.require(tickets <= tickets_max);
    for (std::uint32_t i = 0; reader.good() && i < tickets; ++i) {
        auto const word = reader.number<std::uint32_t>();
        answer.tickets.push_back({SeatIndex{word & ~refunded_bit}, (word & refunded_bit) != 0});
    }
    return answer;
}
Answer read_step(FactReader& reader) {
    EventId const event = reader.event();
    return StepAnswer{event, reader.choice(EventState::draft, EventState::cancelled)};
}

Answer read_answer(FactReader& reader) {
    switch (reader.choice(AnswerKind::hold, AnswerKind::step)) {
        case AnswerKind::hold:
            return read_hold(reader);
        case AnswerKind::end:
            return EndAnswer{read_name(reader)};
        case AnswerKind::order:
            return read_order(reader);
        case AnswerKind::change:
            return read_change(reader);
        case AnswerKind::step:
            return read_step(reader);
    }
    return EndAnswer{};  // no kind: the reader is no longer good
}

void write_hash(FactWriter& writer, MarkHash const& hash) {
    writer.number(hash.high);
    writer.number(hash.low);
}
MarkHash read_hash(FactReader& reader) {
    MarkHash hash;
    hash.high = reader.number<std::uint64_t>();
    hash.low = reader.number<std::uint64_t>();
    return hash;
}

}  // namespace

AnswerBytes encode(Answer const& answer) {
    FactWriter writer;
    std::visit([&writer](auto const& each) { write(writer, each); }, answer);
    AnswerBytes bytes = std::move(writer).take();
    bytes.shrink_to_fit();  // many are kept
    return bytes;
}

AnswerBytes encode_unnamed(HoldAnswer const& terms, std::span<SeatIndex const> seats) {
    FactWriter writer(unnamed_bytes + seats.size_bytes());
    writer.choice(AnswerKind::hold);
    writer.number(terms.hold.event.value());
    writer.number(std::uint64_t{0});
    writer.time(terms.created_at);
    writer.time(terms.expires_at);
    writer.number(terms.holder);
    writer.seats(seats);
    return std::move(writer).take();
}

void set_ref(AnswerBytes& answer, HoldRef ref) noexcept {
    HOLDFAST_ASSERT(answer.size() >= unnamed_bytes);
    for (std::size_t i = 0; i < sizeof(std::uint64_t); ++i)
        answer[answer_ref_at + i] = static_cast<std::byte>((ref.bits() >> (8 * i)) & 0xFFU);
}

void set_event(AnswerBytes& answer, EventId event) noexcept {
    constexpr std::size_t event_at = sizeof(AnswerKind);
    constexpr std::size_t event_bytes = sizeof(std::uint32_t);
    HOLDFAST_ASSERT(answer.size() >= event_at + event_bytes);
    HOLDFAST_ASSERT(answer.front() == static_cast<std::byte>(AnswerKind::step));
    for (std::size_t i = 0; i < event_bytes; ++i)
        answer[event_at + i] = static_cast<std::byte>((event.value() >> (8 * i)) & 0xFFU);
}

std::optional<Answer> decode_answer(std::span<std::byte const> bytes) {
    FactReader reader{bytes};
    Answer answer = read_answer(reader);
    if (!reader.at_end()) return std::nullopt;
    return answer;
}

void write_mark(FactWriter& writer, MarkFact const& fact) {
    write_hash(writer, fact.mark.scope);
    write_hash(writer, fact.mark.request);
    writer.time(fact.at);
    writer.time(fact.keep_until);
    writer.bytes(fact.answer);
}

std::optional<MarkFact> decode_mark(MarkBytes bytes) {
    if (bytes.size() < mark_bytes_least) return std::nullopt;
    FactReader reader{bytes.first(mark_bytes_least)};
    MarkFact fact;
    fact.mark.scope = read_hash(reader);
    fact.mark.request = read_hash(reader);
    fact.at = reader.time();
    fact.keep_until = reader.time();
    fact.answer = bytes.subspan(mark_bytes_least);
    if (!reader.at_end()) return std::nullopt;
    if (!fact.answer.empty() && !decode_answer(fact.answer)) return std::nullopt;
    return fact;
}

HoldAnswer answer_of(ClaimFact const& claim) {
    return {{claim.hold.event, claim.hold.ref},
            claim.created_at,
            claim.expires_at,
            claim.holder,
            claim.seats};
}

std::optional<HoldName> hold_of(std::span<std::byte const> answer) {
    FactReader reader{answer};
    auto const kind = reader.number<std::uint8_t>();
    bool const of_hold = kind == static_cast<std::uint8_t>(AnswerKind::hold) ||
                         kind == static_cast<std::uint8_t>(AnswerKind::end);
    if (!of_hold) return std::nullopt;
    HoldName const name = read_name(reader);
    if (!reader.good()) return std::nullopt;
    return name;
}

bool is_of_order(std::span<std::byte const> answer) noexcept {
    if (answer.empty()) return false;
    return answer.front() == static_cast<std::byte>(AnswerKind::order) ||
           answer.front() == static_cast<std::byte>(AnswerKind::change);
}

}  // namespace holdfast::engine
