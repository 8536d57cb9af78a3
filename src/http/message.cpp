#include "http/ascii.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/http/message.hpp>

#include <algorithm>

namespace holdfast::http {
namespace {

std::string decoded(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        int const high = text.size() < 3 || text[0] != '%' ? -1 : hex_digit(text[1]);
        int const low = high < 0 ? -1 : hex_digit(text[2]);
        out += low < 0 ? text.front() : static_cast<char>(high * 16 + low);
        text.remove_prefix(low < 0 ? 1 : 3);
    }
    return out;
}

}  // namespace

std::string_view to_string(Method method) noexcept {
    switch (method) {
        case Method::get:
            return "GET";
        case Method::head:
            return "HEAD";
        case Method::post:
            return "POST";
        case Method::put:
            return "PUT";
        case Method::patch:
            return "PATCH";
        case Method::del:
            return "DELETE";
        case Method::options:
            return "OPTIONS";
        case Method::other:
            break;
    }
    return "OTHER";
}

bool Field::is(std::string_view wanted) const noexcept {
    return same_name(name, wanted);
}

std::string_view Request::field(std::string_view name) const noexcept {
    for (Field const& candidate : fields) {
        if (candidate.is(name)) return candidate.value;
    }
    return {};
}

std::string Request::query_value(std::string_view key) const {
    std::string_view rest = query;
    while (!rest.empty()) {
        std::size_t const end = std::min(rest.find('&'), rest.size());
        std::string_view const pair = rest.substr(0, end);
        std::size_t const equals = std::min(pair.find('='), pair.size());
        if (pair.substr(0, equals) == key) {
            return decoded(pair.substr(std::min(equals + 1, pair.size())));
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return {};
}

void Reply::reset() noexcept {
    status = 200;
    content_type = "application/json";
    body.clear();
    constant_body = {};
    shared_body.reset();
    headers.clear();
    lsn = no_lsn;
    happened = close = false;
    stream.reset();
    admission_headers.clear();
    lease.end();
    rests = false;
}

void Reply::add_header(std::string_view name, std::string_view value) {
    // A line break here would let a value start a header, or a reply, of its own.
    HOLDFAST_ASSERT(std::none_of(value.begin(), value.end(), [](char c) {
        auto const byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && c != '\t') || byte == 0x7f;
    }));
    headers.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace holdfast::http
