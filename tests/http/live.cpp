#include "tests/http/live.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <new>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

namespace live {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// Whether `fd` has one of `events` within `limit`. A signal (a fuzzer's alarm, each few seconds)
/// only wakes it.
bool wait_for(int fd, short events, Milliseconds limit) {
    auto const end = SteadyClock::now() + limit;
    for (;;) {
        auto const left = std::chrono::ceil<Milliseconds>(end - SteadyClock::now());
        pollfd entry{fd, events, 0};
        int const ready = ::poll(&entry, 1, static_cast<int>(std::max(left.count(), 0L)));
        if (ready >= 0 || errno != EINTR) return ready == 1;
    }
}

bool wait_for(int fd, short events) {
    return wait_for(fd, events, std::chrono::duration_cast<Milliseconds>(deadline));
}

/// What became of a connect() that a signal interrupted: it goes on by itself.
int awaited_connection(int fd) {
    int error = ETIMEDOUT;
    socklen_t size = sizeof error;
    if (wait_for(fd, POLLOUT)) ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    return error;
}

void add_large_bodies(std::vector<Route>& table, LiveServer const& live) {
    Handler const import = [](Request const& request, Reply& reply) {
        reply.body = std::to_string(request.body.size());
    };
    table.push_back({Method::post, "/import", RunsOn::io, import, {}, limits::plan_body_bytes_max});
    table.back().large_body_admission = [](Request const& request, Reply& reply) {
        reply.status = 403;
        return request.field("X-Stranger").empty();
    };
    Handler const big = [](Request const&, Reply& reply) { reply.body.assign(4U << 20, 'b'); };
    Handler const shared = [&live](Request const& request, Reply& reply) {
        reply.shared_body = request.query == "small" ? live.small_document : live.document;
    };
    table.push_back({Method::get, "/big", RunsOn::io, big, {}, 0});
    table.push_back({Method::get, "/shared", RunsOn::io, shared, {}, 0});
}

void add_at_hand(std::vector<Route>& table) {
    Handler const handler = [](Request const& request, Reply& reply) {
        auto const found = std::static_pointer_cast<std::string const>(request.found);
        reply.body = found == nullptr ? "made" : *found;
    };
    table.push_back({Method::get, "/at-hand", RunsOn::worker, handler, {}, 0});
    table.back().at_hand = [](Request& request) {
        request.found = std::make_shared<std::string const>("found");
        if (request.query == "throw") throw std::runtime_error{"planted"};
        return request.query == "ready";
    };
}

std::vector<Route> routes(LiveServer& live) {
    auto const count = [&live] { live.handled.set(live.handled.get() + 1); };
    std::vector<Route> table;
    auto const add = [&](Method method, std::string pattern, RunsOn runs_on, Handler handler,
                         std::size_t body_bytes_max = 0) {
        table.push_back(
            Route{method, std::move(pattern), runs_on, std::move(handler), {}, body_bytes_max});
    };
    add(Method::get, "/", RunsOn::io, [count](Request const& request, Reply& reply) {
        count();
        reply.body.append("query=").append(request.query);
    });
    add(
        Method::post, "/echo", RunsOn::io,
        [count](Request const& request, Reply& reply) {
            count();
            reply.body.append(request.body);
        },
        limits::body_bytes_max);
    add(
        Method::post, "/lsn", RunsOn::io,
        [count, &live](Request const& request, Reply& reply) {
            if (FakeGate::open_turns != 1) live.gate.outside.set(true);
            count();
            reply.status = 201;
            reply.lsn = Lsn{std::stoull(std::string{request.field("X-Lsn")})};
            reply.body.append(request.field("X-Lsn"));
        },
        limits::body_bytes_max);
    add(Method::get, "/stall", RunsOn::io, [count, &live](Request const&, Reply&) {
        count();
        live.stall_end_.get_future().wait_for(deadline);
    });
    add(Method::get, "/throw", RunsOn::io,
        [](Request const&, Reply&) { throw std::runtime_error{"planted"}; });
    Handler const work = [](Request const& request, Reply& reply) {
        if (request.query == "throw") throw std::runtime_error{"planted"};
        if (request.query == "lsn") reply.lsn = Lsn{7};
        reply.body.append("work ").append(request.query).append(request.body);
    };
    add(Method::get, "/work", RunsOn::worker, work);
    add(Method::post, "/work", RunsOn::worker, work, limits::body_bytes_max);
    add(Method::del, "/item/{id}", RunsOn::io, [](Request const& request, Reply& reply) {
        reply.status = 204;
        reply.add_header("X-Item", request.parameters[0]);
    });
    Handler const who = [](Request const& request, Reply& reply) {
        if (request.loopback_peer) reply.body.append("loopback ");
        for (std::uint8_t const byte : request.peer)
            reply.body.append(std::to_string(byte)).append(".");
    };
    add(Method::get, "/who", RunsOn::io, who);
    add(Method::get, "/who/worker", RunsOn::worker, who);
    add(Method::post, "/action", RunsOn::io, [](Request const&, Reply&) {});
    add(Method::get, "/feed", RunsOn::io, [&live](Request const&, Reply& reply) {
        reply.content_type = "text/event-stream";
        reply.body = "hello\n";
        reply.stream = live.broadcast.open();
    });
    add_large_bodies(table, live);
    add_at_hand(table);
    return table;
}

}  // namespace

