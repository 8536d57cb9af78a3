#include "loadgen/client.hpp"

#include "loadgen/response_reader.hpp"

#include <holdfast/base/assert.hpp>

#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <csignal>

namespace holdfast::loadgen {

namespace net = boost::asio;
using boost::system::error_code;
using net::ip::tcp;

struct Loop::State {
    net::io_context context{1};
    net::signal_set signals{context};
};

Loop::Loop() : state_(std::make_unique<State>()) {}
Loop::~Loop() = default;

void Loop::post(std::function<void()> job) {
    net::post(state_->context, std::move(job));
}

void Loop::after(Milliseconds delay, std::function<void()> job) {
    auto timer = std::make_shared<net::steady_timer>(state_->context, delay);
    timer->async_wait([timer, job = std::move(job)](error_code ec) {
        if (!ec) job();
    });
}

void Loop::on_stop_signal(std::function<void()> job) {
    error_code ignored;  // a signal that cannot be caught keeps its default effect
    state_->signals.add(SIGINT, ignored);
    state_->signals.add(SIGTERM, ignored);
    state_->signals.async_wait([job = std::move(job)](error_code ec, int) {
        if (!ec) job();
    });
}

bool Loop::run_for(Milliseconds limit) {
    state_->context.restart();
    state_->context.run_for(limit);
    return state_->context.stopped();
}

void Loop::stop() {
    state_->context.stop();
}

std::uint64_t Outcome::latency_us() const noexcept {
    auto const passed = std::chrono::duration_cast<std::chrono::microseconds>(received - sent);
    return static_cast<std::uint64_t>(passed.count());
}

std::string request_bytes(Url const& url, Query const& query) {
    bool const v6 = url.host.find(':') != std::string::npos;
    std::string out;
    out.reserve(256 + query.body.size());
    out.append(query.method).append(" ").append(url.prefix).append(query.target);
    out.append(" HTTP/1.1\r\nHost: ").append(v6 ? "[" + url.host + "]" : url.host);
    out.append(":").append(std::to_string(url.port)).append("\r\n");
    for (auto const& [name, value] : query.fields) {
        out.append(name).append(": ").append(value).append("\r\n");
    }
    if (!query.body.empty() || query.method == "POST" || query.method == "PUT") {
        out.append("Content-Length: ").append(std::to_string(query.body.size())).append("\r\n");
    }
    out.append("\r\n").append(query.body);
    return out;
}

// Each request has a number; a handler that comes back with an older one has nothing to say.
struct Connection::State : std::enable_shared_from_this<Connection::State> {
    State(net::io_context& the_context, Url the_url)
        : context(the_context), socket(the_context), timer(the_context), url(std::move(the_url)) {}

    net::io_context& context;
    tcp::socket socket;
    net::steady_timer timer;
    Url url;
    bool connected{};
    bool fresh{};            // nothing was answered on this connection yet
    std::uint64_t number{};  // of the open request
    Done done;               // empty: idle
    std::string bytes;
    Moment sent{};
    ResponseReader reader;
    std::array<char, 16 * 1'024> buffer;

