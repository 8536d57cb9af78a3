// IoThread: one io_context with its listener, its sessions and their timers.
//
// Thread safety: construct, begin, run, request_*, wake and counters() from outside; all else from
// the thread in run(). Invariants: a connection never leaves its thread; an exception ends at most
// the connection it came from.
#pragma once

#include "http/counters.hpp"
#include "http/cross_origin.hpp"
#include "http/deadline_wheel.hpp"
#include "http/handler_memory.hpp"
#include "http/head_parser.hpp"
#include "http/load_meter.hpp"
#include "http/peer_limits.hpp"
#include "http/poller.hpp"
#include "http/reply_writer.hpp"
#include "http/resting.hpp"
#include "http/stream_round.hpp"
#include "http/waiting_line.hpp"

#include <holdfast/base/descriptor.hpp>
#include <holdfast/base/published.hpp>
#include <holdfast/http/server.hpp>

#include <array>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

namespace holdfast::http {

class Session;

namespace net = boost::asio;
using Tcp = net::ip::tcp;
using Executor = net::io_context::executor_type;
using Acceptor = net::basic_socket_acceptor<Tcp, Executor>;
using ErrorCode = boost::system::error_code;
using Timer = net::basic_waitable_timer<std::chrono::steady_clock,
                                        net::wait_traits<std::chrono::steady_clock>, Executor>;

/// What all io threads of a server share; const but for the limits and the identity, which lock.
struct Shared {
    Shared(ServerOptions const& server_options, Router server_router, CommitGate& commit_gate,
           Workers& worker_pool, Clock const& server_clock)
        : options(server_options),
          router(std::move(server_router)),
          gate(commit_gate),
          workers(worker_pool),
          clock(server_clock),
          limits(options.connections_max, options.connections_per_address_max,
                 options.limit_loopback),
          half_read_heads(std::numeric_limits<std::size_t>::max(),
                          options.half_read_heads_per_address_max, options.limit_loopback),
          cross_origin(options.cross_origin),
          identity_(options.tls) {}

    ServerOptions options;
    Router router;
    CommitGate& gate;
    Workers& workers;
    Clock const& clock;
    PeerLimits limits;
    PeerLimits half_read_heads;  // of connections that wait for the rest of one
    CrossOrigin cross_origin;
    Published<std::uint64_t> stream_news{0};  // counts Server::announce(), by one thread

    /// What the next connection gets.
    [[nodiscard]] std::shared_ptr<TlsIdentity const> identity() {
        std::lock_guard const lock{identity_mutex_};
        return identity_;
    }
    void set_identity(std::shared_ptr<TlsIdentity const> identity) {
        std::lock_guard const lock{identity_mutex_};
        identity_.swap(identity);
    }

private:
    std::mutex identity_mutex_;  // taken once a handshake
    std::shared_ptr<TlsIdentity const> identity_;
};

class IoThread : public std::enable_shared_from_this<IoThread> {
public:
    /// `drained` is called on the io thread whenever a stopping thread has no session left.
    IoThread(std::shared_ptr<Shared> shared, unsigned number, std::function<void()> drained);
    ~IoThread();
    IoThread(IoThread const&) = delete;
    IoThread& operator=(IoThread const&) = delete;

    /// Listens at `endpoint`; `reuse_port` if other threads listen there too. Throws
    /// boost::system::system_error.
    void listen(Tcp::endpoint const& endpoint, bool reuse_port);
    [[nodiscard]] Tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }
    /// Before run(), by whoever starts it: one that could not listen or tick would be deaf.
    void begin();
    void run();
    // Each once: their memory is kept for that, so that a server can end without any.
    void request_stop();   // no new connection, idle ones closed
    void request_abort();  // everything closed; run() returns
    void wake() noexcept;
    /// How long what was ready waited for this thread, at the mean of the last tick.
    [[nodiscard]] std::chrono::microseconds io_wait() const noexcept {
        return std::chrono::microseconds{io_wait_us_.get()};
    }
    [[nodiscard]] Counters const& counters() const noexcept { return counters_; }

