#include "app/repeating_thread.hpp"

#include "tests/engine/failing_memory.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <latch>
#include <memory>

using namespace holdfast;
using namespace holdfast::app;
using namespace std::chrono_literals;

TEST_CASE("a repeating thread goes on until it is stopped, and not after", "[repeating_thread]") {
    std::latch third{3};
    std::atomic<int> runs{0};
    RepeatingThread thread("repeats", 0ms, [&] {
        if (++runs <= 3) third.count_down();
        return 0ms;
    });
    third.wait();
    thread.stop();
    int const then = runs.load();
    CHECK(then >= 3);
    thread.stop();  // twice is no fault
    CHECK(runs.load() == then);
}

TEST_CASE("a stop cuts a long rest short", "[repeating_thread]") {
    std::latch once{1};
    {
        RepeatingThread thread("repeats", 0ms, [&] {
            once.count_down();
            return Milliseconds{24h};
        });
        once.wait();
    }
    RepeatingThread const unborn("repeats", Milliseconds{24h}, [] { return 0ms; });
}

TEST_CASE("P9: what a repeating thread has no memory for it does the next time",
          "[repeating_thread][memory]") {
    std::latch third{3};
    std::atomic<int> runs{0};
    std::atomic<int> tries{0};
    engine::test::fail_allocation_of({"repeats"}, 1, true);
    RepeatingThread thread("repeats", 0ms, [&] {
        if (++tries == 3) engine::test::end_of_failing();
        auto const needed = std::make_unique<int>(1);
        runs += *needed;
        if (runs.load() <= 3) third.count_down();
        return 0ms;
    });
    third.wait();
    thread.stop();
    CHECK(tries.load() == runs.load() + 2);
}
