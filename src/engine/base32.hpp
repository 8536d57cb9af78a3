// Base32 of 128 bits: 26 characters of RFC 4648's alphabet in lower case, no padding.
//
// Purpose: the text of every id. One value has one text: other letter case, padding or spare bits
// that are not zero are refused. Thread safety: pure. Cost: 26 steps.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::engine {

using Block = std::array<std::uint8_t, 16>;
inline constexpr std::size_t block_text_bytes = 26;

void write_base32(Block const& block, std::span<char, block_text_bytes> out) noexcept;
void append_base32(std::string& out, Block const& block);
[[nodiscard]] std::optional<Block> parse_base32(std::string_view text) noexcept;

}  // namespace holdfast::engine
