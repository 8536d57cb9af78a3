#include "api/query_names.hpp"

#include "api/problems.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace holdfast::api {
namespace {

constexpr std::size_t echoed_name_bytes_max = 64;

InputError error_at(std::string_view name, std::string_view code) {
    return InputError{422, std::string{"/"}.append(name.substr(0, echoed_name_bytes_max)), code};
}

std::optional<InputError> check(std::string_view query,
                                std::vector<std::string_view> const& known) {
    std::vector<std::string_view> seen;
    while (!query.empty()) {
        std::string_view const pair = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(pair.size() + 1, query.size()));
        if (pair.empty()) continue;  // "?limit=2&"
        std::string_view const name = pair.substr(0, pair.find('='));
        // As sent: no name of ours needs an escape.
        if (std::ranges::find(known, name) == known.end())
            return error_at(name, "unknown-parameter");
        if (std::ranges::find(seen, name) != seen.end())
            return error_at(name, "duplicate-parameter");
        seen.push_back(name);
    }
    return std::nullopt;
}

}  // namespace

void check_query_names(std::vector<http::Route>& routes) {
    for (http::Route& route : routes) {
        route.handler = [handler = std::move(route.handler), known = route.query](
                            http::Request const& request, http::Reply& reply) {
            if (!request.query.empty()) {
                if (auto const error = check(request.query, known))
                    return write_input_error(reply, request, *error);
            }
            handler(request, reply);
        };
    }
}

}  // namespace holdfast::api
