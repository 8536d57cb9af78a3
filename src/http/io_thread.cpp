#include "http/io_thread.hpp"

#include "http/session.hpp"
#include "http/turn.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/base/log.hpp>

#include <boost/asio/post.hpp>
#include <random>
#include <sys/socket.h>
#include <utility>

namespace holdfast::http {
namespace {

constexpr int backlog = 4'096;          // the kernel cuts it to net.core.somaxconn
constexpr int handshakes_in_a_row = 4;  // a signature of RSA takes a millisecond
/// More at one time than these have requests in their buffers only in a crowd.
constexpr std::size_t laid_down_max = 256;

}  // namespace

IoThread::IoThread(std::shared_ptr<Shared> shared, unsigned number, std::function<void()> drained)
    : shared_(std::move(shared)),
      drained_(std::move(drained)),
      writer_(shared_->clock.now(),
              shared_->options.tls == nullptr ? 0 : shared_->options.hsts_max_age_s) {
    // Ids of one run and thread differ by the counter, ids of others by the random part.
    std::random_device device;
    std::uint64_t const random = ((std::uint64_t{device()} << 32) | device()) + number;
    constexpr std::string_view digits = "0123456789abcdef";
    take_spare();
    laid_down_.reserve(laid_down_max);
    for (unsigned i = 0; i < 16; ++i) id_[i] = digits[(random >> (4 * i)) & 15];
    id_[16] = '-';
}

IoThread::~IoThread() = default;

void IoThread::listen(Tcp::endpoint const& endpoint, bool reuse_port) {
    acceptor_.open(endpoint.protocol());
    acceptor_.set_option(Tcp::acceptor::reuse_address(true));
    if (reuse_port) {
        using ReusePort = net::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;
        acceptor_.set_option(ReusePort(true));
    }
    // Accepted sockets inherit it, which saves a system call each.
    acceptor_.set_option(Tcp::no_delay(true));
    acceptor_.bind(endpoint);
    acceptor_.listen(backlog);
}

void IoThread::begin() {
    accept_next();
    schedule_tick();
    poller_.start([this] { run_ready(); });
}

void IoThread::run() {
    for (;;) {
        try {
            context_.run();
            return;
        } catch (std::exception const& error) {
            log_exception(error.what());
        } catch (...) {
            log_exception("unknown");
        }
        // Only the connection whose handler threw is in doubt.
        if (current_ != nullptr) current_->close();
        current_ = nullptr;
    }
}

/// The events of the other sockets are already taken from the kernel, so an exception must not
/// get past the session it comes from.
void IoThread::tell(Session& session, std::uint32_t events) noexcept {
    guarded(session, [&session, events] { session.ready(events); });
}

template <class Step>
void IoThread::guarded(Session& session, Step step) noexcept {
    current_ = &session;
    try {
        step();
        return;
    } catch (std::exception const& error) {
        log_exception(error.what());
    } catch (...) {
        log_exception("unknown");
    }
    session.close();
}

void IoThread::log_exception(char const* what) noexcept {
    counters_.exceptions.add(1);
    auto const now = std::chrono::steady_clock::now();
    if (now - last_exception_log_ < std::chrono::seconds{1}) return;
    last_exception_log_ = now;
    log::error("exception on an io thread", {{"what", what}});
}

Tick IoThread::tick_after(Milliseconds timeout) const noexcept {
    return ticks_.after(std::chrono::steady_clock::now(), timeout);
}

void IoThread::schedule_tick() {
    timer_.expires_after(tick_length);
    timer_.async_wait(kept_in(tick_memory_, [this](ErrorCode error) {
        // A timer that has fired cannot be cancelled any more: its tick may come after the abort,
        // and one that set the next timer would keep run() going for ever.
        if (!error && !aborted_) tick();
    }));
}

void IoThread::tick() {
    current_ = nullptr;
    schedule_tick();  // first, so that nothing that goes wrong here is the end of all ticks
    writer_.set_date(shared_->clock.now());
    take_spare();  // another thread may have had its number in between
    if (accept_paused_) {
        accept_next();
        accept_paused_ = false;  // after what may throw: the next tick tries again
    }
    Tick const now = ticks_.at(std::chrono::steady_clock::now());
    meter_.set_connections(open_);
    using Micros = std::chrono::duration<std::uint32_t, std::micro>;
    io_wait_us_.set(std::chrono::duration_cast<Micros>(meter_.take_mean()).count());
    advance_wheel(now);
    look_for_news();
}

void IoThread::advance_wheel(Tick now) {
    Turn const turn(shared_->gate);  // a session whose thread was late is read once more
    // An exception must not get past its session: the others that are due would be left unlinked.
    wheel_.advance(now, [this](Timed& entry) {
        auto& session = static_cast<Session&>(entry);
        guarded(session, [&session] { session.expired(); });
    });
    current_ = nullptr;
}

void IoThread::look_for_news() {
    auto const news = shared_->stream_news.get();
    if (news == news_seen_) return;
    news_seen_ = news;
    streams_.begin();
    if (!round_posted_) continue_round();
}

/// Some streams look for news; then all else has its turn, and then the next of them.
void IoThread::continue_round() {
    round_posted_ = false;
    for (std::size_t i = 0; i < limits::streams_in_a_row; ++i) {
        Streaming* const entry = streams_.take();
        if (entry == nullptr) return;
        auto& session = static_cast<Session&>(*entry);
        guarded(session, [&session] { session.continue_stream(); });
    }
    current_ = nullptr;
    if (!streams_.any_due()) return;
    round_posted_ = true;
    net::post(context_, kept_in(round_memory_, [this] {
                  if (!aborted_) continue_round();
              }));
}

std::string_view IoThread::make_request_id() noexcept {
    constexpr std::string_view digits = "0123456789abcdef";
    std::uint64_t const number = ids_++;
    // Twelve digits last for 2^48 requests.
    for (unsigned i = 0; i < 12; ++i) id_[28 - i] = digits[(number >> (4 * i)) & 15];
    return {id_.data(), 29};
}

bool IoThread::wait_for_disk(Session& session) {
    line_.arm();
    CommitGate const& gate = shared_->gate;
    if (gate.failed() || session.highest_lsn() <= gate.durable_lsn()) return false;
    line_.push(session);
    return true;
}

void IoThread::leave_line(Session& session) noexcept {
    line_.remove(session);
}

void IoThread::queue_handshake(Session& session) {
    bool const first = handshakes_.first() == nullptr;
    handshakes_.push(session);
    if (first) post_handshakes();
}

void IoThread::leave_handshakes(Session& session) noexcept {
    handshakes_.remove(session);
}

/// Behind what has come meanwhile. One is on its way while somebody waits, and only one.
void IoThread::post_handshakes() {
    if (std::exchange(handshakes_posted_, true)) return;
    net::post(context_, kept_in(handshake_memory_, [this] { continue_handshakes(); }));
}

void IoThread::continue_handshakes() {
    handshakes_posted_ = false;
    Measured const measured(meter_);
    Turn const turn(shared_->gate);  // requests may come along with the end of a handshake
    for (int i = 0; i < handshakes_in_a_row && handshakes_.first() != nullptr; ++i) {
        auto& session = static_cast<Session&>(*handshakes_.first());
        handshakes_.pop();
        guarded(session, [&session] { session.resume_handshake(); });
    }
    current_ = nullptr;
    if (handshakes_.first() != nullptr) post_handshakes();
}

void IoThread::wake() noexcept {
    if (!line_.claim_wake()) return;
    auto look = [this] {
        line_.take_wake();
        // What has come meanwhile first: its records go to disk while the replies are written.
        run_ready();
        resume_waiting();
    };
    // One wake-up at most is on its way, so its memory is always free and this cannot throw.
    net::post(context_, kept_in(wake_memory_, look));
}

void IoThread::run_ready() noexcept {
    Turn const turn(shared_->gate);
    poller_.collect([this](Polled& polled, std::uint32_t events) {
        tell(static_cast<Session&>(polled), events);
    });
}

void IoThread::resume_waiting() {
    Measured const measured(meter_);
    resume_durable();
}

void IoThread::resume_durable() {
    CommitGate const& gate = shared_->gate;
    Turn const turn(shared_->gate);  // a session that has its replies goes on
    for (;;) {
        bool const failed = gate.failed();
        Lsn const durable = gate.durable_lsn();
        while (line_.first() != nullptr) {
            auto& session = static_cast<Session&>(*line_.first());
            if (!failed && session.highest_lsn() > durable) break;
            line_.pop();
            guarded(session, [&session] { session.resume_after_disk(); });
        }
        if (line_.first() == nullptr) return;
        line_.arm();
        auto const& first = static_cast<Session&>(*line_.first());
        if (!gate.failed() && first.highest_lsn() > gate.durable_lsn()) return;
    }
}

void IoThread::rest(Session& session) {
    auto const now = std::chrono::steady_clock::now();
    resting_.push(session, now);
    if (!rest_scheduled_) schedule_rest(*resting_.next_due(now));
}

void IoThread::end_rest(Session& session) noexcept {
    resting_.remove(session);
}

void IoThread::schedule_rest(Resting::Time at) {
    rest_scheduled_ = true;
    rest_timer_.expires_at(at);
    rest_timer_.async_wait(kept_in(rest_memory_, [this](ErrorCode error) {
        rest_scheduled_ = false;
        if (!error && !aborted_) resume_rested();
    }));
}

/// When a crowd has rested, the disk, timers and others' requests must not wait for all of it, and
/// refusing it must not be what the others wait for: then still more of them would be refused.
void IoThread::resume_rested() {
    Measured const measured(meter_);
    Turn const turn(shared_->gate);
    rest_scheduled_ = true;  // below, whoever rests again: others are due before them
    auto now = std::chrono::steady_clock::now();
    auto const end = now + resting_.slice(now);
    while (auto* const session = static_cast<Session*>(resting_.take_due(now))) {
        guarded(*session, [session] { session->resume_after_rest(); });
        now = std::chrono::steady_clock::now();
        if (now >= end) break;
    }
    resting_.worked_until(now);
    current_ = nullptr;
    rest_scheduled_ = false;
    // A timer that is due runs behind what has come meanwhile.
    if (auto const at = resting_.next_due(now)) schedule_rest(*at);
}

void IoThread::lay_down(std::unique_ptr<char[]> buffer, std::string out) noexcept {
    if (laid_down_.size() < laid_down_max)
        laid_down_.push_back({std::move(buffer), std::move(out)});
}

bool IoThread::take_up(std::unique_ptr<char[]>& buffer, std::string& out) noexcept {
    if (laid_down_.empty()) return false;
    buffer = std::move(laid_down_.back().in);
    out = std::move(laid_down_.back().out);
    laid_down_.pop_back();
    return true;
}

void IoThread::session_closed(Session& session) noexcept {
    if (session.is_counted()) shared_->limits.leave(session.peer());
    counters_.closed.add(1);
    HOLDFAST_ASSERT(open_ > 0);
    --open_;
    if (stopping_ && open_ == 0) drained_();
}

void IoThread::recycle(Session& session) {
    if (current_ == &session) current_ = nullptr;
    free_.push_back(&session);
}

void IoThread::request_stop() {
    auto stop = [this] {
        stopping_ = true;
        ErrorCode ignored;
        acceptor_.close(ignored);
        Turn const turn(shared_->gate);  // what has come, but was not read yet, is answered
        for (auto const& session : sessions_) guarded(*session, [&session] { session->finish(); });
        current_ = nullptr;
        if (open_ == 0) drained_();
    };
    net::post(context_, kept_in(stop_memory_, stop));
}

void IoThread::request_abort() {
    auto abort = [this] {
        stopping_ = aborted_ = true;
        ErrorCode ignored;
        acceptor_.close(ignored);
        for (auto const& session : sessions_) session->close();
        timer_.cancel();
        rest_timer_.cancel();
        poller_.stop();
        work_.reset();
    };
    net::post(context_, kept_in(abort_memory_, abort));
}

}  // namespace holdfast::http
