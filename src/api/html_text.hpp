// HTML text: escaped text, and the little Markdown and JSON of the reference.
//
// Thread safety: pure functions on the caller's string.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

namespace holdfast::api {

/// `text` with the characters that mean something in HTML escaped, also for attributes.
void append_escaped(std::string& out, std::string_view text);
/// The same within <code>.
void append_code(std::string& out, std::string_view text);
/// One line of Markdown: only `code` is known.
void append_line(std::string& out, std::string_view text);
/// Paragraphs with an empty line between; one whose lines start with "* " is a list.
void append_prose(std::string& out, std::string_view text);
/// JSON that a person can read: what is short stands on one line. Not escaped.
void append_pretty(std::string& out, boost::json::value const& value, std::size_t indent = 0);

}  // namespace holdfast::api
