// Layout as bytes, for the catalogue's BLOB column.
//
// Format (little endian, version 1): u8 version; then counted lists in this order: categories,
// zones, sections, rows, seats, names. Strings are u16 length + bytes, points two IEEE-754 doubles,
// optionals one presence byte. CRC-32C of all bytes before it ends the blob.
// Thread safety: pure functions. Cost: linear, about 40 bytes a seat.
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
