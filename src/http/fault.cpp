#include "http/fault.hpp"

#include <holdfast/base/assert.hpp>

#include <array>

namespace holdfast::http {
namespace {

struct Row {
    Fault fault;
    unsigned status;
    std::string_view slug;
    std::string_view title;
    std::string_view code;  // of the single entry in `errors`; empty: no such member
    std::string_view detail;
    bool retryable{};
    unsigned retry_after_s{};
};

constexpr Row malformed(Fault fault, std::string_view code, std::string_view detail) {
    return Row{fault, 400, "malformed", "Malformed request", code, detail};
}

constexpr auto rows = std::to_array<Row>({
    malformed(Fault::request_line, "request-line", "The request line cannot be read."),
    malformed(Fault::line_ending, "line-ending", "Lines must end with CR LF."),
    malformed(Fault::field, "header", "A header field cannot be read."),
    malformed(Fault::target, "target", "The request target cannot be read."),
    malformed(Fault::framing, "framing", "The length of the body is not clear."),
    malformed(Fault::host, "bad-host", "Exactly one valid Host is needed."),
    malformed(Fault::duplicate_field, "duplicate-header",
              "A header field that may stand once stands twice."),
    malformed(Fault::unexpected_body, "unexpected-body", "This request takes no body."),
    {Fault::not_found, 404, "not-found", "Not found", {}, "There is nothing here."},
    {Fault::method,
     405,
     "method-not-allowed",
     "Method not allowed",
     {},
     "The Allow header names the methods of this resource."},
    {Fault::timeout,
     408,
     "request-timeout",
     "Request timeout",
     {},
     "The request did not arrive in time.",
     true},
    {Fault::body_too_large,
     413,
     "content-too-large",
     "Content too large",
     {},
     "The body is larger than this resource takes."},
    {Fault::target_too_long,
     414,
     "uri-too-long",
     "URI too long",
     {},
     "The request line is too long."},
    {Fault::media_type,
     415,
     "unsupported-media-type",
     "Unsupported media type",
     {},
     "A body must be application/json in UTF-8."},
    {Fault::content_coding,
     415,
     "unsupported-media-type",
     "Unsupported media type",
     {},
     "A body must come without Content-Encoding."},
    {Fault::expectation,
     417,
     "expectation-failed",
     "Expectation failed",
     {},
     "Only 100-continue can be expected."},
    {Fault::misdirected,
     421,
     "misdirected-request",
     "Misdirected request",
     {},
     "This server does not answer to the name in Host."},
    {Fault::head_too_large,
     431,
     "request-header-fields-too-large",
     "Request header fields too large",
     {},
     "The header has too many or too large fields."},
    {Fault::internal,
     500,
     "internal-server-error",
     "Internal server error",
     {},
     "The server met a bug of its own; the log knows more."},
    {Fault::coding,
     501,
     "not-implemented",
     "Not implemented",
     {},
     "The only transfer coding here is chunked."},
    {Fault::unknown_method,
     501,
     "not-implemented",
     "Not implemented",
     {},
     "No method has such a name."},
    {Fault::busy, 503, "busy", "Busy", {}, "Too much work is waiting; try again.", true, 1},
    {Fault::overloaded,
     503,
     "overloaded",
     "Overloaded",
     {},
     "Too many connections are open; try again.",
     true,
     1},
    {Fault::half_read_heads,
     503,
     "overloaded",
     "Overloaded",
     {},
     "Too many connections of your address are in the middle of a request's header; try again.",
     true,
     1},
    {Fault::late,
     503,
     "timeout",
     "The answer took too long",
     {},
     "It may have happened or not: ask again, a change with the same Idempotency-Key.",
     true,
     1},
    {Fault::no_memory,
     503,
     "overloaded",
     "Overloaded",
     {},
     "There is not enough memory for this request at the moment; nothing happened.",
     true,
     1},
    {Fault::durability_lost,
     503,
     "durability-lost",
     "The result is unknown",
     {},
     "The journal failed while this was written; it may have happened or not.",
     true},
    {Fault::version,
     505,
     "http-version-not-supported",
     "HTTP version not supported",
     {},
     "The versions here are HTTP/1.1 and HTTP/1.0."},
});

}  // namespace

void write_fault(Reply& reply, Request const& request, Fault fault) {
    for (Row const& row : rows) {
        if (row.fault != fault) continue;
        std::string const extras = row.code.empty() ? std::string{} : error_extras("", row.code);
        write_problem(reply, request,
                      Problem{row.status, row.slug, row.title, row.detail, row.retryable, extras,
                              row.retry_after_s});
        return;
    }
    HOLDFAST_ASSERT(fault == Fault::none);  // every fault has a row
}

}  // namespace holdfast::http
