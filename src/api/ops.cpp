#include "api/ops.hpp"

#include "api/json_writer.hpp"
#include "api/metrics.hpp"

#include <holdfast/api/overload.hpp>
#include <holdfast/http/problem.hpp>

namespace holdfast::api {
namespace {

using http::Method;
using http::Reply;
using http::Request;
using http::RunsOn;

void add_reason(std::string& reasons, std::string_view reason) {
    append_separator(reasons);
    append_plain(reasons, reason);
}

/// Ready means: a claim, payment or release sent now can be acknowledged. Neither overload nor a
/// store that has failed is a reason against it: taking a server that sells out of service helps
/// nobody.
void readiness(Context const& context, Request const& request, Reply& reply) {
    std::string reasons = "[";
    if (context.draining && context.draining()) add_reason(reasons, "draining");
    if (context.journal.mode() == journal::Mode::read_only) {
        add_reason(reasons, "journal-read-only");
    }
    journal::Health const health = context.journal.health();
    if (health.is_full()) add_reason(reasons, "journal-full");
    if (health.sheds) add_reason(reasons, "journal-slow");
    if (context.journal.mode() == journal::Mode::failed) add_reason(reasons, "journal-failed");
    reasons += ']';
    if (reasons == "[]") {
        reply.body = "{\"status\":\"ready\"";
        unsigned const rung =
            context.overload == nullptr ? 0 : context.overload->rung(request.received_at);
        if (rung != 0) reply.body += ",\"overload\":" + std::to_string(rung);
        if (context.projector.degraded()) reply.body += R"(,"store":"degraded")";
        reply.body += '}';
        return;
    }
    std::string const extras = ",\"reasons\":" + reasons;
    http::Problem problem;
    problem.status = 503;
    problem.slug = "not-ready";
    problem.title = "The server is not ready";
    problem.retryable = true;
    problem.extras = extras;
    http::write_problem(reply, request, problem);
}

std::string index_of(std::vector<http::Route> const& routes) {
    std::string out = "{\"name\":\"holdfast\",\"version\":\"" HOLDFAST_VERSION "\",\"routes\":[";
    for (http::Route const& route : routes) {
        append_separator(out);
        out += "{\"method\":";
        append_plain(out, http::to_string(route.method));
        append_name(out, "path");
        append_plain(out, route.pattern);
        append_name(out, "summary");
        http::append_json_string(out, route.summary);
        out += '}';
    }
    out += "]}";
    return out;
}

}  // namespace

void add_health_routes(std::vector<http::Route>& routes, Context& context) {
    routes.push_back({Method::get, "/healthz", RunsOn::io,
                      [](Request const&, Reply& reply) {
                          reply.content_type = "text/plain; charset=utf-8";
                          reply.body = "ok";
                      },
                      "The process answers", 0});
    routes.back().unlimited = true;
    routes.push_back(
        {Method::get, "/readyz", RunsOn::io,
         [&context](Request const& request, Reply& reply) { readiness(context, request, reply); },
         "The server can acknowledge mutations; 503 with reasons if not", 0});
    routes.back().unlimited = true;
}

void add_metrics_route(std::vector<http::Route>& routes, Context& context) {
    routes.push_back({Method::get, "/metrics", RunsOn::worker,
                      [&context](Request const& request, Reply& reply) {
                          reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
                          append_metrics(reply.body, context, request.received_at);
                      },
                      "Prometheus metrics (admin listener only)", 0});
}

void add_index_route(std::vector<http::Route>& routes) {
    routes.push_back({Method::get, "/v1", RunsOn::io, {}, "This list", 0});
    routes.back().handler = [index = index_of(routes)](Request const&, Reply& reply) {
        reply.body = index;
    };
}

}  // namespace holdfast::api
