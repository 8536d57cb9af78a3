// Orders: POST and GET /v1/orders, GET /v1/orders/{order}, POST /v1/orders/{order}/cancel.
//
// Thread safety: making an order runs on the io threads, the rest on workers (they read SQLite).
#pragma once

#include <holdfast/api/routes.hpp>

#include <vector>

namespace holdfast::api {

void add_order_routes(std::vector<http::Route>& routes, Context& context);

}  // namespace holdfast::api
