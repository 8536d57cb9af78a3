// JSON writer: the few appends that answers are made of.
//
// Thread safety: pure functions on the caller's string. Cost: no allocation but the string's own.
#pragma once

#include <holdfast/base/clock.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::api {

/// `"name":`, after a comma unless the object has just been opened.
void append_name(std::string& out, std::string_view name);
/// A comma unless the array has just been opened.
void append_separator(std::string& out);
void append_integer(std::string& out, std::int64_t number);
/// A quoted timestamp; null for no_deadline and for a time that was never set.
void append_time(std::string& out, TimePoint at, std::int32_t offset_minutes = 0);
/// Text that needs no escaping: ids, slugs of our own making, codes.
void append_plain(std::string& out, std::string_view text);

}  // namespace holdfast::api