class Broadcast::Reader final : public Stream {
public:
    explicit Reader(Broadcast& from) : from_(from) {}
    ~Reader() override {
        std::lock_guard const lock{from_.mutex_};
        --from_.streams_;
    }
    Reader(Reader const&) = delete;
    Reader& operator=(Reader const&) = delete;
    [[nodiscard]] Piece next() override {
        std::lock_guard const lock{from_.mutex_};
        if (at_ >= from_.pieces_.size()) return {};
        Piece const& piece = from_.pieces_[at_++];
        if (*piece.bytes == "throw") throw std::runtime_error("a stream throws");
        return piece;
    }

private:
    Broadcast& from_;
    std::size_t at_{};
};

void Broadcast::publish(std::string piece, bool last) {
    auto bytes = std::make_shared<std::string const>(std::move(piece));
    std::lock_guard const lock{mutex_};
    pieces_.push_back({std::move(bytes), last});
}

std::shared_ptr<Stream> Broadcast::open() {
    auto reader = std::make_shared<Reader>(*this);
    std::lock_guard const lock{mutex_};
    ++streams_;
    return reader;
}

std::size_t Broadcast::streams() const {
    std::lock_guard const lock{mutex_};
    return streams_;
}

bool HeldWorkers::submit(std::function<void()> job) {
    if (poor.get()) throw std::bad_alloc();
    if (full.get()) return false;
    std::lock_guard const lock{mutex_};
    jobs_.push_back(std::move(job));
    came_.notify_one();
    return true;
}

bool HeldWorkers::run_one() {
    std::function<void()> job;
    {
        std::unique_lock lock{mutex_};
        if (!came_.wait_for(lock, deadline, [this] { return !jobs_.empty(); })) return false;
        job = std::move(jobs_.front());
        jobs_.pop_front();
    }
    job();
    return true;
}

std::string Answer::header(std::string_view name) const {
    std::string const start = "\r\n" + std::string{name} + ": ";
    std::size_t const at = head.find(start);
    if (at == head.npos) return {};
    std::size_t const begin = at + start.size();
    return head.substr(begin, head.find("\r\n", begin) - begin);
}

Client::Client() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    int const on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void Client::connect(std::string const& address) {
    std::size_t const colon = address.rfind(':');
    sockaddr_in peer{};
    peer.sin_family = AF_INET;
    peer.sin_port = htons(static_cast<std::uint16_t>(std::stoul(address.substr(colon + 1))));
    ::inet_pton(AF_INET, address.substr(0, colon).c_str(), &peer.sin_addr);
    sockaddr generic{};
    static_assert(sizeof generic == sizeof peer);
    std::copy_n(reinterpret_cast<char const*>(&peer), sizeof peer,
                reinterpret_cast<char*>(&generic));
    int error = ::connect(fd_, &generic, sizeof generic) == 0 ? 0 : errno;
    if (error == EINTR) error = awaited_connection(fd_);
    if (error != 0) throw std::system_error{error, std::generic_category(), "connect " + address};
}

