// A reply without an end: pieces that other streams send, too, and heartbeats in between.
#include "http/session.hpp"

#include <holdfast/domain/limits.hpp>

#include <cerrno>
#include <string_view>
#include <utility>

namespace holdfast::http {
namespace {

/// Time for who is in the middle of a piece when the server stops.
constexpr Milliseconds stream_end_time{1'000};

/// A comment line, which clients of server-sent events pass over.
Stream::Piece heartbeat() {
    static auto const bytes = std::make_shared<std::string const>(":\n\n");
    return {bytes, false};
}

}  // namespace

/// The head has left. From here on nothing is read, so what reading and writing took is given back.
void Session::start_stream() {
    state_ = State::streaming;
    clocked_ = Clocked::none;
    give_large_body();
    buffer_.reset();
    capacity_ = size_ = begin_ = 0;
    out_ = std::string{};
    piece_ = {};
    piece_at_ = streamed_ = 0;
    blocked_ = counted_ = false;
    thread_.shared().limits.leave(peer_);
    // Else a client that reads nothing fills megabytes before anybody notices.
    wire_.keep_unsent(limits::stream_socket_bytes);
    thread_.counts().streams_opened.add(1);
    thread_.streams().add(*this);
    if (hung_up_) return close();
    continue_stream();
}

void Session::stream_ready(std::uint32_t events) {
    if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) return close();
    if ((events & EPOLLOUT) == 0 || !blocked_) return;
    blocked_ = false;
    continue_stream();
}

void Session::continue_stream() {
    // Who waits for its reader is told when that takes more.
    while (!blocked_) {
        if (piece_.bytes == nullptr && !take_piece()) return;
        std::string const& bytes = *piece_.bytes;
        ssize_t const sent = wire_.send(std::string_view{bytes}.substr(piece_at_));
        if (sent < 0) {
            if (errno != EAGAIN) return close();
            blocked_ = true;
            static_cast<void>(time_reader(streamed_));
            return;
        }
        thread_.counts().bytes_out.add(static_cast<std::uint64_t>(sent));
        piece_at_ += static_cast<std::size_t>(sent);
        streamed_ += static_cast<std::size_t>(sent);
        if (piece_at_ < bytes.size()) continue;
        bool const ends = piece_.last || thread_.stopping();
        piece_ = {};
        piece_at_ = 0;
        if (ends) return end_stream();
    }
}

/// The next piece to be sent, or false: there is none, and the next heartbeat is set.
bool Session::take_piece() {
    piece_ = stream_->next();
    if (piece_.bytes != nullptr) {
        if (piece_.last) thread_.counts().streams_dropped.add(1);
        return true;
    }
    clocked_ = Clocked::idle;
    thread_.wheel().set(*this, thread_.tick_after(thread_.shared().options.stream_heartbeat));
    return false;
}

void Session::stream_expired() {
    if (blocked_) {
        if (!thread_.stopping() && time_reader(streamed_)) return;
        if (!thread_.stopping()) thread_.counts().streams_dropped.add(1);
        return close();
    }
    if (thread_.wheel().now() >= life_end_) return end_stream();
    piece_ = heartbeat();
    continue_stream();
}

/// Of a stream that sends a piece: after it, or soon.
void Session::end_stream() {
    if (piece_.bytes != nullptr) {
        piece_.last = true;
        thread_.wheel().set(*this, thread_.tick_after(stream_end_time));
        return;
    }
    leave_streams();
    stream_.reset();
    start_drain();
}

void Session::leave_streams() noexcept {
    thread_.streams().remove(*this);
    thread_.counts().streams_closed.add(1);
    piece_ = {};
}

}  // namespace holdfast::http
