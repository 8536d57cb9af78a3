// Session: one connection.
//
// Purpose: reads requests, runs every complete one in its buffer as a batch, waits once for the
// disk and writes the replies with one call (DESIGN.md 6). After a reply with a stream it sends the
// pieces of that (session_stream.cpp).
// Thread safety: its io thread only. Invariants: while a worker has a request, or replies wait for
// the disk or for the reader, nothing is read; bytes behind a refused request are never run.
// Cost: a recv and a send a batch, and of bodies apart a send each and one for the text between two
// of them; no allocation in the steady state.
#pragma once

#include "http/bodies_apart.hpp"
#include "http/chunked.hpp"
#include "http/deadline_wheel.hpp"
#include "http/guard.hpp"
#include "http/handler_memory.hpp"
#include "http/io_thread.hpp"
#include "http/proxy_header.hpp"
#include "http/reader_pace.hpp"
#include "http/resting.hpp"
#include "http/stream_round.hpp"
#include "http/wire.hpp"

#include <holdfast/base/published.hpp>
#include <holdfast/domain/limits.hpp>
#include <holdfast/http/message.hpp>
#include <holdfast/http/stream.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::http {

struct WorkerJob;

/// How a handler ended.
enum class HandlerEnd : std::uint8_t {
    returned,
    threw,   // the reply says so
    untold,  // what it did has happened, or there is no memory to say that it has not: no reply
};

/// A body has its time, and so has the handler of it, once more for each further so many.
inline constexpr std::uint64_t body_bytes_per_timeout = 1U << 20;
inline constexpr std::size_t session_buffer_bytes = limits::head_bytes_max;  // every head fits

class Session final : public Polled, public Timed, public Resting::Entry, public Streaming {
public:
    explicit Session(IoThread& thread) noexcept : thread_(thread) {}
    Session(Session const&) = delete;
    Session& operator=(Session const&) = delete;

    /// `socket` is non-blocking and in the poller's set.
    void open(int socket, PeerKey const& peer) noexcept;
    void ready(std::uint32_t events) override;
    void expired();            // its deadline passed
    void resume_after_disk();  // from the waiting line
    void resume_handshake();   // from the line of handshakes
    void resume_after_rest();  // from the line of those that rest
    void job_done(WorkerJob& job);
    void finish();           // answers what has arrived and closes; a stream ends
    void continue_stream();  // there may be news
    void close();
    [[nodiscard]] bool is_open() const noexcept { return state_ != State::closed; }
    [[nodiscard]] Lsn highest_lsn() const noexcept { return highest_; }
    [[nodiscard]] PeerKey const& peer() const noexcept { return peer_; }
    /// A stream is bounded by its handler, and no more by the limits of connections.
    [[nodiscard]] bool is_counted() const noexcept { return counted_; }

private:
    enum class State : std::uint8_t {
        closed,
        opening,  // what comes before HTTP
        reading,
        waiting,
        working,
        writing,
        streaming,
        resting,
        draining
    };
    /// How a step through the buffer ended.
    enum class Progress : std::uint8_t {
        ran,      // went well; of a whole request: its reply is in the output
        starved,  // the buffer holds no complete request
        ended,    // nothing more in this batch
        working,  // a worker has the request
        closed,   // without an answer, and so is the connection
    };
    struct Mark {
        std::size_t reply_at{};    // in the output
        std::size_t request_at{};  // in the buffer
        Lsn lsn{};
    };

    // session_open.cpp: before HTTP
    void enter();
    [[nodiscard]] bool take_proxy_header();
    [[nodiscard]] bool become(ProxyHeader const& header);
    void begin_http();

    // session_io.cpp: bytes in and out
    void advance();
    void after_write();
    [[nodiscard]] bool read_more();
    void make_room();
    [[nodiscard]] bool wait_for_bytes();
    [[nodiscard]] bool count_half_read_head();
    void uncount_half_read_head() noexcept;
    void set_read_deadline();
    [[nodiscard]] bool write_output();
    void wait_for_reader();
    bool time_reader(std::size_t written);
    void refuse_and_end(Fault fault);
    void start_drain();
    void drain();
    void yield_turn();
    void post_turn();
    void job_returned();

    // session_run.cpp: requests to replies
    [[nodiscard]] Progress run_batch();
    [[nodiscard]] Progress run_next();
    [[nodiscard]] Progress scan_head(Request& request, Match& match);
    [[nodiscard]] Progress await_body();
    [[nodiscard]] Progress run_whole(Request& request, Match const& match);
    [[nodiscard]] Progress leave_untold();
    [[nodiscard]] Request new_request() const noexcept;
    [[nodiscard]] bool prepare(Request& request, Match& match);
    void name_client(Request& request) const;
    [[nodiscard]] Fault judge_length(Request const& request, Match const& match);
    [[nodiscard]] Fault over_length() const noexcept;
    [[nodiscard]] Fault judge_media() const noexcept;
    [[nodiscard]] Progress answer_unserved(Request const& request, Match const& match, Fault fault);
    void write_unmatched(Request const& request, Match const& match, Reply& reply);
    void append_reply(Request const& request, Reply& reply);
    [[nodiscard]] static bool leaves_apart(Request const& request, Reply const& reply) noexcept;
    void consume() noexcept;
    [[nodiscard]] bool is_large_body() const noexcept;
    [[nodiscard]] Progress refuse_large_body(Request const& request, Match const& match);
    [[nodiscard]] bool reserve_large_body() noexcept;
    void give_large_body() noexcept;
    [[nodiscard]] Progress refuse(Fault fault, Request const& request);
    [[nodiscard]] bool is_charged(Fault fault, Request const& request) const noexcept;
    [[nodiscard]] Progress refuse(Fault fault);

