// Every n-th read of SQLite fails, once or from then on (RELIABILITY.md 4.6): what a store says is
// right or an error, and nothing is lost.
#include "tests/store/failing_vfs.hpp"
#include "tests/store/store_samples.hpp"

#include <holdfast/store/snapshot.hpp>

#include <catch2/catch.hpp>
#include <cstdio>
#include <sqlite3.h>

namespace holdfast::store {
namespace {

constexpr std::uint64_t orders_before = 4;

/// What each call said; "error" for an error.
class Said {
public:
    template <class T, class Text>
    bool operator()(StoreResult<T> const& result, Text const& text) {
        all.push_back(result ? text() : "error");
        if (result) return true;
        // A disk that cannot be read says nothing of versions, and nothing of rows.
        CHECK(result.error().kind != StoreError::Kind::newer);
        CHECK(result.error().kind != StoreError::Kind::contradiction);
        return false;
    }
    template <class T>
    bool operator()(StoreResult<T> const& result) {
        return (*this)(result, [] { return std::string("done"); });
    }
    std::vector<std::string> all;
};

HistoryRow history_of(std::uint64_t order, std::uint64_t lsn, char const* what) {
    return {Lsn{lsn}, TimePoint{}, {1, order}, what};
}

StoreResult<void> change_orders(Store& store) {
    if (auto begun = store.begin(); !begun) return begun;
    auto done = store.apply_order(samples::nth_order(orders_before + 1));
    if (done) done = store.apply_cancel({1, 1}, history_of(1, 6, "cancelled"));
    std::pair<EventId, SeatIndex> const refunded[] = {{EventId{1}, SeatIndex{2}}};
    if (done) done = store.apply_refund(refunded, history_of(2, 7, "refunded"));
    ReseatRow const moved[] = {{EventId{1}, SeatIndex{3}, SeatIndex{9}, "A-1-9", "A"}};
    if (done) done = store.apply_reseat(moved, history_of(3, 8, "reseated"));
    if (done) done = store.commit(Lsn{8}, 8);
    if (!done) store.roll_back();
    return done;
}

void look_into(Store& store, Said& said) {
    auto const events = store.load_events();
    said(events, [&] { return std::to_string(events->size()) + " " + events->front().name; });
    auto const sums = store.order_sums();
    said(sums, [&] { return std::to_string(sums->size()); });
    auto const tickets = store.live_tickets();
    said(tickets, [&] { return std::to_string(tickets->size()); });
    said(store.check());
    auto const added = store.insert_event(samples::full_event("late"));
    said(added, [&] { return std::to_string(added->value().value()); });
    said(change_orders(store));
    auto const moved = store.checkpoint();
    said(moved, [&] { return std::to_string(*moved); });
}

void read_orders_of(std::filesystem::path const& file, Said& said) {
    auto reader = Reader::open(file);
    if (!said(reader)) return;
    auto const order = (*reader)->order({1, 4});
    said(order, [&] { return order->value().tickets.front().seat_name; });
    auto const page = (*reader)->orders(no_lsn, 3);
    said(page, [&] { return std::to_string(page->items.size()) + (page->more ? " of more" : ""); });
}

/// All that a server asks a store for.
std::vector<std::string> ask_all(samples::TempFolder const& folder) {
    Said said;
    auto const known = Store::peek(folder.file());
    said(known, [&] { return std::to_string(known->value().applied_lsn.value()); });
    auto store = Store::open(folder.file(), samples::store_id);
    if (said(store)) look_into(**store, said);
    read_orders_of(folder.file(), said);
    auto const snapshot = Snapshot::take(folder.file());
    if (said(snapshot)) said((*snapshot)->copy_to(folder.file("copy.db"), [] { return true; }));
    if (store && !(*store)->usable()) said((*store)->reopen());
    return said.all;
}

}  // namespace

TEST_CASE("P9: each n-th read of SQLite may fail, and nothing wrong is told", "[store][fault]") {
    FailingVfs vfs;
    samples::TempFolder const made;
    {
        auto const store = samples::open_store(made.file());
        REQUIRE(store->insert_event(samples::full_event("show")));
        for (std::uint64_t number = 1; number <= orders_before; ++number) {
            REQUIRE(store->begin());
            REQUIRE(store->apply_order(samples::nth_order(number)));
            REQUIRE(store->commit(Lsn{number}, 1));
        }
        REQUIRE(*store->checkpoint());  // so that the file alone is all of it
    }
    auto const before = samples::dump(made.file());
    std::vector<std::string> whole;
    std::vector<std::string> after;
    long failures = 0;
    for (bool const lasting : {false, true}) {
        for (long nth = 0;; ++nth) {  // the 0th is none
            CAPTURE(lasting, nth);
            REQUIRE(nth < 1'000);
            samples::TempFolder const folder;
            std::filesystem::copy_file(made.file(), folder.file());
            vfs.fail(FailingVfs::Call::read, nth, lasting, SQLITE_IOERR_READ);
            auto const said = ask_all(folder);
            vfs.fail_nothing();
            if (nth == 0) {
                whole = said;
                after = samples::dump(folder.file());
                CHECK(std::ranges::count(whole, "error") == 0);
                CHECK(after != before);
                continue;
            }
            if (!vfs.met()) break;
            ++failures;
            // In order, but for those that were not asked because of an error.
            auto next = whole.begin();
            for (std::string const& one : said) {
                if (one == "error" || one == "done") continue;
                next = std::find(next, whole.end(), one);
                CHECK(next != whole.end());
            }
            auto const store = samples::open_store(folder.file());
            REQUIRE(store->check());
            auto const rows = samples::dump(folder.file());
            CHECK((rows == before || rows == after));
        }
    }
    std::printf("failing reads of SQLite: %ld\n", failures);
    CHECK(failures > 20);
}

TEST_CASE("a store is opened again only where the same one is whole", "[store]") {
    samples::TempFolder const folder;
    auto store = samples::open_store(folder.file());
    REQUIRE(store->insert_event(samples::full_event("show")));
    auto const refused_with = [&store](StoreError::Kind kind, std::string const& why) {
        auto const refused = store->reopen();
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == kind);
        CHECK_THAT(refused.error().message, Catch::Contains(why));
        CHECK_FALSE(store->usable());
        // Whatever is asked now has that for an answer.
        CHECK_FALSE(store->load_events());
        CHECK_FALSE(store->order_sums());
        CHECK_FALSE(store->live_tickets());
        CHECK_FALSE(store->check());
        CHECK_FALSE(store->begin());
        CHECK_FALSE(store->checkpoint());
        CHECK_FALSE(store->insert_event(samples::full_event("other")));
        CHECK_FALSE(store->clear_projection());
        CHECK(store->wal_bytes() == 0);
        store->roll_back();
    };
    REQUIRE(store->checkpoint());
    std::filesystem::rename(folder.file(), folder.file("kept.db"));
    refused_with(StoreError::Kind::not_durable, "the store's file is missing");
    CHECK_FALSE(std::filesystem::exists(folder.file()));
    std::filesystem::create_directory(folder.file());
    refused_with(StoreError::Kind::not_durable, "");
    std::filesystem::remove(folder.file());
    {
        auto const other = Store::open(folder.file(), {9, 9, 9});
        REQUIRE(other);
    }
    refused_with(StoreError::Kind::other, "belongs to another store");
    for (char const* const name : {"store.db", "store.db-wal", "store.db-shm"})
        std::filesystem::remove(folder.file(name));
    std::filesystem::copy_file(folder.file("kept.db"), folder.file());
    REQUIRE(store->reopen());
    CHECK(store->load_events()->size() == 1);
}

}  // namespace holdfast::store
