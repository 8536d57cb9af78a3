// The pace of readers, with a time of the test's own.
#include "http/reader_pace.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace holdfast;
using namespace holdfast::http;

namespace {

constexpr Milliseconds usual{10'000};
constexpr Tick ticks_of(Milliseconds time) {
    return static_cast<Tick>(time / tick_length);
}
constexpr Tick second = ticks_of(Milliseconds{1'000});

/// A reader that is looked at as a session does, and cut off as there.
class PacedReader {
public:
    explicit PacedReader(std::int64_t taken = 0) : taken_(taken) { pace_.begin(taken, now_); }
    void take(std::int64_t bytes) { taken_ += bytes; }
    /// False: it was cut off within that time.
    bool wait(Tick ticks) {
        Tick const until = now_ + ticks;
        while (now_ < until) {
            if (auto const bought = pace_.look(taken_, now_, usual)) {
                Tick const end = end_ + ticks_of(*bought);
                end_ = std::max(now_ + ticks_of(usual),
                                std::min(end, now_ + ticks_of(ReaderPace::ahead_max)));
            } else if (now_ >= end_) {
                return false;
            }
            now_ = std::min(until, now_ + ticks_of(usual / ReaderPace::looks) + 1);
        }
        return true;
    }

private:
    ReaderPace pace_;
    Tick now_{7};
    Tick end_{now_ + ticks_of(usual)};
    std::int64_t taken_;
};

}  // namespace

TEST_CASE("the least pace of a reader is 1 KiB a second", "[timeout]") {
    CHECK(keeps_pace(10'240, usual));
    CHECK_FALSE(keeps_pace(10'239, usual));
    CHECK_FALSE(keeps_pace(1, Milliseconds{1'000}));
    CHECK(keeps_pace(1'024, Milliseconds{1'000}));
    CHECK(keeps_pace(3'686'400, Milliseconds{3'600'000}));
    CHECK_FALSE(keeps_pace(3'686'399, Milliseconds{3'600'000}));
}

TEST_CASE("a reader that takes nothing is cut off after its time", "[timeout]") {
    for (std::int64_t const taken : {-100'000, 0, 100'000}) {
        PacedReader never{taken};
        CHECK(never.wait(10 * second));
        CHECK_FALSE(never.wait(second));
    }
    // What its kernel takes before it stands still is no step: once the usual time anew.
    PacedReader filled;
    filled.take(4'000'000);
    CHECK(filled.wait(9 * second));
    CHECK_FALSE(filled.wait(3 * second));
}

TEST_CASE("a kernel that is busy for a moment is no reader who goes on", "[timeout]") {
    Milliseconds const brief{200};
    ReaderPace pace;
    pace.begin(0, 7);
    CHECK_FALSE(pace.look(0, 9, brief));
    CHECK(pace.look(1'000'000, 11, brief) == Milliseconds{0});
    CHECK_FALSE(pace.look(1'000'000, 16, brief));
    CHECK_FALSE(pace.look(1'000'000, 22, brief));  // more than half a second
    CHECK(pace.look(1'001'024, 23, brief) == Milliseconds{1'000});
}

TEST_CASE("a reader in steps is kept as long as they are worth, and no longer", "[timeout]") {
    PacedReader reader;
    CHECK(reader.wait(9 * second));
    for (int step = 0; step < 5; ++step) {
        reader.take(60 * 1'024);
        CHECK(reader.wait(58 * second));
    }
    CHECK(reader.wait(5 * second));  // what was left of each step
    CHECK_FALSE(reader.wait(4 * second));
    // However large the step was, a minute and a little is all.
    PacedReader hoarder;
    CHECK(hoarder.wait(9 * second));
    hoarder.take(50'000'000);
    CHECK(hoarder.wait(63 * second));
    CHECK_FALSE(hoarder.wait(3 * second));
}

TEST_CASE("in the long run a reader takes 1 KiB a second or is cut off, however it takes them",
          "[timeout]") {
    // The slower one of each pair is cut off, in whatever steps it takes what it takes.
    for (std::int64_t const seconds : {1, 4, 9}) {
        for (std::int64_t const pace : {2'000, 900}) {
            CAPTURE(seconds, pace);
            PacedReader reader;
            bool kept = true;
            for (std::int64_t time = 0; kept && time < 3'600; time += seconds) {
                kept = reader.wait(static_cast<Tick>(seconds) * second);
                reader.take(pace * seconds);
            }
            CHECK(kept == (pace > 1'024));
        }
    }
}
