// Admission: what a request meets before its handler, on the io thread, also if a worker would run
// it: the rates of its holder and of its network, the ladder of overload, and how many of its
// principal's requests are in flight.
//
// What reaches no handler (404, 405, 415, OPTIONS) meets the rates, too, as a read; and so does a
// fault that ends its connection (400, 408, 413, 431 …), which is not answered once they refuse.
// Purpose: a request that is refused for one of these costs nothing else. Spared: routes that are
// `unlimited`, of all; the operator, of rates; loopback unless told otherwise, of what is counted
// by network or address.
// Thread safety: at start; the admissions on any io thread. Cost: for who is counted a mutex each
// for the rates and for what is in flight, and two header lines a reply; of a hold's token two AES
// blocks.
#pragma once

#include <holdfast/api/routes.hpp>

#include <vector>

namespace holdfast::api {

/// Gives each route its admission, as far as the context has what it asks.
void limit_requests(std::vector<http::Route>& routes, Context const& context);

/// True: the ladder refuses this request, and the answer is written. For what shows only in the
/// body or in the query.
[[nodiscard]] bool refuse_if_overloaded(http::Request const& request, http::Reply& reply,
                                        Context const& context, unsigned from_rung);

}  // namespace holdfast::api
