// Order reads: orders as the store has them, after it has caught up.
//
// Purpose: an order read sees every order that was acknowledged before it, and none that may still
// vanish: it waits until what is durable at its arrival is applied.
// Thread safety: worker threads; each keeps one read-only connection. Cost: one short transaction,
// and the wait for the projector (milliseconds).
#pragma once

#include <holdfast/api/routes.hpp>
#include <holdfast/store/store.hpp>

#include <optional>
#include <string>

namespace holdfast::api {

/// False: the projector is behind or has failed; what is read may be old.
[[nodiscard]] bool catch_up(Context const& context);

/// `overloaded` if the store cannot be read now.
[[nodiscard]] Result<std::optional<store::OrderRow>> read_order(Context const& context,
                                                                OrderId const& order);
[[nodiscard]] Result<store::Reader::OrderPage> read_orders(Context const& context, Lsn before,
                                                           std::uint32_t limit);

/// The order of the path; nothing (and `reply` written) if there is none or it cannot be told.
/// `to_change`: its tickets must be the newest.
[[nodiscard]] std::optional<store::OrderRow> find_order(Context const& context,
                                                        http::Request const& request,
                                                        http::Reply& reply, bool to_change);

void append_order(std::string& out, Context const& context, store::OrderRow const& order);

}  // namespace holdfast::api
