#include "api/admission.hpp"
#include "api/backup_routes.hpp"
#include "api/blocks.hpp"
#include "api/events.hpp"
#include "api/holds.hpp"
#include "api/ops.hpp"
#include "api/orders.hpp"
#include "api/query_names.hpp"
#include "api/reference.hpp"

#include <holdfast/api/routes.hpp>

namespace holdfast::api {
namespace {

std::vector<http::Route> shared_routes(Context& context) {
    std::vector<http::Route> routes;
    add_event_routes(routes, context);
    add_hold_routes(routes, context);
    add_block_routes(routes, context);
    add_order_routes(routes, context);
    add_health_routes(routes, context);
    add_reference_routes(routes);
    return routes;
}

}  // namespace

std::vector<http::Route> public_routes(Context& context) {
    std::vector<http::Route> routes = shared_routes(context);
    add_index_route(routes);
    check_query_names(routes);
    limit_requests(routes, context);
    return routes;
}

std::vector<http::Route> admin_routes(Context& context) {
    std::vector<http::Route> routes = shared_routes(context);
    add_metrics_route(routes, context);
    if (context.backups != nullptr) add_backup_routes(routes, context);
    add_index_route(routes);
    check_query_names(routes);
    return routes;
}

}  // namespace holdfast::api
