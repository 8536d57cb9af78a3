// Authorization: who a request says it is.
//
// Purpose: reads the one Authorization field; a hold's token proves its holder, the operator's
// token proves staff. Thread safety: pure. Invariants: secrets are compared in constant time.
#pragma once

#include <holdfast/http/router.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::api {

struct Credentials {
    enum class Scheme : std::uint8_t { none, hold, bearer, unknown };
    Scheme scheme{};
    std::string_view token;
};

/// `none` only if there is no such field; `unknown` for other schemes and for a broken value.
[[nodiscard]] Credentials credentials_of(http::Request const& request) noexcept;

/// Whether they are the operator's. An empty `admin_token` fits nobody.
[[nodiscard]] bool is_operator(Credentials const& credentials,
                               std::string_view admin_token) noexcept;

/// For routes of staff: true, or the answer is written: 401 without a (right) bearer token, 403
/// with credentials of a holder.
[[nodiscard]] bool admit_operator(http::Request const& request, http::Reply& reply,
                                  std::string_view admin_token);
/// The same as an admission; `admin_token` outlives it.
[[nodiscard]] http::Admission operator_only(std::string const& admin_token);

}  // namespace holdfast::api
