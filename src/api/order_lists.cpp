// GET /v1/orders, GET /v1/orders/{order}.
#include "api/order_lists.hpp"

#include "api/authorization.hpp"
#include "api/json_writer.hpp"
#include "api/order_changes.hpp"
#include "api/order_reads.hpp"
#include "api/paging.hpp"
#include "api/problems.hpp"

#include <holdfast/api/overload.hpp>

#include <algorithm>
#include <optional>

namespace holdfast::api {
namespace {

using http::Reply;
using http::Request;

void list_orders(Context& context, Request const& request, Reply& reply) {
    if (!admit_operator(request, reply, context.admin_token)) return;
    auto const limit = page_limit(request);
    if (!limit) return write_bad_limit(request, reply);
    Lsn before{};
    if (auto const after = request.query_value("after"); !after.empty()) {
        auto const cursor = open_cursor(context.key, Paged::orders, after);
        if (!cursor) {
            write_bad_cursor(request, reply);
            return;
        }
        before = Lsn{*cursor};
    }
    std::uint64_t const gone_back = context.projector.times_gone_back();
    // A list may trail the newest orders, but tells none as it was before a change.
    if (!catch_up(context) &&
        context.changed_orders->any_may_be_newer(context.projector.applied_lsn()))
        return write_refusal(reply, request, Refusal{.code = RefusalCode::overloaded});
    auto const page = read_orders(context, before, *limit);
    if (!page) {
        write_refusal(reply, request, page.error());
        return;
    }
    if (gone_back != context.projector.times_gone_back())
        return write_refusal(reply, request, Refusal{.code = RefusalCode::overloaded});
    std::string& out = reply.body;
    out += "{\"items\":[";
    for (store::OrderRow const& order : page->items) {
        append_separator(out);
        append_order(out, context, order);
    }
    out += ']';
    if (page->more && !page->items.empty()) {
        append_name(out, "next");
        append_plain(out, seal_cursor(context.key, Paged::orders, page->items.back().lsn.value()));
    }
    out += '}';
}

bool holds_fit(Context const& context, store::OrderRow const& order, std::string_view token) {
    return std::ranges::any_of(order.holds, [&](auto const& hold) {
        return context.key.token_fits({hold.first, hold.second}, token);
    });
}

void read_one(Context& context, Request const& request, Reply& reply) {
    Credentials const credentials = credentials_of(request);
    bool const staff = is_operator(credentials, context.admin_token);
    if (!staff && credentials.scheme != Credentials::Scheme::hold) {
        write_unauthenticated(reply, request, "Hold");
        return;
    }
    auto const order = read_order_for(context, request, reply, [&](store::OrderRow const& found) {
        return staff || holds_fit(context, found, credentials.token);
    });
    if (order) append_order(reply.body, context, *order);
}

}  // namespace

void add_order_list_routes(std::vector<http::Route>& routes, Context& context) {
    using http::Method;
    auto const with = [&context](auto handler) {
        return [&context, handler](Request const& request, Reply& reply) {
            handler(context, request, reply);
        };
    };
    routes.push_back({Method::get, "/v1/orders", http::RunsOn::worker, with(list_orders),
                      "List orders, newest first (staff)", 0, page_query_names()});
    routes.back().shed_from = OverloadLadder::searches;
    routes.push_back({Method::get, "/v1/orders/{order}", http::RunsOn::worker, with(read_one),
                      "Read an order (the token of one of its holds, or staff)", 0});
    add_order_change_routes(routes, context);
}

}  // namespace holdfast::api