    void start(Milliseconds timeout);
    void connect();
    void write();
    void read();
    void finish();
    void lose(std::string why, bool timed_out = false);
    void close();
    /// The server may have closed an idle connection: ask before a request is risked on it.
    [[nodiscard]] bool stale();
};

void Connection::State::start(Milliseconds timeout) {
    auto const mine = ++number;
    reader.reset();
    timer.expires_after(timeout);
    timer.async_wait([self = shared_from_this(), mine, timeout](error_code ec) {
        if (ec || mine != self->number || !self->done) return;
        self->lose("no answer within " + std::to_string(timeout.count()) + " ms", true);
    });
    if (connected && stale()) close();
    if (connected) {
        write();
    } else {
        connect();
    }
}

bool Connection::State::stale() {
    error_code ec;
    socket.non_blocking(true, ec);
    char byte = 0;
    if (!ec) socket.receive(net::buffer(&byte, 1), tcp::socket::message_peek, ec);
    // Nothing to read is what an idle connection should say; data, an end or an error is not.
    return ec != net::error::would_block;
}

void Connection::State::connect() {
    fresh = true;
    error_code ec;
    tcp::resolver resolver(context);
    auto const found = resolver.resolve(url.host, std::to_string(url.port), ec);
    if (ec) {
        lose("cannot find the host " + url.host + ": " + ec.message());
        return;
    }
    net::async_connect(socket, found,
                       [self = shared_from_this(), mine = number](error_code failed, auto const&) {
                           if (mine != self->number || !self->done) return;
                           if (failed) {
                               self->lose("cannot connect: " + failed.message());
                               return;
                           }
                           error_code ignored;  // only speed is at stake
                           self->socket.set_option(tcp::no_delay(true), ignored);
                           self->connected = true;
                           self->write();
                       });
}

void Connection::State::write() {
    sent = std::chrono::steady_clock::now();
    net::async_write(
        socket, net::buffer(bytes),
        [self = shared_from_this(), mine = number](error_code ec, std::size_t) {
            if (mine != self->number || !self->done) return;
            // After a refusal the server may close before it has read everything, and
            // its answer still waits to be read.
            if (ec && ec != net::error::broken_pipe && ec != net::error::connection_reset) {
                self->lose("cannot write: " + ec.message());
                return;
            }
            self->read();
        });
}

void Connection::State::read() {
    socket.async_read_some(net::buffer(buffer), [self = shared_from_this(), mine = number](
                                                    error_code ec, std::size_t size) {
        if (mine != self->number || !self->done) return;
        if (ec) {
            self->lose("the connection ended before the reply: " + ec.message());
            return;
        }
        auto const taken = self->reader.feed({self->buffer.data(), size});
        using Progress = ResponseReader::Progress;
        if (self->reader.progress() == Progress::more) {
            self->read();
        } else if (self->reader.progress() == Progress::bad) {
            self->lose("bad reply: " + self->reader.error());
        } else if (taken != size) {
            self->lose("bad reply: more bytes than its Content-Length says");
        } else {
            self->finish();
        }
    });
}

void Connection::State::finish() {
    timer.cancel();
    if (!reader.keep_alive()) close();
    Outcome outcome;
    outcome.fresh = std::exchange(fresh, false);
    outcome.reply = reader.take();
    outcome.sent = sent;
    outcome.received = std::chrono::steady_clock::now();
    auto const call = std::exchange(done, {});
    call(std::move(outcome));
}

void Connection::State::lose(std::string why, bool timed_out) {
    timer.cancel();
    close();
    if (!done) return;
    ++number;
    Outcome outcome;
    outcome.lost = true;
    outcome.fresh = fresh;
    outcome.timed_out = timed_out;
    outcome.error = std::move(why);
    outcome.sent = sent;
    outcome.received = std::chrono::steady_clock::now();
    net::post(context, [call = std::exchange(done, {}), outcome = std::move(outcome)]() mutable {
        call(std::move(outcome));
    });
}

void Connection::State::close() {
    error_code ignored;  // whatever it says, the socket is closed afterwards
    socket.close(ignored);
    connected = false;
}

Connection::Connection(Loop& loop, Url url)
    : state_(std::make_shared<State>(loop.state().context, std::move(url))) {}

Connection::~Connection() {
    if (!state_) return;
    state_->done = {};
    state_->timer.cancel();
    state_->close();
}

Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&&) noexcept = default;

void Connection::send(Query const& query, Milliseconds timeout, Done done) {
    HOLDFAST_ASSERT(!busy());
    state_->bytes = request_bytes(state_->url, query);
    state_->done = std::move(done);
    state_->start(timeout);
}

void Connection::move_to(Url url) {
    state_->lose("the client moved to another address");
    state_->url = std::move(url);
}

bool Connection::busy() const noexcept {
    return static_cast<bool>(state_->done);
}

}  // namespace holdfast::loadgen
