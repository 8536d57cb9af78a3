// POST /v1/events.
#include "api/admission.hpp"
#include "api/authorization.hpp"
#include "api/event_body.hpp"
#include "api/event_documents.hpp"
#include "api/events.hpp"
#include "api/json_writer.hpp"
#include "api/keyed.hpp"
#include "api/problems.hpp"

#include <holdfast/api/overload.hpp>
#include <holdfast/http/problem.hpp>

#include <utility>

namespace holdfast::api {
namespace {

using http::Reply;
using http::Request;

/// Errors of a plan are named by their place in it, or by the seat or category.
void append_plan_errors(std::string& out, services::LintReport const& report) {
    constexpr std::size_t errors_max = 100;  // the report has the rest
    append_name(out, "errors");
    out += '[';
    for (std::size_t i = 0; i < report.errors.size() && i < errors_max; ++i) {
        auto const& error = report.errors[i];
        std::string pointer{"/import/plan"};
        if (error.code == "unknown-price") pointer = "/import/prices";
        if (error.where.starts_with('/')) pointer += error.where;
        append_separator(out);
        out += '{';
        append_name(out, "pointer");
        http::append_json_string(out, pointer);
        append_name(out, "code");
        append_plain(out, error.code);
        out += '}';
    }
    out += ']';
}

void write_plan_problem(Request const& request, Reply& reply, services::LintReport const& report) {
    std::string members{"{"};
    append_plan_errors(members, report);
    append_name(members, "report");
    append_lint_report(members, report);
    // Extras are members after others: a comma instead of the brace.
    members.front() = ',';
    http::Problem problem;
    problem.status = 422;
    problem.slug = "validation";
    problem.title = "A value is not valid";
    problem.detail = "The plan has errors; the report lists them.";
    problem.extras = members;
    http::write_problem(reply, request, problem);
}

/// What was accepted, also where the seats are ready already: the answer is always the same.
void write_accepted(Reply& reply, EventSpec const& spec) {
    auto const& key = spec.made_by;
    OrderId const job = key ? OrderId{(*key)[2], (*key)[3]} : engine::make_order_id();
    reply.status = 202;
    reply.add_header("Location", "/v1/events/" + spec.slug);
    std::string& out = reply.body;
    out += '{';
    append_name(out, "event");
    append_plain(out, spec.slug);
    append_name(out, "state");
    append_plain(out, to_string(spec.publish ? EventState::preparing : EventState::draft));
    append_name(out, "job");
    append_plain(out, "j_" + engine::to_text(job).substr(2));
    out += '}';
}

bool is_dry_run(Request const& request, Reply& reply, bool& dry_run) {
    auto const value = request.query_value("dry_run");
    dry_run = value == "true";
    if (dry_run || value.empty() || value == "false") return true;
    write_input_error(reply, request, InputError{422, "/dry_run", "value"});
    return false;
}

void create_event(Context& context, Request const& request, Reply& reply) {
    if (!admit_operator(request, reply, context.admin_token)) return;
    bool dry_run = false;
    if (!is_dry_run(request, reply, dry_run)) return;
    unsigned const shed_from = dry_run ? OverloadLadder::searches : 0;
    if (refuse_if_overloaded(request, reply, context, shed_from)) return;
    Keyed keyed(context, request, reply);
    if (auto const* const first = keyed.again<engine::StepAnswer>()) {
        engine::LiveEvent const* const made = context.engine.find(first->event);
        if (made == nullptr) return write_not_found(reply, request);
        return write_accepted(reply, made->spec());
    }
    if (keyed.answered()) return;
    JsonReader reader;
    auto body = decode_event_body(reader, request.body, {context.hold_ttl_min});
    if (!body) {
        write_input_error(reply, request, body.error());
        return;
    }
    if (!body->repeated_seats.empty()) {
        std::vector<std::string_view> const names(body->repeated_seats.begin(),
                                                  body->repeated_seats.end());
        write_seat_problem(reply, request, "duplicate-seat", names);
        return;
    }
    if (dry_run) {
        append_lint_report(reply.body, body->report);
        return;
    }
    if (!body->usable()) {
        write_plan_problem(request, reply, body->report);
        return;
    }
    body->spec.created_at = request.received_at;
    if (auto const* const mark = keyed.mark())
        body->spec.made_by = {
            {mark->scope.high, mark->scope.low, mark->request.high, mark->request.low}};
    // The catalogue is not the journal, but an event that cannot be sold is no use, and its rows
    // would take the room that the running sales need.
    if (context.journal.mode() != journal::Mode::running)
        return write_refusal(reply, request, journal::read_only(context.journal));
    auto const event = context.event_setup.create(std::move(body->spec));
    if (!event) return write_refusal(reply, request, event.error());
    reply.happened = true;
    reply.lsn = event->lsn;
    write_accepted(reply, event->event->spec());
}

}  // namespace

void add_event_create_routes(std::vector<http::Route>& routes, Context& context) {
    routes.push_back({http::Method::post,
                      "/v1/events",
                      http::RunsOn::worker,
                      [&context](Request const& request, Reply& reply) {
                          create_event(context, request, reply);
                      },
                      "Create an event from sections or a seating plan (staff)",
                      limits::plan_body_bytes_max,
                      {"dry_run"}});
    routes.back().large_body_admission = operator_only(context.admin_token);
}

}  // namespace holdfast::api
