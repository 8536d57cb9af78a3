// Accepting connections, and what happens when there is no room for them.
#include "http/client_address.hpp"
#include "http/fault.hpp"
#include "http/io_thread.hpp"
#include "http/session.hpp"

#include <cerrno>
#include <fcntl.h>
#include <new>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace holdfast::http {
namespace {

constexpr int accepts_in_a_row = 64;

AddressBytes bytes_of(net::ip::address const& address) {
    if (address.is_v6()) return address.to_v6().to_bytes();
    return net::ip::make_address_v6(net::ip::v4_mapped, address.to_v4()).to_bytes();
}

/// What a connection over the limits hears.
std::string overloaded_text(ReplyWriter const& writer, std::string_view request_id) {
    Reply reply;
    Request request;
    request.request_id = request_id;
    write_fault(reply, request, Fault::overloaded);
    std::string text;
    writer.append(text, reply, ReplyStyle{false, true, request_id});
    return text;
}

bool out_of_descriptors(int error) noexcept {
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

void IoThread::accept_next() {
    if (stopping_) return;
    acceptor_.async_wait(Tcp::acceptor::wait_read, kept_in(accept_memory_, [this](ErrorCode error) {
                             if (!error) accept_waiting();
                         }));
}

void IoThread::accept_waiting() {
    current_ = nullptr;
    if (stopping_) return;
    for (int i = 0; i < accepts_in_a_row; ++i) {
        Tcp::endpoint from;
        auto length = static_cast<socklen_t>(from.capacity());
        int const socket = ::accept4(acceptor_.native_handle(), from.data(), &length,
                                     SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (socket >= 0) {
            from.resize(length);
            try {
                admit(socket, from);
            } catch (std::bad_alloc const&) {
                ::close(socket);
                return pause_accepting();  // there may be memory at the next tick
            }
            continue;
        }
        if (out_of_descriptors(errno)) {
            refuse_by_spare();
            return pause_accepting();
        }
        if (errno == EAGAIN) break;
        // Otherwise that connection went away before it was accepted.
    }
    accept_next();
}

/// Until the next tick: no spinning on a queue that stays full.
void IoThread::pause_accepting() {
    accept_paused_ = true;
    counters_.accept_pauses.add(1);
}

void IoThread::admit(int socket, Tcp::endpoint const& from) {
    AddressBytes const address = bytes_of(from.address());
    PeerKey peer = key_of(address);
    peer.trusted = shared_->options.proxies.contain(address);
    Session& session = free_session();
    if (!shared_->limits.admit(peer)) return refuse(socket);
    if (!poller_.add(socket, session)) {
        shared_->limits.leave(peer);
        return refuse(socket);
    }
    free_.pop_back();
    ++open_;
    counters_.opened.add(1);
    session.open(socket, peer);
}

Session& IoThread::free_session() {
    if (free_.empty()) {
        auto made = std::make_unique<Session>(*this);
        // So that recycle() cannot fail. By halves more, as a crowd comes one at a time.
        std::size_t const wanted = sessions_.size() + 1;
        if (free_.capacity() < wanted) free_.reserve(wanted + wanted / 2);
        sessions_.push_back(std::move(made));
        free_.push_back(sessions_.back().get());
    }
    return *free_.back();
}

void IoThread::refuse(int socket) noexcept {
    counters_.refused.add(1);
    if (shared_->options.tls != nullptr) {
        ::close(socket);  // there is no telling anything before a handshake
        return;
    }
    try {
        std::string const text = overloaded_text(writer_, make_request_id());
        // One try: a peer that does not take these few bytes just sees the end.
        [[maybe_unused]] auto const sent =
            ::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    } catch (std::bad_alloc const&) {
        // It just sees the end.
    }
    ::close(socket);
}

void IoThread::refuse_by_spare() {
    if (!spare_.is_open()) return;
    spare_ = Descriptor{};
    int const taken =
        ::accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (taken >= 0) refuse(taken);
    take_spare();
}

void IoThread::take_spare() noexcept {
    if (!spare_.is_open()) spare_ = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

}  // namespace holdfast::http
