// Order reads: orders as the store has them, after it has caught up.
//
// Purpose: an order read sees every order that was acknowledged before it, and none that may still
// vanish: it waits until what is durable at its arrival is applied, and never for the disk.
// Thread safety: worker threads; each keeps one read-only connection. Cost: one or two short
// transactions, and the wait for the projector (milliseconds, two seconds at most).
#pragma once

#include <holdfast/api/routes.hpp>
#include <holdfast/store/store.hpp>

#include <functional>
#include <optional>
#include <string>

namespace holdfast::api {

/// Until all that was acknowledged is in the store. False: the projector is behind or has failed;
/// what is read may be old.
[[nodiscard]] bool catch_up(Context const& context);

/// `overloaded` if the store cannot be read now.
[[nodiscard]] Result<std::optional<store::OrderRow>> read_order(Context const& context,
                                                                OrderId const& order);
[[nodiscard]] Result<store::Reader::OrderPage> read_orders(Context const& context, Lsn before,
                                                           std::uint32_t limit);

/// The order of the path, to change it; nothing (and `reply` written) if there is none or it cannot
/// be told. It has what answered changes have made of it, and with `needs_tickets` also those
/// without an answer yet; it is refused (`overloaded`) while that is not known.
[[nodiscard]] std::optional<store::OrderRow> find_order(Context const& context,
                                                        http::Request const& request,
                                                        http::Reply& reply, bool needs_tickets);

using OrderGuard = std::function<bool(store::OrderRow const&)>;
/// The order of the path, to show it. Asked before any wait: to name another's order is worth one
/// look, and a wait ends with the limit, whatever the disk does.
[[nodiscard]] std::optional<store::OrderRow> read_order_for(Context const& context,
                                                            http::Request const& request,
                                                            http::Reply& reply,
                                                            OrderGuard const& may_read);

void append_order(std::string& out, Context const& context, store::OrderRow const& order);

}  // namespace holdfast::api
