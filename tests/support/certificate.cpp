#include "tests/support/certificate.hpp"

#include <memory>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdexcept>

namespace holdfast::test {
namespace {

std::string pem_text(BIO* memory) {
    char* text = nullptr;
    auto const bytes = BIO_get_mem_data(memory, &text);
    return {text, static_cast<std::size_t>(bytes)};
}

void must_be(bool good) {
    if (!good) throw std::runtime_error("no certificate for a test");
}

}  // namespace

Certificate make_certificate(std::string const& name) {
    std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> const key{EVP_EC_gen("P-256"),
                                                                  &EVP_PKEY_free};
    std::unique_ptr<X509, decltype(&X509_free)> const made{X509_new(), &X509_free};
    must_be(key != nullptr);
    must_be(made != nullptr);
    X509_set_version(made.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -3'600);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), 86'400);
    X509_set_pubkey(made.get(), key.get());
    X509_NAME* const subject = X509_get_subject_name(made.get());
    auto const* const text = reinterpret_cast<unsigned char const*>(name.c_str());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, text, -1, -1, 0);
    X509_set_issuer_name(made.get(), subject);
    must_be(X509_sign(made.get(), key.get(), EVP_sha256()) != 0);
    std::unique_ptr<BIO, decltype(&BIO_free)> const first{BIO_new(BIO_s_mem()), &BIO_free};
    std::unique_ptr<BIO, decltype(&BIO_free)> const second{BIO_new(BIO_s_mem()), &BIO_free};
    must_be(PEM_write_bio_X509(first.get(), made.get()) == 1);
    must_be(PEM_write_bio_PrivateKey(second.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                     nullptr) == 1);
    return {pem_text(first.get()), pem_text(second.get())};
}

}  // namespace holdfast::test
