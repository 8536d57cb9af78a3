// The projector and a store that is slow, or that opens and takes nothing.
#include "tests/engine/projector_world.hpp"
#include "tests/store/failing_vfs.hpp"

#include <holdfast/store/snapshot.hpp>

#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <mutex>
#include <sqlite3.h>

namespace holdfast::engine::test {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

/// Notes when the projector asks for an event, which it does at each try to apply an order.
class Asked {
public:
    void note() {
        std::lock_guard const lock{mutex_};
        times_.push_back(std::chrono::steady_clock::now());
    }
    [[nodiscard]] std::vector<SteadyTime> times() const {
        std::lock_guard const lock{mutex_};
        return times_;
    }

private:
    mutable std::mutex mutex_;
    std::vector<SteadyTime> times_;
};

}  // namespace

TEST_CASE("a store that opens and takes nothing is tried ever less often", "[projector]") {
    World world;
    world.open_store();
    Asked asked;
    constexpr Milliseconds retry{20};
    world.running = std::make_unique<RunningProjector>(
        *world.store, *world.journal, world.disk,
        [&](EventId id) {
            asked.note();
            return world.find(id);
        },
        world.key, world.listener, retry);
    {
        auto vandal = store::Database::open_writer(world.folder.file());
        REQUIRE(vandal);
        REQUIRE(vandal->run("ALTER TABLE tickets RENAME TO lost"));
    }
    world.claim(hold(1, 1), {0});
    Lsn const lsn = world.sell(order(1), {hold(1, 1)});
    CHECK_FALSE(world.projector().wait_applied(lsn, patience));
    auto const deadline = std::chrono::steady_clock::now() + patience;
    constexpr std::size_t tries = 5;
    while (asked.times().size() < tries) {
        REQUIRE(std::chrono::steady_clock::now() < deadline);
        // That it could be opened again is no news to anybody.
        REQUIRE(world.projector().degraded());
    }
    auto const times = asked.times();
    for (std::size_t at = 1; at < tries; ++at) {
        CAPTURE(at);
        CHECK(times[at] - times[at - 1] >= retry * (1 << (at - 1)));
    }
    {
        auto vandal = store::Database::open_writer(world.folder.file());
        REQUIRE(vandal);
        REQUIRE(vandal->run("ALTER TABLE lost RENAME TO tickets"));
    }
    while (world.projector().degraded()) REQUIRE(std::chrono::steady_clock::now() < deadline);
    CHECK(world.projector().wait_applied(lsn, patience));
}

TEST_CASE("P9: what a store says is synced is believed again if only space was wanting",
          "[projector]") {
    using store::FailingVfs;
    struct Kind {
        FailingVfs::Call call;
        int code;
        bool doubts;
    };
    Kind const kind = GENERATE(Kind{FailingVfs::Call::write, SQLITE_FULL, false},
                               Kind{FailingVfs::Call::write, SQLITE_IOERR_WRITE, true},
                               Kind{FailingVfs::Call::sync, SQLITE_IOERR_FSYNC, true});
    CAPTURE(kind.code);
    FailingVfs files;
    World world;
    world.start(Milliseconds{5});
    world.claim(hold(1, 1), {0});
    REQUIRE(world.projector().wait_applied(world.sell(order(1), {hold(1, 1)}), patience));
    files.fail(kind.call, 1, true, kind.code);
    world.claim(hold(2, 1), {1});
    Lsn const lsn = world.sell(order(2), {hold(2, 1)});
    world.projector().request_checkpoint();
    auto const deadline = std::chrono::steady_clock::now() + patience;
    while (!world.projector().degraded()) REQUIRE(std::chrono::steady_clock::now() < deadline);
    CHECK(world.projector().store_durable_lsn() == no_lsn);
    files.fail_nothing();
    while (world.projector().degraded()) REQUIRE(std::chrono::steady_clock::now() < deadline);
    REQUIRE(world.projector().wait_applied(lsn, patience));
    CHECK(world.projector().in_doubt() == kind.doubts);
    world.projector().request_checkpoint();
    if (kind.doubts) {
        while (world.projector().checkpoint_counts().wal_bytes > 0)
            REQUIRE(std::chrono::steady_clock::now() < deadline);
    } else {
        CHECK(world.projector().wait_stored(lsn, patience));
    }
    CHECK(world.projector().when_stored(lsn, [] {}) != kind.doubts);
}

