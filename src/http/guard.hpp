// Guard: reads the raw bytes of a request's head before Beast sees them (SECURITY.md 3).
//
// Purpose: refuses what Beast 1.81 lets through, and finds where the head ends and how the body is
// framed. Pure on bytes: the same verdict whether a head comes whole or one byte at a time, and a
// bad byte is refused as soon as it is there, not when the line ends.
// Thread safety: a value of its session. Cost: one table look-up a byte; no allocation.
#pragma once

#include "http/fault.hpp"

#include <holdfast/domain/limits.hpp>
#include <holdfast/http/message.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::http {

using FieldArray = std::array<Field, limits::fields_max>;

enum class Verdict : std::uint8_t { need_more, accepted, refused };

/// What the guard found in an accepted head. Offsets count from the first byte of the request.
struct Head {
    std::size_t begin{};  // 2 behind an empty line that was skipped, else 0
    std::size_t bytes{};  // the body starts here
    std::uint64_t content_length{};
    bool chunked{};
    bool expects_continue{};
    bool close{};           // HTTP/1.0 or Connection: close
    bool json{};            // Content-Type is application/json in UTF-8
    bool foreign_coding{};  // Content-Encoding other than identity
    bool options_star{};    // OPTIONS *
    /// As ordinary as a head can be: it says nothing that the guard did not understand, so no
    /// second reader is asked and name_parts() names its parts.
    bool plain{};

    [[nodiscard]] bool has_body() const noexcept { return chunked || content_length != 0; }
};

class Guard {
public:
    /// `request`: all bytes of the request so far (it may hold more, behind the head). Bytes
    /// scanned by an earlier call must be the same; they may have moved.
    [[nodiscard]] Verdict scan(std::string_view request);
    [[nodiscard]] Fault fault() const noexcept { return fault_; }
    [[nodiscard]] Head const& head() const noexcept { return head_; }
    /// Of an accepted head: for which `host [":" port]` it is; empty if HTTP/1.0 names none.
    [[nodiscard]] std::string_view host(std::string_view request) const noexcept {
        return (absolute_ ? authority_ : host_).of(request);
    }
    /// Of a plain head: what parse_head() would fill in, with views into `request`.
    void name_parts(std::string_view request, FieldArray& fields, Request& named) const noexcept;
    /// Ready for the next request.
    void reset() noexcept { *this = Guard{}; }

private:
    enum class State : std::uint8_t {
        start,
        start_lf,
        method,
        target,
        version,
        line_lf,
        field_start,
        name,
        value,
        field_lf,
        end_lf,
        accepted,
        refused
    };
    struct Slice {
        std::uint32_t begin{}, bytes{};
        [[nodiscard]] std::string_view of(std::string_view request) const noexcept {
            return request.substr(begin, bytes);
        }
    };

    /// A field of a head, which has head_bytes_max bytes at most.
    struct Part {
        std::uint16_t name{}, name_bytes{}, value{}, value_bytes{};
    };
    static constexpr std::size_t plain_fields_max = 16;
    static_assert(limits::head_bytes_max <= UINT16_MAX);

    bool step(std::string_view request);
    void note_method(std::string_view method) noexcept;
    void note_field(std::string_view request, std::string_view value) noexcept;
    bool refuse(Fault fault) noexcept;
    bool expect_lf(char c, State next) noexcept;
    bool scan_method(std::string_view request);
    bool scan_target(std::string_view request);
    bool scan_version(std::string_view request);
    bool start_field(char c);
    bool scan_name(std::string_view request);
    bool scan_value(std::string_view request);
    [[nodiscard]] Fault end_target(std::string_view method, std::string_view target);
    [[nodiscard]] Fault end_field(std::string_view name, std::string_view value);
    [[nodiscard]] Fault end_cookie(std::string_view value);
    [[nodiscard]] Fault end_connection(std::string_view value);
    [[nodiscard]] Fault end_length(std::string_view value);
    [[nodiscard]] Fault end_transfer_coding(std::string_view value);
    [[nodiscard]] Fault end_head(std::string_view request) const;

    std::size_t at_{};    // next byte to look at
    std::size_t line_{};  // where the line started
    std::size_t mark_{};  // where the part being read started
    State state_{State::start};
    Fault fault_{Fault::none};
    Head head_;
    Slice host_, authority_, name_, target_;
    Method method_{Method::other};
    std::uint16_t fields_{}, transfer_codings_{}, hosts_{};
    std::uint16_t cookie_bytes_{};  // of all lines
    std::uint8_t minor_{};
    bool has_length_{}, foreign_transfer_coding_{}, bad_expectation_{};
    bool has_authorization_{}, has_key_{}, has_type_{};
    bool bodiless_method_{}, absolute_{};
    bool odd_{};  // something that a second reader must see
    std::array<Part, plain_fields_max> parts_{};
};

/// `host [":" port]` as it may stand in Host: a name, an IPv4 address or a bracketed IPv6 address.
[[nodiscard]] bool valid_host(std::string_view text) noexcept;
[[nodiscard]] bool is_token_byte(char c) noexcept;
/// application/json, without a charset or with charset=utf-8.
[[nodiscard]] bool is_json_type(std::string_view content_type) noexcept;

}  // namespace holdfast::http
