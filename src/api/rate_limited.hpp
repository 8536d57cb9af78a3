// Rate-limited routes: a network over its rate is answered 429 before the handler runs.
//
// Purpose: one place that knows who is counted, in which class, and what the answer says. Spared:
//   the operator, loopback unless told otherwise, and routes that are `unlimited`.
// Thread safety: at start; the handlers as the table says. Cost: see rate_limits.hpp; for who is
// counted also two header lines a reply.
#pragma once

#include <holdfast/api/routes.hpp>

#include <vector>

namespace holdfast::api {

/// From now on each handler is only called within the rates. Nothing without context.rates.
void limit_rates(std::vector<http::Route>& routes, Context const& context);

}  // namespace holdfast::api
