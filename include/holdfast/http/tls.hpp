// TlsIdentity: a certificate with its chain and its key, checked as a whole.
//
// Purpose: what a Server with TLS proves itself with. TLS 1.2 and 1.3; of 1.2 only suites with
//   forward secrecy and AEAD; ALPN http/1.1; sessions are resumed by OpenSSL's tickets.
// Thread safety: const once it is loaded; any thread.
// Invariants: the key belongs to the certificate; everybody else can neither read nor write the
//   key's file. A connection keeps the identity it began with.
// Cost: load reads two files. A handshake costs an io thread one signature (an ECDSA key is some
//   ten times as fast as RSA).
#pragma once

#include <holdfast/base/result.hpp>

#include <filesystem>
#include <memory>
#include <string>

struct ssl_ctx_st;

namespace holdfast::http {

struct TlsFiles {
    std::filesystem::path certificate;  // PEM: the server's own first, then its chain
    std::filesystem::path key;          // PEM, without a passphrase
};

struct TlsFailure {
    bool of_key{};    // else of the certificate
    std::string why;  // "cannot be read: No such file or directory"
};

class TlsIdentity {
public:
    [[nodiscard]] static ResultOf<std::shared_ptr<TlsIdentity const>, TlsFailure> load(
        TlsFiles const& files);
    ~TlsIdentity();
    TlsIdentity(TlsIdentity const&) = delete;
    TlsIdentity& operator=(TlsIdentity const&) = delete;

    /// When the certificate ends, as OpenSSL prints it: "May  1 00:00:00 2027 GMT".
    [[nodiscard]] std::string const& ends() const noexcept { return ends_; }
    [[nodiscard]] ssl_ctx_st* context() const noexcept { return context_; }

private:
    TlsIdentity() = default;
    ssl_ctx_st* context_{};
    std::string ends_;
};

}  // namespace holdfast::http
