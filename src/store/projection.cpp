// Applies what the journal says; each verb may be called again for a record that is applied.
#include "store/store_state.hpp"

#include <holdfast/base/assert.hpp>

#include <limits>
#include <sqlite3.h>

namespace holdfast::store {
namespace {

[[nodiscard]] std::int64_t number(Lsn lsn) noexcept {
    HOLDFAST_ASSERT(lsn != no_lsn);
    HOLDFAST_ASSERT(lsn.value() <= std::numeric_limits<std::int64_t>::max());
    return static_cast<std::int64_t>(lsn.value());
}

[[nodiscard]] std::int64_t number(TimePoint time) noexcept {
    return time.time_since_epoch().count();
}

/// True: a row of `lsn` says the same; false: there is none. Another order there is an error.
[[nodiscard]] StoreResult<bool> is_applied(Statement& find, Lsn lsn, OrderId const& order) {
    auto const row = find.put(number(lsn)).next();
    if (!row) return row.error();
    if (!*row) return false;
    OrderId const found = find.order(0);
    find.reset();
    if (found == order) return true;
    return StoreError{SQLITE_CONSTRAINT,
                      "LSN " + std::to_string(lsn.value()) + " is applied with another order"};
}

[[nodiscard]] StoreResult<void> insert_holds(ProjectionStatements& statements,
                                             OrderRow const& order) {
    std::int64_t index = 0;
    for (auto const& [event, ref] : order.holds) {
        auto const done = statements.insert_hold.put(number(order.lsn))
                              .put(index++)
                              .put(std::int64_t{event.value()})
                              .put(static_cast<std::int64_t>(ref.bits()))
                              .run();
        if (!done) return done;
    }
    return {};
}

[[nodiscard]] StoreResult<void> insert_tickets(ProjectionStatements& statements,
                                               OrderRow const& order) {
    std::int64_t index = 0;
    for (TicketRow const& ticket : order.tickets) {
        auto const done = statements.insert_ticket.put(number(order.lsn))
                              .put(index++)
                              .put(std::span<std::uint8_t const>{ticket.ticket.bytes})
                              .put(std::int64_t{ticket.event.value()})
                              .put(std::int64_t{ticket.seat.value()})
                              .put(ticket.seat_name)
                              .put(ticket.section)
                              .put(ticket.price)
                              .run();
        if (!done) return done;
    }
    return {};
}

[[nodiscard]] StoreResult<void> insert_order(Database& database, ProjectionStatements& statements,
                                             OrderRow const& order) {
    auto done = statements.insert_order.put(number(order.lsn))
                    .put(order.order)
                    .put(std::int64_t{order.event.value()})
                    .put(name_of(OrderState::confirmed))
                    .put(order.payment_method)
                    .put(order.total)
                    .put(order.currency)
                    .put(number(order.created_at))
                    .run();
    if (!done) return done;
    if (database.changes() == 0) {
        auto const applied = is_applied(statements.find_order, order.lsn, order.order);
        if (!applied) return applied.error();
        HOLDFAST_ASSERT(*applied);  // or the row would have been inserted
        return {};
    }
    done = insert_holds(statements, order);
    if (done) done = insert_tickets(statements, order);
    if (!done) return done;
    return statements.insert_confirmed.put(number(order.lsn)).put(number(order.created_at)).run();
}

[[nodiscard]] StoreResult<void> cancel(Database& database, ProjectionStatements& statements,
                                       OrderId const& order, HistoryRow const& history) {
    auto const applied = is_in_history(statements, history.lsn, order);
    if (!applied) return applied.error();
    if (*applied) return {};
    if (auto const done = statements.cancel_order.put(order).run(); !done) return done;
    if (database.changes() != 1) {
        return StoreError{SQLITE_CONSTRAINT, "LSN " + std::to_string(history.lsn.value()) +
                                                 " cancels an order that is not confirmed"};
    }
    if (auto const done = statements.cancel_tickets.put(order).run(); !done) return done;
    return insert_history(statements, history);
}

}  // namespace

StoreResult<void> insert_history(ProjectionStatements& statements, HistoryRow const& row) {
    return statements.insert_history.put(number(row.lsn))
        .put(number(row.at))
        .put(row.what)
        .put(row.order)
        .run();
}

StoreResult<bool> is_in_history(ProjectionStatements& statements, Lsn lsn, OrderId const& order) {
    return is_applied(statements.find_history, lsn, order);
}

std::string_view name_of(LifeStep step) noexcept {
    switch (step) {
        case LifeStep::drafted:
            return "drafted";
        case LifeStep::published:
            return "published";
        case LifeStep::paused:
            return "paused";
        case LifeStep::closed:
            return "closed";
        case LifeStep::cancelled:
            return "cancelled";
    }
    HOLDFAST_ASSERT(false);
    return {};
}

std::string_view name_of(OrderState state) noexcept {
    return state == OrderState::confirmed ? "confirmed" : "cancelled";
}

ProjectionStatements::ProjectionStatements(Database& database)
    : find_order(database, "SELECT id FROM orders WHERE lsn = ?"),
      insert_order(database,
                   "INSERT INTO orders (lsn, id, event, state, payment_method, total, currency, "
                   "created_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (lsn) DO NOTHING"),
      insert_hold(database,
                  "INSERT INTO order_holds (order_lsn, number, event, ref) VALUES (?, ?, ?, ?)"),
      insert_ticket(database,
                    "INSERT INTO tickets (order_lsn, number, id, event, seat, seat_name, section, "
                    "price, live) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1)"),
      insert_confirmed(database,
                       "INSERT INTO history (lsn, at_ms, what, order_lsn) "
                       "VALUES (?1, ?2, 'confirmed', ?1)"),
      find_history(database,
                   "SELECT orders.id FROM history JOIN orders ON orders.lsn = history.order_lsn "
                   "WHERE history.lsn = ?"),
      insert_history(database,
                     "INSERT INTO history (lsn, at_ms, what, order_lsn) "
                     "VALUES (?, ?, ?, (SELECT lsn FROM orders WHERE id = ?))"),
      cancel_order(database,
                   "UPDATE orders SET state = 'cancelled' WHERE id = ? AND state = 'confirmed'"),
      cancel_tickets(database,
                     "UPDATE tickets SET live = 0 "
                     "WHERE order_lsn = (SELECT lsn FROM orders WHERE id = ?)"),
      find_ticket(database,
                  "SELECT order_lsn, number, price FROM tickets "
                  "WHERE order_lsn = (SELECT lsn FROM orders WHERE id = ?) "
                  "AND event = ? AND seat = ? AND live = 1"),
      refund_ticket(database,
                    "UPDATE tickets SET live = 0, refunded_lsn = ? "
                    "WHERE order_lsn = ? AND number = ?"),
      reduce_total(database, "UPDATE orders SET total = total - ? WHERE lsn = ?"),
      lift_ticket(database, "UPDATE tickets SET live = 0 WHERE order_lsn = ? AND number = ?"),
      put_ticket(database,
                 "UPDATE tickets SET live = 1, seat = ?, seat_name = ?, section = ? "
                 "WHERE order_lsn = ? AND number = ?"),
      set_step(database,
               "INSERT INTO event_steps (event, step, lsn) VALUES (?, ?, ?) ON CONFLICT (event) "
               "DO UPDATE SET step = excluded.step, lsn = excluded.lsn WHERE excluded.lsn > lsn"),
      set_applied(database, "UPDATE meta SET applied_lsn = ?, applied_chain = ? WHERE id = 1") {}

StoreResult<void> Store::apply_order(OrderRow const& order) {
    if (auto const closed = state_->closed()) return *closed;
    HOLDFAST_ASSERT(state_->database->in_transaction());
    auto const done = insert_order(*state_->database, *state_->statements, order);
    if (!done) return state_->fail(done.error());
    return {};
}

StoreResult<void> Store::apply_cancel(OrderId const& order, HistoryRow const& history) {
    if (auto const closed = state_->closed()) return *closed;
    HOLDFAST_ASSERT(state_->database->in_transaction());
    auto const done = cancel(*state_->database, *state_->statements, order, history);
    if (!done) return state_->fail(done.error());
    return {};
}

StoreResult<void> Store::apply_life_step(EventId event, LifeStep step, Lsn lsn) {
    if (auto const closed = state_->closed()) return *closed;
    HOLDFAST_ASSERT(state_->database->in_transaction());
    auto const done = state_->statements->set_step.put(std::int64_t{event.value()})
                          .put(name_of(step))
                          .put(number(lsn))
                          .run();
    if (!done) return state_->fail(done.error());
    return {};
}

}  // namespace holdfast::store
