#include "api/admission.hpp"

#include "api/authorization.hpp"

#include <holdfast/api/in_flight.hpp>
#include <holdfast/api/overload.hpp>
#include <holdfast/api/rate_limits.hpp>
#include <holdfast/http/problem.hpp>

#include <array>
#include <cstring>
#include <optional>
#include <string>

namespace holdfast::api {
namespace {

using Class = RateLimits::Class;
using http::Reply;
using http::Request;

constexpr std::array<std::string_view, 2> network_policies{"\"read\"", "\"write\""};
constexpr std::array<std::string_view, 2> holder_policies{"\"hold-read\"", "\"hold-write\""};

Class class_of(http::Method method) noexcept {
    return method == http::Method::get ? Class::read : Class::write;
}

using Verdict = RateLimits::Verdict;

/// Fields of draft-ietf-httpapi-ratelimit-headers.
void add_fields(Reply& reply, std::string_view name, Verdict const& verdict) {
    std::string& out = reply.admission_headers;
    out.append("RateLimit-Policy: ").append(name).append(";q=");
    out.append(std::to_string(verdict.quota)).append(";w=");
    out.append(std::to_string(RateLimits::window.count())).append("\r\nRateLimit: ");
    out.append(name).append(";r=").append(std::to_string(verdict.remaining)).append(";t=");
    out.append(std::to_string(verdict.reset_s)).append("\r\n");
}

void refuse_rate(Request const& request, Reply& reply, std::string_view detail, unsigned wait_s) {
    http::Problem problem;
    problem.status = 429;
    problem.slug = "rate-limited";
    problem.title = "Too many requests";
    problem.detail = detail;
    problem.retryable = true;
    problem.retry_after_s = wait_s;
    http::write_problem(reply, request, problem);
    reply.rests = true;
}

/// What a request is counted by.
struct Principal {
    bool is_operator{};
    bool is_spared{};  // by address
    std::string_view token;
};

Principal principal_of(Request const& request, Context const& context) {
    Credentials const credentials = credentials_of(request);
    Principal principal;
    principal.is_operator = is_operator(credentials, context.admin_token);
    principal.is_spared = request.loopback_peer && !context.limit_loopback;
    if (credentials.scheme == Credentials::Scheme::hold) principal.token = credentials.token;
    return principal;
}

/// By what a holder is counted; nothing without a token that this server has made: an invented one
/// must not take the place of a bucket.
std::optional<RateKey> holder_key(Context const& context, Principal const& principal, Class of) {
    if (context.holder_rates == nullptr || !context.holder_rates->has_limit(of)) return {};
    if (principal.token.empty()) return {};
    auto const hold = context.key.hold_of_token(principal.token);
    if (!hold) return {};
    RateKey key{};
    std::uint64_t const ref = hold->ref.bits();
    std::uint32_t const event = hold->event.value();
    std::memcpy(key.data(), &ref, sizeof ref);
    std::memcpy(key.data() + sizeof ref, &event, sizeof event);
    return key;
}

bool is_tighter(Verdict const& one, Verdict const& other) noexcept {
    if (one.quota == 0 || other.quota == 0) return one.quota != 0;
    if (one.admitted != other.admitted) return other.admitted;
    return one.remaining < other.remaining;
}

/// Of the holder's bucket and the network's the tighter one.
struct Rate {
    Verdict verdict;
    bool of_holder{};
};

/// The holder's bucket first: who has emptied that takes nothing from others of the network. What
/// the network refuses is given back to the holder.
Rate take_rate(Request const& request, Context const& context, Class of,
               Principal const& principal) {
    TimePoint const now = request.received_at;
    Verdict holder;
    auto const key = holder_key(context, principal, of);
    if (key) holder = context.holder_rates->take(*key, of, now);
    Verdict network;
    if (holder.admitted && !principal.is_spared && context.rates != nullptr)
        network = context.rates->take(network_of(request.peer), of, now);
    if (key && !network.admitted) context.holder_rates->give_back(*key, of);
    bool const of_holder = is_tighter(holder, network);
    return {of_holder ? holder : network, of_holder};
}

bool admit_rate(Request const& request, Reply& reply, Context const& context, Class of,
                Principal const& principal) {
    auto const [verdict, of_holder] = take_rate(request, context, of, principal);
    auto const& names = of_holder ? holder_policies : network_policies;
    if (verdict.quota != 0) add_fields(reply, names[static_cast<std::size_t>(of)], verdict);
    if (verdict.admitted) return true;
    refuse_rate(request, reply,
                of_holder ? "This hold has made too many requests; wait before the next one."
                          : "Your network has made too many requests; wait before the next one.",
                verdict.wait_s);
    return false;
}

bool take_place(Request const& request, Reply& reply, InFlight& in_flight,
                Principal const& principal) {
    http::Lease::Keys keys{};
    if (principal.is_operator) {
        keys[0] = in_flight.operator_key();
    } else {
        if (!principal.token.empty()) keys[0] = in_flight.holder_key(principal.token);
        if (!principal.is_spared) keys[1] = in_flight.address_key(request.peer);
    }
    if (keys == http::Lease::Keys{}) return true;
    if (auto lease = in_flight.take(keys)) {
        reply.lease = std::move(*lease);
        return true;
    }
    refuse_rate(request, reply,
                "Too many of your requests are being answered; wait for the answer to one.", 1);
    return false;
}

void refuse_overloaded(Request const& request, Reply& reply, Context const& context) {
    http::Problem problem;
    problem.status = 503;
    problem.slug = "overloaded";
    problem.title = "Overloaded";
    problem.detail = "There is more work than the server can do; nothing happened.";
    problem.retryable = true;
    problem.retry_after_s = context.overload->retry_after_s();
    http::write_problem(reply, request, problem);
    reply.rests = true;
}

bool admit(Request const& request, Reply& reply, Context const& context, Class of,
           unsigned shed_from) {
    Principal const principal = principal_of(request, context);
    if (!principal.is_operator && !admit_rate(request, reply, context, of, principal)) return false;
    if (refuse_if_overloaded(request, reply, context, shed_from)) return false;
    return context.in_flight == nullptr ||
           take_place(request, reply, *context.in_flight, principal);
}

}  // namespace

bool refuse_if_overloaded(Request const& request, Reply& reply, Context const& context,
                          unsigned from_rung) {
    if (context.overload == nullptr) return false;
    if (!context.overload->refuses(from_rung, request.received_at)) return false;
    refuse_overloaded(request, reply, context);
    return true;
}

http::Admission unserved_admission(Context const& context) {
    return [&context](Request const& request, Reply& reply) {
        Principal const principal = principal_of(request, context);
        return principal.is_operator || admit_rate(request, reply, context, Class::read, principal);
    };
}

http::Admission fault_admission(Context const& context) {
    return [&context](Request const& request, Reply&) {
        Principal const principal = principal_of(request, context);
        return principal.is_operator ||
               take_rate(request, context, Class::read, principal).verdict.admitted;
    };
}

void limit_requests(std::vector<http::Route>& routes, Context const& context) {
    for (http::Route& route : routes) {
        if (route.unlimited) continue;
        route.admission = [&context, of = class_of(route.method), from = route.shed_from](
                              Request const& request, Reply& reply) {
            return admit(request, reply, context, of, from);
        };
    }
}

}  // namespace holdfast::api
