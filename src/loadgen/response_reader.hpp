// Response reader: bytes of an HTTP/1.1 connection to replies.
//
// Purpose: the client side of what our server sends: a status line, fields, Content-Length.
// Thread safety: one owner. Cost: each byte is looked at once; a body is copied once.
// Invariants: never reads past the end of one reply; anything it does not understand is `bad`, so
// that a framing bug of the server shows up as one.
#pragma once

#include <holdfast/loadgen/fetch.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::loadgen {

class ResponseReader {
public:
    enum class Progress : std::uint8_t { more, done, bad };

    /// Takes bytes up to the end of the reply; returns how many it took.
    std::size_t feed(std::string_view bytes);
    [[nodiscard]] Progress progress() const noexcept { return progress_; }
    /// Why the reply is bad.
    [[nodiscard]] std::string const& error() const noexcept { return error_; }
    [[nodiscard]] Reply const& reply() const noexcept { return reply_; }
    [[nodiscard]] Reply&& take() noexcept { return std::move(reply_); }
    /// May the connection carry another request? Known when done.
    [[nodiscard]] bool keep_alive() const noexcept { return keep_alive_; }
    /// Ready for the next reply.
    void reset();

private:
    void fail(std::string_view why);
    void read_head(std::string_view head);
    bool read_status_line(std::string_view line);
    bool read_field(std::string_view line);
    bool read_framing();

    std::string head_;
    Reply reply_;
    std::size_t body_missing_{};
    bool in_body_{};
    bool keep_alive_{true};
    Progress progress_{Progress::more};
    std::string error_;
};

}  // namespace holdfast::loadgen
