// GET /v1/events, /v1/events/{event}, …/map, …/state.
#include "api/authorization.hpp"
#include "api/conditional_reply.hpp"
#include "api/event_documents.hpp"
#include "api/event_pages.hpp"
#include "api/event_snapshots.hpp"
#include "api/events.hpp"
#include "api/json_writer.hpp"
#include "api/paging.hpp"
#include "api/problems.hpp"

#include <holdfast/api/overload.hpp>

#include <memory>

namespace holdfast::api {
namespace {

using http::Reply;
using http::Request;

bool is_staff(Context const& context, Request const& request) {
    return is_operator(credentials_of(request), context.admin_token);
}

}  // namespace

engine::LiveEvent const* find_event(Context const& context, Request const& request, Reply& reply) {
    auto const slug = request.parameters[0];
    auto const* const event = is_slug(slug) ? context.engine.find(slug) : nullptr;
    bool const visible =
        event != nullptr &&
        (event->state(request.received_at) != EventState::draft || is_staff(context, request));
    if (!visible) write_not_found(reply, request);
    return visible ? event : nullptr;
}

namespace {

constexpr std::string_view always_ask = "no-cache";

void add_reads(std::vector<http::Route>& routes, Context& context,
               std::shared_ptr<EventSnapshots> const& snapshots) {
    using http::Method;
    using http::RunsOn;
    routes.push_back({Method::get, "/v1/events/{event}", RunsOn::io,
                      [&context, snapshots](Request const& request, Reply& reply) {
                          auto const* const event = find_event(context, request, reply);
                          if (event == nullptr) return;
                          auto const document = snapshots->view(*event, request.received_at);
                          answer_conditional(request, reply, document, always_ask);
                      },
                      "Read an event and what is left of it", 0});
    routes.push_back({Method::get, "/v1/events/{event}/map", RunsOn::io,
                      [&context, snapshots](Request const& request, Reply& reply) {
                          auto const* const event = find_event(context, request, reply);
                          if (event == nullptr) return;
                          bool const draft = event->state(request.received_at) == EventState::draft;
                          answer_conditional(request, reply, snapshots->map(*event),
                                             draft ? "private, no-cache" : "public, max-age=60");
                      },
                      "Read the geometry and prices of an event; they never change", 0});
    routes.push_back({Method::get, "/v1/events/{event}/state", RunsOn::io,
                      [&context, snapshots](Request const& request, Reply& reply) {
                          auto const* const event = find_event(context, request, reply);
                          if (event == nullptr) return;
                          auto const document = snapshots->state(*event, request.received_at);
                          if (document != nullptr)
                              answer_conditional(request, reply, document, always_ask);
                          else
                              write_refusal(reply, request, Refusal{.code = RefusalCode::busy});
                      },
                      "Read the state of every seat, 2 bits each", 0});
}

void append_cursor(std::string& out, std::string_view name, std::optional<std::string> const& at) {
    if (!at) return;
    append_name(out, name);
    append_plain(out, *at);
}

void list_events(Context& context, Request const& request, Reply& reply) {
    auto const wanted = parse_page_request(request, context.key, is_staff(context, request));
    if (!wanted) {
        if (wanted.error() == PageError::cursor) {
            write_bad_cursor(request, reply);
        } else {
            write_bad_limit(request, reply);
        }
        return;
    }
    auto const page =
        event_page(context.engine.events(), *wanted, context.key, request.received_at);
    std::string& out = reply.body;
    out += "{\"items\":[";
    for (auto const* const event : page.items) {
        append_separator(out);
        append_event_summary(out, *event, request.received_at);
    }
    out += ']';
    append_cursor(out, "next", page.next);
    append_cursor(out, "prev", page.previous);
    out += '}';
}

}  // namespace

void add_event_read_routes(std::vector<http::Route>& routes, Context& context) {
    // On a worker: it looks at every event.
    routes.push_back(
        {http::Method::get, "/v1/events", http::RunsOn::worker,
         [&context](Request const& request, Reply& reply) { list_events(context, request, reply); },
         "List events, oldest first", 0, page_query_names()});
    routes.back().shed_from = OverloadLadder::searches;
    auto const allowed_age = [&context](TimePoint now) {
        return context.overload == nullptr ? Milliseconds{0} : context.overload->document_age(now);
    };
    add_reads(
        routes, context,
        std::make_shared<EventSnapshots>(context.journal, allowed_age, context.streams.get()));
}

}  // namespace holdfast::api
