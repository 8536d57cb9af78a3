// Every n-th write, sync, open and removal of SQLite fails, once or from then on (RELIABILITY.md
// 4.6): what was committed is there, rows and applied_lsn are of one moment, and it can go on.
#include "tests/store/failing_vfs.hpp"
#include "tests/store/store_samples.hpp"

#include <catch2/catch.hpp>
#include <cstdio>
#include <sqlite3.h>

namespace holdfast::store {
namespace {

using samples::nth_order;
using samples::TempFolder;

constexpr std::uint64_t batches = 5;

/// What a store was heard to say.
struct Heard {
    bool event{};
    std::uint64_t committed{};
    std::uint64_t checkpoints{};
    bool closed{};  // a failure closed the connection
    bool in_doubt{};
};

bool insert_show(Store& store) {
    auto const events = store.load_events();
    if (!events) return false;
    return !events->empty() || store.insert_event(samples::full_event("show")).has_value();
}

bool apply_batch(Store& store, std::uint64_t number) {
    if (!store.begin()) return false;
    if (store.apply_order(nth_order(number)) &&
        store.commit(Lsn{number}, static_cast<std::uint32_t>(number)))
        return true;
    store.roll_back();
    return false;
}

/// A life of the store: batch by batch from where it is; after a failure once more with a new
/// connection.
void run_store(std::filesystem::path const& file, Heard& heard) {
    auto opened = Store::open(file, samples::store_id);
    if (!opened) return;
    Store& store = **opened;
    bool reopened = false;
    auto const go_on = [&] {
        if (store.usable()) return true;
        return !std::exchange(reopened, true) && store.reopen().has_value();
    };
    if (!insert_show(store)) {
        if (!go_on() || !insert_show(store)) return;
    }
    heard.event = true;
    for (std::uint64_t tries = 0; tries < 2 * batches; ++tries) {
        heard.closed = heard.closed || !store.usable();
        heard.in_doubt = store.in_doubt();
        std::uint64_t const next = store.identity().applied_lsn.value() + 1;
        if (next > batches || !go_on()) return;
        if (apply_batch(store, store.identity().applied_lsn.value() + 1))
            heard.committed = store.identity().applied_lsn.value();
        if (next % 2 == 0 && store.usable() && store.checkpoint()) ++heard.checkpoints;
    }
}

/// Without faults: what the file says, and then it is as if nothing had failed.
void check_store(std::filesystem::path const& file, Heard const& heard,
                 std::vector<std::string> const& whole) {
    auto opened = Store::open(file, samples::store_id);
    REQUIRE(opened);
    Store& store = **opened;
    REQUIRE(store.check());
    std::uint64_t const applied = store.identity().applied_lsn.value();
    CHECK(applied >= heard.committed);
    CHECK(store.identity().applied_chain == applied);
    auto const events = store.load_events();
    REQUIRE(events);
    if (heard.event) CHECK(events->size() == 1);
    REQUIRE(insert_show(store));
    auto const sums = store.order_sums();
    REQUIRE(sums);
    CHECK(sums->size() == applied);
    for (std::uint64_t number = applied + 1; number <= batches; ++number)
        REQUIRE(apply_batch(store, number));
    REQUIRE(store.checkpoint());
    CHECK(samples::dump(file) == whole);
}

}  // namespace

TEST_CASE("P9: each n-th write, sync, open and removal of SQLite may fail", "[store][fault]") {
    using Call = FailingVfs::Call;
    FailingVfs vfs;
    std::vector<std::string> whole;
    {
        TempFolder const folder;
        Heard heard;
        run_store(folder.file(), heard);
        REQUIRE(heard.committed == batches);
        REQUIRE(heard.checkpoints == 2);
        whole = samples::dump(folder.file());
    }
    std::pair<Call, int> const kinds[] = {{Call::write, SQLITE_IOERR_WRITE},
                                          {Call::write, SQLITE_FULL},
                                          {Call::sync, SQLITE_IOERR_FSYNC},
                                          {Call::open, SQLITE_CANTOPEN},
                                          {Call::remove, SQLITE_IOERR_DELETE}};
    long failures = 0;
    for (auto const& [call, code] : kinds) {
        for (bool const lasting : {false, true}) {
            for (long nth = 1;; ++nth) {
                CAPTURE(static_cast<int>(call), code, lasting, nth);
                REQUIRE(nth < 1'000);
                TempFolder const folder;
                Heard heard;
                vfs.fail(call, nth, lasting, code);
                run_store(folder.file(), heard);
                vfs.fail_nothing();
                if (!vfs.met()) break;
                ++failures;
                if (heard.closed) CHECK(heard.in_doubt == ((code & 0xFF) == SQLITE_IOERR));
                check_store(folder.file(), heard, whole);
            }
        }
    }
    std::printf("failing calls of SQLite: %ld\n", failures);
    CHECK(failures > 100);
}

}  // namespace holdfast::store
