// What a Store owns: the one writing connection and its statements.
//
// A statement belongs to the connection, so both go together when a failure closes it.
#pragma once

#include "store/database.hpp"
#include "store/statement.hpp"

#include <holdfast/store/store.hpp>

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace holdfast::store {

/// The projection's statements, prepared once; used thousands of times a second.
struct ProjectionStatements {
    explicit ProjectionStatements(Database& database);
    Statement find_order;  // lsn -> id
    // lsn, id, event, state, payment_method, total, currency, created; nothing if the lsn is there
    Statement insert_order;
    Statement insert_hold;       // order_lsn, number, event, ref
    Statement insert_ticket;     // order_lsn, number, id, event, seat, seat_name, section, price
    Statement insert_confirmed;  // lsn, at: the history row of an order
    Statement find_history;      // lsn -> order id
    Statement insert_history;    // lsn, at, what, order id
    Statement cancel_order;      // order id
    Statement cancel_tickets;    // order id
    Statement find_ticket;       // order id, event, seat -> order_lsn, number, price of a live one
    Statement refund_ticket;     // lsn, order_lsn, number
    Statement reduce_total;      // by, order_lsn
    Statement lift_ticket;       // order_lsn, number: not live until it is put down
    Statement put_ticket;        // seat, seat_name, section, order_lsn, number
    Statement set_step;          // event, step, lsn
    Statement set_applied;       // lsn, chain
};

struct Store::State {
    State(std::filesystem::path path, Database opened)
        : file(std::move(path)), database(std::move(opened)) {}

    /// The connection, or the error that closed it.
    [[nodiscard]] std::optional<StoreError> closed() const;
    /// Gives the error back. One that leaves the file in doubt closes the connection for good.
    [[nodiscard]] StoreError fail(StoreError error);
    void note(StoreError const& error) noexcept;
    void close() noexcept;
    /// Closed for good, for want of memory.
    void give_up() noexcept;
    /// False: no check is wanted any more.
    [[nodiscard]] bool begin_check();
    void end_check() noexcept;
    struct EndCheck {
        void operator()(State* state) const noexcept { state->end_check(); }
    };
    [[nodiscard]] bool check_skipped();

    std::filesystem::path file;
    std::optional<Database> database;
    std::unique_ptr<ProjectionStatements> statements;  // destroyed before the connection
    std::optional<StoreError> why_closed;
    bool in_doubt{};       // since the first failure that leaves doubts
    bool is_to_be_anew{};  // since the newest one; not once the disk was asked
    Identity identity;
    std::set<EventId> events;  // that somebody was told of
    std::mutex check_mutex;
    // Under check_mutex.
    sqlite3* checking{};  // the connection, while its check runs
    bool skipping{};
};

/// True: `lsn` has its row of history, of this order; false: it has none. Another order is an
/// error.
[[nodiscard]] StoreResult<bool> is_in_history(ProjectionStatements& statements, Lsn lsn,
                                              OrderId const& order);
[[nodiscard]] StoreResult<void> insert_history(ProjectionStatements& statements,
                                               HistoryRow const& row);

/// An error if one of them is missing.
[[nodiscard]] StoreResult<void> has_events(Database& database, std::set<EventId> const& events);

[[nodiscard]] StoreResult<Identity> read_identity(Database& database);

/// Names as the file has them.
[[nodiscard]] std::string_view name_of(LifeStep step) noexcept;
[[nodiscard]] std::string_view name_of(OrderState state) noexcept;

}  // namespace holdfast::store