    // session_work.cpp: requests that a worker runs
    [[nodiscard]] Fault start_job(Request const& request, Route const& route, Reply& admitted);
    [[nodiscard]] std::shared_ptr<WorkerJob> make_job(Request const& request, Route const& route,
                                                      Reply& admitted);
    void give_up_job();

    // session_stream.cpp: a reply without an end
    void start_stream();
    void stream_ready(std::uint32_t events);
    void stream_expired();
    [[nodiscard]] bool take_piece();
    void end_stream();
    void leave_streams() noexcept;
    // session_rest.cpp: nothing to do for a while
    void lay_down_buffers();
    void rest();

    // session_release.cpp: what may leave
    [[nodiscard]] bool release_or_wait();
    void release_replies(Lsn durable);
    void replace_lost(Lsn durable);

    [[nodiscard]] std::string_view unread() const noexcept {
        return {buffer_.get() + begin_, size_ - begin_};
    }

    IoThread& thread_;
    HandlerMemory memory_;  // of post_turn()
    Wire wire_;
    PeerKey peer_;
    State state_{State::closed};
    unsigned pending_{};  // jobs and posted turns that will call back
    std::weak_ptr<WorkerJob> job_;
    bool gave_up_{};   // that job was too late: its reply is dropped
    bool readable_{};  // told so by the poller, and no read came out short since
    bool hung_up_{};   // the peer sends no more: reads end with 0, however short they were
    bool awaits_proxy_{}, awaits_tls_{};
    bool in_handshake_line_{};

    std::unique_ptr<char[]> buffer_;
    std::size_t capacity_{}, size_{};
    std::size_t begin_{};  // first byte that has not been run
    Guard guard_;          // of the request at begin_
    ChunkDecoder decoder_;
    std::size_t body_bytes_{};  // decoded payload, right behind the head
    std::size_t raw_end_{};     // end of the chunked body as sent, from begin_
    std::size_t body_bytes_max_{};
    bool head_ready_{}, continued_{};
    bool half_read_{};  // its head is counted as one
    enum class Clocked : std::uint8_t { none, idle, head, body, write } clocked_{Clocked::none};

    std::string out_;
    std::size_t out_at_{};       // written up to here
    BodiesApart apart_;          // between parts of it
    std::size_t written_{};      // of this output, with those
    std::vector<Mark> marks_;    // of replies that depend on the disk
    std::vector<Lease> leases_;  // of replies in the output
    Lsn highest_{};
    TimePoint now_{};
    Tick life_end_{};
    ReaderPace pace_;
    Tick reader_end_{};  // unless it keeps that
    std::size_t drained_{};
    bool close_after_write_{}, starved_{}, large_body_{};
    bool rests_{};      // after the output was written
    bool reprieved_{};  // this request has had its tick after the deadline

    std::shared_ptr<Stream> stream_;  // of the reply that is in the output, or that is sent
    Stream::Piece piece_;             // being sent
    std::size_t piece_at_{};          // written up to here
    std::size_t streamed_{};          // bytes of all pieces
    bool blocked_{};                  // the piece waits for its reader
    bool counted_{};                  // by the limits of connections
};

/// Of a job; a worker begins it, or its session gives it up before that.
enum class JobPhase : std::uint8_t { queued, begun, given_up };

/// A request that went to a worker, with everything it needs of its own.
struct WorkerJob {
    HandlerMemory memory;  // of the operation that brings it back
    std::string bytes;     // head and decoded body
    std::string id;
    FieldArray fields;
    Request request;
    Reply reply;
    Route const* route{};
    Session* session{};
    HandlerEnd end{};
    Published<JobPhase> phase{JobPhase::queued};
    std::shared_ptr<IoThread> thread;  // keeps the io_context and the session alive
};

/// In place of the reply, half made as it may be. False: there is no memory for it.
[[nodiscard]] bool answer_fault(Request const& request, Reply& reply, Fault fault) noexcept;
/// What the route says of that; one that throws has nothing at hand.
[[nodiscard]] bool is_at_hand(Route const& route, Request& request) noexcept;
/// Runs a handler into a fresh reply; one that throws becomes a 500, one that has no memory a 503.
[[nodiscard]] HandlerEnd run_handler(Route const& route, Request const& request,
                                     Reply& reply) noexcept;
/// The same of the route's admission; `admitted`: the handler may run.
[[nodiscard]] HandlerEnd run_admission(Route const& route, Request const& request, Reply& reply,
                                       bool& admitted) noexcept;
/// The same of its admission of large bodies.
[[nodiscard]] HandlerEnd run_large_body_admission(Route const& route, Request const& request,
                                                  Reply& reply, bool& admitted) noexcept;
/// The same of the router's for what reaches no handler.
[[nodiscard]] HandlerEnd run_unserved_admission(Router const& router, Request const& request,
                                                Reply& reply, bool& admitted) noexcept;
/// The same of the router's for faults; `admitted`: the fault may be answered.
[[nodiscard]] HandlerEnd run_fault_admission(Router const& router, Request const& request,
                                             Reply& reply, bool& admitted) noexcept;

}  // namespace holdfast::http
