// Who rests: the order in which rests end, when to look, and how long those who are due are read.
#include "http/resting.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <string>

using namespace holdfast::http;
using namespace std::chrono_literals;

namespace {

struct Rester : Resting::Entry {
    char name{};
};

/// Four of them, and what happens to them at times since the test began.
struct Room {
    Room() {
        for (std::size_t i = 0; i < resters.size(); ++i)
            resters[i].name = static_cast<char>('a' + i);
    }
    void push(char name, Resting::Duration at) { resting.push(of(name), began + at); }
    void remove(char name) { resting.remove(of(name)); }
    /// The next that is due at that time; '-': none.
    char take(Resting::Duration at) {
        auto* const entry = resting.take_due(began + at);
        return entry == nullptr ? '-' : static_cast<Rester*>(entry)->name;
    }
    std::string take_all(Resting::Duration at) {
        std::string names;
        for (char name = take(at); name != '-'; name = take(at)) names += name;
        return names;
    }
    [[nodiscard]] bool next_is(Resting::Duration at, Resting::Duration seen_at) const {
        return resting.next_due(began + seen_at) == began + at;
    }
    [[nodiscard]] Rester& of(char name) { return resters[static_cast<std::size_t>(name - 'a')]; }

    Resting::Time const began{1'000s};
    std::array<Rester, 4> resters;
    Resting resting;
};

}  // namespace

TEST_CASE("nobody is due where nobody rests", "[http][resting]") {
    Room room;
    CHECK(room.take(1h) == '-');
    CHECK_FALSE(room.resting.next_due(room.began));
    room.push('a', 0ms);
    CHECK(room.take(15ms) == 'a');
    CHECK(room.take(1h) == '-');
    CHECK_FALSE(room.resting.next_due(room.began + 1h));
}

TEST_CASE("each rests for its own 15 ms, and who came first is read first", "[http][resting]") {
    Room room;
    room.push('b', 0ms);
    room.push('a', 4ms);
    room.push('c', 4ms);
    CHECK(room.take_all(15ms - 1ns).empty());
    CHECK(room.take_all(15ms) == "b");
    CHECK(room.take_all(19ms - 1ns).empty());
    CHECK(room.take_all(19ms) == "ac");
    room.push('c', 20ms);
    room.push('b', 30ms);
    CHECK(room.take_all(1h) == "cb");
}

TEST_CASE("rests that end within half a millisecond are looked for together", "[http][resting]") {
    Room room;
    room.push('a', 0ms);
    CHECK(room.next_is(15'500us, 0ms));
    room.push('b', 500us);
    room.push('c', 501us);
    CHECK(room.next_is(15'500us, 501us));
    CHECK(room.take_all(15'500us) == "ab");
    CHECK(room.next_is(16'001us, 15'500us));
    CHECK(room.take_all(16'001us) == "c");
}

TEST_CASE("one that rests again does not put off others who are due", "[http][resting]") {
    Room room;
    for (char const name : {'a', 'b', 'c'}) room.push(name, 0ms);
    REQUIRE(room.take(15ms) == 'a');
    room.push('a', 15ms);  // refused again
    CHECK(room.next_is(15ms, 15ms));
    CHECK(room.next_is(17ms, 17ms));  // the slice ended here: the others at once, when it is over
    CHECK(room.take(17ms) == 'b');
    room.push('b', 17ms);
    CHECK(room.take_all(17ms) == "c");
    CHECK(room.next_is(30'500us, 17ms));
    CHECK(room.take_all(31ms) == "a");
    CHECK(room.take_all(32ms) == "b");
}

TEST_CASE("one that ends leaves its rest from anywhere, and may rest again", "[http][resting]") {
    Room room;
    for (char const name : {'a', 'b', 'c', 'd'}) room.push(name, 0ms);
    char const leaves = GENERATE('a', 'b', 'c', 'd');
    room.remove(leaves);
    room.remove(leaves);
    room.push(leaves, 1ms);
    std::string others = "abcd";
    others.erase(others.find(leaves), 1);
    CHECK(room.take_all(15ms) == others);
    room.remove(others.front());  // was taken
    CHECK(room.take_all(16ms) == std::string{leaves});
}

TEST_CASE("the last that leaves its rest leaves nothing to look for", "[http][resting]") {
    Room room;
    room.push('a', 0ms);
    room.push('b', 1ms);
    room.remove('a');
    CHECK(room.next_is(16'500us, 1ms));
    room.remove('b');
    CHECK_FALSE(room.resting.next_due(room.began + 1h));
    CHECK(room.take(1h) == '-');
}

TEST_CASE("those who have rested get a third of the time that others had, within bounds",
          "[http][resting]") {
    Room room;
    auto const slice_at = [&room](Resting::Duration at) {
        return room.resting.slice(room.began + at);
    };
    CHECK(slice_at(0ms) == 2ms);  // before anybody was read
    room.resting.worked_until(room.began);
    CHECK(slice_at(0ms) == 100us);
    CHECK(slice_at(300us) == 100us);
    CHECK(slice_at(303us) == 101us);
    CHECK(slice_at(3ms) == 1ms);
    CHECK(slice_at(6ms) == 2ms);
    CHECK(slice_at(1h) == 2ms);
    room.resting.worked_until(room.began + 6ms);
    CHECK(slice_at(9ms) == 1ms);
}
