// Every n-th allocation of the building of an event's seats fails, once or from then on: they are
// built when there is memory again (RELIABILITY.md 4.6).
#include "tests/api/event_stage.hpp"
#include "tests/engine/failing_memory.hpp"

namespace holdfast::api::test {

using engine::test::allocation_failed;
using engine::test::fail_allocation;
using engine::test::WithMemory;

TEST_CASE("P9: any allocation of the building of seats may fail, and they are built later",
          "[api][memory]") {
    EventStage stage;
    std::vector<std::function<void()>> queue;
    services::EventSetup setup(stage.engine, stage.setup_projector->projector,
                               [&queue](std::function<void()> const& job) {
                                   WithMemory const memory;
                                   queue.push_back(job);
                                   return true;
                               });
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
            bool const built = (*made)->ready();  // it can do without some memory
            REQUIRE(queue.size() == (built ? 0 : 1));
            if (!failed) CHECK(built);
            if (!failed) break;
            ++failures;
            for (auto const& again : std::exchange(queue, {})) again();
            CHECK((*made)->ready());
        }
    }
    CHECK(failures > 20);
}

}  // namespace holdfast::api::test
