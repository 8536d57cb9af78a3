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

void append_base32(std::string& out, Block const& block) {
    unsigned bits = 0;
    unsigned pending = 0;
    for (std::uint8_t const byte : block) {
        pending = (pending << 8) | byte;
        bits += 8;
        while (bits >= 5) {
            bits -= 5;
            out += alphabet[(pending >> bits) & 31U];
        }
        pending &= (1U << bits) - 1;
    }
    out += alphabet[(pending << (5 - bits)) & 31U];  // 128 = 25 * 5 + 3
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
