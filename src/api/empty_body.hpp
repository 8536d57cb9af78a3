// Empty body: of the requests that say everything in their path.
//
// Thread safety: pure. Cost: nothing without a body.
#pragma once

#include <holdfast/http/message.hpp>

namespace holdfast::api {

/// A client that always sends JSON sends `{}`: that, or nothing. Else the answer is written.
[[nodiscard]] bool has_no_fields(http::Request const& request, http::Reply& reply);

}  // namespace holdfast::api
