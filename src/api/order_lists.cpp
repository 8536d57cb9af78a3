// GET /v1/orders, GET /v1/orders/{order}.
#include "api/order_lists.hpp"

#include "api/authorization.hpp"
#include "api/json_writer.hpp"
#include "api/order_changes.hpp"
#include "api/order_reads.hpp"
#include "api/paging.hpp"
#include "api/problems.hpp"

#include <algorithm>
#include <optional>

namespace holdfast::api {
namespace {

using http::Reply;
using http::Request;

/// No event has this id, so no hold's id is a cursor and no cursor a hold's id.
constexpr EventId cursor_event{0xFFFF'FFFF};
constexpr std::string_view cursor_prefix = "c_";
constexpr std::string_view hold_prefix = "h_";

/// A cursor is made like a hold's id: opaque, and nobody without the key can make one.
std::string cursor_of(Context const& context, Lsn lsn) {
    std::string const sealed = context.key.hold_id({cursor_event, HoldRef{lsn.value()}});
    return std::string(cursor_prefix).append(sealed.substr(hold_prefix.size()));
}

std::optional<Lsn> parse_cursor(Context const& context, std::string_view text) {
    if (!text.starts_with(cursor_prefix)) return std::nullopt;
    std::string sealed(hold_prefix);
    sealed.append(text.substr(cursor_prefix.size()));
    auto const name = context.key.parse_hold_id(sealed);
    if (!name || name->event != cursor_event) return std::nullopt;
    return Lsn{name->ref.bits()};
}

void list_orders(Context& context, Request const& request, Reply& reply) {
    if (!admit_operator(request, reply, context.admin_token)) return;
    auto const limit = page_limit(request);
    if (!limit) return write_bad_limit(request, reply);
    Lsn before{};
    if (auto const after = request.query_value("after"); !after.empty()) {
        auto const cursor = parse_cursor(context, after);
        if (!cursor) {
            write_bad_cursor(request, reply);
            return;
        }
        before = *cursor;
    }
    // A list may trail the newest orders; it says what is there.
    (void)catch_up(context);
    auto const page = read_orders(context, before, *limit);
    if (!page) {
        write_refusal(reply, request, page.error());
        return;
    }
    std::string& out = reply.body;
    out += "{\"items\":[";
    for (store::OrderRow const& order : page->items) {
        append_separator(out);
        append_order(out, context, order);
    }
    out += ']';
    if (page->more && !page->items.empty()) {
        append_name(out, "next");
        append_plain(out, cursor_of(context, page->items.back().lsn));
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
    auto const order = find_order(context, request, reply, false);
    if (!order) return;
    if (!staff && !holds_fit(context, *order, credentials.token)) {
        write_not_found(reply, request);
        return;
    }
    append_order(reply.body, context, *order);
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
                      "List orders, newest first (staff)", 0});
    routes.push_back({Method::get, "/v1/orders/{order}", http::RunsOn::worker, with(read_one),
                      "Read an order (the token of one of its holds, or staff)", 0});
    add_order_change_routes(routes, context);
}

}  // namespace holdfast::api
