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

#include <algorithm>
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
    /// Calls `ready`, which must not throw, whenever there is something to collect, from now on.
    void start(std::function<void()> ready);
    void stop();
    /// Calls tell(polled, events) for sockets that have become ready. One round: timers and
    /// wake-ups of the disk must not wait for a flood to end.
    template <class Tell>
    void collect(Tell tell) {
        auto const began = std::chrono::steady_clock::now();
        int const count =
            ::epoll_wait(set_.native_handle(), events_.data(), static_cast<int>(events_.size()), 0);
        for (int i = 0; i < count; ++i) {
            epoll_event const& event = events_[static_cast<std::size_t>(i)];
            tell(*static_cast<Polled*>(event.data.ptr), event.events);
        }
        auto const events = static_cast<std::size_t>(std::max(count, 0));
        meter_.round(events, events < events_.size(), std::chrono::steady_clock::now() - began);
    }

private:
    using Executor = boost::asio::io_context::executor_type;

    void wait();

    HandlerMemory memory_;
    LoadMeter& meter_;
    boost::asio::posix::basic_stream_descriptor<Executor> set_;
    std::function<void()> ready_;
    std::array<epoll_event, 128> events_;
};

}  // namespace holdfast::http
