// Bytes in, bytes out, deadlines and the end of a connection.
#include "http/session.hpp"
#include "http/turn.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/domain/limits.hpp>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

namespace holdfast::http {
namespace {

// Then the other sessions have their turn.
constexpr int reads_in_a_row = 16;
constexpr std::size_t sent_bytes_in_a_row = 1U << 20;
constexpr std::size_t output_kept_max = 64 * 1'024;
constexpr std::size_t drain_bytes_max = 64 * 1'024;
constexpr Milliseconds drain_time{1'000};

}  // namespace

void Session::open(int socket, PeerKey const& peer) noexcept {
    HOLDFAST_ASSERT(state_ == State::closed);
    HOLDFAST_ASSERT(pending_ == 0);
    ServerOptions const& options = thread_.shared().options;
    wire_.open(socket);
    peer_ = peer;
    readable_ = hung_up_ = false;
    begin_ = size_ = 0;
    out_at_ = written_ = 0;
    guard_.reset();
    head_ready_ = close_after_write_ = reprieved_ = rests_ = gave_up_ = false;
    starved_ = true;
    clocked_ = Clocked::none;
    counted_ = true;
    life_end_ = thread_.tick_after(options.connection_life);
    awaits_proxy_ = peer.trusted && options.proxies.named_by == ClientNamedBy::proxy_protocol;
    awaits_tls_ = options.tls != nullptr;
    in_handshake_line_ = false;
    // The poller tells what has come already.
    if (awaits_proxy_ || awaits_tls_) {
        state_ = State::opening;
        thread_.wheel().set(*this, thread_.tick_after(options.handshake_timeout));
    } else {
        state_ = State::reading;
        set_read_deadline();
    }
}

void Session::ready(std::uint32_t events) {
    if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) readable_ = true;
    if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) hung_up_ = true;
    bool const writable = (events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0;
    // Under TLS a read or a handshake may have to write first.
    if (writable && wire_.wants_to_write()) readable_ = true;
    switch (state_) {
        case State::opening:
            if (readable_) enter();
            break;
        case State::reading:
            if (readable_) advance();
            break;
        case State::writing:
            if (writable && write_output()) after_write();
            break;
        case State::streaming:
            stream_ready(events);
            break;
        case State::draining:
            if (readable_) drain();
            break;
        case State::closed:
        case State::waiting:
        case State::working:
        case State::resting:
            break;  // remembered until it reads again
    }
}

/// Runs requests and reads more until there is something to wait for.
void Session::advance() {
    for (int reads = 0;;) {
        if (starved_) {
            if (reads++ == reads_in_a_row) return yield_turn();
            if (!read_more()) return;
        }
        Progress const progress = run_batch();
        if (progress == Progress::working || progress == Progress::closed) return;
        if (out_.empty()) {
            HOLDFAST_ASSERT(starved_);
            continue;
        }
        if (!release_or_wait() || !write_output()) return;
        if (close_after_write_) return start_drain();
        if (rests_) return rest();
    }
}

void Session::after_write() {
    if (close_after_write_) return start_drain();
    if (rests_) return rest();
    advance();
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
        wanted = session_buffer_bytes;  // a large body had its time
    } else if (size_ == capacity_) {
        // Grows as the body comes, so that a length alone takes no memory.
        Head const& head = guard_.head();
        std::size_t const whole =
            head.chunked ? head.bytes + body_bytes_max_ + session_buffer_bytes : raw_end_;
        HOLDFAST_ASSERT(head_ready_);
        wanted = std::min(std::max(2 * capacity_, session_buffer_bytes), whole);
    }
    if (wanted == capacity_) return;
    HOLDFAST_ASSERT(wanted > size_);
    if (capacity_ == 0 && wanted == session_buffer_bytes && thread_.take_up(buffer_, out_)) {
        capacity_ = wanted;
        return;
    }
    auto grown = std::make_unique_for_overwrite<char[]>(wanted);
    if (size_ != 0) std::memcpy(grown.get(), buffer_.get(), size_);
    buffer_ = std::move(grown);
    capacity_ = wanted;
}

