#include "tests/store/store_samples.hpp"

#include <catch2/catch.hpp>
#include <sqlite3.h>

namespace holdfast::store {
namespace {

using samples::TempFolder;

OrderId id(std::uint64_t number) {
    return {0xFF00000000000001, number};
}

TicketRow ticket(std::uint32_t seat) {
    TicketRow row;
    row.ticket.bytes[0] = 0xA0;
    row.ticket.bytes[15] = static_cast<std::uint8_t>(seat);
    row.event = EventId{1};
    row.seat = SeatIndex{seat};
    row.seat_name = "A-1-" + std::to_string(seat);
    row.section = "A";
    row.price = 12'000;
    return row;
}

OrderRow order(std::uint64_t number, Lsn lsn, std::vector<std::uint32_t> const& seats) {
    OrderRow row;
    row.order = id(number);
    row.event = EventId{1};
    row.holds = {{EventId{1}, HoldRef{HoldRef::generation_max, SlotIndex{3}}},
                 {EventId{1}, HoldRef{std::uint64_t{1}, SlotIndex{9}}}};
    row.payment_method = "external";
    row.total = 12'000 * static_cast<std::int64_t>(seats.size());
    row.currency = "EUR";
    row.created_at = TimePoint{Milliseconds{1'700'000'000'000}};
    row.lsn = lsn;
    for (std::uint32_t const seat : seats) row.tickets.push_back(ticket(seat));
    return row;
}

HistoryRow cancelled(std::uint64_t number, Lsn lsn) {
    return {lsn, TimePoint{Milliseconds{1'700'000'100'000}}, id(number), "cancelled"};
}

void check_equal(OrderRow const& found, OrderRow const& wanted) {
    CHECK(found.order == wanted.order);
    CHECK(found.event == wanted.event);
    CHECK(found.holds == wanted.holds);
    CHECK(found.state == wanted.state);
    CHECK(found.payment_method == wanted.payment_method);
    CHECK(found.total == wanted.total);
    CHECK(found.currency == wanted.currency);
    CHECK(found.created_at == wanted.created_at);
    CHECK(found.lsn == wanted.lsn);
    REQUIRE(found.tickets.size() == wanted.tickets.size());
    for (std::size_t i = 0; i < wanted.tickets.size(); ++i) {
        CHECK(found.tickets[i].ticket == wanted.tickets[i].ticket);
        CHECK(found.tickets[i].event == wanted.tickets[i].event);
        CHECK(found.tickets[i].seat == wanted.tickets[i].seat);
        CHECK(found.tickets[i].seat_name == wanted.tickets[i].seat_name);
        CHECK(found.tickets[i].section == wanted.tickets[i].section);
        CHECK(found.tickets[i].price == wanted.tickets[i].price);
    }
}

/// A store with one event, and a reader of it.
struct Fixture {
    TempFolder folder;
    std::unique_ptr<Store> store = samples::open_store(folder.file());
    std::unique_ptr<Reader> reader;

