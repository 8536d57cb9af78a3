// Log text: hostile bytes made harmless inside a JSON string.
//
// Purpose: what a client sent may stand in a log line without moving the operator's terminal,
//   ending the line or hiding text; the same for values shown in messages.
// Thread safety: pure functions.
// Cost: one pass over the text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::log {

/// Longer texts are cut here, at the start of a character.
inline constexpr std::size_t field_bytes_max = 256;

/// Appends `text` as a JSON string with its quotes. Controls, DEL, C1, line separators, bidi
/// controls and invisible marks are escaped; each byte that is no UTF-8 becomes U+FFFD.
void append_json_text(std::string& out, std::string_view text,
                      std::size_t bytes_max = field_bytes_max);

}  // namespace holdfast::log
