#include <holdfast/base/descriptor.hpp>
#include <holdfast/http/tls.hpp>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace holdfast::http {
namespace {

constexpr off_t pem_bytes_max = 1 << 20;
constexpr std::string_view only_protocol = "\x08http/1.1";  // as ALPN writes it

using Memory = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

/// What OpenSSL complained of first.
std::string reason() {
    unsigned long const error = ERR_peek_error();
    char const* const text = error == 0 ? nullptr : ERR_reason_error_string(error);
    ERR_clear_error();
    return text == nullptr ? "unknown error" : text;
}

struct PemText {
    std::string text;
    bool open_to_all{};
};

ResultOf<PemText, TlsFailure> read_pem(std::filesystem::path const& file, bool of_key) {
    // O_NONBLOCK: a pipe in the place of the file must not stop the start for ever.
    Descriptor const in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!in.is_open())
        return TlsFailure{of_key, std::string{"cannot be read: "} + std::strerror(errno)};
    struct stat status{};
    PemText result;
    bool const acceptable = ::fstat(in.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                            status.st_size <= pem_bytes_max;
    bool whole = false;
    if (acceptable) {
        result.open_to_all = (status.st_mode & (S_IROTH | S_IWOTH)) != 0;
        result.text.resize(static_cast<std::size_t>(status.st_size));
        whole = ::pread(in.get(), result.text.data(), result.text.size(), 0) == status.st_size;
    }
    if (!acceptable) return TlsFailure{of_key, "is no regular file of at most 1 MiB"};
    if (!whole) return TlsFailure{of_key, "cannot be read"};
    return result;
}

Memory in_memory(std::string const& text) {
    return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free};
}

/// A key with a passphrase is refused; OpenSSL's own way would ask on the terminal.
int no_passphrase(char*, int, int, void*) {
    return -1;
}

std::optional<std::string> use_chain(SSL_CTX* context, std::string const& text) {
    Memory const memory = in_memory(text);
    Certificate own{PEM_read_bio_X509_AUX(memory.get(), nullptr, no_passphrase, nullptr),
                    &X509_free};
    if (own == nullptr) {
        ERR_clear_error();
        return "holds no certificate in PEM form";
    }
    if (SSL_CTX_use_certificate(context, own.get()) != 1) return reason();
    for (;;) {
        Certificate next{PEM_read_bio_X509(memory.get(), nullptr, no_passphrase, nullptr),
                         &X509_free};
        if (next == nullptr) break;
        if (SSL_CTX_add0_chain_cert(context, next.get()) != 1) return reason();
        static_cast<void>(next.release());  // the context's now
    }
    bool const at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    ERR_clear_error();
    if (!at_end) return "a certificate of its chain cannot be read";
    return {};
}

std::optional<std::string> use_key(SSL_CTX* context, std::string const& text) {
    Memory const memory = in_memory(text);
    Key const key{PEM_read_bio_PrivateKey(memory.get(), nullptr, no_passphrase, nullptr),
                  &EVP_PKEY_free};
    if (key == nullptr) {
        ERR_clear_error();
        return "holds no private key in PEM form without a passphrase";
    }
    // A key of the certificate's own kind is compared here, others below.
    if (SSL_CTX_use_PrivateKey(context, key.get()) == 1 && SSL_CTX_check_private_key(context) == 1)
        return {};
    ERR_clear_error();
    return "is not the key of the certificate";
}

int choose_protocol(SSL*, unsigned char const** chosen, unsigned char* chosen_bytes,
                    unsigned char const* offered, unsigned offered_bytes, void*) {
    auto const* const ours = reinterpret_cast<unsigned char const*>(only_protocol.data());
    unsigned char* found = nullptr;
    int const result =
        SSL_select_next_proto(&found, chosen_bytes, ours,
                              static_cast<unsigned>(only_protocol.size()), offered, offered_bytes);
    if (result != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

std::optional<std::string> set_rules(SSL_CTX* context) {
    SSL_CTX_set_options(
        context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    // A session writes what is left from where it was, and an idle one needs no buffers.
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(context, 1);  // one recv for what came, not two a record
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
    constexpr std::string_view name = "holdfast";
    auto const* const id = reinterpret_cast<unsigned char const*>(name.data());
    bool const good =
        SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
        SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1 &&
        SSL_CTX_set_session_id_context(context, id, static_cast<unsigned>(name.size())) == 1;
    return good ? std::optional<std::string>{} : reason();
}

std::string end_of(SSL_CTX* context) {
    X509 const* const own = SSL_CTX_get0_certificate(context);
    Memory const memory{BIO_new(BIO_s_mem()), &BIO_free};
    if (memory == nullptr || ASN1_TIME_print(memory.get(), X509_get0_notAfter(own)) != 1) return {};
    char* text = nullptr;
    auto const bytes = BIO_get_mem_data(memory.get(), &text);
    return {text, static_cast<std::size_t>(bytes)};
}

}  // namespace

ResultOf<std::shared_ptr<TlsIdentity const>, TlsFailure> TlsIdentity::load(TlsFiles const& files) {
    ERR_clear_error();
    auto const certificate = read_pem(files.certificate, false);
    if (!certificate) return certificate.error();
    auto const key = read_pem(files.key, true);
    if (!key) return key.error();
    if (key->open_to_all) {
        return TlsFailure{true, "everybody may read or write it; chmod it to 0600 (or 0640)"};
    }
    std::shared_ptr<TlsIdentity> made{new TlsIdentity};  // first: what it owns goes with it
    SSL_CTX* const context = made->context_ = SSL_CTX_new(TLS_server_method());
    if (context == nullptr) return TlsFailure{false, reason()};
    if (auto why = set_rules(context)) return TlsFailure{false, *why};
    if (auto why = use_chain(context, certificate->text)) return TlsFailure{false, *why};
    if (auto why = use_key(context, key->text)) return TlsFailure{true, *why};
    made->ends_ = end_of(context);
    return std::shared_ptr<TlsIdentity const>{std::move(made)};
}

TlsIdentity::~TlsIdentity() {
    SSL_CTX_free(context_);
}

}  // namespace holdfast::http
