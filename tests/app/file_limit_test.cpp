// What is admitted where there are fewer descriptors than connections and streams need.
#include "app/file_limit.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>

using namespace holdfast::app;

TEST_CASE("fewer descriptors than wanted admit fewer connections and streams",
          "[app][descriptors]") {
    struct Row {
        std::uint64_t descriptors;
        Admitted wanted, admitted;
    };
    Row const row = GENERATE(
        // 10,000 + 64 + 10,000 + 256 are wanted.
        Row{20'320, {10'000, 10'000}, {10'000, 10'000}},
        Row{20'319, {10'000, 10'000}, {10'000, 9'999}},
        Row{20'000, {10'000, 10'000}, {10'000, 9'680}}, Row{1'024, {10'000, 10'000}, {512, 192}},
        Row{512, {10'000, 10'000}, {128, 64}}, Row{2, {10'000, 10'000}, {1, 0}},
        Row{1, {10'000, 10'000}, {1, 0}}, Row{0, {10'000, 10'000}, {1, 0}},
        // Nobody watches.
        Row{20'000, {10'000, 0}, {10'000, 0}}, Row{1'024, {10'000, 0}, {704, 0}},
        Row{512, {10'000, 0}, {192, 0}}, Row{256, {10'000, 0}, {64, 0}},
        Row{2, {10'000, 0}, {1, 0}}, Row{1, {10'000, 0}, {1, 0}},
        // Few buyers: the streams have what they leave.
        Row{1'024, {3, 10'000}, {3, 762}}, Row{512, {3, 100}, {3, 100}},
        Row{1'024, {700, 10}, {694, 10}});
    CAPTURE(row.descriptors, row.wanted.connections, row.wanted.streams);
    auto const admitted = admitted_with(row.descriptors, row.wanted);
    CHECK(admitted.connections == row.admitted.connections);
    CHECK(admitted.streams == row.admitted.streams);
}

TEST_CASE("what is admitted leaves journal and store 256 descriptors, or half of less",
          "[app][descriptors]") {
    constexpr auto most = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t const streams = GENERATE(0U, 1U, 100U, 10'000U, 4'294'967'295U);
    std::uint32_t const connections = GENERATE(1U, 63U, 64U, 65U, 10'000U, 4'294'967'295U);
    for (std::uint64_t descriptors = 4; descriptors < 25'000; descriptors += 1 + descriptors / 20) {
        auto const admitted = admitted_with(descriptors, {connections, streams});
        std::uint64_t const kept = descriptors >= 512 ? 256 : descriptors / 2;
        CAPTURE(descriptors, connections, streams, admitted.connections, admitted.streams);
        bool const leaves = descriptors_wanted(admitted) - 256 + kept <= descriptors;
        bool const is_one = admitted == Admitted{1, 0};  // it must serve somebody
        if (!leaves && !is_one) FAIL();
        if (admitted.connections > connections || admitted.streams > streams) FAIL();
    }
    CHECK(descriptors_wanted({most, most}) == 2 * std::uint64_t{most} + 64 + 256);
}