Client::~Client() {
    if (fd_ >= 0) ::close(fd_);
}

bool Client::send(std::string_view bytes) {
    while (!bytes.empty()) {
        if (!wait_for(fd_, POLLOUT)) return false;
        auto const sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

std::size_t Client::send_some(std::string_view bytes) {
    std::size_t all = 0;
    while (all < bytes.size()) {
        auto const sent =
            ::send(fd_, bytes.data() + all, bytes.size() - all, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent <= 0) break;
        all += static_cast<std::size_t>(sent);
    }
    return all;
}

void Client::end_sending() {
    ::shutdown(fd_, SHUT_WR);
}

void Client::reset() {
    linger const hard{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    ::close(std::exchange(fd_, -1));
}

void Client::keep_little(int bytes) {
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

bool Client::skip(std::size_t bytes) {
    std::string unwanted(bytes, '\0');
    for (std::size_t got = 0; got < bytes;) {
        if (!wait_for(fd_, POLLIN)) return false;
        auto const some = ::recv(fd_, unwanted.data(), bytes - got, 0);
        if (some <= 0) return false;
        got += static_cast<std::size_t>(some);
    }
    return true;
}

bool Client::fill() {
    if (!wait_for(fd_, POLLIN)) return false;
    char bytes[65'536];
    auto const got = ::recv(fd_, bytes, sizeof bytes, 0);
    if (got <= 0) return false;
    read_.append(bytes, static_cast<std::size_t>(got));
    return true;
}

Answer Client::answer(bool head_only) {
    Answer answer;
    std::size_t end = read_.find("\r\n\r\n");
    while (end == read_.npos) {
        if (!fill()) return answer;
        end = read_.find("\r\n\r\n");
    }
    answer.head = read_.substr(0, end + 2);
    answer.status = static_cast<unsigned>(std::stoul(answer.head.substr(9, 3)));
    std::string const length = answer.header("Content-Length");
    std::size_t const body = head_only || length.empty() ? 0 : std::stoul(length);
    while (read_.size() < end + 4 + body) {
        if (!fill()) return Answer{};
    }
    answer.body = read_.substr(end + 4, body);
    read_.erase(0, end + 4 + body);
    return answer;
}

std::string Client::rest() {
    while (fill()) {
    }
    return std::exchange(read_, {});
}

std::string Client::upto(std::string_view end) {
    std::size_t at = read_.find(end);
    while (at == read_.npos) {
        if (!fill()) return std::exchange(read_, {});
        at = read_.find(end);
    }
    std::string const found = read_.substr(0, at + end.size());
    read_.erase(0, found.size());
    return found;
}

bool Client::closed() {
    if (!read_.empty() || !wait_for(fd_, POLLIN)) return false;
    char byte{};
    return ::recv(fd_, &byte, 1, 0) <= 0;
}

bool Client::silent(Milliseconds time) {
    return read_.empty() && !wait_for(fd_, POLLIN, time);
}

std::shared_ptr<std::string const> LiveServer::make_document(std::size_t least) {
    std::string text;
    for (int line = 0; text.size() < least; ++line) text += std::to_string(line) + "\n";
    return std::make_shared<std::string const>(std::move(text));
}

LiveServer::LiveServer(ServerOptions options) {
    options.listen = "127.0.0.1:0";
    server = std::make_unique<holdfast::http::Server>(options, Router{routes(*this)}, gate, workers,
                                                      clock);
    server->start();
}

LiveServer::~LiveServer() {
    if (server) server->stop(Milliseconds{0});
}

bool LiveServer::until(std::function<bool(ServerCounts const&)> const& happened) const {
    auto const end = SteadyClock::now() + deadline;
    while (SteadyClock::now() < end) {
        if (happened(server->counts())) return true;
        std::this_thread::yield();
    }
    return false;
}

}  // namespace live
