#include "engine/base32.hpp"

namespace holdfast::engine {
namespace {

constexpr std::string_view alphabet = "abcdefghijklmnopqrstuvwxyz234567";

constexpr std::uint8_t not_a_digit = 0xFF;
constexpr std::array<std::uint8_t, 256> make_values() {
    std::array<std::uint8_t, 256> values{};
    values.fill(not_a_digit);
    for (std::size_t i = 0; i < alphabet.size(); ++i) {
        values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
    }
    return values;
}
constexpr auto digit_values = make_values();

}  // namespace

void write_base32(Block const& block, std::span<char, block_text_bytes> out) noexcept {
    char* to = out.data();
    for (std::size_t at = 0; at < 15; at += 5) {
        std::uint64_t five = 0;
        for (std::size_t i = 0; i < 5; ++i) five = (five << 8) | block[at + i];
        for (int shift = 35; shift >= 0; shift -= 5) *to++ = alphabet[(five >> shift) & 31U];
    }
    unsigned const last = block[15];  // 128 = 25 * 5 + 3
    *to++ = alphabet[last >> 3];
    *to = alphabet[(last << 2) & 31U];
}

void append_base32(std::string& out, Block const& block) {
    std::array<char, block_text_bytes> text;
    write_base32(block, text);
    out.append(text.data(), text.size());
}

std::optional<Block> parse_base32(std::string_view text) noexcept {
    if (text.size() != block_text_bytes) return std::nullopt;
    Block block{};
    unsigned bits = 0;
    unsigned pending = 0;
    std::size_t at = 0;
    for (char const c : text) {
        std::uint8_t const value = digit_values[static_cast<unsigned char>(c)];
        if (value == not_a_digit) return std::nullopt;
        pending = (pending << 5) | value;
        bits += 5;
        if (bits >= 8) {
            bits -= 8;
            block[at++] = static_cast<std::uint8_t>(pending >> bits);
            pending &= (1U << bits) - 1;
        }
    }
    if (pending != 0) return std::nullopt;
    return block;
}

}  // namespace holdfast::engine
