// Wire: the socket of a session, plain or under TLS.
//
// Purpose: the one seam between a session and its bytes. Non-blocking; errors as those of recv and
// send. Thread safety: its io thread. Invariants: its address does not change while it is open; a
// peer that only sends what says nothing (new keys, empty records) is cut off soon.
// Cost: of a plain one a branch each recv and send; of a secured one some 10 KiB while it is busy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <sys/socket.h>
#include <sys/types.h>

struct ssl_st;

namespace holdfast::http {

class TlsIdentity;

class Wire {
public:
    enum class Handshake : std::uint8_t { pending, done, failed };

    Wire() = default;
    ~Wire() { close(); }
    Wire(Wire const&) = delete;
    Wire& operator=(Wire const&) = delete;

    void open(int socket) noexcept { socket_ = socket; }
    /// From here on bytes are under TLS; false for want of memory.
    [[nodiscard]] bool secure(TlsIdentity const& identity) noexcept;
    [[nodiscard]] bool secured() const noexcept { return tls_ != nullptr; }
    /// One step, as far as the bytes go.
    [[nodiscard]] Handshake handshake() noexcept;
    /// The last step waits until the peer takes bytes.
    [[nodiscard]] bool wants_to_write() const noexcept {
        return tls_ != nullptr && tls_wants_to_write();
    }

    /// Over 0: so many bytes. 0: the peer sends no more. -1 with EAGAIN: later. Under TLS more may
    /// have come than `room` tells: ask until EAGAIN.
    [[nodiscard]] ssize_t receive(char* to, std::size_t room) noexcept {
        return tls_ == nullptr ? ::recv(socket_, to, room, 0) : receive_secured(to, room);
    }
    [[nodiscard]] ssize_t send(std::string_view bytes) noexcept {
        return tls_ == nullptr ? ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL)
                               : send_secured(bytes);
    }
    /// What was received stays to be received: for what comes before TLS.
    [[nodiscard]] ssize_t peek(char* to, std::size_t room) const noexcept {
        return ::recv(socket_, to, room, MSG_PEEK);
    }
    /// As it comes from the network; for bytes that nobody wants, and for what was peeked at.
    [[nodiscard]] ssize_t receive_raw(char* to, std::size_t room) noexcept {
        return ::recv(socket_, to, room, 0);
    }
    /// Whether anything has come.
    [[nodiscard]] bool bytes_wait() const noexcept;
    /// How much the kernel keeps for a peer that does not read.
    void keep_unsent(int bytes) noexcept {
        ::setsockopt(socket_, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    }
    /// What was sent and the peer has not taken; under TLS with what that adds.
    [[nodiscard]] int bytes_not_taken() const noexcept;
    void end_sending() noexcept;
    void close() noexcept;

private:
    [[nodiscard]] ssize_t receive_secured(char* to, std::size_t room) noexcept;
    [[nodiscard]] ssize_t send_secured(std::string_view bytes) noexcept;
    [[nodiscard]] bool tls_wants_to_write() const noexcept;
    void say_goodbye() noexcept;
    struct Records;  // how OpenSSL meets the socket

    int socket_{-1};
    ssl_st* tls_{};
    bool established_{}, broken_{};
    // Records that came since the last byte for the session, and in this receive().
    unsigned idle_records_{}, records_{};
};

}  // namespace holdfast::http
