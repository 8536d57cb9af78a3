#include "http/cross_origin.hpp"

#include "http/ascii.hpp"

#include <algorithm>

namespace holdfast::http {
namespace {

constexpr std::string_view varies = "\r\nVary: Origin";
constexpr std::string_view exposed =
    "ETag, Idempotency-Replayed, Link, Location, RateLimit, RateLimit-Policy, Retry-After, "
    "X-Request-Id";
constexpr std::string_view fields_allowed =
    "Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, Traceparent, "
    "Tracestate, X-Request-Id";

bool lists(std::string_view list, std::string_view name, bool any_case) noexcept {
    for (;;) {
        std::size_t const comma = std::min(list.find(','), list.size());
        std::string_view const entry = trimmed(list.substr(0, comma));
        if (any_case ? same_name(entry, name) : entry == name) return true;
        if (comma == list.size()) return false;
        list.remove_prefix(comma + 1);
    }
}

bool lists_all(std::string_view list, std::string_view names) noexcept {
    if (trimmed(names).empty()) return true;
    for (;;) {
        std::size_t const comma = std::min(names.find(','), names.size());
        if (!lists(list, trimmed(names.substr(0, comma)), true)) return false;
        if (comma == names.size()) return true;
        names.remove_prefix(comma + 1);
    }
}

}  // namespace

CrossOrigin::CrossOrigin(CrossOriginRules const& rules)
    : max_age_(std::to_string(rules.max_age_s)) {
    for (std::string const& origin : rules.origins) {
        std::string lines{varies};
        lines.append("\r\nAccess-Control-Allow-Origin: ").append(origin);
        lines.append("\r\nAccess-Control-Expose-Headers: ").append(exposed);
        listed_.push_back({origin, std::move(lines)});
    }
}

CrossOrigin::Listed const* CrossOrigin::find(std::string_view origin) const noexcept {
    auto const found = std::find_if(listed_.begin(), listed_.end(),
                                    [origin](Listed const& each) { return each.origin == origin; });
    return found == listed_.end() ? nullptr : &*found;
}

std::string_view CrossOrigin::lines(Request const& request) const noexcept {
    if (listed_.empty()) return {};
    // The answer to OPTIONS has its own grants, or none.
    if (request.method == Method::options) return varies;
    Listed const* const listed = find(request.field("Origin"));
    return listed == nullptr ? varies : std::string_view{listed->lines};
}

void CrossOrigin::grant(Request const& request, std::string_view allow, Reply& reply) const {
    std::string_view const method = request.field("Access-Control-Request-Method");
    if (method.empty()) return;
    Listed const* const listed = find(request.field("Origin"));
    if (listed == nullptr || !lists(allow, method, false)) return;
    if (!lists_all(fields_allowed, request.field("Access-Control-Request-Headers"))) return;
    reply.add_header("Access-Control-Allow-Origin", listed->origin);
    reply.add_header("Access-Control-Allow-Methods", allow);
    reply.add_header("Access-Control-Allow-Headers", fields_allowed);
    reply.add_header("Access-Control-Max-Age", max_age_);
}

}  // namespace holdfast::http
