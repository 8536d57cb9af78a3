// Reference: the description of every request, for programs and for people.
//
// Thread safety: the routes answer constants. Cost: the page is made once, with the first routes;
// an answer copies nothing.
#pragma once

#include <holdfast/http/router.hpp>

#include <string_view>
#include <vector>

namespace holdfast::api {

/// The OpenAPI 3.1 document, written by hand in openapi.json; tests/api/reference_test.cpp holds it
/// against what the code does.
[[nodiscard]] std::string_view openapi_document() noexcept;
/// GET /openapi.json and GET /docs. A document that is no JSON of ours is an exception here, at the
/// start, and none of an answer.
void add_reference_routes(std::vector<http::Route>& routes);

}  // namespace holdfast::api
