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

#include <holdfast/api/event_maps.hpp>
#include <holdfast/api/overload.hpp>

#include <functional>
#include <memory>

namespace holdfast::api {
namespace {

using http::Reply;
using http::Request;

bool is_staff(Context const& context, Request const& request) {
    return is_operator(credentials_of(request), context.admin_token);
}

}  // namespace

namespace {

/// The event of the path, if it is there for who asks.
engine::LiveEvent const* visible_event(Context const& context, Request const& request) {
    auto const slug = request.parameters[0];
    auto const* const event = is_slug(slug) ? context.engine.find(slug) : nullptr;
    bool const visible =
        event != nullptr &&
        (event->state(request.received_at) != EventState::draft || is_staff(context, request));
    return visible ? event : nullptr;
}

}  // namespace

engine::LiveEvent const* find_event(Context const& context, Request const& request, Reply& reply) {
    auto const* const event = visible_event(context, request);
    if (event == nullptr) write_not_found(reply, request);
    return event;
}

namespace {

using Bytes = std::shared_ptr<TaggedBytes const>;

constexpr std::string_view always_ask = "no-cache";

std::string_view cache_of_map(EventState state) {
    return state == EventState::draft ? "private, no-cache" : "public, max-age=60";
}

/// A document of an event: an io thread hands it out if it is ready, else a worker makes it.
struct EventRead {
    std::string pattern;
    std::string summary;
    /// Null: it is to be made.
    std::function<Bytes(engine::LiveEvent const&, TimePoint)> ready;
    /// Null: busy.
    std::function<Bytes(engine::LiveEvent const&, TimePoint)> make;
    /// Whether it is made at once, where it is asked for.
    bool (*is_small)(engine::LiveEvent const&) noexcept;
    std::string_view (*cache)(EventState);
};

http::Route route_of(Context const& context, EventRead const& read) {
    http::Route route;
    route.method = http::Method::get;
    route.pattern = read.pattern;
    route.summary = read.summary;
    route.runs_on = http::RunsOn::worker;
    route.at_hand = [&context, read](Request& request) {
        auto const* const event = visible_event(context, request);
        if (event == nullptr || read.is_small(*event)) return true;
        request.found = read.ready(*event, request.received_at);
        return request.found != nullptr;
    };
    route.handler = [&context, read](Request const& request, Reply& reply) {
        auto const* const event = find_event(context, request, reply);
        if (event == nullptr) return;
        auto bytes = std::static_pointer_cast<TaggedBytes const>(request.found);
        if (bytes == nullptr) bytes = read.make(*event, request.received_at);
        if (bytes == nullptr)
            return write_refusal(reply, request, Refusal{.code = RefusalCode::busy});
        answer_conditional(request, reply, bytes, read.cache(event->state(request.received_at)));
    };
    return route;
}

void add_reads(std::vector<http::Route>& routes, Context& context,
               std::shared_ptr<EventSnapshots> const& snapshots) {
    using engine::LiveEvent;
    auto const no_cache = [](EventState) { return always_ask; };
    routes.push_back(route_of(
        context,
        {"/v1/events/{event}", "Read an event and what is left of it",
         [snapshots](LiveEvent const& event, TimePoint now) {
             return snapshots->ready_view(event, now);
         },
         [snapshots](LiveEvent const& event, TimePoint now) { return snapshots->view(event, now); },
         EventSnapshots::is_small, no_cache}));
    routes.push_back(route_of(
        context,
        {"/v1/events/{event}/map", "Read the geometry and prices of an event; they never change",
         [maps = context.maps](LiveEvent const& event, TimePoint now) {
             return maps->find(event.spec().id, now);
         },
         [maps = context.maps](LiveEvent const& event, TimePoint now) {
             return maps->make(event, now);
         },
         [](LiveEvent const&) noexcept { return false; }, cache_of_map}));
    routes.push_back(
        route_of(context, {"/v1/events/{event}/state", "Read the state of every seat, 2 bits each",
                           [snapshots](LiveEvent const& event, TimePoint now) {
                               return snapshots->ready_state(event, now);
                           },
                           [snapshots](LiveEvent const& event, TimePoint now) {
                               return snapshots->state(event, now);
                           },
                           EventSnapshots::is_small, no_cache}));
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
    make_conditional(request, reply, always_ask);
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
