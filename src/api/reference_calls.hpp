// Reference calls: each request of the document as a line for a shell.
//
// Purpose: lines that work as they stand, once `$token` or `$operator_token` is set and the ids of
// the examples are replaced by real ones.
// Thread safety: pure. Cost: linear in the body.
#pragma once

#include "api/reference_document.hpp"

#include <string>
#include <string_view>

namespace holdfast::api {

/// The security scheme that a request is shown with, "" for none: the `x-credentials` of the
/// example of its body, else the first that the request has. `example`: null without a body.
[[nodiscard]] std::string_view call_credentials(boost::json::object const& request,
                                                boost::json::object const* example);

struct ReferenceCall {
    std::string_view method;
    std::string_view path;                 // as in the document
    boost::json::object const& request;    // the operation
    boost::json::object const* example{};  // of its body
};

/// `curl …`, with the examples of the path's parameters.
[[nodiscard]] std::string curl_line(ReferenceDocument const& document, ReferenceCall const& call);

}  // namespace holdfast::api
