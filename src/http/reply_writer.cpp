#include "http/reply_writer.hpp"

#include "http/ascii.hpp"

#include <charconv>

namespace holdfast::http {
namespace {

// Views of literals: for a pointer the library would look for its end each time.
using namespace std::string_view_literals;

bool has_line(std::string_view headers, std::string_view name) noexcept {
    while (!headers.empty()) {
        if (same_name(headers.substr(0, name.size()), name)) return true;
        std::size_t const end = headers.find('\n');
        if (end == headers.npos) return false;
        headers.remove_prefix(end + 1);
    }
    return false;
}

/// A page may be framed by nobody and tells no other site where its reader was. One that says no
/// policy of its own may load nothing either.
void append_page_lines(std::string& out, std::string_view headers) {
    out.append("\r\nReferrer-Policy: no-referrer\r\nX-Frame-Options: DENY");
    if (has_line(headers, "content-security-policy:")) return;
    out.append("\r\nContent-Security-Policy: default-src 'none'; frame-ancestors 'none'");
}

void append_number(std::string& out, std::size_t number) {
    std::array<char, 24> digits;
    auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

struct StatusText {
    unsigned status;
    std::string_view text;
};
constexpr StatusText status_texts[] = {
    {200, "200 OK"},
    {201, "201 Created"},
    {202, "202 Accepted"},
    {204, "204 No Content"},
    {206, "206 Partial Content"},
    {301, "301 Moved Permanently"},
    {302, "302 Found"},
    {303, "303 See Other"},
    {304, "304 Not Modified"},
    {307, "307 Temporary Redirect"},
    {308, "308 Permanent Redirect"},
    {400, "400 Bad Request"},
    {401, "401 Unauthorized"},
    {402, "402 Payment Required"},
    {403, "403 Forbidden"},
    {404, "404 Not Found"},
    {405, "405 Method Not Allowed"},
    {406, "406 Not Acceptable"},
    {408, "408 Request Timeout"},
    {409, "409 Conflict"},
    {410, "410 Gone"},
    {411, "411 Length Required"},
    {412, "412 Precondition Failed"},
    {413, "413 Content Too Large"},
    {414, "414 URI Too Long"},
    {415, "415 Unsupported Media Type"},
    {416, "416 Range Not Satisfiable"},
    {417, "417 Expectation Failed"},
    {421, "421 Misdirected Request"},
    {422, "422 Unprocessable Content"},
    {425, "425 Too Early"},
    {428, "428 Precondition Required"},
    {429, "429 Too Many Requests"},
    {431, "431 Request Header Fields Too Large"},
    {500, "500 Internal Server Error"},
    {501, "501 Not Implemented"},
    {503, "503 Service Unavailable"},
    {505, "505 HTTP Version Not Supported"},
};

/// "200 OK"; empty for a status holdfast never sends.
std::string_view status_text(unsigned status) noexcept {
    for (auto const& known : status_texts)
        if (known.status == status) return known.text;
    return {};
}

void append_two(std::string& out, unsigned number) {
    out.push_back(static_cast<char>('0' + number / 10));
    out.push_back(static_cast<char>('0' + number % 10));
}

}  // namespace

std::string_view reason_phrase(unsigned status) noexcept {
    std::string_view const text = status_text(status);
    return text.empty() ? "Unknown" : text.substr(4);
}

ReplyWriter::ReplyWriter(TimePoint now, std::uint32_t hsts_max_age_s)
    : fixed_("\r\nX-Content-Type-Options: nosniff") {
    if (hsts_max_age_s != 0) {
        fixed_.append("\r\nStrict-Transport-Security: max-age=");
        append_number(fixed_, hsts_max_age_s);
    }
    set_date(now);
}

void ReplyWriter::set_date(TimePoint now) {
    using namespace std::chrono;
    sys_seconds const second = floor<seconds>(now);
    if (second == second_) return;
    second_ = second;
    sys_days const day = floor<days>(second);
    year_month_day const date{day};
    hh_mm_ss const time{second - day};
    constexpr std::string_view days_of_week = "SunMonTueWedThuFriSat";
    constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    date_.assign("\r\nServer: holdfast\r\nDate: ");
    date_.append(days_of_week.substr(weekday{day}.c_encoding() * 3, 3)).append(", ");
    append_two(date_, static_cast<unsigned>(date.day()));
    date_.append(" ").append(months.substr((static_cast<unsigned>(date.month()) - 1) * 3, 3));
    date_.append(" ");
    append_number(date_, static_cast<std::size_t>(static_cast<int>(date.year())));
    date_.append(" ");
    append_two(date_, static_cast<unsigned>(time.hours().count()));
    date_.append(":");
    append_two(date_, static_cast<unsigned>(time.minutes().count()));
    date_.append(":");
    append_two(date_, static_cast<unsigned>(time.seconds().count()));
    date_.append(" GMT").append(fixed_).append("\r\nX-Request-Id: ");
}

void ReplyWriter::append(std::string& out, Reply const& reply, ReplyStyle const& style) const {
    // 204 and 304 have no body by definition, and then no length either.
    bool const bodiless = reply.status == 204 || reply.status == 304;
    out.append("HTTP/1.1 "sv);
    if (std::string_view const status = status_text(reply.status); !status.empty()) {
        out.append(status);
    } else {
        append_number(out, reply.status);
        out.append(" "sv).append(reason_phrase(reply.status));
    }
    out.append(date_).append(style.request_id);
    if (!bodiless) {
        out.append("\r\nContent-Type: "sv).append(reply.content_type);
        if (!style.endless) {
            out.append("\r\nContent-Length: "sv);
            append_number(out, reply.content().size());
        }
    }
    if (reply.headers.empty() || !has_line(reply.headers, "cache-control:"sv)) {
        out.append("\r\nCache-Control: no-store"sv);
    }
    if (reply.content_type.starts_with("text/html"sv)) append_page_lines(out, reply.headers);
    out.append(style.lines);
    out.append(style.close ? "\r\nConnection: close\r\n"sv : "\r\n"sv).append(reply.headers);
    out.append(reply.admission_headers).append("\r\n"sv);
    if (!bodiless && !style.without_body && !style.body_apart) out.append(reply.content());
}

}  // namespace holdfast::http
