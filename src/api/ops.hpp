// Ops: /healthz, /readyz, /metrics and the list of routes at /v1.
//
// Thread safety: health and readiness on io threads, metrics on a worker.
#pragma once

#include <holdfast/api/routes.hpp>

#include <vector>

namespace holdfast::api {

void add_health_routes(std::vector<http::Route>& routes, Context& context);
void add_metrics_route(std::vector<http::Route>& routes, Context& context);
/// GET /v1 lists `routes` as they are now, and itself.
void add_index_route(std::vector<http::Route>& routes);

}  // namespace holdfast::api