    // For sessions.
    [[nodiscard]] Shared& shared() noexcept { return *shared_; }
    [[nodiscard]] net::io_context& context() noexcept { return context_; }
    [[nodiscard]] Counters& counts() noexcept { return counters_; }
    [[nodiscard]] DeadlineWheel& wheel() noexcept { return wheel_; }
    [[nodiscard]] LoadMeter& meter() noexcept { return meter_; }
    [[nodiscard]] ReplyWriter const& writer() const noexcept { return writer_; }
    [[nodiscard]] bool stopping() const noexcept { return stopping_; }
    /// The tick before which `timeout` has surely passed, counted from the time of the call.
    [[nodiscard]] Tick tick_after(Milliseconds timeout) const noexcept;
    /// Scratch of the request that runs now; keeps its capacity.
    [[nodiscard]] Reply& reply() noexcept { return reply_; }
    [[nodiscard]] FieldArray& fields() noexcept { return fields_; }
    /// A new request id; the view is good until the next call.
    [[nodiscard]] std::string_view make_request_id() noexcept;
    /// True: the session stands in the line and is resumed once its highest LSN is durable or the
    /// journal failed. False: no need to wait any more.
    [[nodiscard]] bool wait_for_disk(Session& session);
    void leave_line(Session& session) noexcept;
    /// Its resume_handshake() is called soon, behind others that wait and between requests.
    void queue_handshake(Session& session);
    void leave_handshakes(Session& session) noexcept;
    /// Resumes the session after 15 ms, later if many rest.
    void rest(Session& session);
    void end_rest(Session& session) noexcept;
    /// Buffers of a session that waits for its next request; kept for the next that needs some.
    void lay_down(std::unique_ptr<char[]> buffer, std::string out) noexcept;
    [[nodiscard]] bool take_up(std::unique_ptr<char[]>& buffer, std::string& out) noexcept;
    /// A place for a body over limits::body_bytes_max; false if all are taken.
    [[nodiscard]] bool take_large_body() noexcept {
        if (large_bodies_ == limits::large_bodies_per_thread_max) return false;
        ++large_bodies_;
        return true;
    }
    void give_large_body() noexcept { --large_bodies_; }
    [[nodiscard]] StreamRound& streams() noexcept { return streams_; }
    void set_current(Session* session) noexcept { current_ = session; }
    void recycle(Session& session);  // closed, with no operation pending
    void session_closed(Session& session) noexcept;

private:
    void accept_next();
    void accept_waiting();
    void pause_accepting();
    void admit(int socket, Tcp::endpoint const& from);
    [[nodiscard]] Session& free_session();
    void refuse(int socket) noexcept;
    void refuse_by_spare();
    /// Opens the spare descriptor if there is none.
    void take_spare() noexcept;
    void tell(Session& session, std::uint32_t events) noexcept;
    /// Runs a step of a session; one that throws costs only that connection.
    template <class Step>
    void guarded(Session& session, Step step) noexcept;
    void schedule_tick();
    void tick();
    void advance_wheel(Tick now);
    void run_ready() noexcept;
    void resume_waiting();
    void look_for_news();
    void continue_round();
    void post_handshakes();
    void continue_handshakes();
    void resume_durable();
    void schedule_rest(Resting::Time at);
    void resume_rested();
    void log_exception(char const* what) noexcept;

    std::shared_ptr<Shared> shared_;
    std::function<void()> drained_;
    Counters counters_;
    HandlerMemory accept_memory_, tick_memory_, wake_memory_, rest_memory_, handshake_memory_,
        round_memory_, stop_memory_, abort_memory_;
    net::io_context context_{1};
    net::executor_work_guard<Executor> work_{context_.get_executor()};
    Acceptor acceptor_{context_};
    LoadMeter meter_;
    Published<std::uint32_t> io_wait_us_{0};
    Poller poller_{context_, meter_};
    bool accept_paused_{};
    Descriptor spare_;  // given up for a moment when the descriptors run out
    Timer timer_{context_};
    Timer rest_timer_{context_};
    TickClock const ticks_{std::chrono::steady_clock::now()};
    DeadlineWheel wheel_;
    WaitingLine line_;
    StreamRound streams_;
    std::uint64_t news_seen_{};
    bool round_posted_{};
    WaitingList handshakes_;
    bool handshakes_posted_{};
    Resting resting_;
    bool rest_scheduled_{};
    struct Buffers {
        std::unique_ptr<char[]> in;
        std::string out;
    };
    std::vector<Buffers> laid_down_;
    ReplyWriter writer_;
    Reply reply_;
    FieldArray fields_;
    std::array<char, 33> id_;
    std::uint64_t ids_{};
    std::vector<std::unique_ptr<Session>> sessions_;  // all there ever were at one time
    std::vector<Session*> free_;
    std::size_t open_{};
    std::uint32_t large_bodies_{};
    Session* current_{};  // whose handler runs now
    bool stopping_{}, aborted_{};
    std::chrono::steady_clock::time_point last_exception_log_{};
};

}  // namespace holdfast::http
