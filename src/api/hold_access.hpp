// Hold access: who may touch a hold.
//
// Thread safety: pure. Cost: two AES blocks.
#pragma once

#include <holdfast/api/routes.hpp>

#include <optional>

namespace holdfast::api {

/// The hold of the path, if the caller may touch it. Else the answer is written: 401 before any
/// look-up without credentials; 404 for a malformed id, a missing hold and a wrong token alike.
[[nodiscard]] std::optional<engine::HoldName> admit_holder(Context const& context,
                                                           http::Request const& request,
                                                           http::Reply& reply);

}  // namespace holdfast::api
