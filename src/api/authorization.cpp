#include "api/authorization.hpp"

#include "api/problems.hpp"

#include <algorithm>
#include <openssl/crypto.h>

namespace holdfast::api {
namespace {

using Scheme = Credentials::Scheme;

bool same_word(std::string_view left, std::string_view right) noexcept {
    auto const lower = [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c + 0; };
    return std::ranges::equal(left, right, {}, lower, lower);
}

}  // namespace

Credentials credentials_of(http::Request const& request) noexcept {
    std::string_view const value = request.field("Authorization");
    if (value.empty()) return {};
    std::size_t const space = value.find(' ');
    if (space == std::string_view::npos) return {Scheme::unknown, {}};
    std::string_view token = value.substr(space + 1);
    token.remove_prefix(std::min(token.find_first_not_of(' '), token.size()));
    bool const whole = !token.empty() && token.find_first_of(" \t,") == std::string_view::npos;
    if (!whole) return {Scheme::unknown, {}};
    if (same_word(value.substr(0, space), "hold")) return {Scheme::hold, token};
    if (same_word(value.substr(0, space), "bearer")) return {Scheme::bearer, token};
    return {Scheme::unknown, {}};
}

bool is_operator(Credentials const& credentials, std::string_view admin_token) noexcept {
    if (credentials.scheme != Scheme::bearer || admin_token.empty()) return false;
    if (credentials.token.size() != admin_token.size()) return false;
    return CRYPTO_memcmp(credentials.token.data(), admin_token.data(), admin_token.size()) == 0;
}

bool admit_operator(http::Request const& request, http::Reply& reply,
                    std::string_view admin_token) {
    Credentials const credentials = credentials_of(request);
    if (is_operator(credentials, admin_token)) return true;
    if (credentials.scheme == Scheme::hold) {
        write_refusal(reply, request, Refusal{.code = RefusalCode::forbidden});
    } else {
        write_unauthenticated(reply, request, "Bearer");
    }
    return false;
}

http::Admission operator_only(std::string const& admin_token) {
    return [&admin_token](http::Request const& request, http::Reply& reply) {
        return admit_operator(request, reply, admin_token);
    };
}

}  // namespace holdfast::api
