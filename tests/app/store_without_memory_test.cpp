// Every n-th allocation of the store thread fails, SQLite's own as well, once or from then on
// (RELIABILITY.md 4.6): the journal goes on, the store says that it does not follow, and once there
// is memory it has each record's rows, once.
#include "tests/engine/failing_memory.hpp"
#include "tests/engine/projector_world.hpp"
#include "tests/support/poor_steps.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace holdfast::app::test {
namespace {

using namespace engine::test;
using std::chrono::steady_clock;

EventSpec second_event() {
    EventSpec spec = samples::full_event("second");
    spec.made_by = std::array<std::uint64_t, 4>{1, 2, 3, 4};  // by a request that may come again
    return spec;
}

/// What the store thread does in a life: it begins with some records, applies more of each kind,
/// makes a checkpoint, and inserts an event.
class StoreLife {
public:
    StoreLife() {
        sell(1);
        world_.open_store();
        world_.stop();
    }
    void live(long nth, bool lasting) {
        fail_allocation_of({"store"}, nth, lasting);
        world_.start(Milliseconds{1});
        for (std::uint64_t number = 2; number < 5; ++number) sell(number);
        world_.cancel(order(2), {hold(1, 2)});
        world_.step(LifeStep::paused);
        settle();
        insert();
        world_.projector().request_checkpoint();
        until([this] { return world_.projector().store_durable_lsn() >= last_; });
        sell(5);
        settle();
    }
    /// With memory again; what the store says then.
    std::vector<std::string> end() {
        REQUIRE(is_soon([this] {
            return world_.projector().wait_applied(last_, Milliseconds{1}) &&
                   !world_.projector().degraded();
        }));
        // What was refused for want of memory has not happened, or happens once.
        insert();
        CHECK(inserted_);
        world_.stop();
        world_.close_journal();
        auto said = world_.dump();
        world_.open_store();
        CHECK(world_.store->identity().applied_lsn == last_);
        for (EventSpec const& spec : world_.specs) said.push_back(spec.slug);
        world_.stop();
        return said;
    }

private:
    void sell(std::uint64_t number) {
        world_.claim(hold(1, number), {static_cast<std::uint32_t>(number)});
        last_ = world_.sell(order(number), {hold(1, number)});
        REQUIRE(world_.journal->wait_durable(last_));
    }
    void insert() {
        if (inserted_) return;
        auto const id = world_.projector().insert_event(second_event());
        inserted_ = id && id->has_value();
    }
    /// Until it is so, or the store has failed.
    template <class Fact>
    void until(Fact const& fact) {
        REQUIRE(is_soon([&] { return fact() || world_.projector().degraded(); }));
    }
    template <class Fact>
    static bool is_soon(Fact const& fact) {
        auto const deadline = steady_clock::now() + patience;
        while (!fact())
            if (steady_clock::now() > deadline) return false;
        return true;
    }
    void settle() {
        last_ = world_.journal->appended_lsn();
        REQUIRE(world_.journal->wait_durable(last_));
        until([this] { return world_.projector().wait_applied(last_, Milliseconds{1}); });
    }

    World world_;
    Lsn last_{};
    bool inserted_{};
};

}  // namespace

TEST_CASE("P9: any allocation of the store thread may fail", "[app][memory][store_thread]") {
    REQUIRE(libraries_may_fail());
    std::vector<std::string> usual;
    long all = 0;
    {
        StoreLife rich;
        rich.live(1'000'000, false);
        all = allocations_of_named();
        CHECK_FALSE(end_of_failing());
        usual = rich.end();
    }
    holdfast::test::PoorSteps steps(10, 100);
    long const step = steps.step(all);
    long failures = 0;
    for (bool const lasting : {false, true}) {
        for (long nth = steps.first(step); nth <= all; nth += step) {
            CAPTURE(lasting, nth, all);
            StoreLife poor;
            poor.live(nth, lasting);
            if (end_of_failing()) ++failures;
            CHECK(poor.end() == usual);
        }
    }
    std::printf("failing allocations of the store thread: %ld\n", failures);
    CHECK(failures > 5);
}

}  // namespace holdfast::app::test
