#include "http/chunked.hpp"

#include "http/ascii.hpp"

#include <holdfast/domain/limits.hpp>

#include <algorithm>
#include <cstring>

namespace holdfast::http {
namespace {

constexpr unsigned size_digits_max = 8;

}  // namespace

bool ChunkDecoder::refuse(Fault fault) noexcept {
    fault_ = fault;
    return false;
}

bool ChunkDecoder::expect(char c, char wanted, State next) noexcept {
    if (c != wanted) return refuse(Fault::framing);
    state_ = next;
    return true;
}

bool ChunkDecoder::read_size(char c) noexcept {
    if (c == '\r' && digits_ != 0) {
        state_ = State::size_lf;
        return true;
    }
    char const small = lower(c);
    bool const digit = c >= '0' && c <= '9';
    bool const letter = small >= 'a' && small <= 'f';
    if (!digit && !letter) return refuse(Fault::framing);
    if (++digits_ > size_digits_max) return refuse(Fault::framing);
    size_ = size_ * 16 + static_cast<unsigned>(digit ? c - '0' : small - 'a' + 10);
    return true;
}

bool ChunkDecoder::control(char c) noexcept {
    switch (state_) {
        case State::size:
            return read_size(c);
        case State::size_lf:
            if (c != '\n') return refuse(Fault::framing);
            if (size_ == 0) {
                state_ = State::end_cr;
                return true;
            }
            if (++chunks_ > limits::chunks_per_body_max) return refuse(Fault::framing);
            if (size_ > room_) return refuse(Fault::body_too_large);
            room_ -= size_;
            state_ = State::data;
            return true;
        case State::data_cr:
            return expect(c, '\r', State::data_lf);
        case State::data_lf:
            digits_ = 0;
            return expect(c, '\n', State::size);
        case State::end_cr:
            return expect(c, '\r', State::end_lf);  // anything else is a trailer
        case State::end_lf:
            return expect(c, '\n', State::done);
        case State::data:
        case State::done:
            break;
    }
    return false;
}

ChunkDecoder::Step ChunkDecoder::feed(std::string_view in, char* out) noexcept {
    Step step;
    while (step.consumed < in.size() && state_ != State::done && fault_ == Fault::none) {
        if (state_ != State::data) {
            if (control(in[step.consumed])) ++step.consumed;
            continue;
        }
        std::size_t const bytes = std::min<std::size_t>(size_, in.size() - step.consumed);
        std::memmove(out + step.produced, in.data() + step.consumed, bytes);
        step.consumed += bytes;
        step.produced += bytes;
        size_ -= bytes;
        if (size_ == 0) state_ = State::data_cr;
    }
    return step;
}

}  // namespace holdfast::http
