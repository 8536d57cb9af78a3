#include "http/wire.hpp"

#include <holdfast/domain/limits.hpp>
#include <holdfast/http/tls.hpp>

#include <cerrno>
#include <linux/sockios.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace holdfast::http {
namespace {

bool is_later(int error) noexcept {
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

}  // namespace

/// OpenSSL's own way to a socket would raise SIGPIPE when the peer is gone, and would read on for
/// as long as records come that hold nothing for the session.
struct Wire::Records {
    static int send(BIO* bio, char const* bytes, int count) {
        BIO_clear_retry_flags(bio);
        auto const* const wire = static_cast<Wire const*>(BIO_get_data(bio));
        auto const sent =
            ::send(wire->socket_, bytes, static_cast<std::size_t>(count), MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) BIO_set_retry_write(bio);
        return static_cast<int>(sent);
    }
    static int receive(BIO* bio, char* to, int room) {
        BIO_clear_retry_flags(bio);
        auto const* const wire = static_cast<Wire const*>(BIO_get_data(bio));
        if (wire->idle_records_ > limits::idle_records_max) {
            errno = EPROTO;
            return -1;
        }
        auto const got = ::recv(wire->socket_, to, static_cast<std::size_t>(room), 0);
        if (got < 0 && errno == EAGAIN) BIO_set_retry_read(bio);
        return static_cast<int>(got);
    }
    static long control(BIO*, int command, long, void*) {
        return command == BIO_CTRL_FLUSH ? 1 : 0;
    }
    static BIO_METHOD const* method() {
        static BIO_METHOD* const made = [] {
            BIO_METHOD* const fresh =
                BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "wire");
            if (fresh == nullptr) return fresh;
            BIO_meth_set_write(fresh, send);
            BIO_meth_set_read(fresh, receive);
            BIO_meth_set_ctrl(fresh, control);
            return fresh;
        }();
        return made;
    }
    /// OpenSSL tells of the header of each record.
    static void count(int sent, int, int what, void const*, std::size_t, SSL*, void* wire) {
        if (sent != 0 || what != SSL3_RT_HEADER) return;
        ++static_cast<Wire*>(wire)->idle_records_;
        ++static_cast<Wire*>(wire)->records_;
    }
};

bool Wire::secure(TlsIdentity const& identity) noexcept {
    ERR_clear_error();
    BIO_METHOD const* const method = Records::method();
    BIO* const bio = method == nullptr ? nullptr : BIO_new(method);
    tls_ = bio == nullptr ? nullptr : SSL_new(identity.context());
    if (tls_ == nullptr) {
        BIO_free(bio);
        return false;
    }
    BIO_set_data(bio, this);
    BIO_set_init(bio, 1);
    SSL_set_bio(tls_, bio, bio);
    SSL_set_msg_callback(tls_, Records::count);
    SSL_set_msg_callback_arg(tls_, this);
    established_ = broken_ = false;
    idle_records_ = 0;
    return true;
}

Wire::Handshake Wire::handshake() noexcept {
    ERR_clear_error();
    int const result = SSL_accept(tls_);
    established_ = result == 1;
    if (established_) return Handshake::done;
    if (is_later(SSL_get_error(tls_, result))) return Handshake::pending;
    broken_ = true;
    return Handshake::failed;
}

bool Wire::tls_wants_to_write() const noexcept {
    return SSL_want_write(tls_);
}

ssize_t Wire::receive_secured(char* to, std::size_t room) noexcept {
    std::size_t all = 0;
    records_ = 0;
    do {
        ERR_clear_error();
        std::size_t got = 0;
        int const result = broken_ ? 0 : SSL_read_ex(tls_, to + all, room - all, &got);
        all += got;
        if (got != 0) idle_records_ = 0;
        if (result == 1) continue;
        int const error = broken_ ? SSL_ERROR_SSL : SSL_get_error(tls_, result);
        if (!is_later(error) && error != SSL_ERROR_ZERO_RETURN) broken_ = true;
        if (all != 0) break;  // the next call says the rest
        if (!is_later(error)) return 0;
        errno = EAGAIN;
        return -1;
    } while (all < room && records_ < limits::records_in_a_row && SSL_has_pending(tls_) == 1);
    return static_cast<ssize_t>(all);
}

ssize_t Wire::send_secured(std::string_view bytes) noexcept {
    ERR_clear_error();
    std::size_t sent = 0;
    int const result = broken_ ? 0 : SSL_write_ex(tls_, bytes.data(), bytes.size(), &sent);
    if (result == 1) return static_cast<ssize_t>(sent);
    if (!broken_ && is_later(SSL_get_error(tls_, result))) {
        errno = EAGAIN;
        return -1;
    }
    broken_ = true;
    errno = EPIPE;
    return -1;
}

bool Wire::bytes_wait() const noexcept {
    if (tls_ != nullptr && SSL_has_pending(tls_) == 1) return true;
    char byte{};
    return ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

int Wire::bytes_not_taken() const noexcept {
    int bytes = 0;
    return ::ioctl(socket_, SIOCOUTQ, &bytes) == 0 ? bytes : 0;
}

/// So that the peer can tell the end from a cut; one try, it may be gone.
void Wire::say_goodbye() noexcept {
    if (!established_ || broken_) return;
    if ((SSL_get_shutdown(tls_) & SSL_SENT_SHUTDOWN) != 0) return;
    ERR_clear_error();
    SSL_shutdown(tls_);
}

void Wire::end_sending() noexcept {
    say_goodbye();
    ::shutdown(socket_, SHUT_WR);  // the peer may be gone already; reading will tell
}

void Wire::close() noexcept {
    if (tls_ != nullptr) {
        say_goodbye();
        SSL_free(std::exchange(tls_, nullptr));
        ERR_clear_error();
    }
    established_ = broken_ = false;
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

}  // namespace holdfast::http