void Session::set_read_deadline() {
    ServerOptions const& options = thread_.shared().options;
    Clocked const clocked =
        size_ == 0 ? Clocked::idle : (head_ready_ ? Clocked::body : Clocked::head);
    // Each has its time in all, not from read to read: TLS may bring bytes that say nothing.
    if (clocked == clocked_) return;
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

/// True: something came. False: the session waits for more, or it is closed.
bool Session::read_more() {
    state_ = State::reading;
    if (!readable_) return wait_for_bytes();
    if (size_ == capacity_ || begin_ != 0) make_room();
    std::size_t const room = capacity_ - size_;
    ssize_t const got = wire_.receive(buffer_.get() + size_, room);
    if (got > 0) {
        auto const bytes = static_cast<std::size_t>(got);
        thread_.counts().bytes_in.add(bytes);
        size_ += bytes;
        // A short read took everything: the poller tells when more comes.
        readable_ = bytes == room || hung_up_ || wire_.secured();
        return true;
    }
    if (got < 0 && errno == EAGAIN) {
        readable_ = false;
        return wait_for_bytes();
    }
    close();  // an end in the middle of a request leaves nothing behind
    return false;
}

bool Session::wait_for_bytes() {
    lay_down_buffers();
    // What was asked before a stop is answered; nothing more is waited for.
    if (size_ == 0 && thread_.stopping()) {
        close();
    } else if (size_ != 0 && !head_ready_ && !count_half_read_head()) {
        thread_.counts().half_read_heads_refused.add(1);
        refuse_and_end(Fault::half_read_heads);
    } else {
        set_read_deadline();
    }
    return false;
}

/// False: there are enough of its address.
bool Session::count_half_read_head() {
    if (!half_read_) half_read_ = thread_.shared().half_read_heads.admit(peer_);
    return half_read_;
}

void Session::uncount_half_read_head() noexcept {
    if (std::exchange(half_read_, false)) thread_.shared().half_read_heads.leave(peer_);
}

void Session::yield_turn() {
    set_read_deadline();
    post_turn();
}

/// Lets the thread do other work before this session goes on.
void Session::post_turn() {
    if (pending_ != 0) return;  // while it reads or writes nothing else calls back
    ++pending_;
    auto turn = [this] {
        Measured const measured(thread_.meter());
        Turn const group(thread_.shared().gate);
        thread_.set_current(this);
        --pending_;
        if (state_ == State::closed) return job_returned();
        if (state_ == State::reading) return advance();
        if (state_ == State::writing && write_output()) after_write();
    };
    net::post(thread_.context(), kept_in(memory_, turn));
}

bool Session::write_output() {
    std::size_t in_a_row = 0;
    for (;;) {
        std::string_view const unsent = apart_.next(out_, out_at_);
        if (unsent.empty()) break;
        if (in_a_row >= sent_bytes_in_a_row) {
            // A reader as fast as this thread would have it for as long as a large map takes.
            wait_for_reader();
            post_turn();
            return false;
        }
        ssize_t const sent = wire_.send(unsent.substr(0, sent_bytes_in_a_row));
        if (sent >= 0) {
            auto const bytes = static_cast<std::size_t>(sent);
            in_a_row += bytes;
            out_at_ += apart_.leave(bytes, out_at_);
            written_ += bytes;
            thread_.counts().bytes_out.add(bytes);
        } else if (errno == EAGAIN) {
            wait_for_reader();
            return false;
        } else {
            close();
            return false;
        }
    }
    HOLDFAST_ASSERT(apart_.empty());  // each has left
    out_.clear();
    apart_.clear();
    out_at_ = written_ = 0;
    if (out_.capacity() > output_kept_max) out_.shrink_to_fit();
    if (clocked_ == Clocked::write) clocked_ = Clocked::none;
    return true;
}

void Session::wait_for_reader() {
    state_ = State::writing;
    static_cast<void>(time_reader(written_));
}

/// A reader that keeps the least pace gets new time; one that has had its time: false. What the
/// kernel holds is not taken yet, and of what could be sent it tells late, so it is asked.
bool Session::time_reader(std::size_t written) {
    Milliseconds const timeout = thread_.shared().options.write_timeout;
    std::int64_t const taken = static_cast<std::int64_t>(written) - wire_.bytes_not_taken();
    Tick const now = thread_.wheel().now();
    if (clocked_ != Clocked::write) {
        clocked_ = Clocked::write;
        pace_.begin(taken, now);
        reader_end_ = thread_.tick_after(timeout);
    } else if (auto const bought = pace_.look(taken, now, timeout)) {
        Tick const end = reader_end_ + static_cast<Tick>(*bought / tick_length);
        reader_end_ = std::max(thread_.tick_after(timeout),
                               std::min(end, thread_.tick_after(ReaderPace::ahead_max)));
    } else if (now >= reader_end_) {
        return false;
    }
    thread_.wheel().set(*this,
                        std::min(reader_end_, thread_.tick_after(timeout / ReaderPace::looks)));
    return true;
}

void Session::start_drain() {
    if (stream_ != nullptr && !thread_.stopping()) return start_stream();
    stream_.reset();
    wire_.end_sending();
    state_ = State::draining;
    drained_ = 0;
    thread_.wheel().set(*this, thread_.tick_after(drain_time));
    if (readable_) drain();
}

void Session::drain() {
    char unwanted[8'192];
    while (drained_ <= drain_bytes_max) {
        ssize_t const got = wire_.receive_raw(unwanted, sizeof unwanted);
        if (got < 0 && errno == EAGAIN) {
            readable_ = false;
            return;
        }
        if (got <= 0) break;
        thread_.counts().bytes_in.add(static_cast<std::uint64_t>(got));
        drained_ += static_cast<std::size_t>(got);
    }
    close();
}

void Session::expired() {
    thread_.set_current(this);
    if (state_ == State::streaming) return stream_expired();
    if (state_ == State::working) return give_up_job();
    if (state_ == State::writing && time_reader(written_)) return;
    bool const has_turn = pending_ != 0 || in_handshake_line_;  // that was yielded, and will read
    bool const receives = state_ == State::reading || state_ == State::opening;
    if (receives && !reprieved_ && (has_turn || wire_.bytes_wait())) {
        // It was the thread that was late. One tick for the rest of a head or body, and only one.
        reprieved_ = true;
        thread_.wheel().set(*this, thread_.tick_after(Milliseconds{0}));
        readable_ = true;
        if (!has_turn) state_ == State::opening ? enter() : advance();
        return;
    }
    bool const late =
        state_ == State::reading && (clocked_ == Clocked::head || clocked_ == Clocked::body);
    if (!late) return close();
    now_ = thread_.shared().clock.now();
    refuse_and_end(Fault::timeout);
}

/// Of a session that waits for bytes, and so has nothing else to write.
void Session::refuse_and_end(Fault fault) {
    Progress const refused = refuse(fault);
    if (refused == Progress::closed) return;
    HOLDFAST_ASSERT(refused == Progress::ended);
    if (write_output()) start_drain();
}

/// At a stop. Whoever rests goes on by itself when that is over, and ends the same way.
void Session::finish() {
    if (state_ == State::opening) return close();
    if (state_ == State::streaming) return end_stream();
    if (state_ != State::reading || size_ != 0) return;
    readable_ = true;  // the kernel may have what the poller has not told yet
    advance();
}

void Session::close() {
    if (state_ == State::closed) return;
    if (state_ == State::waiting) thread_.leave_line(*this);
    if (state_ == State::streaming) leave_streams();
    stream_.reset();
    if (std::exchange(in_handshake_line_, false)) thread_.leave_handshakes(*this);
    if (state_ == State::resting) thread_.end_rest(*this);
    state_ = State::closed;
    uncount_half_read_head();
    thread_.wheel().remove(*this);
    wire_.close();  // also leaves the poller's set
    give_large_body();
    thread_.session_closed(*this);
    job_returned();
}

/// Of a closed session: once the last of its callbacks came, it can serve another connection.
void Session::job_returned() {
    if (pending_ != 0) return;
    buffer_.reset();
    capacity_ = size_ = begin_ = 0;
    out_ = std::string{};
    apart_.clear();
    marks_.clear();
    leases_.clear();
    highest_ = no_lsn;
    thread_.recycle(*this);
}

}  // namespace holdfast::http
