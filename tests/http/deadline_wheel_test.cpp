#include "http/deadline_wheel.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <random>
#include <vector>

using namespace holdfast::http;

TEST_CASE("an entry expires at its deadline and only once", "[wheel]") {
    DeadlineWheel wheel;
    Timed entry;
    int expired = 0;
    auto const count = [&](Timed&) { ++expired; };
    wheel.set(entry, 5);
    wheel.advance(4, count);
    CHECK(expired == 0);
    wheel.advance(5, count);
    CHECK(expired == 1);
    wheel.advance(2'000, count);
    CHECK(expired == 1);
    wheel.set(entry, 0);  // long past: the next tick
    wheel.advance(2'001, count);
    CHECK(expired == 2);
}

TEST_CASE("what is set while the wheel is behind the time has its whole time", "[wheel]") {
    using std::chrono::milliseconds;
    TickClock::Time const start{};
    TickClock const clock{start};
    auto const stall = GENERATE(0, 1, 99, 100, 101, 5'000, 20'000, 600'000);
    auto const timeout = milliseconds{GENERATE(0, 1, 100, 300, 15'000, 3'600'000)};
    DeadlineWheel wheel;
    auto now = start + milliseconds{12'345};
    wheel.advance(clock.at(now), [](Timed&) {});
    now += milliseconds{stall};  // the thread stands still, and the wheel with it
    Timed entry;
    wheel.set(entry, clock.after(now, timeout));
    int expired = 0;
    auto const count = [&expired](Timed&) { ++expired; };
    wheel.advance(clock.at(now), count);
    wheel.advance(clock.at(now + timeout - milliseconds{1}), count);
    CHECK(expired == 0);
    // It is due within two ticks: the one under way when it was set, and the one that finds it.
    wheel.advance(clock.at(now + timeout + 3 * tick_length), count);
    CHECK(expired == 1);
}

TEST_CASE("entries may be cleared, removed, and set again from inside", "[wheel]") {
    DeadlineWheel wheel;
    Timed again;
    Timed other;
    int expired = 0;
    wheel.set(again, 2);
    wheel.set(other, 2);
    auto const act = [&](Timed&) {
        ++expired;
        wheel.remove(again);
        wheel.remove(other);
        if (expired == 1) wheel.set(again, 10);
    };
    wheel.advance(9, act);
    CHECK(expired == 1);
    wheel.advance(10, act);
    CHECK(expired == 2);
    wheel.set(other, 12);
    wheel.clear(other);
    wheel.advance(1'000, act);
    CHECK(expired == 2);
}

TEST_CASE("the wheel agrees with a list of deadlines under random use", "[wheel]") {
    char const* const given = std::getenv("HOLDFAST_SEED");
    std::uint64_t const seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 99;
    std::cout << "seed " << seed << '\n';
    std::mt19937_64 random{seed};
    DeadlineWheel wheel;
    std::vector<Timed> entries(50);
    std::vector<Tick> model(entries.size(), no_tick);
    Tick now = 0;
    std::size_t expired = 0;
    for (int step = 0; step < 20'000; ++step) {
        std::size_t const i = random() % entries.size();
        switch (random() % 8) {
            case 0:
                wheel.clear(entries[i]);
                model[i] = no_tick;
                break;
            case 1:
                wheel.remove(entries[i]);
                model[i] = no_tick;
                break;
            case 2:
            case 3: {
                now += random() % 20;
                bool early = false;
                wheel.advance(now, [&](Timed& entry) {
                    auto const which = static_cast<std::size_t>(&entry - entries.data());
                    early |= model[which] > now;
                    model[which] = no_tick;
                    ++expired;
                });
                REQUIRE_FALSE(early);
                for (Tick const left : model) REQUIRE(left > now);  // so none was missed
                break;
            }
            default:
                model[i] = now + 1 + random() % (random() % 4 == 0 ? 2'000 : 60);
                wheel.set(entries[i], model[i]);
        }
    }
    CHECK(expired > 1'000);
}
