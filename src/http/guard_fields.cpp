// The guard's rules for whole parts of a head: target, fields, and what must fit together.
#include "http/ascii.hpp"
#include "http/guard.hpp"

#include <holdfast/domain/limits.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

namespace holdfast::http {
namespace {

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}
bool is_hex(char c) noexcept {
    return hex_digit(c) >= 0;
}

bool valid_port(std::string_view port) noexcept {
    if (port.size() > 5 || !std::all_of(port.begin(), port.end(), is_digit)) return false;
    unsigned number = 0;
    for (char const c : port) number = number * 10 + static_cast<unsigned>(c - '0');
    return number <= 65'535;
}

/// Every `%` starts an escape, and no escape is NUL: neither has a meaning a handler could want.
bool good_escapes(std::string_view path) noexcept {
    for (std::size_t at = path.find('%'); at != path.npos; at = path.find('%', at + 1)) {
        if (path.size() - at < 3 || !is_hex(path[at + 1]) || !is_hex(path[at + 2])) return false;
        if (path[at + 1] == '0' && path[at + 2] == '0') return false;
    }
    return true;
}

/// Names compared as a proxy or a CGI gateway might: `_` reads as `-`.
bool looks_like(std::string_view name, std::string_view known) noexcept {
    return name.size() == known.size() &&
           std::equal(name.begin(), name.end(), known.begin(),
                      [](char a, char b) { return a == '_' ? b == '-' : lower(a) == b; });
}

bool is_ascii(std::string_view text) noexcept {
    std::uint64_t bits = 0;
    for (; text.size() >= sizeof bits; text.remove_prefix(sizeof bits)) {
        std::uint64_t eight{};
        std::memcpy(&eight, text.data(), sizeof eight);
        bits |= eight;
    }
    for (char const c : text) bits |= static_cast<unsigned char>(c);
    return (bits & 0x8080808080808080U) == 0;
}

template <class Visit>
void each_element(std::string_view list, Visit visit) {
    for (;;) {
        std::size_t const comma = std::min(list.find(','), list.size());
        visit(trimmed(list.substr(0, comma)));
        if (comma == list.size()) return;
        list.remove_prefix(comma + 1);
    }
}

/// Sets a flag that may be set once.
Fault once(bool& seen) noexcept {
    if (seen) return Fault::duplicate_field;
    seen = true;
    return Fault::none;
}

}  // namespace

bool valid_host(std::string_view text) noexcept {
    std::size_t end = 0;
    if (text.starts_with('[')) {
        auto const inside = [](char c) { return is_hex(c) || c == ':' || c == '.'; };
        end = text.find(']');
        if (end == text.npos || end < 3) return false;
        if (!std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(end),
                         inside)) {
            return false;
        }
        ++end;
    } else {
        auto const inside = [](char c) {
            return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || c == '-' || c == '.' ||
                   c == '_' || c == '~';
        };
        while (end < text.size() && inside(text[end])) ++end;
        if (end == 0 || end > 255) return false;
    }
    text.remove_prefix(end);
    return text.empty() || (text.front() == ':' && valid_port(text.substr(1)));
}

bool is_json_type(std::string_view content_type) noexcept {
    if (content_type == "application/json") return true;
    std::size_t const semicolon = std::min(content_type.find(';'), content_type.size());
    if (!same_name(trimmed(content_type.substr(0, semicolon)), "application/json")) return false;
    std::string_view const parameter = trimmed(content_type.substr(semicolon));
    if (parameter.empty()) return true;
    std::string_view const rest = trimmed(parameter.substr(1));
    return rest.empty() || same_name(rest, "charset=utf-8") || same_name(rest, "charset=\"utf-8\"");
}

void Guard::note_method(std::string_view method) noexcept {
    bodiless_method_ = method == "GET" || method == "HEAD" || method == "TRACE";
    for (Method const known :
         {Method::get, Method::head, Method::post, Method::put, Method::patch, Method::del}) {
        if (to_string(known) == method) method_ = known;
    }
    odd_ |= method_ == Method::other;
}

void Guard::note_field(std::string_view request, std::string_view value) noexcept {
    // Parsers differ over bytes that are no ASCII.
    odd_ |= !is_ascii(value) || fields_ > plain_fields_max;
    if (odd_) return;
    // An empty value may lie anywhere; where the line ends is as good as any.
    std::size_t const at =
        value.empty() ? at_ : static_cast<std::size_t>(value.data() - request.data());
    parts_[fields_ - 1] =
        Part{static_cast<std::uint16_t>(name_.begin), static_cast<std::uint16_t>(name_.bytes),
             static_cast<std::uint16_t>(at), static_cast<std::uint16_t>(value.size())};
}

void Guard::name_parts(std::string_view request, FieldArray& fields,
                       Request& named) const noexcept {
    named.method = method_;
    std::string_view const target = target_.of(request);
    std::size_t const mark = std::min(target.find('?'), target.size());
    named.path = target.substr(0, mark);
    named.query = target.substr(std::min(mark + 1, target.size()));
    for (std::size_t i = 0; i < fields_; ++i) {
        Part const& part = parts_[i];
        fields[i] = Field{request.substr(part.name, part.name_bytes),
                          request.substr(part.value, part.value_bytes)};
        bool const key = has_key_ && same_name(fields[i].name, "Idempotency-Key");
        if (key) named.idempotency_key = fields[i].value;
    }
    named.fields = std::span<Field const>{fields.data(), fields_};
}

