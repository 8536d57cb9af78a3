// Order lists: the routes that read orders back and cancel them; all on workers.
//
// Thread safety: worker threads.
#pragma once

#include <holdfast/api/routes.hpp>

#include <vector>

namespace holdfast::api {

void add_order_list_routes(std::vector<http::Route>& routes, Context& context);

}  // namespace holdfast::api
