// ReplyWriter: turns replies into bytes.
//
// Purpose: the one place that writes status lines and the headers every reply has.
// Thread safety: one io thread's. Cost: appends to the caller's buffer; the date is formatted once
// a second.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/http/message.hpp>

#include <array>
#include <string>
#include <string_view>

namespace holdfast::http {

struct ReplyStyle {
    bool without_body{};  // the request was HEAD
    bool close{};
    std::string_view request_id;
    std::string_view lines{};  // further header lines, each led in by its CR LF
    bool endless{};            // a stream follows: no length, the end of the connection is its end
    bool body_apart{};         // the body is sent by somebody else, behind what is appended
};

class ReplyWriter {
public:
    /// `hsts_max_age_s`: of Strict-Transport-Security, which only TLS may send; 0: none.
    explicit ReplyWriter(TimePoint now, std::uint32_t hsts_max_age_s = 0);
    /// Cheap while the second is the same.
    void set_date(TimePoint now);
    void append(std::string& out, Reply const& reply, ReplyStyle const& style) const;

private:
    std::chrono::sys_seconds second_{std::chrono::sys_seconds::min()};
    std::string fixed_;  // lines that every reply has
    std::string date_;   // "Server: …" and "Date: …" lines, and the fixed ones
};

/// "OK" for 200; "Unknown" for a status holdfast never sends.
[[nodiscard]] std::string_view reason_phrase(unsigned status) noexcept;

}  // namespace holdfast::http
