// Query names: a request with a query parameter that its route does not take is refused.
//
// Purpose: `?dryrun=true` must not create what `?dry_run=true` would only have checked. Bodies are
// as strict. Thread safety: at start. Cost: nothing for a request without a query.
#pragma once

#include <holdfast/http/router.hpp>

#include <vector>

namespace holdfast::api {

/// From now on each handler is only called if its route declares every name of the query and none
/// stands twice; else the answer is 422 and names it.
void check_query_names(std::vector<http::Route>& routes);

}  // namespace holdfast::api