TEST_CASE("P3: after a failed sync an event is made on what the disk has, and the rest comes again",
          "[projector]") {
    store::FailingVfs files;
    World world;
    auto const wal = world.folder.file("store.db-wal");
    world.start(Milliseconds{5});
    world.claim(hold(1, 1), {0});
    REQUIRE(world.projector().wait_applied(world.sell(order(1), {hold(1, 1)}), patience));
    Lsn const kept = world.projector().applied_lsn();
    world.projector().request_checkpoint();
    REQUIRE(world.projector().wait_stored(kept, patience));
    auto const told = world.projector().insert_event(samples::full_event("told"));
    REQUIRE(told);
    auto const synced = std::filesystem::file_size(wal);
    world.claim(hold(2, 1), {1});
    Lsn const lsn = world.sell(order(2), {hold(2, 1)});
    REQUIRE(world.projector().wait_applied(lsn, patience));
    // It rests with the file open, as the readers of a server do.
    auto const idle = store::Reader::open(world.folder.file());
    REQUIRE(idle);
    REQUIRE((*idle)->order(order(2)));
    // While it lives the store is not opened again.
    auto snapshot = store::Snapshot::take(world.folder.file());
    REQUIRE(snapshot);
    files.fail(store::FailingVfs::Call::sync, 1, false, SQLITE_IOERR_FSYNC);
    CHECK_FALSE(world.projector().insert_event(samples::full_event("refused")));
    CHECK(world.projector().degraded());
    CHECK(world.projector().times_gone_back() <= 1);
    // The kernel drops what it could not write.
    std::filesystem::resize_file(wal, synced);
    auto const deadline = std::chrono::steady_clock::now() + patience;
    while (world.projector().applied_lsn() != kept)
        REQUIRE(std::chrono::steady_clock::now() < deadline);
    CHECK(world.projector().times_gone_back() == 1);  // who reads an order now asks again
    CHECK_FALSE(world.projector().insert_event(samples::full_event("later")));
    snapshot->reset();
    while (world.projector().degraded()) REQUIRE(std::chrono::steady_clock::now() < deadline);
    REQUIRE(world.projector().wait_applied(lsn, patience));
    CHECK_FALSE((*idle)->is_open());
    CHECK_FALSE((*idle)->order(order(2)));
    CHECK(read_order(world, order(1)).state == store::OrderState::confirmed);
    CHECK(read_order(world, order(2)).state == store::OrderState::confirmed);
    auto const later = world.projector().insert_event(samples::full_event("later"));
    REQUIRE(later);
    CHECK(later->has_value());
    world.projector().request_checkpoint();
    while (world.projector().checkpoint_counts().wal_bytes > 0)
        REQUIRE(std::chrono::steady_clock::now() < deadline);
    world.stop();
    world.start();
    CHECK(world.find(**told) != nullptr);
    CHECK(world.find(**later) != nullptr);
}

TEST_CASE("an event whose turn does not come is not inserted later", "[projector]") {
    World world;
    world.open_store();
    std::mutex busy;
    world.running = std::make_unique<RunningProjector>(
        *world.store, *world.journal, world.disk,
        [&](EventId id) {
            std::lock_guard const wait{busy};
            return world.find(id);
        },
        world.key, world.listener);
    std::unique_lock held{busy};
    world.claim(hold(1, 1), {0});
    Lsn const lsn = world.sell(order(1), {hold(1, 1)});
    REQUIRE(world.journal->wait_durable(lsn));
    // The store thread gets to the order, and stands there.
    CHECK_FALSE(world.projector().wait_applied(lsn, Milliseconds{200}));
    auto const late = world.projector().insert_event(samples::full_event("late"), Milliseconds{1});
    REQUIRE_FALSE(late);
    CHECK(late.error().kind == store::StoreError::Kind::busy);
    held.unlock();
    REQUIRE(world.projector().wait_applied(lsn, patience));
    auto const again = world.projector().insert_event(samples::full_event("late"));
    REQUIRE(again);
    CHECK(again->has_value());
    CHECK_FALSE(world.projector().degraded());
}

TEST_CASE("what waits for a store thread that hangs is bounded", "[projector]") {
    World world;
    world.start();
    std::promise<void> hangs;
    std::promise<void> goes_on;
    auto const hang = [&] {
        hangs.set_value();
        goes_on.get_future().wait();
    };
    auto held =
        std::async(std::launch::async, [&] { return world.projector().when_stored(no_lsn, hang); });
    hangs.get_future().wait();
    EventSpec const late = samples::full_event("late");
    for (std::size_t given_up = 0; given_up < limits::store_jobs_max; ++given_up) {
        auto const refused = world.projector().insert_event(late, Milliseconds{0});
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == store::StoreError::Kind::busy);
    }
    // At once, and not when the store thread goes on.
    auto more = std::async(std::launch::async,
                           [&] { return world.projector().when_stored(no_lsn, [] {}); });
    bool const is_refused = more.wait_for(patience) == std::future_status::ready;
    auto const event = world.projector().insert_event(late, Milliseconds{0});
    goes_on.set_value();
    CHECK(is_refused);
    CHECK_FALSE(more.get());
    REQUIRE_FALSE(event);
    CHECK(event.error().kind == store::StoreError::Kind::busy);
    CHECK(held.get());
    // Of what was given up nothing is done later, and there is room again once it has been let go.
    auto made = world.projector().insert_event(late, patience);
    auto const deadline = std::chrono::steady_clock::now() + patience;
    while (!made && made.error().kind == store::StoreError::Kind::busy &&
           std::chrono::steady_clock::now() < deadline)
        made = world.projector().insert_event(late, patience);
    REQUIRE(made);
    CHECK(made->has_value());
}

}  // namespace holdfast::engine::test
