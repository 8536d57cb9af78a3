// The ladder of overload: signals and time are the test's.
#include "tests/domain/layout_samples.hpp"

#include <holdfast/api/overload.hpp>

#include <catch2/catch.hpp>
#include <random>

namespace holdfast::test {
namespace {

using api::Overload;
using api::OverloadLadder;
using std::chrono::microseconds;

constexpr TimePoint ladder_start{Milliseconds{1'900'000'000'000}};
constexpr OverloadLadder::Bounds ladder_bounds{microseconds{8'000}, 64};

/// A ladder and its time.
struct Climb {
    OverloadLadder ladder{ladder_bounds};
    TimePoint now{ladder_start};
    unsigned look(int io_wait_us, std::size_t jobs = 0, int times = 1) {
        for (int i = 0; i < times; ++i) {
            now += OverloadLadder::interval;
            ladder.look({microseconds{io_wait_us}, jobs}, now);
        }
        return ladder.rung();
    }
};

}  // namespace

TEST_CASE("the first rung is at half of the bound, the last at it, and three looks reach one",
          "[overload]") {
    struct Row {
        int io_wait_us;
        unsigned rung;
    };
    for (Row const row :
         {Row{0, 0}, Row{3'999, 0}, Row{4'000, 1}, Row{4'999, 1}, Row{5'000, 2}, Row{6'000, 3},
          Row{7'000, 4}, Row{7'999, 4}, Row{8'000, 5}, Row{10'000'000, 5}}) {
        Climb climb;
        CAPTURE(row.io_wait_us);
        CHECK(climb.look(row.io_wait_us) == 0);
        CHECK(climb.look(row.io_wait_us) == 0);
        CHECK(climb.look(row.io_wait_us) == row.rung);
    }
}

TEST_CASE("one late moment is no overload", "[overload]") {
    Climb climb;
    for (int i = 0; i < 100; ++i) {
        CHECK(climb.look(500'000, 0, 2) == 0);
        CHECK(climb.look(0) == 0);
    }
    // The least of the three counts.
    climb.look(9'000);
    climb.look(5'500);
    CHECK(climb.look(9'000) == 2);
}

TEST_CASE("a rung is left a second after the signals have fallen to half of it", "[overload]") {
    Climb climb;
    REQUIRE(climb.look(7'000, 0, 3) == 4);
    CHECK(climb.look(3'500, 0, 100) == 4);  // half of rung 4 still holds it
    CHECK(climb.look(3'499, 0, 9) == 4);
    CHECK(climb.look(3'499) == 3);
    CHECK(climb.look(3'499, 0, 100) == 3);  // half of rung 3 is less
    CHECK(climb.look(0, 0, 9) == 3);
    CHECK(climb.look(0) == 2);
    CHECK(climb.look(0, 0, 10) == 1);
    CHECK(climb.look(0, 0, 10) == 0);
    // A signal in between begins the second anew.
    REQUIRE(climb.look(4'000, 0, 3) == 1);
    CHECK(climb.look(0, 0, 9) == 1);
    CHECK(climb.look(2'000) == 1);
    CHECK(climb.look(0, 0, 9) == 1);
    CHECK(climb.look(0) == 0);
}

TEST_CASE("jobs that wait for a worker end searches, and no holds", "[overload]") {
    Climb climb;
    CHECK(climb.look(0, 31, 3) == 0);
    CHECK(climb.look(0, 32, 3) == 1);
    CHECK(climb.look(0, 40, 3) == 2);
    CHECK(climb.look(0, 64, 100) == 2);
    CHECK(climb.look(8'000, 64, 3) == 5);
}

TEST_CASE("new holds are admitted in a share that gives way fast and comes back slowly",
          "[overload]") {
    Climb climb;
    REQUIRE(climb.look(8'000, 0, 2) == 0);
    CHECK(climb.ladder.share() == OverloadLadder::whole);
    REQUIRE(climb.look(8'000) == 5);
    CHECK(climb.ladder.share() == 768);
    climb.look(8'000);
    CHECK(climb.ladder.share() == 576);
    climb.look(1'000'000, 0, 50);
    std::uint32_t const least = climb.ladder.share();
    CHECK(least > 0);
    CHECK(least <= OverloadLadder::whole / 32);
    // Below the bound there is more room, and rung 5 stays until all are admitted again.
    CHECK(climb.look(2'000, 0, 10) == 5);
    CHECK(climb.ladder.share() == least + 10 * 32);
    CHECK(climb.look(1'999, 0, 1) == 5);  // hardly anything waits
    CHECK(climb.ladder.share() == (least + 10 * 32) * 5 / 4);
    climb.look(7'999, 0, 20);
    CHECK(climb.ladder.share() == OverloadLadder::whole);
    CHECK(climb.ladder.rung() == 5);
    CHECK(climb.look(0, 0, 10) == 4);
}

TEST_CASE("whatever the signals, the ladder keeps its promises", "[overload]") {
    std::mt19937_64 random(samples::seed());
    Climb climb;
    unsigned before = 0;
    for (int i = 0; i < 100'000; ++i) {
        int const io_wait = static_cast<int>(random() % 13'000) * static_cast<int>(random() % 2);
        unsigned const rung = climb.look(io_wait, random() % 65);
        REQUIRE(rung <= OverloadLadder::top);
        REQUIRE(rung + 1 >= before);  // down by one at a time
        REQUIRE(climb.ladder.share() >= 1);
        REQUIRE(climb.ladder.share() <= OverloadLadder::whole);
        if (rung < OverloadLadder::top) REQUIRE(climb.ladder.share() == OverloadLadder::whole);
        before = rung;
    }
}

TEST_CASE("a server that nobody asked for a second has nothing to shed", "[overload]") {
    Climb climb;
    REQUIRE(climb.look(8'000, 0, 10) == 5);
    climb.now += Milliseconds{1'001};
    CHECK(climb.look(0) == 0);
    CHECK(climb.ladder.share() == OverloadLadder::whole);
}

TEST_CASE("who asks is refused from its rung on, holds by their share", "[overload]") {
    OverloadLadder::Signals signals;
    Overload overload(ladder_bounds, [&signals] { return signals; });
    TimePoint now = ladder_start;
    auto const look = [&](int io_wait_us, int times) {
        signals.io_wait = microseconds{io_wait_us};
        for (int i = 0; i < times; ++i) static_cast<void>(overload.rung(now += Milliseconds{100}));
    };
    look(0, 1);
    CHECK_FALSE(overload.refuses(0, now));
    CHECK_FALSE(overload.refuses(2, now));
    CHECK(overload.document_age(now) == Milliseconds{0});
    look(5'000, 3);
    CHECK(overload.rung(now) == 2);
    CHECK(overload.refuses(2, now));
    CHECK_FALSE(overload.refuses(5, now));
    CHECK_FALSE(overload.refuses(0, now));
    CHECK(overload.document_age(now) == Milliseconds{1'000});
    look(8'000, 3);
    CHECK(overload.rung(now) == 5);
    CHECK_FALSE(overload.refuses(0, now));
    int refused = 0;
    for (int i = 0; i < 1'024; ++i) refused += overload.refuses(5, now) ? 1 : 0;
    CHECK(refused == 1'024 - static_cast<int>(overload.counts(now).share));
    CHECK(overload.counts(now).refused_holds == static_cast<std::uint64_t>(refused));
    CHECK(overload.counts(now).refused_searches == 1);
    CHECK(overload.retry_after_s() >= 1);
    CHECK(overload.retry_after_s() <= 4);
    // A request of another thread, from a moment before the look, changes nothing.
    CHECK(overload.rung(now - Milliseconds{5'000}) == 5);
    CHECK(overload.rung(now) == 5);
    // Between two looks nothing is read anew.
    signals.io_wait = microseconds{0};
    CHECK(overload.rung(now + Milliseconds{99}) == 5);
}

TEST_CASE("without a bound there is no ladder", "[overload]") {
    Overload overload({microseconds{0}, 64},
                      [] { return OverloadLadder::Signals{microseconds{10'000'000}, 64}; });
    for (int i = 0; i < 20; ++i) CHECK(overload.rung(ladder_start + Milliseconds{100 * i}) == 0);
    CHECK_FALSE(overload.refuses(5, ladder_start));
}

}  // namespace holdfast::test
