#include "http/reply_writer.hpp"

#include "http/ascii.hpp"

#include <charconv>

namespace holdfast::http {
namespace {

bool sets_cache_control(std::string_view headers) noexcept {
    constexpr std::string_view name = "cache-control";
    while (!headers.empty()) {
        if (same_name(headers.substr(0, name.size()), name)) return true;
        std::size_t const end = headers.find('\n');
        if (end == headers.npos) return false;
        headers.remove_prefix(end + 1);
    }
    return false;
}

void append_number(std::string& out, std::size_t number) {
    std::array<char, 24> digits;
    auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), end);
}

void append_two(std::string& out, unsigned number) {
    out.push_back(static_cast<char>('0' + number / 10));
    out.push_back(static_cast<char>('0' + number % 10));
}

}  // namespace

std::string_view reason_phrase(unsigned status) noexcept {
    switch (status) {
        case 200:
            return "OK";
        case 201:
            return "Created";
        case 202:
            return "Accepted";
        case 204:
            return "No Content";
        case 206:
            return "Partial Content";
        case 301:
            return "Moved Permanently";
        case 302:
            return "Found";
        case 303:
            return "See Other";
        case 304:
            return "Not Modified";
        case 307:
            return "Temporary Redirect";
        case 308:
            return "Permanent Redirect";
        case 400:
            return "Bad Request";
        case 401:
            return "Unauthorized";
        case 402:
            return "Payment Required";
        case 403:
            return "Forbidden";
        case 404:
            return "Not Found";
        case 405:
            return "Method Not Allowed";
        case 406:
            return "Not Acceptable";
        case 408:
            return "Request Timeout";
        case 409:
            return "Conflict";
        case 410:
            return "Gone";
        case 411:
            return "Length Required";
        case 412:
            return "Precondition Failed";
        case 413:
            return "Content Too Large";
        case 414:
            return "URI Too Long";
        case 415:
            return "Unsupported Media Type";
        case 416:
            return "Range Not Satisfiable";
        case 417:
            return "Expectation Failed";
        case 421:
            return "Misdirected Request";
        case 422:
            return "Unprocessable Content";
        case 425:
            return "Too Early";
        case 428:
            return "Precondition Required";
        case 429:
            return "Too Many Requests";
        case 431:
            return "Request Header Fields Too Large";
        case 500:
            return "Internal Server Error";
        case 501:
            return "Not Implemented";
        case 503:
            return "Service Unavailable";
        case 505:
            return "HTTP Version Not Supported";
        default:
            return "Unknown";
    }
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
    date_.append(" GMT\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: ");
}

void ReplyWriter::append(std::string& out, Reply const& reply, ReplyStyle const& style) const {
    // 204 and 304 have no body by definition, and then no length either.
    bool const bodiless = reply.status == 204 || reply.status == 304;
    out.append("HTTP/1.1 ");
    append_number(out, reply.status);
    out.append(" ").append(reason_phrase(reply.status)).append(date_).append(style.request_id);
    if (!bodiless) {
        out.append("\r\nContent-Type: ").append(reply.content_type);
        out.append("\r\nContent-Length: ");
        append_number(out, reply.body.size());
    }
    if (reply.headers.empty() || !sets_cache_control(reply.headers)) {
        out.append("\r\nCache-Control: no-store");
    }
    out.append(style.close ? "\r\nConnection: close\r\n" : "\r\n").append(reply.headers);
    out.append("\r\n");
    if (!bodiless && !style.without_body) out.append(reply.body);
}

}  // namespace holdfast::http
