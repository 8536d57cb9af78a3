// Exchanges: PUT /v1/holds/{hold}/seats and POST /v1/holds/{hold}/release.
//
// Purpose: a hold's new whole set, or a part that goes back. Lines as in a claim, but only of named
// seats and of general places: `{"seats":[…]}`, `{"section":"GA","quantity":2}`, `{"lines":[…]}`.
// Thread safety: the handlers run on the io threads, any number at a time.
#pragma once

#include <holdfast/api/routes.hpp>

#include <vector>

namespace holdfast::api {

void add_exchange_routes(std::vector<http::Route>& routes, Context& context);

}  // namespace holdfast::api
