#include <holdfast/http/problem.hpp>

#include <array>
#include <charconv>
#include <cstring>

namespace holdfast::http {

using namespace std::string_view_literals;  // see reply_writer.cpp

namespace {

/// The path of a request that wrote nothing of its own into it fits: a slug and a step are 90.
constexpr std::size_t instance_bytes_max = 128;
constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

/// Bytes of the well-formed UTF-8 sequence that starts `text`, 0 if it is malformed (overlong
/// forms, surrogates and values above U+10FFFF included).
std::size_t sequence_bytes(std::string_view text) noexcept {
    auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    auto const inside = [&](std::size_t i, unsigned low, unsigned high) {
        return i < text.size() && byte(i) >= low && byte(i) <= high;
    };
    unsigned const first = byte(0);
    if (first >= 0xC2 && first <= 0xDF) return inside(1, 0x80, 0xBF) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        unsigned const low = first == 0xE0 ? 0xA0 : 0x80;
        unsigned const high = first == 0xED ? 0x9F : 0xBF;
        return inside(1, low, high) && inside(2, 0x80, 0xBF) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        unsigned const low = first == 0xF0 ? 0x90 : 0x80;
        unsigned const high = first == 0xF4 ? 0x8F : 0xBF;
        bool const good = inside(1, low, high) && inside(2, 0x80, 0xBF) && inside(3, 0x80, 0xBF);
        return good ? 4 : 0;
    }
    return 0;
}

void append_escaped(std::string& out, unsigned char c) {
    constexpr std::string_view digits = "0123456789abcdef";
    switch (c) {
        case '"':
            out.append("\\\"");
            return;
        case '\\':
            out.append("\\\\");
            return;
        case '\n':
            out.append("\\n");
            return;
        case '\r':
            out.append("\\r");
            return;
        case '\t':
            out.append("\\t");
            return;
        default:
            break;
    }
    out.append("\\u00");
    out.push_back(digits[c >> 4]);
    out.push_back(digits[c & 15]);
}

bool plain(char c) noexcept {
    auto const byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
}

/// Whether all eight bytes are; each term has the high bit of at least one byte if one
/// is not, and of none if all are.
bool all_plain(std::uint64_t bytes) noexcept {
    constexpr std::uint64_t ones = 0x0101'0101'0101'0101;
    constexpr std::uint64_t highs = 0x8080'8080'8080'8080;
    auto const has_zero = [](std::uint64_t eight) { return (eight - ones) & ~eight; };
    std::uint64_t const controls = (bytes - ones * 0x20) & ~bytes;
    std::uint64_t const from_del = (bytes + ones) | bytes;
    std::uint64_t const marks = has_zero(bytes ^ (ones * '"')) | has_zero(bytes ^ (ones * '\\'));
    return ((controls | from_del | marks) & highs) == 0;
}

/// How many bytes from the first on stand for themselves.
std::size_t plain_run(std::string_view text) noexcept {
    std::size_t run = 0;
    for (std::uint64_t eight{}; text.size() - run >= sizeof eight; run += sizeof eight) {
        std::memcpy(&eight, text.data() + run, sizeof eight);
        if (!all_plain(eight)) break;
    }
    while (run < text.size() && plain(text[run])) ++run;
    return run;
}

void append_number(std::string& out, unsigned number) {
    std::array<char, 12> digits;
    auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
    out.push_back('"');
    while (!text.empty()) {
        std::size_t const run = plain_run(text);
        out.append(text.substr(0, run));
        text.remove_prefix(run);
        if (text.empty()) break;
        auto const first = static_cast<unsigned char>(text.front());
        if (first < 0x80) {
            append_escaped(out, first);
            text.remove_prefix(1);
            continue;
        }
        std::size_t const bytes = sequence_bytes(text);
        out.append(bytes == 0 ? replacement : text.substr(0, bytes));
        text.remove_prefix(bytes == 0 ? 1 : bytes);
    }
    out.push_back('"');
}

std::string error_extras(std::string_view pointer, std::string_view code) {
    std::string extras = ",\"errors\":[{\"pointer\":";
    append_json_string(extras, pointer);
    extras.append(",\"code\":");
    append_json_string(extras, code);
    extras.append("}]");
    return extras;
}

namespace {

/// Nobody's text is sent back at length, nor what no route knows. An empty reference is the URI of
/// the request itself, too.
std::string_view instance_of(Request const& request) noexcept {
    bool const told = !request.route.empty() && request.path.size() <= instance_bytes_max;
    return told ? request.path : std::string_view{};
}

}  // namespace

void write_problem(Reply& reply, Request const& request, Problem const& problem) {
    reply.status = problem.status;
    reply.content_type = "application/problem+json";
    reply.lsn = no_lsn;  // a refusal changed nothing, so it waits for no record
    reply.constant_body = {};
    reply.shared_body.reset();
    std::string& body = reply.body;
    body.assign("{\"type\":\"/problems/").append(problem.slug).append("\",\"title\":"sv);
    append_json_string(body, problem.title);
    body.append(",\"status\":"sv);
    append_number(body, problem.status);
    if (!problem.detail.empty()) {
        body.append(",\"detail\":"sv);
        append_json_string(body, problem.detail);
    }
    body.append(",\"instance\":"sv);
    append_json_string(body, instance_of(request));
    body.append(",\"code\":\""sv).append(problem.slug).append("\",\"request_id\":"sv);
    append_json_string(body, request.request_id);
    body.append(problem.retryable ? ",\"retryable\":true"sv : ",\"retryable\":false"sv);
    body.append(problem.extras).append("}"sv);
    if (problem.retry_after_s != 0) {
        reply.headers.append("Retry-After: "sv);
        append_number(reply.headers, problem.retry_after_s);
        reply.headers.append("\r\n"sv);
    }
}

}  // namespace holdfast::http
