#include "store/database.hpp"
#include "store/reading.hpp"
#include "store/statement.hpp"

#include <holdfast/domain/limits.hpp>

#include <algorithm>
#include <limits>
#include <sqlite3.h>
#include <utility>

namespace holdfast::store {
namespace {

constexpr std::chrono::milliseconds read_limit{2'000};

}  // namespace

/// A connection and what is asked through it.
struct OrderQueries {
    explicit OrderQueries(Database opened)
        : database(std::move(opened)),
          find(database,
               "SELECT lsn, id, event, state, payment_method, total, currency, created_at_ms "
               "FROM orders WHERE id = ?"),
          page(database,
               "SELECT lsn, id, event, state, payment_method, total, currency, created_at_ms "
               "FROM orders WHERE lsn < ? ORDER BY lsn DESC LIMIT ?"),
          holds(database, "SELECT event, ref FROM order_holds WHERE order_lsn = ? ORDER BY number"),
          tickets(database,
                  "SELECT id, event, seat, seat_name, section, price, live, refunded_lsn "
                  "FROM tickets "
                  "WHERE order_lsn = ? ORDER BY number") {}

    [[nodiscard]] StoreResult<void> add_holds(OrderRow& order);
    [[nodiscard]] StoreResult<void> add_tickets(OrderRow& order);
    [[nodiscard]] StoreResult<void> add_rest(OrderRow& order);
    [[nodiscard]] StoreResult<std::optional<OrderRow>> read_order(OrderId const& id);
    [[nodiscard]] StoreResult<Reader::OrderPage> read_page(std::int64_t before,
                                                           std::uint32_t limit);

    Database database;
    Statement find;
    Statement page;
    Statement holds;
    Statement tickets;
};

namespace {

[[nodiscard]] OrderRow read_head(Statement const& row) {
    OrderRow order;
    order.lsn = Lsn{static_cast<std::uint64_t>(row.integer(0))};
    order.order = row.order(1);
    order.event = EventId{static_cast<std::uint32_t>(row.integer(2))};
    // The table's CHECK allows these two words only.
    order.state = row.text(3) == "confirmed" ? OrderState::confirmed : OrderState::cancelled;
    order.payment_method = row.text(4);
    order.total = row.integer(5);
    order.currency = row.text(6);
    order.created_at = TimePoint{Milliseconds{row.integer(7)}};
    return order;
}

[[nodiscard]] TicketRow read_ticket(Statement const& row) {
    TicketRow ticket;
    auto const id = row.bytes(0);
    std::transform(id.begin(), id.begin() + std::min(id.size(), ticket.ticket.bytes.size()),
                   ticket.ticket.bytes.begin(),
                   [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
    ticket.event = EventId{static_cast<std::uint32_t>(row.integer(1))};
    ticket.seat = SeatIndex{static_cast<std::uint32_t>(row.integer(2))};
    ticket.seat_name = row.text(3);
    ticket.section = row.text(4);
    ticket.price = row.integer(5);
    ticket.live = row.integer(6) == 1;
    ticket.refunded = !row.is_null(7);
    return ticket;
}

}  // namespace

StoreResult<void> OrderQueries::add_holds(OrderRow& order) {
    holds.put(static_cast<std::int64_t>(order.lsn.value()));
    for (;;) {
        auto const row = holds.next();
        if (!row) return row.error();
        if (!*row) return {};
        order.holds.emplace_back(EventId{static_cast<std::uint32_t>(holds.integer(0))},
                                 HoldRef{static_cast<std::uint64_t>(holds.integer(1))});
    }
}

StoreResult<void> OrderQueries::add_tickets(OrderRow& order) {
    tickets.put(static_cast<std::int64_t>(order.lsn.value()));
    for (;;) {
        auto const row = tickets.next();
        if (!row) return row.error();
        if (!*row) return {};
        order.tickets.push_back(read_ticket(tickets));
    }
}

StoreResult<void> OrderQueries::add_rest(OrderRow& order) {
    auto done = add_holds(order);
    if (done) done = add_tickets(order);
    return done;
}

StoreResult<std::optional<OrderRow>> OrderQueries::read_order(OrderId const& id) {
    auto const row = find.put(id).next();
    if (!row) return row.error();
    if (!*row) return std::optional<OrderRow>{};
    std::optional<OrderRow> order = read_head(find);
    find.reset();
    if (auto const done = add_rest(*order); !done) return done.error();
    return order;
}

StoreResult<Reader::OrderPage> OrderQueries::read_page(std::int64_t before, std::uint32_t limit) {
    Reader::OrderPage result;
    page.put(before).put(std::int64_t{limit} + 1);  // one more tells whether there are more
    for (;;) {
        auto const row = page.next();
        if (!row) return row.error();
        if (!*row) break;
        if (result.items.size() == limit) {
            result.more = true;
            page.reset();
            break;
        }
        result.items.push_back(read_head(page));
    }
    for (OrderRow& order : result.items) {
        if (auto const done = add_rest(order); !done) return done.error();
    }
    return result;
}

namespace {

/// A read with a transaction of its own. To leave one takes memory: who is left in it would keep
/// the WAL from being moved, so that is an error, after which nobody uses the connection again.
template <class Query>
auto in_transaction(Database& database, Query query) {
    database.start_watch();
    auto answer = [&]() -> decltype(query()) {
        Transaction transaction{database};
        if (auto const begun = transaction.begin_read(); !begun) return begun.error();
        return query();
    }();
    if (answer && database.in_transaction()) answer = database.error();
    return answer;
}

}  // namespace

struct Reader::State final : ReadingConnection {
    State() { join(); }
    ~State() override { leave(); }
    State(State const&) = delete;
    State& operator=(State const&) = delete;
    void close() noexcept override { queries.reset(); }
    /// Nothing: closed, by others.
    std::optional<OrderQueries> queries;

    template <class Query>
    auto read(Query query) -> decltype(query(*queries)) {
        auto const pass = ReadingPass::get(ReadingPass::Length::short_read);
        if (!pass || !queries) return no_readers_now();
        return in_transaction(queries->database, [&] { return query(*queries); });
    }
};

StoreResult<std::unique_ptr<Reader>> Reader::open(std::filesystem::path const& file) {
    auto state = std::make_unique<State>();
    auto const pass = ReadingPass::get(ReadingPass::Length::short_read);
    if (!pass) return no_readers_now();
    auto database = Database::open_reader(file, read_limit);
    if (!database) return database.error();
    state->queries.emplace(*std::move(database));
    return std::unique_ptr<Reader>{new Reader{std::move(state)}};
}

Reader::Reader(std::unique_ptr<State> state) : state_(std::move(state)) {}

Reader::~Reader() = default;

bool Reader::is_open() const noexcept {
    auto const pass = ReadingPass::get(ReadingPass::Length::short_read);
    return pass && state_->queries;
}

StoreResult<std::optional<OrderRow>> Reader::order(OrderId const& order) {
    return state_->read([&](OrderQueries& queries) { return queries.read_order(order); });
}

StoreResult<Reader::OrderPage> Reader::orders(Lsn before, std::uint32_t limit) {
    constexpr auto newest = std::numeric_limits<std::int64_t>::max();
    // An LSN that no record can have asks for the newest, as 0 does.
    bool const all = before == no_lsn || before.value() > std::uint64_t{newest};
    auto const from = all ? newest : static_cast<std::int64_t>(before.value());
    return state_->read([&](OrderQueries& queries) {
        return queries.read_page(from, std::clamp(limit, 1U, limits::page_items_max));
    });
}

}  // namespace holdfast::store
