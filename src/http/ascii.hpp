// Letter case of ASCII, as HTTP compares names; the C library's functions depend on the locale.
#pragma once

#include <algorithm>
#include <string_view>

namespace holdfast::http {

[[nodiscard]] constexpr char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// The value of a hexadecimal digit; -1: it is none.
[[nodiscard]] constexpr int hex_digit(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    char const small = lower(c);
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

/// `right` may have any letter case; `left` too.
[[nodiscard]] constexpr bool same_name(std::string_view left, std::string_view right) noexcept {
    return left.size() == right.size() &&
           std::equal(left.begin(), left.end(), right.begin(),
                      [](char a, char b) { return lower(a) == lower(b); });
}

/// Without outer spaces and tabs, the only white space of a field value.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) noexcept {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

}  // namespace holdfast::http
