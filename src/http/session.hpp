// Session: one connection.
//
// Purpose: reads requests, runs every complete one in its buffer as a batch, waits once for the
// disk and writes the replies with one call (DESIGN.md 6).
// Thread safety: its io thread only. Invariants: at most one asynchronous operation or worker job
// is pending; while one is, or while replies wait for the disk, nothing is read; bytes behind a
// refused request are never run.
// Cost: a read and a write call a batch; no allocation in the steady state.
#pragma once

#include "http/chunked.hpp"
#include "http/deadline_wheel.hpp"
#include "http/guard.hpp"
#include "http/handler_memory.hpp"
#include "http/io_thread.hpp"
#include "http/waiting_line.hpp"

#include <holdfast/http/message.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::http {

struct WorkerJob;

class Session : public Timed, public Waiting {
public:
    explicit Session(IoThread& thread) : thread_(thread), socket_(thread.context()) {}
    Session(Session const&) = delete;
    Session& operator=(Session const&) = delete;

    void open(Socket socket, PeerKey const& peer);
    void expired();            // its deadline passed
    void resume_after_disk();  // from the waiting line
    void job_done(WorkerJob& job);
    void close_if_idle();
    void close();
    [[nodiscard]] bool is_open() const noexcept { return state_ != State::closed; }
    [[nodiscard]] Lsn highest_lsn() const noexcept { return highest_; }
    [[nodiscard]] PeerKey const& peer() const noexcept { return peer_; }

private:
    enum class State : std::uint8_t { closed, reading, waiting, working, writing, draining };
    /// How a step through the buffer ended.
    enum class Progress : std::uint8_t {
        ran,      // went well; of a whole request: its reply is in the output
        starved,  // the buffer holds no complete request
        ended,    // nothing more in this batch
        working,  // a worker has the request
    };
    struct Mark {
        std::size_t reply_at{};    // in the output
        std::size_t request_at{};  // in the buffer
        Lsn lsn{};
    };

    // session_io.cpp: bytes in and out
    void continue_running();
    void read_more();
    void make_room();
    void did_read(ErrorCode error, std::size_t bytes);
    [[nodiscard]] bool write_output();
    void did_write(ErrorCode error, std::size_t bytes);
    void after_write();
    void start_drain(bool read_pending);
    void set_read_deadline();
    void operation_done();

    // session_run.cpp: requests to replies
    [[nodiscard]] Progress run_batch();
    [[nodiscard]] Progress run_next();
    [[nodiscard]] Progress scan_head(Request& request, Match& match);
    [[nodiscard]] Progress await_body();
    [[nodiscard]] Progress run_whole(Request& request, Match const& match);
    [[nodiscard]] Progress start_job(Request const& request, Route const& route);
    [[nodiscard]] bool prepare(Request& request, Match& match);
    [[nodiscard]] Fault judge_length(Request const& request, Match const& match);
    [[nodiscard]] Fault judge_media() const noexcept;
    void answer_unmatched(Request const& request, Match const& match);
    void append_reply(Request const& request, Reply const& reply);
    void consume() noexcept;
    [[nodiscard]] bool reserve_large_body() noexcept;
    void give_large_body() noexcept;
    [[nodiscard]] Progress refuse(Fault fault, Request const& request);
    [[nodiscard]] Progress refuse(Fault fault);

    // session_release.cpp: what may leave
    [[nodiscard]] bool release_or_wait();
    void release_replies(Lsn durable);
    void replace_lost(Lsn durable);

    [[nodiscard]] std::string_view unread() const noexcept {
        return {buffer_.get() + begin_, size_ - begin_};
    }

    IoThread& thread_;
    Socket socket_;
    HandlerMemory memory_;
    PeerKey peer_;
    State state_{State::closed};
    unsigned pending_{};  // operations and jobs that will call back

    std::unique_ptr<char[]> buffer_;
    std::size_t capacity_{}, size_{};
    std::size_t begin_{};  // first byte that has not been run
    Guard guard_;          // of the request at begin_
    ChunkDecoder decoder_;
    std::size_t body_bytes_{};  // decoded payload, right behind the head
    std::size_t raw_end_{};     // end of the chunked body as sent, from begin_
    std::size_t body_bytes_max_{};
    bool head_ready_{}, continued_{};
    enum class Clocked : std::uint8_t { none, idle, head, body, write } clocked_{Clocked::none};

    std::string out_;
    std::size_t out_at_{};  // written up to here
    std::size_t stalled_at_{};
    std::vector<Mark> marks_;  // of replies that depend on the disk
    Lsn highest_{};
    TimePoint now_{};
    Tick life_end_{};
    std::size_t drained_{};
    bool close_after_write_{}, starved_{}, large_body_{};
};

/// A request that went to a worker, with everything it needs of its own.
struct WorkerJob {
    std::string bytes;  // head and decoded body
    std::string id;
    FieldArray fields;
    Request request;
    Reply reply;
    Route const* route{};
    Session* session{};
    bool threw{};
    std::shared_ptr<IoThread> thread;  // keeps the io_context and the session alive
};

/// Runs a handler into a fresh reply; a handler that throws becomes a 500 and false.
[[nodiscard]] bool run_handler(Route const& route, Request const& request, Reply& reply);

}  // namespace holdfast::http
