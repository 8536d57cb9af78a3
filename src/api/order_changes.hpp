// Order changes: POST /v1/orders/{order}/cancel, …/refund and …/reseat.
//
// Purpose: what staff do to an order that is sold: end all of it, end some tickets, move tickets.
// Thread safety: the handlers run on workers; an order is in one hand at a time, a second request
// for it is told `busy`.
#pragma once

#include <holdfast/api/routes.hpp>

#include <vector>

namespace holdfast::api {

void add_order_change_routes(std::vector<http::Route>& routes, Context& context);

}  // namespace holdfast::api
