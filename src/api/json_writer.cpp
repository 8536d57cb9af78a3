#include "api/json_writer.hpp"

#include "api/timestamp.hpp"

#include <array>
#include <charconv>

namespace holdfast::api {

void append_name(std::string& out, std::string_view name) {
    out += out.back() == '{' ? "\"" : ",\"";
    out.append(name).append("\":");
}

void append_separator(std::string& out) {
    if (out.back() != '[') out += ',';
}

void append_integer(std::string& out, std::int64_t number) {
    std::array<char, 20> digits;
    auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), end);
}

void append_time(std::string& out, TimePoint at, std::int32_t offset_minutes) {
    if (at == no_deadline || at == TimePoint{}) {
        out += "null";
        return;
    }
    out += '"';
    append_rfc3339(out, at, offset_minutes);
    out += '"';
}

void append_plain(std::string& out, std::string_view text) {
    out += '"';
    out.append(text);
    out += '"';
}

}  // namespace holdfast::api
