// A server on a free loopback port, a gate and workers that the test drives, and a plain client.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/base/published.hpp>
#include <holdfast/domain/limits.hpp>
#include <holdfast/http/server.hpp>
#include <holdfast/http/stream.hpp>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace live {

using namespace holdfast;
using namespace holdfast::http;

inline constexpr std::chrono::seconds deadline{20};  // of everything a test waits for

class FakeGate final : public CommitGate {
public:
    [[nodiscard]] Lsn durable_lsn() const noexcept override { return durable.get(); }
    [[nodiscard]] bool failed() const noexcept override { return broken.get(); }
    void begin_turn() noexcept override {
        if (++open_turns != 1) unpaired.set(true);
    }
    void end_turn() noexcept override {
        if (--open_turns != 0) unpaired.set(true);
    }
    Published<Lsn> durable;
    Published<bool> broken;
    static inline thread_local int open_turns{};  // of the io thread
    Published<bool> unpaired;                     // turns were nested, or ended twice
    Published<bool> outside;                      // a POST /lsn ran outside of a turn
};

/// Keeps the jobs until the test runs them.
/// What GET /feed streams: every piece that was published, from the first on. "throw" is thrown.
class Broadcast {
public:
    void publish(std::string piece, bool last = false);
    [[nodiscard]] std::shared_ptr<Stream> open();
    [[nodiscard]] std::size_t streams() const;  // that are not destroyed

private:
    class Reader;
    mutable std::mutex mutex_;
    std::vector<Stream::Piece> pieces_;
    std::size_t streams_{};
};

class HeldWorkers final : public Workers {
public:
    [[nodiscard]] bool submit(std::function<void()> job) override;
    /// Waits for a job and runs it on the caller's thread; false if none came in time.
    bool run_one();
    Published<bool> full;
    Published<bool> poor;  // has no memory for a job

private:
    std::mutex mutex_;
    std::condition_variable came_;
    std::deque<std::function<void()>> jobs_;
};

struct Answer {
    unsigned status{};  // 0: the connection ended before an answer
    std::string head;
    std::string body;
    [[nodiscard]] std::string header(std::string_view name) const;
};

class Client {
public:
    Client();  // connects later
    explicit Client(std::string const& address) : Client() { connect(address); }
    void connect(std::string const& address);
    ~Client();
    Client(Client const&) = delete;
    Client& operator=(Client const&) = delete;
    Client(Client&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

    /// False if the peer does not take it (any more).
    bool send(std::string_view bytes);
    /// As much as the kernel takes at once.
    std::size_t send_some(std::string_view bytes);
    void end_sending();
    void reset();  // closes with RST
    /// Before it connects: the kernel keeps so little of what is not read, or as little as it can.
    void keep_little(int bytes = 1);
    /// Reads so many bytes and forgets them; false at the end.
    bool skip(std::size_t bytes);
    /// The next answer; `head_only` for answers to HEAD.
    Answer answer(bool head_only = false);
    /// Everything up to the end of the connection.
    std::string rest();
    /// Everything up to and with `end`; without it if the connection ended before.
    std::string upto(std::string_view end);
    /// True once the server closed, and nothing more was to read.
    bool closed();
    /// True if nothing came to be read within that time.
    bool silent(Milliseconds time = Milliseconds{0});

private:
    bool fill();  // reads once more; false at the end or the deadline
    int fd_{-1};
    std::string read_;
};

/// Routes: GET / · GET /stall (the io thread stands still until end_stall()) · POST /echo · POST
/// /import (large bodies from all but an X-Stranger) · POST /lsn (reply waits for the LSN in X-Lsn)
/// · GET /big · GET /throw · GET /work and POST /work (on a worker) · GET /at-hand (on one unless
/// the query is "ready"; "throw": looking throws) · DELETE /item/{id} · POST
/// /action (no body) · GET /feed (a stream of `broadcast`) · GET /shared and /shared?small (the
/// documents) · GET /who and /who/worker (for whom it counts).
struct LiveServer {
    explicit LiveServer(ServerOptions options = {});
    ~LiveServer();
    [[nodiscard]] Client connect() const { return Client{server->address()}; }
    /// Waits until the counts say so.
    bool until(std::function<bool(ServerCounts const&)> const& happened) const;

    FakeGate gate;
    HeldWorkers workers;
    RunningClock clock{TimePoint{}};
    Published<unsigned> handled;  // requests that reached a handler of an io thread
    Broadcast broadcast;
    /// More than the kernel keeps for who does not read, and little more than is copied.
    std::shared_ptr<std::string const> const document{make_document(6'000'000)};
    std::shared_ptr<std::string const> const small_document{
        make_document(limits::body_bytes_apart_min)};
    [[nodiscard]] static std::shared_ptr<std::string const> make_document(std::size_t least);
    void publish(std::string piece, bool last = false) {
        broadcast.publish(std::move(piece), last);
        server->announce();
    }
    /// Lets a GET /stall go on, now or when it comes.
    void end_stall() { stall_end_.set_value(); }
    std::promise<void> stall_end_;
    std::unique_ptr<holdfast::http::Server> server;
};

inline std::string get(std::string_view path) {
    return "GET " + std::string{path} + " HTTP/1.1\r\nHost: t.example\r\n\r\n";
}
inline std::string post(std::string_view path, std::string_view body, std::string_view more = {}) {
    return "POST " + std::string{path} +
           " HTTP/1.1\r\nHost: t.example\r\nContent-Type: application/json\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n" + std::string{more} + "\r\n" + std::string{body};
}

}  // namespace live
