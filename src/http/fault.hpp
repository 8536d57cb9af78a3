// Fault: every refusal that the server itself makes, before or instead of a handler.
#pragma once

#include <holdfast/http/problem.hpp>

#include <cstdint>

namespace holdfast::http {

enum class Fault : std::uint8_t {
    none,
    request_line,     // 400: method, spaces or version name cannot be read
    line_ending,      // 400: a bare CR or LF
    field,            // 400: a header field cannot be read
    target,           // 400: form, bytes or escapes of the target
    framing,          // 400: the length of the body is in doubt
    host,             // 400: not exactly one good Host
    duplicate_field,  // 400
    unexpected_body,  // 400: a body where none may be
    not_found,        // 404
    method,           // 405
    timeout,          // 408
    body_too_large,   // 413
    target_too_long,  // 414
    media_type,       // 415
    content_coding,   // 415
    expectation,      // 417
    misdirected,      // 421: a name that this listener does not answer to
    head_too_large,   // 431
    internal,         // 500
    coding,           // 501: a transfer coding other than chunked
    unknown_method,   // 501: longer than every method there is
    busy,             // 503: the worker queue is full, or was for too long
    overloaded,       // 503: too many connections
    half_read_heads,  // 503: too many connections of one address are in the middle of a head
    late,             // 503: a worker's handler takes too long; what it does is not known
    no_memory,        // 503: an allocation failed, and nothing has happened
    durability_lost,  // 503: the journal failed before the record was on disk
    version,          // 505
};

/// A fault of the client, which it is counted for; the others are the server's own, and who meets
/// one is always told.
[[nodiscard]] constexpr bool is_of_client(Fault fault) noexcept {
    switch (fault) {
        case Fault::none:
        case Fault::internal:
        case Fault::busy:
        case Fault::overloaded:
        case Fault::late:
        case Fault::no_memory:
        case Fault::durability_lost:
            return false;
        default:
            return true;
    }
}

/// Replaces the reply by the problem document of the fault.
void write_fault(Reply& reply, Request const& request, Fault fault);

}  // namespace holdfast::http
