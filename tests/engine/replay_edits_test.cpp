// EDIT records that change lists, replayed.
#include "tests/engine/tape.hpp"

#include <algorithm>

namespace holdfast::engine::test {
namespace {

RestoredHold const& find(RestoredEvent const& event_of, HoldKey const& hold) {
    auto const found = std::ranges::find(event_of.holds, hold.ref, &RestoredHold::ref);
    REQUIRE(found != event_of.holds.end());
    return *found;
}

std::vector<ReseatFact::Move> moves(
    std::vector<std::pair<std::uint32_t, std::uint32_t>> const& pairs) {
    std::vector<ReseatFact::Move> list;
    for (auto const& [from, to] : pairs) list.push_back({SeatIndex{from}, SeatIndex{to}});
    return list;
}

/// Slot 1 holds 0 and 1; slots 2 (3, 4) and 3 (5) are sold to order 1; slot 4 (6) to order 2.
void record_sales(Tape& tape) {
    REQUIRE(tape.claim(key(1, 1), {0, 1}));
    REQUIRE(tape.claim(key(2, 1), {3, 4}));
    REQUIRE(tape.claim(key(3, 1), {5}));
    REQUIRE(tape.claim(key(4, 1), {6}));
    REQUIRE(tape.sell(order(1), {key(2, 1), key(3, 1)}));
    REQUIRE(tape.sell(order(2), {key(4, 1)}));
}

}  // namespace

TEST_CASE("an exchange changes the list and nothing else", "[replay]") {
    Tape tape;
    record_sales(tape);
    CHECK(tape.exchange(key(1, 1), {0}, {2, 7}));
    CHECK(tape.claim(key(5, 1), {0}));
    CHECK(tape.exchange(key(1, 1), {2}, {}));
    CHECK(tape.exchange(key(5, 1), {}, {2}));
    auto const restored = tape.replay().take();
    RestoredHold const& hold = find(restored.at(event), key(1, 1));
    CHECK(hold.seats == seats({1, 7}));
    CHECK(hold.holder == 5);
    CHECK(hold.created_at == at(100));
    CHECK(hold.expires_at == at(900));
    CHECK(find(restored.at(event), key(5, 1)).seats == seats({0, 2}));
}

TEST_CASE("an exchanged hold ends and sells with its new list", "[replay]") {
    Tape tape;
    record_sales(tape);
    CHECK(tape.exchange(key(1, 1), {0, 1}, {8}));
    SECTION("ends") {
        CHECK(tape.end(key(1, 1)));
        CHECK(tape.claim(key(1, 2), {0, 1, 8}));
    }
    SECTION("sells") {
        CHECK(tape.sell(order(3), {key(1, 1)}));
        CHECK(tape.claim(key(5, 1), {0, 1}));
        CHECK_FALSE(tape.claim(key(6, 1), {8}));
    }
}

TEST_CASE("exchanges that cannot be stop the replay", "[replay]") {
    Tape tape;
    record_sales(tape);
    SECTION("a place it does not have") {
        CHECK_FALSE(tape.exchange(key(1, 1), {2}, {}));
        CHECK_THAT(tape.breach(), contains("place 2 is not in the hold of slot 1"));
    }
    SECTION("a place twice") {
        CHECK_FALSE(tape.exchange(key(1, 1), {0, 0}, {}));
    }
    SECTION("a place of another") {
        CHECK_FALSE(tape.exchange(key(1, 1), {0}, {3}));
        CHECK_THAT(tape.breach(), contains("place 3 would have two owners"));
    }
    SECTION("a new place twice") {
        CHECK_FALSE(tape.exchange(key(1, 1), {0}, {7, 7}));
    }
    SECTION("a place that is not there") {
        CHECK_FALSE(tape.exchange(key(1, 1), {0}, {10}));
        CHECK_THAT(tape.breach(), contains("place 10 of an event of 10 places"));
        CHECK_FALSE(tape.breach().empty());
    }
    SECTION("a dropped place that is not there") {
        CHECK_FALSE(tape.exchange(key(1, 1), {10}, {}));
    }
    SECTION("everything") {
        CHECK_FALSE(tape.exchange(key(1, 1), {0, 1}, {}));
        CHECK_THAT(tape.breach(), contains("no places"));
    }
    SECTION("after its sale") {
        CHECK_FALSE(tape.exchange(key(2, 1), {3}, {}));
    }
    SECTION("after its end") {
        CHECK(tape.end(key(1, 1)));
        CHECK_FALSE(tape.exchange(key(1, 1), {0}, {}));
    }
    SECTION("before its claim") {
        CHECK_FALSE(tape.exchange(key(1, 2), {0}, {}));
    }
}

TEST_CASE("tickets move, also to each other's places and between holds", "[replay]") {
    Tape tape;
    record_sales(tape);
    CHECK(tape.reseat(order(1),
                      {{key(2, 1), moves({{3, 4}, {4, 5}})}, {key(3, 1), moves({{5, 9}})}}));
    CHECK(tape.claim(key(5, 1), {3}));
    auto const restored = tape.replay().take();
    CHECK(find(restored.at(event), key(2, 1)).seats == seats({4, 5}));
    CHECK(find(restored.at(event), key(2, 1)).order == order(1));
    CHECK(find(restored.at(event), key(3, 1)).seats == seats({9}));
}

TEST_CASE("a refund frees its places and keeps the rest sold", "[replay]") {
    Tape tape;
    record_sales(tape);
    CHECK(tape.refund(order(1), {{key(2, 1), seats({4})}, {key(3, 1), seats({5})}}));
    CHECK(tape.claim(key(3, 2), {4, 5}));
    CHECK(tape.cancel(order(1), {key(2, 1)}));
    CHECK(tape.claim(key(5, 1), {3}));
    auto const restored = tape.replay().take();
    CHECK(restored.at(event).holds.size() == 4);
    CHECK(find(restored.at(event), key(3, 2)).seats == seats({4, 5}));
}

TEST_CASE("changes of orders that cannot be stop the replay", "[replay]") {
    Tape tape;
    record_sales(tape);
    SECTION("a reseat of a hold that is not sold") {
        CHECK_FALSE(tape.reseat(order(1), {{key(1, 1), moves({{0, 2}})}}));
    }
    SECTION("a reseat by another order") {
        CHECK_FALSE(tape.reseat(order(1), {{key(4, 1), moves({{6, 7}})}}));
        CHECK_THAT(tape.breach(), contains("did not buy it"));
    }
    SECTION("a reseat to a place of another") {
        CHECK_FALSE(tape.reseat(order(1), {{key(2, 1), moves({{3, 6}})}}));
        CHECK_THAT(tape.breach(), contains("two owners"));
    }
    SECTION("two tickets to one place") {
        CHECK_FALSE(tape.reseat(order(1), {{key(2, 1), moves({{3, 7}, {4, 7}})}}));
    }
    SECTION("a ticket twice") {
        CHECK_FALSE(tape.reseat(order(1), {{key(2, 1), moves({{3, 7}, {3, 8}})}}));
    }
    SECTION("a place of another hold of the order") {
        CHECK_FALSE(tape.reseat(order(1), {{key(2, 1), moves({{5, 7}})}}));
    }
    SECTION("a refund of another's place") {
        CHECK_FALSE(tape.refund(order(1), {{key(2, 1), seats({5})}}));
    }
    SECTION("a refund twice") {
        CHECK(tape.refund(order(1), {{key(3, 1), seats({5})}}));
        CHECK_FALSE(tape.refund(order(1), {{key(3, 1), seats({5})}}));
        CHECK_THAT(tape.breach(), contains("not live"));
    }
    SECTION("a refund in an event that is not there") {
        CHECK_FALSE(tape.refund(order(1), {{key(3, 1, EventId{9}), seats({5})}}));
    }
}

}  // namespace holdfast::engine::test
