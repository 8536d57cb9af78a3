// Mark bytes: a mark as it stands behind the fact of a record.
//
// Purpose: version 1, little endian, behind tag and length (facts.hpp):
//   scope 2 x u64 . request 2 x u64 . at i64 . keep_until i64 . answer
// The answer of a claim is not there: its CLAIM says it all. Others: kind u8, and by it
//   1 hold    event u32 . ref u64 . created_at i64 . expires_at i64 . holder u64 . seats list
//   2 end     event u32 . ref u64
//   3 order   order 2 x u64 . created_at i64 . method u8 . total i64 .
//             parts u16 x {event u32 . seats list}
//   4 change  order 2 x u64 . cancelled u8 . total i64 . tickets u32 x u32 (seat, bit 31: refunded)
//   5 step    event u32 . state u8
// Thread safety: pure functions.
#pragma once

#include "engine/fact_bytes.hpp"

#include <holdfast/engine/marks.hpp>

#include <optional>
#include <span>

namespace holdfast::engine {

inline constexpr std::size_t mark_bytes_least = 48;

struct MarkFact {
    Mark mark;
    TimePoint at{};
    TimePoint keep_until{};
    std::span<std::byte const> answer;  // empty: that of the CLAIM it stands behind
};
void write_mark(FactWriter& writer, MarkFact const& fact);
[[nodiscard]] std::optional<MarkFact> decode_mark(MarkBytes bytes);

/// What a claim's answer was made of.
[[nodiscard]] HoldAnswer answer_of(ClaimFact const& claim);

/// The answer of a claim of `seats` before it is known which hold it will be: `terms` has neither a
/// ref nor places. set_ref() completes it, in place.
[[nodiscard]] AnswerBytes encode_unnamed(HoldAnswer const& terms, std::span<SeatIndex const> seats);
void set_ref(AnswerBytes& answer, HoldRef ref) noexcept;

/// Of a StepAnswer; in place.
void set_event(AnswerBytes& answer, EventId event) noexcept;

/// The hold that the answer speaks of, if it is one of a hold.
[[nodiscard]] std::optional<HoldName> hold_of(std::span<std::byte const> answer);
/// It tells of an order or of a change of one.
[[nodiscard]] bool is_of_order(std::span<std::byte const> answer) noexcept;

}  // namespace holdfast::engine
