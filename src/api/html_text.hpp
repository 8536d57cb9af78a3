// HTML text: escaped text, and the little Markdown and JSON of the reference.
//
// Thread safety: pure functions on the caller's string. Cost: linear in the text; append_pretty
// calls itself once a level of nesting, at most json_levels_max deep.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::api {

/// No JSON of the reference is nested deeper: ReferenceDocument refuses it. So this bounds what
/// follows the nesting by recursion.
inline constexpr std::size_t json_levels_max = 24;

/// `text` with the characters that mean something in HTML escaped, also for attributes.
void append_escaped(std::string& out, std::string_view text);
/// The same within <code>.
void append_code(std::string& out, std::string_view text);
/// A link within the page, to what has this id.
void append_link(std::string& out, std::string_view id, std::string_view text);
/// One line of Markdown: only `code` is known.
void append_line(std::string& out, std::string_view text);
/// Paragraphs with an empty line between; one whose lines start with "* " is a list.
void append_prose(std::string& out, std::string_view text);
/// JSON that a person can read: what is short stands on one line. Not escaped.
void append_pretty(std::string& out, boost::json::value const& value, std::size_t indent = 0);

}  // namespace holdfast::api
