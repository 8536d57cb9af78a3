// The projector and a store that somebody else has locked. SQLite waits for the lock with the sleep
// of its VFS, which takes no time here: ten seconds of it are over at once.
#include "tests/engine/resting_world.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <sqlite3.h>
#include <thread>

namespace holdfast::engine::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

/// While one lives every new connection sleeps like this.
class TimelessNaps {
public:
    TimelessNaps() {
        system_ = sqlite3_vfs_find(nullptr);
        vfs_ = *system_;
        vfs_.self = this;
        vfs_.zName = "timeless";
        vfs_.xSleep = [](sqlite3_vfs* vfs, int us) {
            return static_cast<Vfs*>(vfs)->self->nap(us);
        };
        sqlite3_vfs_register(&vfs_, 1);
    }
    ~TimelessNaps() {
        sqlite3_vfs_unregister(&vfs_);
        sqlite3_vfs_register(system_, 1);
    }
    TimelessNaps(TimelessNaps const&) = delete;
    TimelessNaps& operator=(TimelessNaps const&) = delete;

    /// Whoever has slept for so long does not wake before wake() is called.
    void nap_on_after(microseconds slept) {
        std::lock_guard const lock{mutex_};
        nap_on_after_ = slept;
        changed_.notify_all();
    }
    void wake() { nap_on_after(microseconds::max()); }
    /// Blocks until all together have slept for so long; false: they did not.
    [[nodiscard]] bool wait_for(microseconds slept) {
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, patience, [&] { return slept_ >= slept; });
    }

private:
    struct Vfs : sqlite3_vfs {
        TimelessNaps* self{};
        Vfs& operator=(sqlite3_vfs const& other) {
            static_cast<sqlite3_vfs&>(*this) = other;
            return *this;
        }
    };
    int nap(int us) {
        std::unique_lock lock{mutex_};
        slept_ += microseconds{us};
        changed_.notify_all();
        static_cast<void>(
            changed_.wait_for(lock, patience, [this] { return slept_ < nap_on_after_; }));
        return us;
    }

    sqlite3_vfs* system_{};
    Vfs vfs_;
    std::mutex mutex_;
    std::condition_variable changed_;
    microseconds slept_{};
    microseconds nap_on_after_{microseconds::max()};
};

store::Database lock_the_file(World const& world) {
    auto other = store::Database::open_writer(world.folder.file());
    if (!other) throw std::runtime_error{other.error().message};
    if (auto const begun = other->run("BEGIN IMMEDIATE"); !begun)
        throw std::runtime_error{begun.error().message};
    return *std::move(other);
}

}  // namespace

TEST_CASE("P9: a store that is locked for ten seconds is told, and follows again afterwards",
          "[projector]") {
    TimelessNaps naps;
    World world;
    world.start(20ms);
    auto other = lock_the_file(world);
    world.claim(hold(1, 1), {0});
    Lsn const first = world.sell(order(1), {hold(1, 1)});
    CHECK_FALSE(world.projector().wait_applied(first, patience));
    CHECK(world.projector().degraded());
    REQUIRE(naps.wait_for(10s));
    // It was tried again with another connection, and nobody at the journal waits for it.
    CHECK(world.projector().degraded());
    world.claim(hold(2, 1), {1});
    Lsn const second = world.sell(order(2), {hold(2, 1)});
    CHECK(world.journal->wait_durable(second));
    CHECK_FALSE(world.projector().insert_event(samples::full_event("late")));
    REQUIRE(other.run("COMMIT"));
    auto const deadline = std::chrono::steady_clock::now() + patience;
    while (world.projector().degraded() && std::chrono::steady_clock::now() < deadline)
        std::this_thread::yield();
    REQUIRE(world.projector().wait_applied(second, patience));
    CHECK(read_order(world, order(1)).state == store::OrderState::confirmed);
    CHECK(read_order(world, order(2)).state == store::OrderState::confirmed);
}

TEST_CASE("P3: after a failure no event is made before all that the store says is written anew",
          "[projector]") {
    TimelessNaps naps;
    World world;
    world.start(20ms);
    auto other = lock_the_file(world);
    world.claim(hold(1, 1), {0});
    Lsn const lsn = world.sell(order(1), {hold(1, 1)});
    CHECK_FALSE(world.projector().wait_applied(lsn, patience));
    world.projector().hold_checkpoints(true);
    REQUIRE(other.run("COMMIT"));
    auto const deadline = std::chrono::steady_clock::now() + patience;
    while (world.projector().degraded() && std::chrono::steady_clock::now() < deadline)
        std::this_thread::yield();
    REQUIRE(world.projector().wait_applied(lsn, patience));
    auto const refused = world.projector().insert_event(samples::full_event("late"));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == store::StoreError::Kind::not_durable);
    world.projector().hold_checkpoints(false);
    CHECK(world.projector().insert_event(samples::full_event("late")));
    CHECK_FALSE(world.projector().degraded());
}

TEST_CASE("P9: a store that is locked for a moment is waited for", "[projector]") {
    TimelessNaps naps;
    World world;
    world.start();
    auto other = lock_the_file(world);
    naps.nap_on_after(3s);
    world.claim(hold(1, 1), {0});
    Lsn const lsn = world.sell(order(1), {hold(1, 1)});
    REQUIRE(naps.wait_for(3s));
    CHECK_FALSE(world.projector().degraded());
    CHECK(world.projector().applied_lsn() < lsn);
    REQUIRE(other.run("COMMIT"));
    naps.wake();
    CHECK(world.projector().wait_applied(lsn, patience));
    CHECK_FALSE(world.projector().has_failed());
}

TEST_CASE("P9: a catch-up of a store that is locked says so, and applies nothing", "[catch-up]") {
    TimelessNaps naps;
    World world;
    world.open_store();
    auto other = lock_the_file(world);
    Lsn const last = world.claim(hold(1, 1), {0});  // which makes no row
    world.close_journal();
    auto const failure = catch_up_to(world, last);
    REQUIRE(failure.has_value());
    CHECK(failure->exit_code == 75);
    CHECK_THAT(failure->message, Catch::Contains("locked"));
    REQUIRE(other.run("COMMIT"));
    CHECK_FALSE(catch_up_to(world, last).has_value());
    CHECK(world.store->identity().applied_lsn == last);
}

}  // namespace holdfast::engine::test
