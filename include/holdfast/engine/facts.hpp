// Facts: the payloads of the journal's records, version 1.
//
// Purpose: what each record says. All integers little endian; `ref` is HoldRef::bits(); times are
// milliseconds of the server's line (base/clock.hpp); a list is u32 count + count x u32.
//   CLAIM  event u32 . ref u64 . holder u64 . created_at i64 . expires_at i64 . seats list
//   EDIT   event u32 . ref u64 . kind u8, and by its kind
//     1 extend    holder u64 . expires_at i64
//     2 exchange  dropped list . added list (not both empty; the holder and the deadline stay)
//     3 reseat    order 2 x u64 . at i64 . moves . more u16 x {event u32 . ref u64 . moves};
//                 moves: u32 x {from u32 . to u32}: the ticket of `from` is one of `to` now
//     4 refund    order 2 x u64 . at i64 . list . more u16 x {event u32 . ref u64 . list}:
//                 these places' tickets end; a hold without places is gone, the order goes on
//     Kinds 3 and 4 are of sold holds of one order; a refund of all it has left is a CANCEL.
//   END    event u32 . ref u64 . cause u8
//   ORDER  order 2 x u64 . created_at i64 . method u8 . total i64 .
//          holds u16 x {event u32 . ref u64}
//   CANCEL order 2 x u64 . at i64 . holds u16 x {event u32 . ref u64}
//   EVENT  event u32 . step u8 . at i64
//   CLOCK  at i64 . what u8 (1 = restart grace: live deadlines before `at` were moved to `at`)
//   MARK   an idempotency mark and nothing else: of a request that found nothing to change. An
//          older program skips records of its type.
// Prices are not repeated: an order's seats are its holds' seats, their prices the layout's.
// Any other record may end with an idempotency mark (u8 tag 0x49 + u16 length + bytes, see
// src/engine/mark_bytes.hpp); readers of version 1 refuse other trailing bytes.
// Thread safety: pure functions.
// Cost: encoding writes into the caller's buffer, no allocation.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/domain/event.hpp>
#include <holdfast/domain/ids.hpp>
#include <holdfast/domain/limits.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace holdfast::engine {

inline constexpr std::uint8_t fact_version = 1;

/// Why a hold ended; part of the hold's word, so that a helper's END says the same. Nothing ends
/// as `closed` yet: a hold outlives the sale it was made in.
enum class EndCause : std::uint8_t { released = 1, expired = 2, staff = 3, closed = 4 };
enum class EditKind : std::uint8_t { extend = 1, exchange = 2, reseat = 3, refund = 4 };
enum class PaymentMethod : std::uint8_t { none = 1, wallet = 2, external = 3 };

/// Of a fact's idempotency mark, without tag and length; empty: it has none. Of a decoded fact they
/// lie in its payload.
using MarkBytes = std::span<std::byte const>;
inline constexpr std::size_t mark_header_bytes = 3;

struct HoldKey {
    EventId event{};
    HoldRef ref{};
    friend auto operator<=>(HoldKey const&, HoldKey const&) = default;
};

struct ClaimFact {
    HoldKey hold;
    std::uint64_t holder{};
    TimePoint created_at{};
    TimePoint expires_at{};
    std::vector<SeatIndex> seats;
    MarkBytes mark{};
};
struct EditFact {
    HoldKey hold;
    std::uint64_t holder{};
    TimePoint expires_at{};
    MarkBytes mark{};
};
struct ExchangeFact {
    HoldKey hold;
    std::vector<SeatIndex> dropped;
    std::vector<SeatIndex> added;
    MarkBytes mark{};
};
struct ReseatFact {
    struct Move {
        SeatIndex from{};
        SeatIndex to{};
        friend bool operator==(Move const&, Move const&) = default;
    };
    struct Part {
        HoldKey hold;
        std::vector<Move> moves;
    };
    OrderId order;
    TimePoint at{};
    std::vector<Part> parts;  // 1 ... limits::holds_per_order_max
    MarkBytes mark{};
};
struct RefundFact {
    struct Part {
        HoldKey hold;
        std::vector<SeatIndex> seats;
    };
    OrderId order;
    TimePoint at{};
    std::vector<Part> parts;  // 1 ... limits::holds_per_order_max
    MarkBytes mark{};
};
struct EndFact {
    HoldKey hold;
    EndCause cause{};
    MarkBytes mark{};
};
struct OrderFact {
    OrderId order;
    TimePoint created_at{};
    PaymentMethod method{};
    std::int64_t total{};
    std::vector<HoldKey> holds;
    MarkBytes mark{};
};
struct CancelFact {
    OrderId order;
    TimePoint at{};
    std::vector<HoldKey> holds;
    MarkBytes mark{};
};
struct EventFact {
    EventId event{};
    LifeStep step{};
    TimePoint at{};
    MarkBytes mark{};
};
struct ClockFact {
    TimePoint at{};
    MarkBytes mark{};
};

/// Decoders: nothing if the payload is not exactly one fact of that kind. For replay and projector.
[[nodiscard]] std::optional<ClaimFact> decode_claim(std::span<std::byte const> payload);
/// Of an EDIT record; which of the next four reads it.
[[nodiscard]] std::optional<EditKind> edit_kind_of(std::span<std::byte const> payload);
[[nodiscard]] std::optional<EditFact> decode_edit(std::span<std::byte const> payload);
[[nodiscard]] std::optional<ExchangeFact> decode_exchange(std::span<std::byte const> payload);
[[nodiscard]] std::optional<ReseatFact> decode_reseat(std::span<std::byte const> payload);
[[nodiscard]] std::optional<RefundFact> decode_refund(std::span<std::byte const> payload);
[[nodiscard]] std::optional<EndFact> decode_end(std::span<std::byte const> payload);
[[nodiscard]] std::optional<OrderFact> decode_order(std::span<std::byte const> payload);
[[nodiscard]] std::optional<CancelFact> decode_cancel(std::span<std::byte const> payload);
[[nodiscard]] std::optional<EventFact> decode_event(std::span<std::byte const> payload);
[[nodiscard]] std::optional<ClockFact> decode_clock(std::span<std::byte const> payload);

/// Encoders for the cold facts (a CLAIM and an END are written in place by the engine's sink).
[[nodiscard]] std::vector<std::byte> encode(OrderFact const& fact);
[[nodiscard]] std::vector<std::byte> encode(CancelFact const& fact);
[[nodiscard]] std::vector<std::byte> encode(EventFact const& fact);
/// Puts an id into the bytes of an EventFact.
void put_event(std::span<std::byte> encoded, EventId id) noexcept;
[[nodiscard]] std::vector<std::byte> encode(ClockFact const& fact);
[[nodiscard]] std::vector<std::byte> encode(ClaimFact const& fact);
[[nodiscard]] std::vector<std::byte> encode(EditFact const& fact);
[[nodiscard]] std::vector<std::byte> encode(ExchangeFact const& fact);
[[nodiscard]] std::vector<std::byte> encode(ReseatFact const& fact);
[[nodiscard]] std::vector<std::byte> encode(RefundFact const& fact);
[[nodiscard]] std::vector<std::byte> encode(EndFact const& fact);

inline constexpr std::size_t claim_fact_bytes(std::size_t seats) {
    return 40 + 4 * seats;
}
inline constexpr std::size_t end_fact_bytes = 13;
inline constexpr std::size_t edit_fact_bytes = 29;

}  // namespace holdfast::engine
