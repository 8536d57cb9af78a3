// Rates: a bucket for each network and class.
#include "tests/domain/layout_samples.hpp"

#include <holdfast/api/rate_limits.hpp>

#include <catch2/catch.hpp>
#include <random>

namespace holdfast::test {
namespace {

using api::Network;
using api::RateLimits;
using Class = RateLimits::Class;

constexpr TimePoint start{Milliseconds{1'900'000'000'000}};

Network ipv4(std::uint8_t third, std::uint8_t last) {
    return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, third, last};
}

int admitted_at(RateLimits& limits, Network const& network, Class of, TimePoint now, int tries) {
    int admitted = 0;
    for (int i = 0; i < tries; ++i) admitted += limits.take(network, of, now).admitted ? 1 : 0;
    return admitted;
}

}  // namespace

TEST_CASE("a network may use ten seconds of its rate at once, and then its rate", "[rates]") {
    RateLimits limits({.reads_per_s = 5, .writes_per_s = 2});
    Network const network = ipv4(2, 0);
    CHECK(admitted_at(limits, network, Class::read, start, 100) == 50);
    CHECK(admitted_at(limits, network, Class::write, start, 100) == 20);
    CHECK(admitted_at(limits, ipv4(3, 0), Class::write, start, 100) == 20);
    CHECK(admitted_at(limits, network, Class::write, start + Milliseconds{499}, 9) == 0);
    CHECK(admitted_at(limits, network, Class::write, start + Milliseconds{500}, 9) == 1);
    CHECK(admitted_at(limits, network, Class::write, start + Milliseconds{3'000}, 9) == 5);
    // It never saves more than the ten seconds.
    CHECK(admitted_at(limits, network, Class::write, start + Milliseconds{3'600'000}, 99) == 20);
    CHECK(limits.refused(Class::read) == 50);
    CHECK(limits.refused(Class::write) == 80 + 80 + 9 + 8 + 4 + 79);
    CHECK(limits.known() == 2);
}

TEST_CASE("a verdict says what is left, and how long to wait", "[rates]") {
    RateLimits limits({.reads_per_s = 0, .writes_per_s = 3});
    Network const network = ipv4(2, 0);
    auto verdict = limits.take(network, Class::write, start);
    CHECK(verdict.quota == 30);
    CHECK(verdict.remaining == 29);
    CHECK(verdict.reset_s == 1);
    REQUIRE(admitted_at(limits, network, Class::write, start, 29) == 29);
    verdict = limits.take(network, Class::write, start);
    CHECK_FALSE(verdict.admitted);
    CHECK(verdict.remaining == 0);
    CHECK(verdict.reset_s == 10);
    CHECK(verdict.wait_s == 1);
    CHECK(limits.take(network, Class::write, start + std::chrono::seconds{1}).admitted);
    CHECK(limits.take(network, Class::read, start).quota == 0);
}

TEST_CASE("a bucket does what a list of its requests does", "[rates]") {
    std::mt19937_64 random(samples::seed());
    // A slower way to say the same: at most 20 in use, one given back each half second.
    RateLimits limits({.reads_per_s = 0, .writes_per_s = 2});
    std::int64_t used_ms = 0;  // time it takes to empty what is in use
    std::int64_t now_ms = 0;
    for (int i = 0; i < 20'000; ++i) {
        std::int64_t const step = static_cast<std::int64_t>(random() % 1'000);
        now_ms += step;
        used_ms = std::max<std::int64_t>(0, used_ms - step);
        bool const room = used_ms + 500 <= 10'000;
        if (room) used_ms += 500;
        CAPTURE(i, now_ms);
        REQUIRE(limits.take(ipv4(2, 0), Class::write, start + Milliseconds{now_ms}).admitted ==
                room);
    }
}

TEST_CASE("what is given back may be used again, and no more than that", "[rates]") {
    RateLimits limits({.reads_per_s = 0, .writes_per_s = 2});
    Network const network = ipv4(2, 0);
    REQUIRE(admitted_at(limits, network, Class::write, start, 100) == 20);
    limits.give_back(network, Class::write);
    limits.give_back(network, Class::read);  // without a limit nothing was taken
    CHECK(admitted_at(limits, network, Class::write, start, 100) == 1);
    // One that was taken out of a full bucket leaves it full.
    TimePoint const later = start + std::chrono::seconds{60};
    REQUIRE(limits.take(network, Class::write, later).remaining == 19);
    limits.give_back(network, Class::write);
    CHECK(admitted_at(limits, network, Class::write, later, 100) == 20);
}

TEST_CASE("memory for networks is bounded, and those without room share one bucket", "[rates]") {
    RateLimits limits({.reads_per_s = 0, .writes_per_s = 1});
    Network network{0x20, 0x01};
    int admitted = 0;
    constexpr int many = 100'000;
    for (int i = 0; i < many; ++i) {
        network[4] = static_cast<std::uint8_t>(i >> 16);
        network[5] = static_cast<std::uint8_t>(i >> 8);
        network[6] = static_cast<std::uint8_t>(i);
        admitted += limits.take(network, Class::write, start).admitted ? 1 : 0;
    }
    CHECK(limits.known() <= 65'536);
    CHECK(limits.known() > 60'000);
    CHECK(admitted >= static_cast<int>(limits.known()));
    CHECK(admitted <= 65'536 + 64 * 10);
    // Once their requests are forgotten there is room again.
    network = {0x20, 0x02};
    CHECK(admitted_at(limits, network, Class::write, start + std::chrono::seconds{11}, 20) == 10);
}

TEST_CASE("one of a network's addresses uses up what the others have", "[rates]") {
    CHECK(api::network_of(ipv4(2, 1)) == api::network_of(ipv4(2, 254)));
    CHECK(api::network_of(ipv4(2, 1)) != api::network_of(ipv4(3, 1)));
}

}  // namespace holdfast::test
