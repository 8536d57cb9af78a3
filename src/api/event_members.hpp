// Members of the documents about events.
//
// Thread safety: pure functions on the caller's string. Cost: no allocation but the string's own.
#pragma once

#include "api/json_writer.hpp"

#include <holdfast/domain/layout.hpp>
#include <holdfast/http/problem.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::api {

inline void append_text_member(std::string& out, std::string_view name, std::string_view text) {
    append_name(out, name);
    http::append_json_string(out, text);
}

inline void append_integer_member(std::string& out, std::string_view name, std::int64_t number) {
    append_name(out, name);
    append_integer(out, number);
}

inline void append_bool_member(std::string& out, std::string_view name, bool value) {
    append_name(out, name);
    out += value ? "true" : "false";
}

/// `"categories":[…]`
void append_categories(std::string& out, Layout const& layout);

}  // namespace holdfast::api
