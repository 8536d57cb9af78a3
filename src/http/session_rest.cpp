// Sessions that do nothing for a while: buffers laid down, and rests of who was told to come later.
#include "http/session.hpp"

#include <holdfast/base/assert.hpp>

#include <utility>

namespace holdfast::http {

/// What nobody needs: connections that only stay open cost no buffers.
void Session::lay_down_buffers() {
    if (begin_ != size_) return;
    HOLDFAST_ASSERT(out_.empty());
    begin_ = size_ = 0;
    if (capacity_ == session_buffer_bytes) thread_.lay_down(std::move(buffer_), std::move(out_));
    buffer_.reset();
    out_ = std::string{};
    capacity_ = 0;
}

/// Whoever was told to come later is not asked again at once; what it sends stays in the kernel.
void Session::rest() {
    rests_ = false;
    state_ = State::resting;
    thread_.wheel().clear(*this);
    clocked_ = Clocked::none;
    lay_down_buffers();
    thread_.rest(*this);
}

void Session::resume_after_rest() {
    HOLDFAST_ASSERT(state_ == State::resting);
    state_ = State::reading;
    advance();
}

}  // namespace holdfast::http
