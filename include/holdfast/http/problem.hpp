// RFC 9457 problem documents, the only form of an error.
//
// Purpose: one writer for every refusal, used by the guard and by the handlers.
// Thread safety: pure functions on the caller's Reply.
// Cost: one string append.
#pragma once

#include <holdfast/http/message.hpp>

#include <string_view>

namespace holdfast::http {

struct Problem {
    unsigned status{};
    std::string_view slug;    // last part of `type`, also `code`: "seats-unavailable"
    std::string_view title;   // short, the same for every problem of this slug
    std::string_view detail;  // one sentence for a person; may be empty
    bool retryable{};         // the same request may succeed later unchanged
    /// Further members, already JSON, each ",\"name\":value"; may be empty.
    std::string_view extras;
    unsigned retry_after_s{};  // 0: no Retry-After
};

/// Replaces the reply by the problem document: status, content type, body, Retry-After.
void write_problem(Reply& reply, Request const& request, Problem const& problem);

/// `"errors":[{"pointer":…,"code":…}]` as the extras of one error, for 400 and 422.
[[nodiscard]] std::string error_extras(std::string_view pointer, std::string_view code);

/// Appends `text` as a JSON string with quotes; invalid UTF-8 becomes U+FFFD.
void append_json_string(std::string& out, std::string_view text);

}  // namespace holdfast::http
