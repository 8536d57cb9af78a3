// Events: POST and GET /v1/events, GET /v1/events/{event}, …/map, …/state, …/stream, the steps of
// an event's life: POST …/publish, pause, resume, close, cancel.
//
// Thread safety: the handlers run on the io threads and workers, any number at a time.
// Cost: creating is linear in the seats and runs on a worker. A read of state or availability scans
// the places, but never twice for the same moment (event_snapshots.hpp); the map is made once
// (event_maps.hpp). Of a large event what is not ready is made on a worker.
#pragma once

#include <holdfast/api/routes.hpp>

#include <vector>

namespace holdfast::api {

void add_event_routes(std::vector<http::Route>& routes, Context& context);

/// The event of the path; a draft exists for staff only. Null: the answer is written.
[[nodiscard]] engine::LiveEvent const* find_event(Context const& context,
                                                  http::Request const& request, http::Reply& reply);

// Its parts.
void add_event_read_routes(std::vector<http::Route>& routes, Context& context);
void add_event_stream_route(std::vector<http::Route>& routes, Context& context);
void add_event_create_routes(std::vector<http::Route>& routes, Context& context);
void add_event_step_routes(std::vector<http::Route>& routes, Context& context);

}  // namespace holdfast::api
