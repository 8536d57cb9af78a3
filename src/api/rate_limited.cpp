#include "api/rate_limited.hpp"

#include "api/authorization.hpp"

#include <holdfast/api/rate_limits.hpp>
#include <holdfast/http/problem.hpp>

#include <string>
#include <utility>

namespace holdfast::api {
namespace {

using Class = RateLimits::Class;

Class class_of(http::Method method) noexcept {
    return method == http::Method::get ? Class::read : Class::write;
}

/// Fields of draft-ietf-httpapi-ratelimit-headers.
void add_fields(http::Reply& reply, Class of, RateLimits::Verdict const& verdict) {
    std::string const name = of == Class::read ? "\"read\"" : "\"write\"";
    reply.add_header("RateLimit-Policy", name + ";q=" + std::to_string(verdict.quota) +
                                             ";w=" + std::to_string(RateLimits::window.count()));
    reply.add_header("RateLimit", name + ";r=" + std::to_string(verdict.remaining) +
                                      ";t=" + std::to_string(verdict.reset_s));
}

void refuse(http::Request const& request, http::Reply& reply, RateLimits::Verdict const& verdict) {
    http::Problem problem;
    problem.status = 429;
    problem.slug = "rate-limited";
    problem.title = "Too many requests";
    problem.detail = "Your network has made too many requests; wait before the next one.";
    problem.retryable = true;
    problem.retry_after_s = verdict.wait_s;
    http::write_problem(reply, request, problem);
}

bool is_spared(http::Request const& request, Context const& context) {
    if (request.loopback_peer && !context.rates->rates().limit_loopback) return true;
    return is_operator(credentials_of(request), context.admin_token);
}

}  // namespace

void limit_rates(std::vector<http::Route>& routes, Context const& context) {
    if (context.rates == nullptr) return;
    for (http::Route& route : routes) {
        if (route.unlimited) continue;
        route.handler = [handler = std::move(route.handler), &context, of = class_of(route.method)](
                            http::Request const& request, http::Reply& reply) {
            if (is_spared(request, context)) return handler(request, reply);
            auto const verdict =
                context.rates->take(network_of(request.peer), of, request.received_at);
            if (verdict.admitted)
                handler(request, reply);
            else
                refuse(request, reply, verdict);
            if (verdict.quota != 0) add_fields(reply, of, verdict);
        };
    }
}

}  // namespace holdfast::api
