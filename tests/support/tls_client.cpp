#include "tests/support/tls_client.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace holdfast::test {
namespace {

constexpr int patience_ms = 20'000;

int socket_to(std::string const& address) {
    std::size_t const colon = address.rfind(':');
    sockaddr_in peer{};
    peer.sin_family = AF_INET;
    peer.sin_port = htons(static_cast<std::uint16_t>(std::stoul(address.substr(colon + 1))));
    ::inet_pton(AF_INET, address.substr(0, colon).c_str(), &peer.sin_addr);
    int const made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int const on = 1;
    ::setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr generic{};
    std::copy_n(reinterpret_cast<char const*>(&peer), sizeof peer,
                reinterpret_cast<char*>(&generic));
    if (::connect(made, &generic, sizeof generic) != 0) throw std::runtime_error{"connect"};
    return made;
}

bool send_plain(int socket, std::string_view bytes, std::size_t packet) {
    while (!bytes.empty()) {
        auto const sent =
            ::send(socket, bytes.data(), std::min(packet, bytes.size()), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

std::string taken_from(BIO* memory) {
    std::string bytes(BIO_ctrl_pending(memory), '\0');
    if (bytes.empty()) return bytes;
    BIO_read(memory, bytes.data(), static_cast<int>(bytes.size()));
    return bytes;
}

}  // namespace

TlsClient::TlsClient(std::string const& address, Options options)
    : options_(std::move(options)),
      socket_(socket_to(address)),
      context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_CLIENT);
    if (options_.version != 0) {
        SSL_CTX_set_security_level(context_, 0);  // so that it may ask for an old one
        SSL_CTX_set_min_proto_version(context_, options_.version);
        SSL_CTX_set_max_proto_version(context_, options_.version);
    }
    tls_ = SSL_new(context_);
    SSL_set_bio(tls_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    if (!options_.protocol.empty()) {
        std::string const wire = static_cast<char>(options_.protocol.size()) + options_.protocol;
        SSL_set_alpn_protos(tls_, reinterpret_cast<unsigned char const*>(wire.data()),
                            static_cast<unsigned>(wire.size()));
    }
    if (options_.session != nullptr) SSL_set_session(tls_, options_.session);
    SSL_set_connect_state(tls_);
    send_plain(socket_, options_.before, options_.packet_bytes);
}

TlsClient::~TlsClient() {
    SSL_free(tls_);
    SSL_CTX_free(context_);
    ::close(socket_);
}

bool TlsClient::flush() {
    return send_plain(socket_, taken_from(SSL_get_wbio(tls_)), options_.packet_bytes);
}

bool TlsClient::fill() {
    pollfd entry{socket_, POLLIN, 0};
    if (::poll(&entry, 1, patience_ms) != 1) return false;
    char bytes[65'536];
    auto const got = ::recv(socket_, bytes, sizeof bytes, 0);
    if (got <= 0) return false;
    return BIO_write(SSL_get_rbio(tls_), bytes, static_cast<int>(got)) == got;
}

bool TlsClient::handshake() {
    for (;;) {
        int const result = SSL_do_handshake(tls_);
        flush();
        if (result == 1) return true;
        if (SSL_get_error(tls_, result) != SSL_ERROR_WANT_READ || !fill()) return false;
    }
}

void TlsClient::send_hello(std::size_t bytes) {
    SSL_do_handshake(tls_);
    std::string const hello = taken_from(SSL_get_wbio(tls_));
    send_plain(socket_, std::string_view{hello}.substr(0, bytes), options_.packet_bytes);
}

bool TlsClient::send(std::string_view text) {
    std::size_t written = 0;
    bool const taken = SSL_write_ex(tls_, text.data(), text.size(), &written) == 1;
    return taken && written == text.size() && flush();
}

bool TlsClient::send_key_updates(int count) {
    for (int i = 0; i < count; ++i) {
        if (SSL_key_update(tls_, SSL_KEY_UPDATE_NOT_REQUESTED) != 1) return false;
        if (SSL_do_handshake(tls_) != 1) return false;
    }
    return flush();
}

bool TlsClient::read_more() {
    for (;;) {
        char bytes[65'536];
        std::size_t got = 0;
        int const result = SSL_read_ex(tls_, bytes, sizeof bytes, &got);
        read_.append(bytes, got);
        if (result == 1) return true;
        if (SSL_get_error(tls_, result) != SSL_ERROR_WANT_READ || !fill()) return false;
    }
}

std::string TlsClient::answer() {
    std::size_t end = read_.find("\r\n\r\n");
    while (end == read_.npos) {
        if (!read_more()) return {};
        end = read_.find("\r\n\r\n");
    }
    std::string const name = "\r\nContent-Length: ";
    std::size_t const length = read_.substr(0, end).find(name);
    std::size_t const body =
        length == read_.npos ? 0 : std::stoul(read_.substr(length + name.size(), 20));
    while (read_.size() < end + 4 + body) {
        if (!read_more()) return {};
    }
    std::string answer = read_.substr(0, end + 4 + body);
    read_.erase(0, answer.size());
    return answer;
}

std::string TlsClient::rest() {
    while (read_more()) {
    }
    return std::exchange(read_, {});
}

bool TlsClient::ended_well() const {
    return (SSL_get_shutdown(tls_) & SSL_RECEIVED_SHUTDOWN) != 0;
}

std::string TlsClient::chosen_protocol() const {
    unsigned char const* name = nullptr;
    unsigned bytes = 0;
    SSL_get0_alpn_selected(tls_, &name, &bytes);
    return name == nullptr ? std::string{}
                           : std::string{reinterpret_cast<char const*>(name), bytes};
}

std::string TlsClient::peer_name() const {
    X509 const* const certificate = SSL_get0_peer_certificate(tls_);
    if (certificate == nullptr) return {};
    char name[256]{};
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name,
                              sizeof name);
    return name;
}

int TlsClient::version() const {
    return SSL_version(tls_);
}

bool TlsClient::resumed() const {
    return SSL_session_reused(tls_) == 1;
}

ssl_session_st* TlsClient::session() const {
    return SSL_get1_session(tls_);
}

}  // namespace holdfast::test
