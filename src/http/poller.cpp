#include "http/poller.hpp"

#include <algorithm>
#include <boost/system/system_error.hpp>
#include <cerrno>

namespace holdfast::http {
namespace {

int make_set() {
    int const set = ::epoll_create1(EPOLL_CLOEXEC);
    if (set >= 0) return set;
    throw boost::system::system_error{errno, boost::system::system_category(), "epoll_create1"};
}

}  // namespace

Poller::Poller(boost::asio::io_context& context, LoadMeter& meter)
    : meter_(meter), set_(context, make_set()) {}

bool Poller::add(int socket, Polled& polled) noexcept {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    event.data.ptr = &polled;
    return ::epoll_ctl(set_.native_handle(), EPOLL_CTL_ADD, socket, &event) == 0;
}

void Poller::start(std::function<void(Polled&, std::uint32_t)> tell) {
    tell_ = std::move(tell);
    wait();
}

void Poller::stop() {
    boost::system::error_code ignored;  // nothing is left that could go wrong
    set_.close(ignored);
}

void Poller::wait() {
    if (!set_.is_open()) return;
    set_.async_wait(boost::asio::posix::descriptor_base::wait_read,
                    kept_in(memory_, [this](boost::system::error_code error) {
                        if (!error) collect();
                    }));
}

void Poller::collect() {
    auto const began = std::chrono::steady_clock::now();
    // One round: timers and wake-ups of the disk must not wait for a flood to end.
    int const count =
        ::epoll_wait(set_.native_handle(), events_.data(), static_cast<int>(events_.size()), 0);
    for (int i = 0; i < count; ++i) {
        epoll_event const& event = events_[static_cast<std::size_t>(i)];
        tell_(*static_cast<Polled*>(event.data.ptr), event.events);
    }
    auto const events = static_cast<std::size_t>(std::max(count, 0));
    meter_.round(events, events < events_.size(), std::chrono::steady_clock::now() - began);
    wait();
}

}  // namespace holdfast::http
