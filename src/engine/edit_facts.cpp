// The EDIT records that change lists.
#include "engine/fact_bytes.hpp"

#include <holdfast/journal/record.hpp>

namespace holdfast::engine {
namespace {

constexpr std::size_t kind_at = 12;

// The largest exchange: a whole staff block given up for as many seats as an order may have.
static_assert(kind_at + 1 + 8 + 4 * (limits::seats_per_claim_max + limits::seats_per_order_max) <=
              journal::payload_bytes_max);
// The largest change of an order: its holds together have no more places than an order may have.
static_assert(kind_at + 1 + 24 + limits::holds_per_order_max * 16 +
                  8 * std::size_t{limits::seats_per_order_max} <=
              journal::payload_bytes_max);

void read_moves(FactReader& reader, std::vector<ReseatFact::Move>& moves) {
    auto const count = reader.number<std::uint32_t>();
    reader.require(count >= 1);
    reader.require(count <= limits::seats_per_order_max);
    for (std::uint32_t i = 0; reader.good() && i < count; ++i) {
        SeatIndex const from{reader.number<std::uint32_t>()};
        SeatIndex const to{reader.number<std::uint32_t>()};
        reader.require(from != to);
        moves.push_back({from, to});
    }
}

/// What kinds 3 and 4 have in common: `read_list` reads what is said of one hold.
template <class Fact, class ReadList>
std::optional<Fact> decode_parts(std::span<std::byte const> payload, EditKind kind,
                                 ReadList read_list) {
    FactReader reader{payload};
    Fact fact;
    fact.parts.emplace_back();
    fact.parts.front().hold = reader.hold();
    reader.require(reader.edit_kind() == kind);
    fact.order = reader.order();
    fact.at = reader.time();
    read_list(reader, fact.parts.front());
    auto const more = reader.number<std::uint16_t>();
    reader.require(more < limits::holds_per_order_max);
    for (std::uint16_t i = 0; reader.good() && i < more; ++i) {
        fact.parts.emplace_back();
        fact.parts.back().hold = reader.hold();
        read_list(reader, fact.parts.back());
    }
    if (!reader.finished(fact.mark)) return std::nullopt;
    return fact;
}

template <class Fact, class WriteList>
std::vector<std::byte> encode_parts(Fact const& fact, EditKind kind, WriteList write_list) {
    HOLDFAST_ASSERT(!fact.parts.empty() && fact.parts.size() <= limits::holds_per_order_max);
    FactWriter writer;
    writer.hold(fact.parts.front().hold);
    writer.choice(kind);
    writer.order(fact.order);
    writer.time(fact.at);
    write_list(writer, fact.parts.front());
    writer.number(static_cast<std::uint16_t>(fact.parts.size() - 1));
    for (std::size_t i = 1; i < fact.parts.size(); ++i) {
        writer.hold(fact.parts[i].hold);
        write_list(writer, fact.parts[i]);
    }
    writer.mark(fact.mark);
    return std::move(writer).take();
}

}  // namespace

std::optional<EditKind> edit_kind_of(std::span<std::byte const> payload) {
    if (payload.size() <= kind_at) return std::nullopt;
    FactReader reader{payload.subspan(kind_at)};
    EditKind const kind = reader.edit_kind();
    if (!reader.good()) return std::nullopt;
    return kind;
}

std::optional<ExchangeFact> decode_exchange(std::span<std::byte const> payload) {
    FactReader reader{payload};
    ExchangeFact fact;
    fact.hold = reader.hold();
    reader.require(reader.edit_kind() == EditKind::exchange);
    reader.seats(fact.dropped, 0);
    reader.seats(fact.added, fact.dropped.empty() ? 1 : 0);
    if (!reader.finished(fact.mark)) return std::nullopt;
    return fact;
}

std::optional<ReseatFact> decode_reseat(std::span<std::byte const> payload) {
    return decode_parts<ReseatFact>(payload, EditKind::reseat, [](auto& reader, auto& part) {
        read_moves(reader, part.moves);
    });
}

std::optional<RefundFact> decode_refund(std::span<std::byte const> payload) {
    return decode_parts<RefundFact>(payload, EditKind::refund,
                                    [](auto& reader, auto& part) { reader.seats(part.seats, 1); });
}

std::vector<std::byte> encode(ExchangeFact const& fact) {
    HOLDFAST_ASSERT(!fact.dropped.empty() || !fact.added.empty());
    FactWriter writer;
    writer.hold(fact.hold);
    writer.choice(EditKind::exchange);
    writer.seats(fact.dropped);
    writer.seats(fact.added);
    writer.mark(fact.mark);
    return std::move(writer).take();
}

std::vector<std::byte> encode(ReseatFact const& fact) {
    return encode_parts(fact, EditKind::reseat, [](auto& writer, auto const& part) {
        HOLDFAST_ASSERT(!part.moves.empty());
        writer.number(static_cast<std::uint32_t>(part.moves.size()));
        for (auto const& move : part.moves) {
            writer.number(move.from.value());
            writer.number(move.to.value());
        }
    });
}

std::vector<std::byte> encode(RefundFact const& fact) {
    return encode_parts(fact, EditKind::refund, [](auto& writer, auto const& part) {
        HOLDFAST_ASSERT(!part.seats.empty());
        writer.seats(part.seats);
    });
}

}  // namespace holdfast::engine
