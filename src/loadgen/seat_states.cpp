#include "loadgen/wire.hpp"

#include <array>

namespace holdfast::loadgen {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 64;

constexpr std::array<std::uint8_t, 256> digit_of_char() {
    std::array<std::uint8_t, 256> table{};
    for (auto& digit : table) digit = no_digit;
    for (std::uint8_t digit = 0; digit < 64; ++digit) {
        table[static_cast<unsigned char>(alphabet[digit])] = digit;
    }
    return table;
}

}  // namespace

std::optional<std::vector<SeatState>> decode_states(std::string_view base64, std::size_t seats) {
    static constexpr auto digits = digit_of_char();
    auto const bytes = (seats + 3) / 4;
    if (base64.size() != (bytes + 2) / 3 * 4) return std::nullopt;
    auto const padding = (3 - bytes % 3) % 3;
    if (base64.substr(base64.size() - padding) != std::string_view("==", padding)) {
        return std::nullopt;
    }
    base64.remove_suffix(padding);

    std::vector<SeatState> states;
    states.reserve(seats);
    std::uint32_t bits = 0;
    unsigned bits_kept = 0;
    for (char const c : base64) {
        auto const digit = digits[static_cast<unsigned char>(c)];
        if (digit == no_digit) return std::nullopt;
        bits = (bits << 6U) | digit;
        bits_kept += 6;
        if (bits_kept < 8) continue;
        bits_kept -= 8;
        auto const byte = (bits >> bits_kept) & 0xffU;
        for (unsigned shift = 0; shift < 8; shift += 2) {
            auto const state = (byte >> shift) & 3U;
            if (states.size() < seats) {
                states.push_back(static_cast<SeatState>(state));
            } else if (state != 0) {
                return std::nullopt;  // bits of a seat that does not exist
            }
        }
    }
    return states;
}

}  // namespace holdfast::loadgen
