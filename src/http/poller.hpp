// Poller: tells the sessions of one io thread that their sockets are ready.
//
// Purpose: an epoll set of its own behind one Asio descriptor. Asio 1.26 tries every read before
// it waits, which costs a second recv for each request, and runs each readiness as a queued
// operation; here a request costs one recv, one send and its share of an epoll_wait.
// Thread safety: one io thread. Invariants: edge-triggered, so whoever is told must remember it
// until a read or write came out short; the kernel forgets a socket when it is closed.
// Cost: three system calls for up to 128 ready sockets.
#pragma once

#include "http/handler_memory.hpp"
#include "http/load_meter.hpp"

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <cstdint>
#include <functional>
#include <sys/epoll.h>

namespace holdfast::http {

/// Base of what has a socket in the set.
class Polled {
public:
    /// `events` as epoll_wait gives them.
    virtual void ready(std::uint32_t events) = 0;

protected:
    ~Polled() = default;
};

class Poller {
public:
    /// Throws boost::system::system_error.
    Poller(boost::asio::io_context& context, LoadMeter& meter);
    /// False if the kernel has no room for it.
    [[nodiscard]] bool add(int socket, Polled& polled) noexcept;
    /// Calls tell(polled, events) for every socket that becomes ready, from now on; `tell` must
    /// not throw.
    void start(std::function<void(Polled&, std::uint32_t)> tell);
    void stop();

private:
    using Executor = boost::asio::io_context::executor_type;

    void wait();
    void collect();

    HandlerMemory memory_;
    LoadMeter& meter_;
    boost::asio::posix::basic_stream_descriptor<Executor> set_;
    std::function<void(Polled&, std::uint32_t)> tell_;
    std::array<epoll_event, 128> events_;
};

}  // namespace holdfast::http
