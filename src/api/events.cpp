#include "api/events.hpp"

namespace holdfast::api {

void add_event_routes(std::vector<http::Route>& routes, Context& context) {
    add_event_create_routes(routes, context);
    add_event_read_routes(routes, context);
    if (context.streams != nullptr) add_event_stream_route(routes, context);
    add_event_step_routes(routes, context);
}

}  // namespace holdfast::api
