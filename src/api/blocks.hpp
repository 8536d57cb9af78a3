// Blocks: the routes by which staff keep places from sale.
#pragma once

#include <holdfast/api/routes.hpp>

namespace holdfast::api {

void add_block_routes(std::vector<http::Route>& routes, Context& context);

}  // namespace holdfast::api