    Fixture() {
        auto const event = store->insert_event(samples::full_event("demo"));
        if (!event) throw std::runtime_error{event.error().message};
        auto opened = Reader::open(folder.file());
        if (!opened) throw std::runtime_error{opened.error().message};
        reader = *std::move(opened);
    }
    /// The order as readers see it.
    std::optional<OrderRow> find(std::uint64_t number) {
        auto found = reader->order(id(number));
        if (!found) throw std::runtime_error{found.error().message};
        return *std::move(found);
    }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "an order is read as it was applied, once it is committed", "[store]") {
    OrderRow const wanted = order(1, Lsn{5}, {0, 1});
    REQUIRE(store->begin());
    REQUIRE(store->apply_order(wanted));
    CHECK_FALSE(find(1));
    REQUIRE(store->commit(Lsn{6}, 42));
    auto const found = find(1);
    REQUIRE(found);
    check_equal(*found, wanted);
    CHECK_FALSE(find(2));
    CHECK(store->identity().applied_lsn == Lsn{6});
    CHECK(store->identity().applied_chain == 42);
}

TEST_CASE_METHOD(Fixture, "applying twice changes nothing", "[store]") {
    auto const apply = [&] {
        REQUIRE(store->begin());
        REQUIRE(store->apply_order(order(1, Lsn{5}, {0, 1})));
        REQUIRE(store->apply_life_step(EventId{1}, LifeStep::published, Lsn{6}));
        REQUIRE(store->apply_cancel(id(1), cancelled(1, Lsn{7})));
        REQUIRE(store->apply_order(order(2, Lsn{8}, {0})));
        REQUIRE(store->apply_life_step(EventId{1}, LifeStep::paused, Lsn{9}));
        REQUIRE(store->commit(Lsn{9}, 1));
    };
    apply();
    auto const once = samples::dump(folder.file());
    CHECK(once.size() == 1 + 2 + 4 + 3 + 3);
    apply();
    CHECK(samples::dump(folder.file()) == once);
    CHECK(once[0].find("'paused'") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "a cancelled order keeps its tickets and gives its seats back",
                 "[store]") {
    REQUIRE(store->begin());
    REQUIRE(store->apply_order(order(1, Lsn{5}, {0, 1})));
    REQUIRE(store->apply_cancel(id(1), cancelled(1, Lsn{6})));
    REQUIRE(store->apply_order(order(2, Lsn{7}, {1, 2})));
    REQUIRE(store->commit(Lsn{7}, 0));
    auto const first = find(1);
    REQUIRE(first);
    CHECK(first->state == OrderState::cancelled);
    CHECK(first->tickets.size() == 2);
    auto const second = find(2);
    REQUIRE(second);
    CHECK(second->state == OrderState::confirmed);
}

TEST_CASE_METHOD(Fixture, "P1: a seat never has two live tickets", "[store]") {
    REQUIRE(store->begin());
    REQUIRE(store->apply_order(order(1, Lsn{5}, {0, 1})));
    auto const refused = store->apply_order(order(2, Lsn{6}, {2, 1}));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == SQLITE_CONSTRAINT_UNIQUE);
    CHECK_THAT(refused.error().message, Catch::Contains("tickets.seat"));
    store->roll_back();
    CHECK_FALSE(find(1));
    CHECK(store->identity().applied_lsn == no_lsn);
    // The connection is still good.
    REQUIRE(store->begin());
    REQUIRE(store->apply_order(order(2, Lsn{6}, {2, 1})));
    REQUIRE(store->commit(Lsn{6}, 0));
    CHECK(find(2));
}

TEST_CASE_METHOD(Fixture, "a roll back leaves rows and applied_lsn as they were", "[store]") {
    REQUIRE(store->begin());
    REQUIRE(store->apply_order(order(1, Lsn{5}, {0})));
    REQUIRE(store->commit(Lsn{5}, 7));
    auto const before = samples::dump(folder.file());
    REQUIRE(store->begin());
    REQUIRE(store->apply_cancel(id(1), cancelled(1, Lsn{6})));
    REQUIRE(store->apply_life_step(EventId{1}, LifeStep::closed, Lsn{7}));
    store->roll_back();
    store->roll_back();
    CHECK(samples::dump(folder.file()) == before);
    auto const peeked = Store::peek(folder.file());
    REQUIRE(peeked);
    CHECK((*peeked)->applied_lsn == Lsn{5});
    CHECK((*peeked)->applied_chain == 7);
    CHECK(store->identity().applied_lsn == Lsn{5});
}

TEST_CASE_METHOD(Fixture, "records that contradict the rows are refused", "[store]") {
    REQUIRE(store->begin());
    REQUIRE(store->apply_order(order(1, Lsn{5}, {0})));
    auto const other_lsn = store->apply_order(order(1, Lsn{6}, {1}));
    REQUIRE_FALSE(other_lsn);
    CHECK((other_lsn.error().code & 0xFF) == SQLITE_CONSTRAINT);
    auto const other_order = store->apply_order(order(2, Lsn{5}, {1}));
    REQUIRE_FALSE(other_order);
    CHECK_THAT(other_order.error().message, Catch::Contains("LSN 5"));
    auto const unknown = store->apply_cancel(id(3), cancelled(3, Lsn{7}));
    REQUIRE_FALSE(unknown);
    CHECK_THAT(unknown.error().message, Catch::Contains("LSN 7"));
    REQUIRE(store->apply_cancel(id(1), cancelled(1, Lsn{8})));
    CHECK_FALSE(store->apply_cancel(id(1), cancelled(1, Lsn{9})));
    CHECK_FALSE(store->apply_life_step(EventId{2}, LifeStep::closed, Lsn{10}));
    store->roll_back();
}

TEST_CASE_METHOD(Fixture, "the projection can be cleared and the catalogue stays", "[store]") {
    REQUIRE(store->begin());
    REQUIRE(store->apply_order(order(1, Lsn{5}, {0})));
    REQUIRE(store->apply_life_step(EventId{1}, LifeStep::published, Lsn{6}));
    REQUIRE(store->apply_cancel(id(1), cancelled(1, Lsn{7})));
    REQUIRE(store->commit(Lsn{7}, 7));
    REQUIRE(store->clear_projection());
    CHECK(samples::dump(folder.file()).empty());
    CHECK(store->identity().applied_lsn == no_lsn);
    auto const events = store->load_events();
    REQUIRE(events);
    CHECK(events->size() == 1);
}

TEST_CASE_METHOD(Fixture, "orders are paged from the newest", "[store]") {
    REQUIRE(store->begin());
    for (std::uint32_t n = 1; n <= 5; ++n) {
        REQUIRE(store->apply_order(order(n, Lsn{10U * n}, {n})));
    }
    REQUIRE(store->commit(Lsn{50}, 0));
    auto const lsns = [&](Lsn before, std::uint32_t limit, bool more) {
        auto const page = reader->orders(before, limit);
        REQUIRE(page);
        CHECK(page->more == more);
        std::vector<std::uint64_t> list;
        for (OrderRow const& row : page->items) {
            list.push_back(row.lsn.value());
            CHECK(row.tickets.size() == 1);
            CHECK(row.holds.size() == 2);
        }
        return list;
    };
    CHECK(lsns(no_lsn, 2, true) == std::vector<std::uint64_t>{50, 40});
    CHECK(lsns(Lsn{40}, 2, true) == std::vector<std::uint64_t>{30, 20});
    CHECK(lsns(Lsn{20}, 2, false) == std::vector<std::uint64_t>{10});
    CHECK(lsns(Lsn{10}, 2, false).empty());
    CHECK(lsns(no_lsn, 5, false).size() == 5);
    CHECK(lsns(Lsn{~std::uint64_t{0}}, 1, true) == std::vector<std::uint64_t>{50});
    CHECK(lsns(no_lsn, 0, true).size() == 1);
}

TEST_CASE("there is no reader without a store", "[store]") {
    TempFolder const folder;
    auto const reader = Reader::open(folder.file());
    REQUIRE_FALSE(reader);
    CHECK((reader.error().code & 0xFF) == SQLITE_CANTOPEN);
    CHECK_FALSE(std::filesystem::exists(folder.file()));
}

}  // namespace holdfast::store
