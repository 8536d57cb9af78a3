#include "http/guard.hpp"

#include "http/ascii.hpp"

#include <holdfast/domain/limits.hpp>

#include <algorithm>
#include <array>

namespace holdfast::http {
namespace {

using limits::field_bytes_max;
using limits::fields_max;
using limits::head_bytes_max;
using limits::request_line_bytes_max;

constexpr std::size_t method_bytes_max = 32;

enum Class : std::uint8_t { token_byte = 1, target_byte = 2, value_byte = 4 };

constexpr std::array<std::uint8_t, 256> make_classes() {
    std::array<std::uint8_t, 256> classes{};
    constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    for (unsigned c = 0; c < 256; ++c) {
        bool const letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool const digit = c >= '0' && c <= '9';
        bool const visible = c > 0x20 && c < 0x7f;
        unsigned bits = 0;
        if (letter || digit) bits |= token_byte;
        if (visible && marks.find(static_cast<char>(c)) != marks.npos) bits |= token_byte;
        // A fragment never travels; the rest of the visible bytes means "not found" at worst.
        if (visible && c != '#') bits |= target_byte;
        if (visible || c == ' ' || c == '\t' || c >= 0x80) bits |= value_byte;
        classes[c] = static_cast<std::uint8_t>(bits);
    }
    return classes;
}
constexpr std::array<std::uint8_t, 256> classes = make_classes();

bool is(char c, Class wanted) noexcept {
    return (classes[static_cast<unsigned char>(c)] & wanted) != 0;
}

/// First place from `at` (and before `end`) whose byte is not of the class.
std::size_t skip(std::string_view text, std::size_t at, std::size_t end, Class wanted) noexcept {
    while (at < end && is(text[at], wanted)) ++at;
    return at;
}

/// The fault of a byte that cannot stand where it stands.
Fault unless_line_break(char c, Fault fault) noexcept {
    return c == '\n' || c == '\r' ? Fault::line_ending : fault;
}

}  // namespace

bool is_token_byte(char c) noexcept {
    return is(c, token_byte);
}

Verdict Guard::scan(std::string_view request) {
    std::string_view const head = request.substr(0, head_bytes_max);
    while (at_ < head.size() && state_ < State::accepted) {
        if (!step(head)) break;
    }
    // Also when the byte behind the limit is not there yet: the head cannot end within it.
    if (state_ < State::accepted && at_ == head_bytes_max) refuse(Fault::head_too_large);
    if (state_ == State::accepted) return Verdict::accepted;
    return state_ == State::refused ? Verdict::refused : Verdict::need_more;
}

bool Guard::refuse(Fault fault) noexcept {
    fault_ = fault;
    state_ = State::refused;
    return false;
}

bool Guard::expect_lf(char c, State next) noexcept {
    if (c != '\n') return refuse(Fault::line_ending);
    ++at_;
    line_ = mark_ = at_;
    state_ = next;
    return true;
}

bool Guard::step(std::string_view request) {
    char const c = request[at_];
    switch (state_) {
        case State::start:
            if (c != '\r') {
                state_ = State::method;
                return true;
            }
            ++at_;
            state_ = State::start_lf;
            return true;
        case State::start_lf:
            head_.begin = 2;
            return expect_lf(c, State::method);
        case State::method:
            return scan_method(request);
        case State::target:
            return scan_target(request);
        case State::version:
            return scan_version(request);
        case State::line_lf:
            return expect_lf(c, State::field_start);
        case State::field_start:
            return start_field(c);
        case State::name:
            return scan_name(request);
        case State::value:
            return scan_value(request);
        case State::field_lf:
            return expect_lf(c, State::field_start);
        case State::end_lf: {
            if (!expect_lf(c, State::accepted)) return false;
            head_.bytes = at_;
            head_.expects_continue &= minor_ == 1;  // HTTP/1.0 knows no 100
            head_.plain = !odd_ && minor_ == 1 && request[target_.begin] == '/';
            Fault const fault = end_head(request);
            return fault == Fault::none || refuse(fault);
        }
        case State::accepted:
        case State::refused:
            break;
    }
    return false;
}

bool Guard::scan_method(std::string_view request) {
    at_ = skip(request, at_, std::min(request.size(), mark_ + method_bytes_max + 1), token_byte);
    if (at_ - mark_ > method_bytes_max) return refuse(Fault::unknown_method);
    if (at_ == request.size()) return true;
    if (request[at_] != ' ' || at_ == mark_) {
        return refuse(unless_line_break(request[at_], Fault::request_line));
    }
    name_ = Slice{static_cast<std::uint32_t>(mark_), static_cast<std::uint32_t>(at_ - mark_)};
    std::string_view const method = name_.of(request);
    if (method == "CONNECT") return refuse(Fault::method);
    note_method(method);
    mark_ = ++at_;
    state_ = State::target;
    return true;
}

bool Guard::scan_target(std::string_view request) {
    std::size_t const limit = line_ + request_line_bytes_max;
    at_ = skip(request, at_, std::min(request.size(), limit), target_byte);
    if (at_ == request.size()) return true;
    if (at_ == limit) return refuse(Fault::target_too_long);
    std::string_view const target = request.substr(mark_, at_ - mark_);
    if (request[at_] == '\r') return refuse(Fault::request_line);  // no version: HTTP/0.9
    if (request[at_] != ' ') return refuse(unless_line_break(request[at_], Fault::target));
    target_ = Slice{static_cast<std::uint32_t>(mark_), static_cast<std::uint32_t>(target.size())};
    Fault const fault = end_target(name_.of(request), target);
    if (fault != Fault::none) return refuse(fault);
    mark_ = ++at_;
    state_ = State::version;
    return true;
}

bool Guard::scan_version(std::string_view request) {
    constexpr std::string_view shape = "HTTP/d.d";
    auto const digit = [](char c) { return c >= '0' && c <= '9'; };
    while (at_ < request.size() && at_ - mark_ < shape.size()) {
        char const wanted = shape[at_ - mark_];
        char const c = request[at_];
        bool const good = wanted == 'd' ? digit(c) : c == wanted;
        if (!good) return refuse(unless_line_break(c, Fault::request_line));
        ++at_;
    }
    if (at_ == request.size()) return true;
    std::string_view const version = request.substr(mark_, shape.size());
    if (at_ - line_ > request_line_bytes_max) return refuse(Fault::target_too_long);
    if (request[at_] != '\r') return refuse(unless_line_break(request[at_], Fault::request_line));
    if (version != "HTTP/1.1" && version != "HTTP/1.0") return refuse(Fault::version);
    minor_ = version.back() == '1' ? 1 : 0;
    head_.close = minor_ == 0;
    ++at_;
    state_ = State::line_lf;
    return true;
}

bool Guard::start_field(char c) {
    if (c == '\r') {
        ++at_;
        state_ = State::end_lf;
        return true;
    }
    if (!is(c, token_byte)) return refuse(unless_line_break(c, Fault::field));
    if (++fields_ > fields_max) return refuse(Fault::head_too_large);
    state_ = State::name;
    return true;
}

bool Guard::scan_name(std::string_view request) {
    std::size_t const limit = line_ + field_bytes_max;
    at_ = skip(request, at_, std::min(request.size(), limit), token_byte);
    if (at_ == request.size()) return true;
    if (at_ == limit) return refuse(Fault::head_too_large);
    if (request[at_] != ':') return refuse(unless_line_break(request[at_], Fault::field));
    name_ = Slice{static_cast<std::uint32_t>(line_), static_cast<std::uint32_t>(at_ - line_)};
    mark_ = ++at_;
    state_ = State::value;
    return true;
}

bool Guard::scan_value(std::string_view request) {
    std::size_t const limit = line_ + field_bytes_max;
    at_ = skip(request, at_, std::min(request.size(), limit), value_byte);
    if (at_ == request.size()) return true;
    char const c = request[at_];
    if (at_ == limit && c != '\r') return refuse(Fault::head_too_large);
    if (c != '\r') return refuse(unless_line_break(c, Fault::field));
    std::string_view const value = trimmed(request.substr(mark_, at_ - mark_));
    if (name_.bytes == 4 && same_name(name_.of(request), "host")) {
        host_ = Slice{static_cast<std::uint32_t>(value.data() - request.data()),
                      static_cast<std::uint32_t>(value.size())};
    }
    note_field(request, value);
    Fault const fault = end_field(name_.of(request), value);
    if (fault != Fault::none) return refuse(fault);
    ++at_;
    state_ = State::field_lf;
    return true;
}

}  // namespace holdfast::http
