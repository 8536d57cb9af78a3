// Every n-th allocation of the building of an event's seats fails, once or from then on: they are
// built when there is memory again (RELIABILITY.md 4.6).
#include "tests/api/event_stage.hpp"
#include "tests/engine/failing_memory.hpp"

namespace holdfast::api::test {

using engine::test::allocation_failed;
using engine::test::fail_allocation;
using engine::test::WithMemory;

namespace {

/// Whose jobs the test runs.
struct SetupByHand {
    EventStage stage;
    std::vector<std::function<void()>> queue;
    services::EventSetup setup{
        stage.engine, stage.setup_projector->projector,
        [this](std::function<void()> const& job) {
            WithMemory const memory;
            queue.push_back(job);
            return true;
        },
        [this](engine::LiveEvent const& event) { stage.maps->make(event, stage.now); },
        Milliseconds{0}};
};

}  // namespace

TEST_CASE("P9: any allocation of the building of seats may fail, and they are built later",
          "[api][memory]") {
    SetupByHand by_hand;
    auto& [stage, queue, setup] = by_hand;
    long failures = 0;
    int events = 0;
    for (bool const lasting : {false, true}) {
        for (long nth = 1;; ++nth) {
            CAPTURE(lasting, nth);
            auto const made = setup.create(samples::full_event("e" + std::to_string(++events)));
            REQUIRE(made.has_value());
            REQUIRE(queue.size() == 1);
            fail_allocation(nth, lasting);
            std::exchange(queue, {}).front()();
            bool const failed = allocation_failed();
            fail_allocation(0, false);
            bool const built = made->event->ready();  // it can do without some memory
            REQUIRE(queue.size() == (built ? 0 : 1));
            if (!failed) CHECK(built);
            if (!failed) break;
            ++failures;
            for (auto const& again : std::exchange(queue, {})) again();
            CHECK(made->event->ready());
            CHECK(stage.maps->make(*made->event, stage.now) != nullptr);
        }
    }
    CHECK(failures > 20);
}

TEST_CASE("P9: seats for which there is never memory are left to the next start, at a stop at once",
          "[api][memory]") {
    SetupByHand by_hand;
    auto& [stage, queue, setup] = by_hand;
    auto const tries_without_memory = [&queue = by_hand.queue] {
        int tries = 0;
        for (; !queue.empty() && tries < 10'000; ++tries) {
            auto const job = std::exchange(queue, {}).front();
            fail_allocation(1, true);
            job();
            fail_allocation(0, false);
        }
        return tries;
    };
    auto const first = setup.create(samples::full_event("first"));
    REQUIRE(first.has_value());
    int const tries = tries_without_memory();
    CHECK(tries > 100);
    CHECK(tries < 1'000);
    CHECK_FALSE(first->event->ready());
    auto const second = setup.create(samples::full_event("second"));
    REQUIRE(second.has_value());
    setup.stop();
    CHECK(tries_without_memory() == 1);
    CHECK_FALSE(second->event->ready());
}

}  // namespace holdfast::api::test
