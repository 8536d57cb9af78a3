// Layout as bytes, for the catalogue's BLOB column.
//
// Format (little endian, version 1, or 2 if any seat is joined, so that a holdfast which would sell
// such seats one by one does not read it): u8 version; optional point: the focal point; then
// lists, each with its u32 count before it, in this order:
//   categories  key, name, i64 price
//   zones       key, name, optional point
//   sections    id, name, u32 category, optional u32 zone, optional point, u8 general, u32 rows,
//               u32 capacity; those with rows before the general ones
//   rows        label, u32 seats; in section order
//   seats       point, u32 category, u8 flags; in row order
//   names       name, u8 length of the label if that is the name's tail, else 0 and the label
// Strings are u16 length + bytes, points two IEEE-754 doubles, optionals one presence byte (0 or
// 1). CRC-32C of all bytes before it ends the blob. Thread safety: pure functions. Cost: linear,
// about 40 bytes a seat.
#pragma once

#include <holdfast/domain/layout.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace holdfast {

[[nodiscard]] std::vector<std::byte> encode_layout(Layout const& layout);
/// Nothing if the bytes are damaged, of another version, or break an invariant of Layout.
[[nodiscard]] std::optional<Layout> decode_layout(std::span<std::byte const> bytes);

}  // namespace holdfast
