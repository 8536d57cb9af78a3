#include "http/load_meter.hpp"

#include <catch2/catch.hpp>

using holdfast::http::LoadMeter;
using namespace std::chrono_literals;

TEST_CASE("a thread that takes all that is ready each time waits as long as a round", "[load]") {
    LoadMeter meter;
    meter.set_connections(1'000);
    CHECK(meter.take_mean() == 0ns);
    for (int i = 0; i < 10; ++i) meter.round(100, true, 2ms);
    CHECK(meter.take_mean() == 2ms);
    CHECK(meter.take_mean() == 0ns);  // asked for once
}

TEST_CASE("rounds that leave something behind are one turn", "[load]") {
    LoadMeter meter;
    meter.set_connections(1'000);
    for (int i = 0; i < 4; ++i) meter.round(128, false, 2ms);
    meter.round(100, true, 2ms);
    CHECK(meter.take_mean() == 10ms);
}

TEST_CASE("a turn that never ends is counted when each connection can have had its turn",
          "[load]") {
    LoadMeter meter;
    meter.set_connections(640);
    for (int i = 0; i < 50; ++i) meter.round(128, false, 3ms);
    CHECK(meter.take_mean() == 15ms);
}

TEST_CASE("replies that the disk let go are work that others wait for", "[load]") {
    LoadMeter meter;
    meter.set_connections(64);
    for (int i = 0; i < 10; ++i) {
        meter.worked(5ms);
        meter.round(64, true, 1ms);
    }
    CHECK(meter.take_mean() == 6ms);
}

TEST_CASE("the mean is over events: few that waited long do not count for many", "[load]") {
    LoadMeter meter;
    meter.set_connections(1'000);
    meter.round(1, true, 100ms);
    meter.round(99, true, 1ms);
    CHECK(meter.take_mean() == 1'990us);
}
