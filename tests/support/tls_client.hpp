// A TLS client that decides itself how its bytes are cut into packets.
//
// Purpose: handshakes and requests as a browser, a trickling or a hostile client sends them.
// Thread safety: one thread. Cost: a socket; everything it waits for has a deadline of 20 s.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct ssl_ctx_st;
struct ssl_st;
struct ssl_session_st;

namespace holdfast::test {

class TlsClient {
public:
    struct Options {
        std::size_t packet_bytes{65'536};
        int version{};              // TLS1_2_VERSION, …; 0: any
        std::string protocol{};     // of ALPN; empty: none
        std::string before{};       // sent in plain, before the handshake
        ssl_session_st* session{};  // to be resumed
    };
    /// Connects; does no handshake yet.
    TlsClient(std::string const& address, Options options);
    explicit TlsClient(std::string const& address) : TlsClient(address, Options{}) {}
    ~TlsClient();
    TlsClient(TlsClient const&) = delete;
    TlsClient& operator=(TlsClient const&) = delete;

    [[nodiscard]] bool handshake();
    /// Sends only the first `bytes` of the ClientHello.
    void send_hello(std::size_t bytes);
    bool send(std::string_view text);
    /// Tells the server of new keys so many times, with nothing in between (TLS 1.3).
    bool send_key_updates(int count);
    /// The next answer with its head; empty if the connection ended before.
    [[nodiscard]] std::string answer();
    /// Everything up to the end.
    [[nodiscard]] std::string rest();
    /// After the end: whether the server said goodbye, so that nothing can have been cut off.
    [[nodiscard]] bool ended_well() const;

    [[nodiscard]] std::string chosen_protocol() const;
    [[nodiscard]] std::string peer_name() const;
    [[nodiscard]] int version() const;
    [[nodiscard]] bool resumed() const;
    /// To be freed by the caller with SSL_SESSION_free.
    [[nodiscard]] ssl_session_st* session() const;

private:
    bool flush();
    bool fill();
    bool read_more();

    Options options_;
    int socket_{-1};
    ssl_ctx_st* context_{};
    ssl_st* tls_{};
    std::string read_;
};

}  // namespace holdfast::test
