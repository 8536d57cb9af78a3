#include "tests/store/store_samples.hpp"

#include <holdfast/store/snapshot.hpp>

#include <catch2/catch.hpp>
#include <sqlite3.h>
#include <sys/stat.h>

namespace holdfast::store {
namespace {

using samples::TempFolder;

OrderRow snapshot_order(std::uint64_t lsn) {
    OrderRow order;
    order.order = OrderId{lsn, lsn + 1};
    order.event = EventId{1};
    order.holds = {{EventId{1}, HoldRef{lsn}}};
    order.payment_method = "none";
    order.total = 4'500;
    order.currency = "EUR";
    order.lsn = Lsn{lsn};
    TicketRow ticket;
    ticket.event = EventId{1};
    ticket.seat = SeatIndex{static_cast<std::uint32_t>(lsn)};
    ticket.ticket.bytes[0] = static_cast<std::uint8_t>(lsn);
    ticket.ticket.bytes[1] = static_cast<std::uint8_t>(lsn >> 8);
    ticket.price = 4'500;
    order.tickets = {ticket};
    return order;
}

/// In one transaction.
void write_orders(Store& store, std::uint64_t first, std::uint64_t count) {
    std::uint64_t const last = first + count - 1;
    REQUIRE(store.begin());
    for (std::uint64_t lsn = first; lsn <= last; ++lsn)
        REQUIRE(store.apply_order(snapshot_order(lsn)));
    REQUIRE(store.commit(Lsn{last}, static_cast<std::uint32_t>(last)));
}

auto const go_on = [] { return true; };

}  // namespace

TEST_CASE("a snapshot is of one moment, whatever is written while it is copied",
          "[store][snapshot]") {
    TempFolder const folder;
    auto const store = samples::open_store(folder.file());
    REQUIRE(store->insert_event(samples::full_event("gala")));
    write_orders(*store, 1, 8'000);
    auto const snapshot = Snapshot::take(folder.file());
    REQUIRE(snapshot);
    CHECK((*snapshot)->identity().applied_lsn == Lsn{8'000});
    CHECK((*snapshot)->identity().applied_chain == 8'000);
    CHECK((*snapshot)->identity().store_id == samples::store_id);
    auto const then = samples::dump(folder.file());
    // Before the copy and between its pieces; a checkpoint may try, and finds the reader.
    write_orders(*store, 8'001, 50);
    std::uint64_t next = 8'051;
    auto const copied = (*snapshot)->copy_to(folder.file("copy.db"), [&] {
        write_orders(*store, next, 20);
        next += 20;
        return next < 10'000;  // a copy that starts anew with each commit never ends
    });
    REQUIRE(copied);
    CHECK(next > 8'071);  // more than one piece
    CHECK(samples::dump(folder.file("copy.db")) == then);
    CHECK(samples::dump(folder.file()).size() > then.size());
}

TEST_CASE("a copy of a store is whole without a WAL, and private", "[store][snapshot]") {
    TempFolder const folder;
    auto const copy = folder.file("copy.db");
    {
        auto const store = samples::open_store(folder.file());
        REQUIRE(store->insert_event(samples::full_event("gala")));
        write_orders(*store, 1, 10);
        // All of it stands in the WAL only.
        auto const snapshot = Snapshot::take(folder.file());
        REQUIRE(snapshot);
        REQUIRE((*snapshot)->copy_to(copy, go_on));
    }
    CHECK_FALSE(std::filesystem::exists(folder.file("copy.db-wal")));
    CHECK_FALSE(std::filesystem::exists(folder.file("copy.db-journal")));
    struct stat status{};
    REQUIRE(::stat(copy.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    std::filesystem::rename(copy, folder.file("restored.db"));
    auto const restored = samples::open_store(folder.file("restored.db"));
    CHECK(restored->check());
    CHECK(restored->identity().applied_lsn == Lsn{10});
    auto const events = restored->load_events();
    REQUIRE(events);
    REQUIRE(events->size() == 1);
    CHECK(events->front().slug == "gala");
    write_orders(*restored, 11, 1);
    CHECK(samples::dump(folder.file("restored.db")).size() ==
          samples::dump(folder.file()).size() + 4);
}

TEST_CASE("a checkpoint goes on once the snapshot is gone", "[store][snapshot]") {
    TempFolder const folder;
    auto const store = samples::open_store(folder.file());
    REQUIRE(store->insert_event(samples::full_event("gala")));
    write_orders(*store, 1, 10);
    {
        auto const snapshot = Snapshot::take(folder.file());
        REQUIRE(snapshot);
        REQUIRE((*snapshot)->copy_to(folder.file("copy.db"), go_on));
    }
    auto const moved = store->checkpoint();
    REQUIRE(moved);
    CHECK(*moved);
}

TEST_CASE("a copy of a store can be abandoned, and never writes over a file", "[store][snapshot]") {
    TempFolder const folder;
    auto const store = samples::open_store(folder.file());
    auto const snapshot = Snapshot::take(folder.file());
    REQUIRE(snapshot);
    auto const abandoned = (*snapshot)->copy_to(folder.file("a.db"), [] { return false; });
    REQUIRE_FALSE(abandoned);
    CHECK(abandoned.error().code == SQLITE_ABORT);
    auto const twice = (*snapshot)->copy_to(folder.file("a.db"), go_on);
    REQUIRE_FALSE(twice);
    CHECK_THAT(twice.error().message, Catch::Contains("a.db: File exists"));
    CHECK((*snapshot)->copy_to(folder.file("b.db"), go_on));
    CHECK_FALSE((*snapshot)->copy_to(folder.file("none") / "c.db", go_on));
    CHECK_FALSE(Snapshot::take(folder.file("missing.db")));
}

}  // namespace holdfast::store
