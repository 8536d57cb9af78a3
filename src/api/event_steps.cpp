#include "api/authorization.hpp"
#include "api/empty_body.hpp"
#include "api/events.hpp"
#include "api/json_writer.hpp"
#include "api/keyed.hpp"
#include "api/problems.hpp"

#include <holdfast/http/problem.hpp>

#include <optional>

namespace holdfast::api {
namespace {

using http::Reply;
using http::Request;

/// One word of the path and what it does.
struct StepRoute {
    char const* pattern;
    LifeStep step;
    /// publish and resume make the same step; each is for events in one state only.
    std::optional<EventState> only_from;
    char const* summary;
};

constexpr StepRoute steps[] = {
    {"/v1/events/{event}/publish", LifeStep::published, EventState::draft,
     "Make a draft public and open its sale at its time (staff)"},
    {"/v1/events/{event}/pause", LifeStep::paused, {}, "Stop new claims for a while (staff)"},
    {"/v1/events/{event}/resume", LifeStep::published, EventState::paused,
     "Go on with a paused sale (staff)"},
    {"/v1/events/{event}/close",
     LifeStep::closed,
     {},
     "End the sale for good; holds may still be paid if the policy honours them (staff)"},
    {"/v1/events/{event}/cancel",
     LifeStep::cancelled,
     {},
     "Cancel the event: nothing can be claimed or paid any more (staff)"},
};

void answer_step(EventSpec const& spec, Reply& reply, engine::StepAnswer const& step) {
    reply.body += "{\"event\":";
    http::append_json_string(reply.body, spec.slug);
    append_name(reply.body, "state");
    append_plain(reply.body, to_string(step.state));
    reply.body += '}';
}

void take_step(Context& context, StepRoute const& route, Request const& request, Reply& reply) {
    if (!admit_operator(request, reply, context.admin_token)) return;
    engine::LiveEvent* const event = context.engine.find(request.parameters[0]);
    if (event == nullptr) return write_not_found(reply, request);
    Keyed keyed(context, request, reply);
    // The event is a part of the path, so it is the same one.
    if (auto const* const first = keyed.again<engine::StepAnswer>())
        return answer_step(event->spec(), reply, *first);
    if (keyed.answered()) return;
    if (!has_no_fields(request, reply)) return;
    engine::StepAnswer step{event->spec().id, {}};
    Result<Lsn> const done = context.engine.step(*event, route.step, request.received_at,
                                                 route.only_from, keyed.mark(), &step.state);
    if (!done) return write_refusal(reply, request, done.error());
    reply.lsn = *done;
    answer_step(event->spec(), reply, step);
}

}  // namespace

void add_event_step_routes(std::vector<http::Route>& routes, Context& context) {
    for (StepRoute const& step : steps) {
        auto const handler = [&context, &step](Request const& request, Reply& reply) {
            take_step(context, step, request, reply);
        };
        routes.push_back({http::Method::post, step.pattern, http::RunsOn::io, handler, step.summary,
                          limits::body_bytes_max});
    }
}

}  // namespace holdfast::api
