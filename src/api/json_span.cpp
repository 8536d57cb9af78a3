#include "api/json_span.hpp"

namespace holdfast::api {
namespace {

/// Behind the string whose opening quote stands at `at`.
std::size_t string_end(std::string_view text, std::size_t at) noexcept {
    ++at;
    while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
    return at + 1;
}

/// Behind a number, true, false or null.
std::size_t scalar_end(std::string_view text, std::size_t at) noexcept {
    std::size_t const end = text.find_first_of(",]} \t\r\n", at);
    return end == std::string_view::npos ? text.size() : end;
}

std::size_t container_end(std::string_view text, std::size_t at) noexcept {
    std::size_t depth = 0;
    while (at < text.size()) {
        char const c = text[at];
        if (c == '"') {
            at = string_end(text, at);
            continue;
        }
        ++at;
        if (c == '{' || c == '[') ++depth;
        if (c == '}' || c == ']') --depth;
        if (depth == 0) break;
    }
    return at;
}

}  // namespace

JsonSpan find_json_value(std::string_view text, std::uint64_t tokens_before) noexcept {
    std::uint64_t tokens = 0;
    std::size_t at = 0;
    while (at < text.size()) {
        char const c = text[at];
        bool const container = c == '{' || c == '[';
        if (std::string_view(",:]} \t\r\n").find(c) != std::string_view::npos) {
            ++at;
            continue;
        }
        std::size_t end = at + 1;  // of the token: a container's opening alone
        if (c == '"') end = string_end(text, at);
        if (c != '"' && !container) end = scalar_end(text, at);
        if (tokens == tokens_before) {
            if (container) end = container_end(text, at);
            return {at, end - at};
        }
        ++tokens;
        at = end;
    }
    return {text.size(), 0};
}

}  // namespace holdfast::api
