#include "api/json_writer.hpp"

#include "api/timestamp.hpp"

#include <array>
#include <charconv>

namespace holdfast::api {

// Views of literals: for a pointer the library would look for its end each time.
using namespace std::string_view_literals;

void append_name(std::string& out, std::string_view name) {
    out += out.back() == '{' ? "\""sv : ",\""sv;
    out.append(name).append("\":"sv);
}

void append_separator(std::string& out) {
    if (out.back() != '[') out += ',';
}

void append_integer(std::string& out, std::int64_t number) {
    std::array<char, 20> digits;
    auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
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
