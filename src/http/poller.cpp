#include "http/poller.hpp"

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

void Poller::start(std::function<void()> ready) {
    ready_ = std::move(ready);
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
                        if (error) return;
                        ready_();
                        wait();
                    }));
}

}  // namespace holdfast::http
