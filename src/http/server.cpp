#include "http/io_thread.hpp"
#include "http/session.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/base/published.hpp>
#include <holdfast/domain/limits.hpp>
#include <holdfast/http/server.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <system_error>
#include <thread>

namespace holdfast::http {
namespace {

[[noreturn]] void bad_address(std::string const& text) {
    throw std::system_error{std::make_error_code(std::errc::invalid_argument),
                            "listen address " + text + " is not ADDR:PORT or [v6]:PORT"};
}

Tcp::endpoint parse_endpoint(std::string const& text) {
    std::size_t const colon = text.rfind(':');
    if (colon == text.npos) bad_address(text);
    std::string_view host = std::string_view{text}.substr(0, colon);
    std::string_view const port = std::string_view{text}.substr(colon + 1);
    bool const bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) host = host.substr(1, host.size() - 2);
    std::uint16_t number{};
    auto const [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (error != std::errc{} || end != port.data() + port.size()) bad_address(text);
    ErrorCode failed;
    auto const address = net::ip::make_address(std::string{host}, failed);
    if (failed || address.is_v6() != bracketed) bad_address(text);
    return Tcp::endpoint{address, number};
}

std::string to_text(Tcp::endpoint const& endpoint) {
    std::string const address = endpoint.address().to_string();
    std::string const port = std::to_string(endpoint.port());
    return endpoint.address().is_v6() ? "[" + address + "]:" + port : address + ":" + port;
}

/// SO_REUSEPORT would let a second server of the same user share the port unnoticed.
void check_port_is_free(Tcp::endpoint const& endpoint) {
    net::io_context context{1};
    Acceptor probe{context};
    probe.open(endpoint.protocol());
    probe.set_option(Tcp::acceptor::reuse_address(true));
    probe.bind(endpoint);
    probe.listen(1);
}

/// Without the v6 clothes of a v4 address.
net::ip::address unmapped(net::ip::address const& address) {
    if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
    return net::ip::make_address_v4(net::ip::v4_mapped, address.to_v6());
}

/// Whether who listens at `all` has `one` as well. `[::]` has v4 too: that is left to the system,
/// and Linux has it so unless net.ipv6.bindv6only says otherwise.
bool takes_in(net::ip::address const& all, net::ip::address const& one) {
    return all == one || (all.is_unspecified() && (all.is_v6() || one.is_v4()));
}

}  // namespace

struct Server::State {
    std::shared_ptr<Shared> shared;
    std::vector<std::shared_ptr<IoThread>> io;
    std::vector<std::thread> threads;
    std::string address;
    bool stopped{};
    std::mutex mutex;  // of `drained`
    std::condition_variable changed;
    std::vector<bool> drained;

    State(ServerOptions const& options, Router router, CommitGate& gate, Workers& workers,
          Clock const& clock)
        : shared(std::make_shared<Shared>(options, std::move(router), gate, workers, clock)),
          drained(options.threads, false) {
        HOLDFAST_ASSERT(options.threads >= 1);
        HOLDFAST_ASSERT(options.threads <= limits::threads_max);
        Tcp::endpoint endpoint = parse_endpoint(options.listen);
        bool const several = options.threads > 1;
        if (several && endpoint.port() != 0) check_port_is_free(endpoint);
        for (unsigned number = 0; number < options.threads; ++number) {
            auto on_drained = [this, number] {
                std::lock_guard const lock{mutex};
                drained[number] = true;
                changed.notify_all();
            };
            io.push_back(std::make_shared<IoThread>(shared, number, on_drained));
            io.back()->listen(endpoint, several);
            endpoint = io.front()->endpoint();  // port 0 became a real one
        }
        address = to_text(endpoint);
    }

    bool all_drained() const {
        for (bool const one : drained) {
            if (!one) return false;
        }
        return true;
    }
};

ReservedAddress::ReservedAddress(std::string const& listen) {
    Tcp::endpoint endpoint = parse_endpoint(listen);
    try {
        net::io_context context{1};
        Acceptor socket{context};
        socket.open(endpoint.protocol());
        socket.set_option(Tcp::acceptor::reuse_address(true));
        socket.bind(endpoint);
        endpoint = socket.local_endpoint();
        // Asio's own goes with the context.
        socket_ = Descriptor(::fcntl(socket.native_handle(), F_DUPFD_CLOEXEC, 0));
        if (!socket_.is_open())
            throw boost::system::system_error(errno, net::error::get_system_category());
    } catch (boost::system::system_error const& error) {
        throw std::system_error{std::error_code{error.code()}, "listening at " + listen};
    }
    address_ = to_text(endpoint);
}

bool addresses_overlap(std::string const& one, std::string const& other) {
    Tcp::endpoint const first = parse_endpoint(one);
    Tcp::endpoint const second = parse_endpoint(other);
    if (first.port() != second.port() || first.port() == 0) return false;
    auto const here = unmapped(first.address());
    auto const there = unmapped(second.address());
    return takes_in(here, there) || takes_in(there, here);
}

Server::Server(ServerOptions const& options, Router router, CommitGate& gate, Workers& workers,
               Clock const& clock) {
    try {
        state_ = std::make_unique<State>(options, std::move(router), gate, workers, clock);
    } catch (boost::system::system_error const& error) {
        throw std::system_error{std::error_code{error.code()}, "listening at " + options.listen};
    }
}

Server::~Server() {
    stop(Milliseconds{0});
}

void Server::start() {
    HOLDFAST_ASSERT(state_->threads.empty());
    HOLDFAST_ASSERT(!state_->stopped);
    state_->threads.reserve(state_->io.size());
    try {
        for (std::size_t number = 0; number < state_->io.size(); ++number) {
            auto const io = state_->io[number];
            io->begin();
            state_->threads.emplace_back([io] { io->run(); });
            std::string const name = "io-" + std::to_string(number);
            pthread_setname_np(state_->threads.back().native_handle(), name.c_str());
        }
    } catch (...) {
        stop(Milliseconds{0});  // one that never ran would be waited for
        throw;
    }
}

std::string Server::address() const {
    return state_->address;
}

void Server::wake() noexcept {
    for (auto const& io : state_->io) io->wake();
}

void Server::announce() noexcept {
    auto& news = state_->shared->stream_news;
    news.set(news.get() + 1);
}

void Server::set_identity(std::shared_ptr<TlsIdentity const> identity) {
    HOLDFAST_ASSERT(state_->shared->options.tls != nullptr);
    HOLDFAST_ASSERT(identity != nullptr);
    state_->shared->set_identity(std::move(identity));
}

void Server::stop(Milliseconds grace) {
    if (state_->stopped) return;
    state_->stopped = true;
    if (!state_->threads.empty() && grace.count() > 0) {
        for (auto const& io : state_->io) io->request_stop();
        std::unique_lock lock{state_->mutex};
        state_->changed.wait_for(lock, grace, [this] { return state_->all_drained(); });
    }
    for (auto const& io : state_->io) io->request_abort();
    for (std::thread& thread : state_->threads) thread.join();
    state_->threads.clear();
}

std::chrono::microseconds Server::io_wait() const noexcept {
    std::chrono::microseconds longest{0};
    for (auto const& io : state_->io) longest = std::max(longest, io->io_wait());
    return longest;
}

ServerCounts Server::counts() const noexcept {
    ServerCounts sum;
    for (auto const& io : state_->io) io->counters().add_to(sum);
    return sum;
}

}  // namespace holdfast::http
