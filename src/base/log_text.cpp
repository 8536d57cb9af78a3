#include <holdfast/base/log_text.hpp>

#include <array>
#include <cstdint>

namespace holdfast::log {
namespace {

struct Character {
    char32_t code{};
    std::size_t bytes{};  // 0: the byte at this place starts no valid character
};

/// Decodes the character at the start of `text`, which is not empty, by the table of RFC 3629:
/// overlong forms, surrogates and codes over U+10FFFF are no characters.
Character decode(std::string_view text) noexcept {
    auto const byte = [text](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
    std::uint8_t const first = byte(0);
    if (first < 0x80) return {first, 1};
    std::size_t const length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length) return {};
    char32_t code = first & (0xFFU >> (length + 1));
    for (std::size_t at = 1; at < length; ++at) {
        if ((byte(at) & 0xC0) != 0x80) return {};
        code = (code << 6) | (byte(at) & 0x3F);
    }
    constexpr std::array<char32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
    bool const surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (code < smallest[length] || surrogate || code > 0x10FFFF) return {};
    return {code, length};
}

/// Characters that could end the line, move a terminal, or show text in another order than it has.
bool is_hostile(char32_t code) noexcept {
    auto const within = [code](char32_t low, char32_t high) { return code >= low && code <= high; };
    return code < 0x20 || within(0x7F, 0x9F) || code == 0xAD || code == 0x061C ||
           within(0x200B, 0x200F) || within(0x2028, 0x202E) || within(0x2060, 0x206F) ||
           code == 0xFEFF || within(0xE0000, 0xE007F);
}

void append_unit(std::string& out, std::uint32_t unit) {
    constexpr std::string_view digits = "0123456789abcdef";
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out += digits[(unit >> shift) & 0xF];
}

void append_escape(std::string& out, char32_t code) {
    if (code < 0x10000) return append_unit(out, code);
    std::uint32_t const above = static_cast<std::uint32_t>(code) - 0x10000;
    append_unit(out, 0xD800 + (above >> 10));
    append_unit(out, 0xDC00 + (above & 0x3FF));
}

}  // namespace

void append_json_text(std::string& out, std::string_view text, std::size_t bytes_max) {
    out += '"';
    std::size_t at = 0;
    while (at < text.size()) {
        Character const character = decode(text.substr(at));
        std::size_t const bytes = character.bytes == 0 ? 1 : character.bytes;
        if (at + bytes > bytes_max) break;
        if (character.bytes == 0) {
            out += "\\ufffd";
        } else if (character.code == '"' || character.code == '\\') {
            out += '\\';
            out += static_cast<char>(character.code);
        } else if (is_hostile(character.code)) {
            append_escape(out, character.code);
        } else {
            out += text.substr(at, bytes);
        }
        at += bytes;
    }
    if (at < text.size()) out += "...";
    out += '"';
}

}  // namespace holdfast::log
