// What an audit reads of a whole store.
#include "store/store_state.hpp"

namespace holdfast::store {

StoreResult<std::vector<LiveTicket>> Store::live_tickets() {
    if (auto const closed = state_->closed()) return *closed;
    // Not by the index: it is what would hide a second ticket of a seat, and tells where one was. A
    // table without rowids is read by any index in spite of NOT INDEXED; no index fits a +column.
    Statement rows{*state_->database,
                   "SELECT tickets.event, tickets.seat, orders.id, tickets.price "
                   "FROM tickets LEFT JOIN orders ON orders.lsn = tickets.order_lsn "
                   "WHERE +tickets.live = 1 ORDER BY +tickets.event, +tickets.seat"};
    std::vector<LiveTicket> tickets;
    for (;;) {
        auto const row = rows.next();
        if (!row) return state_->fail(row.error());
        if (!*row) return tickets;
        tickets.push_back({EventId{static_cast<std::uint32_t>(rows.integer(0))},
                           SeatIndex{static_cast<std::uint32_t>(rows.integer(1))}, rows.order(2),
                           rows.integer(3)});
    }
}

StoreResult<std::vector<OrderSum>> Store::order_sums() {
    if (auto const closed = state_->closed()) return *closed;
    Statement rows{*state_->database,
                   "SELECT orders.lsn, orders.id, orders.event, state, total, currency, "
                   "coalesce(sum(live), 0), coalesce(sum(price * live), 0), "
                   "coalesce((SELECT max(lsn) FROM history WHERE order_lsn = orders.lsn), "
                   "orders.lsn) "
                   "FROM orders LEFT JOIN tickets ON order_lsn = orders.lsn "
                   "GROUP BY orders.lsn ORDER BY orders.lsn"};
    std::vector<OrderSum> orders;
    for (;;) {
        auto const row = rows.next();
        if (!row) return state_->fail(row.error());
        if (!*row) return orders;
        OrderSum order;
        order.lsn = Lsn{static_cast<std::uint64_t>(rows.integer(0))};
        order.order = rows.order(1);
        order.event = EventId{static_cast<std::uint32_t>(rows.integer(2))};
        // The table's CHECK allows these two words only.
        order.state = rows.text(3) == "confirmed" ? OrderState::confirmed : OrderState::cancelled;
        order.total = rows.integer(4);
        order.currency = rows.text(5);
        order.live_tickets = static_cast<std::uint64_t>(rows.integer(6));
        order.live_price = rows.integer(7);
        order.last_change = Lsn{static_cast<std::uint64_t>(rows.integer(8))};
        orders.push_back(std::move(order));
    }
}

}  // namespace holdfast::store
