// ChunkDecoder: a strict decoder of `Transfer-Encoding: chunked` bodies.
//
// Purpose: takes what real clients send and nothing else: no extensions, no trailers, CR LF only,
// sizes of at most 8 hex digits, at most 1,024 chunks, the route's body limit (SECURITY.md 3.2).
// Thread safety: a value of its session. Cost: one move of the payload; memory is the caller's.
#pragma once

#include "http/fault.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::http {

class ChunkDecoder {
public:
    struct Step {
        std::size_t consumed{};  // bytes of `in` that are done with
        std::size_t produced{};  // payload bytes written to `out`
    };

    explicit ChunkDecoder(std::size_t body_bytes_max = 0) noexcept : room_(body_bytes_max) {}

    /// Decodes as far as `in` goes. `out` may lie in the same buffer, not behind `in`.
    Step feed(std::string_view in, char* out) noexcept;
    [[nodiscard]] bool done() const noexcept { return state_ == State::done; }
    /// framing or body_too_large once the body was refused.
    [[nodiscard]] Fault fault() const noexcept { return fault_; }

private:
    enum class State : std::uint8_t { size, size_lf, data, data_cr, data_lf, end_cr, end_lf, done };

    bool read_size(char c) noexcept;
    bool control(char c) noexcept;
    bool expect(char c, char wanted, State next) noexcept;
    bool refuse(Fault fault) noexcept;

    std::size_t room_;  // payload bytes that may still come
    std::uint64_t size_{};
    unsigned digits_{};
    unsigned chunks_{};
    State state_{State::size};
    Fault fault_{Fault::none};
};

}  // namespace holdfast::http
