// Bytes in, bytes out, deadlines and the end of a connection.
#include "http/session.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/domain/limits.hpp>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <cstring>

namespace holdfast::http {
namespace {

constexpr std::size_t buffer_bytes = limits::head_bytes_max;  // every head fits
constexpr std::size_t output_kept_max = 64 * 1'024;
constexpr std::size_t drain_bytes_max = 64 * 1'024;
constexpr Milliseconds drain_time{1'000};
constexpr std::uint64_t body_bytes_per_timeout = 1U << 20;
constexpr std::uint64_t write_bytes_per_second_min = 1'024;

}  // namespace

void Session::open(Socket socket, PeerKey const& peer) {
    HOLDFAST_ASSERT(state_ == State::closed);
    HOLDFAST_ASSERT(pending_ == 0);
    socket_ = std::move(socket);
    peer_ = peer;
    begin_ = size_ = 0;
    out_at_ = 0;
    guard_.reset();
    head_ready_ = close_after_write_ = false;
    clocked_ = Clocked::none;
    life_end_ = thread_.tick_after(thread_.shared().options.connection_life);
    read_more();
}

void Session::continue_running() {
    for (;;) {
        if (run_batch() == Progress::working) return;
        if (out_.empty()) return read_more();
        if (!release_or_wait() || !write_output()) return;
        if (close_after_write_) return start_drain(false);
        if (starved_) return read_more();
    }
}

void Session::after_write() {
    if (close_after_write_) return start_drain(false);
    if (starved_) return read_more();
    continue_running();
}

void Session::make_room() {
    if (begin_ == size_) {
        begin_ = size_ = 0;
    } else if (begin_ != 0) {
        std::memmove(buffer_.get(), buffer_.get() + begin_, size_ - begin_);
        size_ -= begin_;
        begin_ = 0;
    }
    std::size_t wanted = capacity_;
    if (size_ == 0) {
        wanted = buffer_bytes;  // a large body had its time
    } else if (size_ == capacity_) {
        // Grows as the body comes, so that a length alone takes no memory.
        Head const& head = guard_.head();
        std::size_t const whole =
            head.chunked ? head.bytes + body_bytes_max_ + buffer_bytes : raw_end_;
        HOLDFAST_ASSERT(head_ready_);
        wanted = std::min(std::max(2 * capacity_, buffer_bytes), whole);
    }
    if (wanted == capacity_) return;
    HOLDFAST_ASSERT(wanted > size_);
    auto grown = std::make_unique_for_overwrite<char[]>(wanted);
    if (size_ != 0) std::memcpy(grown.get(), buffer_.get(), size_);
    buffer_ = std::move(grown);
    capacity_ = wanted;
}

void Session::set_read_deadline() {
    ServerOptions const& options = thread_.shared().options;
    Clocked const clocked =
        size_ == 0 ? Clocked::idle : (head_ready_ ? Clocked::body : Clocked::head);
    // Head and body have their time in all, not from read to read.
    if (clocked == clocked_ && clocked != Clocked::idle) return;
    clocked_ = clocked;
    Milliseconds timeout = options.idle_timeout;
    if (clocked == Clocked::head) timeout = options.head_timeout;
    if (clocked == Clocked::body) {
        // One more for each further MiB: a plan of 8 MiB has its time over a slow line too.
        std::uint64_t const more = guard_.head().content_length / body_bytes_per_timeout;
        timeout = options.body_timeout * static_cast<std::int64_t>(1 + more);
    }
    thread_.wheel().set(*this, thread_.tick_after(timeout));
}

void Session::read_more() {
    make_room();
    set_read_deadline();
    state_ = State::reading;
    ++pending_;
    socket_.async_read_some(
        net::buffer(buffer_.get() + size_, capacity_ - size_),
        kept_in(memory_, [this](ErrorCode error, std::size_t bytes) { did_read(error, bytes); }));
}

void Session::did_read(ErrorCode error, std::size_t bytes) {
    thread_.set_current(this);
    --pending_;
    if (state_ == State::closed) return operation_done();
    if (error) return close();  // an end in the middle of a request leaves nothing behind
    thread_.counts().bytes_in.add(bytes);
    if (state_ == State::draining) {
        drained_ += bytes;
        if (drained_ > drain_bytes_max) return close();
        ++pending_;
        socket_.async_read_some(net::buffer(buffer_.get(), capacity_),
                                kept_in(memory_, [this](ErrorCode failed, std::size_t count) {
                                    did_read(failed, count);
                                }));
        return;
    }
    size_ += bytes;
    continue_running();
}

bool Session::write_output() {
    while (out_at_ < out_.size()) {
        auto const rest = net::buffer(out_.data() + out_at_, out_.size() - out_at_);
        ErrorCode error;
        std::size_t const bytes = socket_.write_some(rest, error);
        if (error == net::error::would_block) {
            if (clocked_ != Clocked::write) {
                clocked_ = Clocked::write;
                stalled_at_ = out_at_;
                Milliseconds const timeout = thread_.shared().options.write_timeout;
                thread_.wheel().set(*this, thread_.tick_after(timeout));
            }
            state_ = State::writing;
            ++pending_;
            socket_.async_write_some(rest,
                                     kept_in(memory_, [this](ErrorCode done, std::size_t count) {
                                         did_write(done, count);
                                     }));
            return false;
        }
        if (error) {
            close();
            return false;
        }
        thread_.counts().bytes_out.add(bytes);
        out_at_ += bytes;
    }
    out_.clear();
    out_at_ = 0;
    if (out_.capacity() > output_kept_max) out_.shrink_to_fit();
    if (clocked_ == Clocked::write) clocked_ = Clocked::none;
    return true;
}

void Session::did_write(ErrorCode error, std::size_t bytes) {
    thread_.set_current(this);
    --pending_;
    if (state_ == State::closed) return operation_done();
    if (error) return close();
    thread_.counts().bytes_out.add(bytes);
    out_at_ += bytes;
    // A reader that keeps the least pace gets new time; one that stalls does not.
    std::uint64_t const pace =
        static_cast<std::uint64_t>(thread_.shared().options.write_timeout.count()) *
        write_bytes_per_second_min / 1'000;
    if (out_at_ - stalled_at_ >= pace) clocked_ = Clocked::none;
    if (write_output()) after_write();
}

void Session::start_drain(bool read_pending) {
    ErrorCode ignored;  // the peer may be gone already; reading will tell
    socket_.shutdown(Tcp::socket::shutdown_send, ignored);
    state_ = State::draining;
    drained_ = 0;
    thread_.wheel().set(*this, thread_.tick_after(drain_time));
    if (read_pending) return;
    ++pending_;
    socket_.async_read_some(
        net::buffer(buffer_.get(), capacity_),
        kept_in(memory_, [this](ErrorCode error, std::size_t bytes) { did_read(error, bytes); }));
}

void Session::expired() {
    thread_.set_current(this);
    bool const late =
        state_ == State::reading && (clocked_ == Clocked::head || clocked_ == Clocked::body);
    if (!late) return close();
    now_ = thread_.shared().clock.now();
    Progress const refused = refuse(Fault::timeout);
    HOLDFAST_ASSERT(refused == Progress::ended);
    // A read is pending, so this is no place to wait for a slow reader.
    ErrorCode error;
    std::size_t const bytes = socket_.write_some(net::buffer(out_), error);
    thread_.counts().bytes_out.add(bytes);
    bool const whole = !error && bytes == out_.size();
    out_.clear();
    if (!whole) return close();
    start_drain(true);
}

void Session::close_if_idle() {
    if (state_ == State::reading && size_ == 0) close();
}

void Session::close() {
    if (state_ == State::closed) return;
    if (state_ == State::waiting) thread_.leave_line(*this);
    state_ = State::closed;
    thread_.wheel().remove(*this);
    ErrorCode ignored;  // a socket is closed whatever close() says
    socket_.close(ignored);
    thread_.session_closed(*this);
    operation_done();
}

void Session::operation_done() {
    give_large_body();
    if (pending_ != 0) return;
    buffer_.reset();
    capacity_ = size_ = begin_ = 0;
    out_ = std::string{};
    marks_.clear();
    highest_ = no_lsn;
    thread_.recycle(*this);
}

}  // namespace holdfast::http
