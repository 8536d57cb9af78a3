// What comes before HTTP: the header of a trusted proxy, and the handshake of TLS.
#include "http/client_address.hpp"
#include "http/session.hpp"

#include <holdfast/http/tls.hpp>

#include <cerrno>

namespace holdfast::http {

/// All of it has one time, from the connection on.
void Session::enter() {
    if (in_handshake_line_) return;
    if (awaits_proxy_ && !take_proxy_header()) return;
    if (!awaits_tls_) return begin_http();
    // Its turn comes; a crowd of handshakes must not keep requests waiting.
    in_handshake_line_ = true;
    thread_.queue_handshake(*this);
}

/// False: closed, or more of it must come.
bool Session::take_proxy_header() {
    char bytes[proxy_header_bytes_max];
    // Only a look: what stands behind the header is for TLS or for the guard.
    ssize_t const got = wire_.peek(bytes, sizeof bytes);
    if (got < 0 && errno == EAGAIN) {
        readable_ = false;
        return false;
    }
    ProxyHeader header;
    if (got > 0) header = read_proxy_header({bytes, static_cast<std::size_t>(got)});
    if (header.verdict == ProxyHeader::Verdict::need_more && !hung_up_) {
        readable_ = false;  // the poller tells when more comes
        return false;
    }
    if (header.verdict != ProxyHeader::Verdict::accepted || !become(header)) {
        close();
        return false;
    }
    return true;
}

/// From here on the connection is that of the proxy's client.
bool Session::become(ProxyHeader const& header) {
    char bytes[proxy_header_bytes_max];
    ssize_t const taken = wire_.receive_raw(bytes, header.bytes);
    if (taken != static_cast<ssize_t>(header.bytes)) return false;
    awaits_proxy_ = false;
    if (!header.client) return true;
    PeerKey const client = key_named_by(peer_, *header.client);
    if (!thread_.shared().limits.settle(client)) {
        thread_.counts().refused.add(1);
        return false;
    }
    peer_ = client;
    return true;
}

void Session::resume_handshake() {
    in_handshake_line_ = false;
    if (!wire_.secured() && !wire_.secure(*thread_.shared().identity())) return close();
    switch (wire_.handshake()) {
        case Wire::Handshake::pending:
            readable_ = false;
            return;
        case Wire::Handshake::failed:
            thread_.counts().handshakes_failed.add(1);
            return start_drain();
        case Wire::Handshake::done:
            break;
    }
    awaits_tls_ = false;
    begin_http();
}

void Session::begin_http() {
    state_ = State::reading;
    reprieved_ = false;
    readable_ = true;  // something may have come along with the last of it
    advance();
}

}  // namespace holdfast::http
