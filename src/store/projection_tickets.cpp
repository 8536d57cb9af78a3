// Applies what the journal says of single tickets; each verb may be called again.
#include "store/store_state.hpp"

#include <holdfast/base/assert.hpp>

#include <sqlite3.h>

namespace holdfast::store {
namespace {

/// A live ticket of the order.
struct Ticket {
    std::int64_t order_lsn{};
    std::int64_t number{};
    std::int64_t price{};
};

[[nodiscard]] StoreResult<Ticket> find_ticket(ProjectionStatements& statements,
                                              HistoryRow const& history, EventId event,
                                              SeatIndex seat) {
    Statement& find = statements.find_ticket;
    auto const row = find.put(history.order)
                         .put(std::int64_t{event.value()})
                         .put(std::int64_t{seat.value()})
                         .next();
    if (!row) return row.error();
    if (!*row) {
        return StoreError{SQLITE_CONSTRAINT, "LSN " + std::to_string(history.lsn.value()) +
                                                 " names place " + std::to_string(seat.value()) +
                                                 ", which its order does not have"};
    }
    Ticket const ticket{find.integer(0), find.integer(1), find.integer(2)};
    find.reset();
    return ticket;
}

[[nodiscard]] StoreResult<void> refund(ProjectionStatements& statements,
                                       std::span<std::pair<EventId, SeatIndex> const> places,
                                       HistoryRow const& history) {
    auto const applied = is_in_history(statements, history.lsn, history.order);
    if (!applied) return applied.error();
    if (*applied) return {};
    for (auto const& [event, seat] : places) {
        auto const ticket = find_ticket(statements, history, event, seat);
        if (!ticket) return ticket.error();
        auto done = statements.refund_ticket.put(static_cast<std::int64_t>(history.lsn.value()))
                        .put(ticket->order_lsn)
                        .put(ticket->number)
                        .run();
        if (done) done = statements.reduce_total.put(ticket->price).put(ticket->order_lsn).run();
        if (!done) return done;
    }
    return insert_history(statements, history);
}

[[nodiscard]] StoreResult<void> reseat(ProjectionStatements& statements,
                                       std::span<ReseatRow const> moves,
                                       HistoryRow const& history) {
    auto const applied = is_in_history(statements, history.lsn, history.order);
    if (!applied) return applied.error();
    if (*applied) return {};
    // All are lifted before one is put down: a place never has two live tickets.
    std::vector<Ticket> lifted;
    for (ReseatRow const& move : moves) {
        auto const ticket = find_ticket(statements, history, move.event, move.from);
        if (!ticket) return ticket.error();
        auto const done = statements.lift_ticket.put(ticket->order_lsn).put(ticket->number).run();
        if (!done) return done;
        lifted.push_back(*ticket);
    }
    for (std::size_t i = 0; i < moves.size(); ++i) {
        auto const done = statements.put_ticket.put(std::int64_t{moves[i].to.value()})
                              .put(moves[i].seat_name)
                              .put(moves[i].section)
                              .put(lifted[i].order_lsn)
                              .put(lifted[i].number)
                              .run();
        if (!done) return done;
    }
    return insert_history(statements, history);
}

}  // namespace

StoreResult<void> Store::apply_refund(std::span<std::pair<EventId, SeatIndex> const> places,
                                      HistoryRow const& history) {
    if (auto const closed = state_->closed()) return *closed;
    HOLDFAST_ASSERT(state_->database->in_transaction());
    auto const done = refund(*state_->statements, places, history);
    if (!done) return state_->fail(done.error());
    return {};
}

StoreResult<void> Store::apply_reseat(std::span<ReseatRow const> moves, HistoryRow const& history) {
    if (auto const closed = state_->closed()) return *closed;
    HOLDFAST_ASSERT(state_->database->in_transaction());
    auto const done = reseat(*state_->statements, moves, history);
    if (!done) return state_->fail(done.error());
    return {};
}

}  // namespace holdfast::store
