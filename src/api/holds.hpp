// Holds: POST /v1/events/{event}/holds, GET and DELETE /v1/holds/{hold}, POST …/extend.
//
// Thread safety: the handlers run on the io threads, any number at a time.
// Cost: a claim allocates nothing but its id and token once a thread's scratch has grown.
#pragma once

#include <holdfast/api/routes.hpp>

#include <vector>

namespace holdfast::api {

void add_hold_routes(std::vector<http::Route>& routes, Context& context);

}  // namespace holdfast::api
