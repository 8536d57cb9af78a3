// What the tests of PoorHouse read from JSON texts.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::app::test {

/// The text of the first string member of that name, at any depth; empty if there is none.
inline std::string member(std::string_view text, std::string_view name) {
    std::string const start = "\"" + std::string{name} + "\":\"";
    std::size_t const at = text.find(start);
    if (at == std::string_view::npos) return {};
    std::size_t const from = at + start.size();
    return std::string{text.substr(from, text.find('"', from) - from)};
}

/// Without the values of members that say when, or that are drawn by lot.
inline std::string lasting(std::string_view text) {
    constexpr std::string_view passing[] = {
        "seq",  "server_time", "expires_in_s", "expires_at", "created_at", "order",
        "hold", "ticket",      "cancelled_at", "opens_in_s", "next",       "updated_at"};
    std::string left{text};
    for (std::string_view const name : passing) {
        std::string const start = "\"" + std::string{name} + "\":";
        for (std::size_t at = 0; (at = left.find(start, at)) != std::string::npos;) {
            at += start.size();
            std::size_t end = left.find_first_of(",}]", at);
            if (end == std::string::npos) end = left.size();
            left.erase(at, end - at);
        }
    }
    return left;
}

}  // namespace holdfast::app::test