Fault Guard::end_target(std::string_view method, std::string_view target) {
    if (target == "*") {
        head_.options_star = method == "OPTIONS";
        return head_.options_star ? Fault::none : Fault::target;
    }
    std::string_view path = target;
    if (!target.starts_with('/')) {
        std::size_t const scheme = target.find("://");
        if (scheme == target.npos) return Fault::target;
        if (!same_name(target.substr(0, scheme), "http") &&
            !same_name(target.substr(0, scheme), "https")) {
            return Fault::target;
        }
        std::size_t const begin = scheme + 3;
        std::size_t const end = std::min(target.find_first_of("/?", begin), target.size());
        absolute_ = true;
        authority_ = Slice{static_cast<std::uint32_t>(mark_ + begin),
                           static_cast<std::uint32_t>(end - begin)};
        path.remove_prefix(end);
    }
    return good_escapes(path.substr(0, path.find('?'))) ? Fault::none : Fault::target;
}

Fault Guard::end_length(std::string_view value) {
    // Two lengths are a framing doubt even if they agree: another parser may take the other one.
    if (has_length_) return Fault::framing;
    has_length_ = true;
    if (value.empty() || !std::all_of(value.begin(), value.end(), is_digit)) {
        return Fault::framing;
    }
    if (value.size() > 1 && value.front() == '0') return Fault::framing;
    std::uint64_t length = 0;
    for (char const c : value) {
        auto const digit = static_cast<std::uint64_t>(c - '0');
        if (length > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) {
            return Fault::framing;
        }
        length = length * 10 + digit;
    }
    head_.content_length = length;
    return Fault::none;
}

Fault Guard::end_transfer_coding(std::string_view value) {
    if (++transfer_codings_ > 1) return Fault::framing;
    bool malformed = false;
    unsigned chunked = 0;
    each_element(value, [&](std::string_view element) {
        malformed |= element.empty();
        chunked += same_name(element, "chunked") ? 1 : 0;
    });
    malformed |= std::any_of(value.begin(), value.end(),
                             [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
    if (malformed || chunked > 1) return Fault::framing;
    head_.chunked = same_name(value, "chunked");
    foreign_transfer_coding_ = !head_.chunked;
    return Fault::none;
}

/// Some clients send each cookie in a line of its own; they are one list.
Fault Guard::end_cookie(std::string_view value) {
    // No more bytes than the head has: no overflow.
    cookie_bytes_ = static_cast<std::uint16_t>(cookie_bytes_ + value.size());
    return cookie_bytes_ > limits::cookie_bytes_max ? Fault::head_too_large : Fault::none;
}

Fault Guard::end_connection(std::string_view value) {
    Fault fault = Fault::none;
    each_element(value, [&](std::string_view option) {
        head_.close |= same_name(option, "close");
        if (!std::all_of(option.begin(), option.end(), is_token_byte)) fault = Fault::field;
    });
    return fault;
}

Fault Guard::end_field(std::string_view name, std::string_view value) {
    auto const named = [&](std::string_view known) { return looks_like(name, known); };
    // A look-alike of a field that frames or authorizes is read as that field by some proxies.
    auto const disguised = [&] { return name.find('_') != name.npos; };
    switch (name.size()) {
        case 4:
            if (!named("host")) break;
            return ++hosts_ > 1 || !valid_host(value) ? Fault::host : Fault::none;
        case 6:
            if (named("cookie")) return end_cookie(value);
            if (!named("expect")) break;
            head_.expects_continue |= same_name(value, "100-continue");
            bad_expectation_ |= !same_name(value, "100-continue");
            break;
        case 7:
            odd_ |= named("upgrade");
            break;
        case 10:
            if (!named("connection")) break;
            odd_ |= !same_name(value, "keep-alive") && !same_name(value, "close");
            return end_connection(value);
        case 12:
            if (!named("content-type")) break;
            head_.json = is_json_type(value);
            return disguised() ? Fault::field : once(has_type_);
        case 13:
            return named("authorization") ? once(has_authorization_) : Fault::none;
        case 14:
            if (!named("content-length")) break;
            return disguised() ? Fault::field : end_length(value);
        case 15:
            if (!named("idempotency-key")) break;
            return disguised() ? Fault::field : once(has_key_);
        case 16:
            odd_ |= named("proxy-connection");
            if (!named("content-encoding")) break;
            head_.foreign_coding |= !same_name(value, "identity");
            return disguised() ? Fault::field : Fault::none;
        case 17:
            if (!named("transfer-encoding")) break;
            odd_ = true;
            return disguised() ? Fault::field : end_transfer_coding(value);
        default:
            break;
    }
    return Fault::none;
}

Fault Guard::end_head(std::string_view request) const {
    if (hosts_ == 0 && minor_ == 1) return Fault::host;
    if (absolute_) {
        std::string_view const authority = authority_.of(request);
        if (!valid_host(authority)) return Fault::target;
        if (hosts_ != 0 && !same_name(authority, host_.of(request))) return Fault::host;
    }
    if (transfer_codings_ != 0) {
        if (has_length_ || minor_ == 0) return Fault::framing;
        if (foreign_transfer_coding_) return Fault::coding;
    }
    if (bodiless_method_ && head_.has_body()) return Fault::unexpected_body;
    if (bad_expectation_) return Fault::expectation;
    return Fault::none;
}

}  // namespace holdfast::http
