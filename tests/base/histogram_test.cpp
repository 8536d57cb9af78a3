#include <holdfast/base/histogram.hpp>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using namespace holdfast;

constexpr double shares[] = {0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0};

// The smallest value with at least `share` of all values at or below it.
std::uint64_t exact_percentile(std::vector<std::uint64_t> const& sorted, double share) {
    auto const rank = static_cast<std::size_t>(std::ceil(share * double(sorted.size())));
    return sorted[std::max<std::size_t>(rank, 1) - 1];
}

std::vector<std::uint64_t> random_values(std::mt19937_64& random, std::size_t count,
                                         unsigned bits) {
    std::vector<std::uint64_t> values(count);
    // Spread over the octaves, as latencies are.
    for (auto& value : values) value = (random() & 0xFFFFFFFFU) >> (random() % bits);
    return values;
}

}  // namespace

TEST_CASE("an empty histogram has nothing to say", "[histogram]") {
    Histogram const histogram;
    CHECK(histogram.count() == 0);
    CHECK(histogram.max() == 0);
    CHECK(histogram.percentile(0.5) == 0);
}

TEST_CASE("values under 64 are kept exactly", "[histogram]") {
    for (std::uint64_t value = 0; value < 64; ++value) {
        Histogram histogram;
        histogram.record(value);
        histogram.record(1'000);  // So that the bound of the bucket, not the maximum, is given.
        REQUIRE(histogram.percentile(0.5) == value);
    }
}

TEST_CASE("a bucket's bound is at or above its values and at most 1/64 too high", "[histogram]") {
    for (unsigned bit = 0; bit < 32; ++bit) {
        std::uint64_t const power = std::uint64_t{1} << bit;
        for (std::uint64_t const value : {power - 1, power, power + 1, power + power / 2}) {
            Histogram histogram;
            histogram.record(value);
            histogram.record(std::numeric_limits<std::uint64_t>::max());
            std::uint64_t const bound = histogram.percentile(0.5);
            CAPTURE(value, bound);
            REQUIRE(bound >= value);
            REQUIRE(bound - value <= value / 64);
        }
    }
}

TEST_CASE("percentiles agree with a sorted list within 1.6 %", "[histogram]") {
    std::mt19937_64 random{42};
    for (unsigned const bits : {1U, 8U, 20U, 32U}) {
        auto values = random_values(random, 20'000, bits);
        Histogram histogram;
        for (auto const value : values) histogram.record(value);
        std::sort(values.begin(), values.end());
        CHECK(histogram.count() == values.size());
        CHECK(histogram.max() == values.back());
        for (double const share : shares) {
            auto const exact = exact_percentile(values, share);
            auto const got = histogram.percentile(share);
            CAPTURE(bits, share, exact, got);
            REQUIRE(got >= exact);
            REQUIRE(got - exact <= exact / 64);
        }
    }
}

TEST_CASE("a merged histogram is that of all values together", "[histogram]") {
    std::mt19937_64 random{43};
    Histogram all;
    Histogram merged;
    for (int part = 0; part < 5; ++part) {
        Histogram one;
        for (auto const value : random_values(random, 3'000, 30)) {
            one.record(value);
            all.record(value);
        }
        merged.merge(one);
    }
    CHECK(merged.count() == all.count());
    CHECK(merged.max() == all.max());
    for (double const share : shares) {
        CHECK(merged.percentile(share) == all.percentile(share));
    }
}

TEST_CASE("huge values count as 2^32 - 1, odd shares are clamped", "[histogram]") {
    Histogram histogram;
    histogram.record(std::uint64_t{1} << 40);
    CHECK(histogram.max() == 0xFFFFFFFFU);
    CHECK(histogram.percentile(1.0) == 0xFFFFFFFFU);
    CHECK(histogram.percentile(-1.0) == 0xFFFFFFFFU);
    CHECK(histogram.percentile(7.0) == 0xFFFFFFFFU);
}
