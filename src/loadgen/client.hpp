// Client: one thread, many keep-alive connections, callbacks.
//
// Purpose: what the simulated buyers stand on. A Connection carries one request at a time, connects
// when it has to, and tells what became of each request exactly once.
// Thread safety: everything of one Loop belongs to the thread that runs it.
// Invariants: a callback never runs inside the call that asked for it; a Connection may be closed
// or destroyed at any time, then an open request ends as `lost`.
// Cost: one write and about one read a request.
#pragma once

#include <holdfast/loadgen/fetch.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace holdfast::loadgen {

using Moment = std::chrono::steady_clock::time_point;

class Loop {
public:
    Loop();
    ~Loop();
    Loop(Loop const&) = delete;
    Loop& operator=(Loop const&) = delete;

    void post(std::function<void()> job);
    void after(Milliseconds delay, std::function<void()> job);
    /// `job` runs when the process is asked to stop (SIGINT, SIGTERM); until then both are ours.
    void on_stop_signal(std::function<void()> job);
    /// Until stop(); true. False: `limit` passed first.
    bool run_for(Milliseconds limit);
    void stop();

    struct State;
    [[nodiscard]] State& state() noexcept { return *state_; }

private:
    std::unique_ptr<State> state_;
};

/// What became of one request.
struct Outcome {
    bool lost{};        // no whole reply; the server may or may not have acted
    bool timed_out{};   // lost because the time was up
    bool fresh{};       // the first of its connection, which nobody may have accepted yet
    std::string error;  // if lost
    Reply reply;        // if not lost
    Moment sent{};
    Moment received{};
    [[nodiscard]] std::uint64_t latency_us() const noexcept;
};

/// The bytes of a request; `query` with Host, Content-Length and the URL's prefix.
[[nodiscard]] std::string request_bytes(Url const& url, Query const& query);

class Connection {
public:
    using Done = std::function<void(Outcome&&)>;

    Connection(Loop& loop, Url url);
    ~Connection();
    Connection(Connection&&) noexcept;
    Connection& operator=(Connection&&) noexcept;

    /// One at a time. A connection that the server closed meanwhile is opened again.
    void send(Query const& query, Milliseconds timeout, Done done);
    /// Closes; later requests go to `url`.
    void move_to(Url url);
    [[nodiscard]] bool busy() const noexcept;

    struct State;

private:
    std::shared_ptr<State> state_;
};

/// A blocking keep-alive client on a Connection of its own.
class Session {
public:
    explicit Session(Url url, Milliseconds timeout = fetch_timeout_default);
    [[nodiscard]] ResultOf<Reply, FetchError> call(Query const& query);

private:
    Loop loop_;
    Connection connection_;
    Milliseconds timeout_;
};

}  // namespace holdfast::loadgen
