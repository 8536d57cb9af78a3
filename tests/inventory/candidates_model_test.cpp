// Candidates: the first that are free of a list, while others move between its places.

#include "tests/inventory/model_house.hpp"

namespace holdfast::inventory::test {
namespace {

constexpr TimePoint until_late = TimePoint{Milliseconds{100'000}};
std::vector<SeatIndex> const both{SeatIndex{0}, SeatIndex{1}};

TEST_CASE("candidates are not refused by one hold that moves among them", "[model]") {
    HoldRef hold;
    Scenario scenario{"candidates, and a hold that goes from the first to the second", 3};
    scenario.prepare = [&](ModelHouse& house) {
        hold = house.take({0}, at(0), until_late).ref;
        return Actors{[&] {
                          static_cast<void>(house.release(hold));
                          static_cast<void>(house.claim_judged({1}, at(1), until_late));
                      },
                      [&] { static_cast<void>(house.buy_candidate(both, at(1), until_late)); }};
    };
    scenario.check = [](ModelHouse& house) {
        if (house.free_at(at(1)) > 1) house.fail("nobody has either place");
    };
    explore(scenario);
}

TEST_CASE("candidates are not refused for their caller's sake while one moves among the others",
          "[model]") {
    HoldRef hold;
    Scenario scenario{"candidates, one of them denied, and a hold that moves among the others", 3,
                      plain_layout(1, 3)};
    scenario.prepare = [&](ModelHouse& house) {
        hold = house.take({0}, at(0), until_late).ref;
        return Actors{[&] {
                          static_cast<void>(house.release(hold));
                          static_cast<void>(house.claim_judged({1}, at(1), until_late));
                      },
                      [&] {
                          std::vector<SeatIndex> const all{SeatIndex{0}, SeatIndex{1},
                                                           SeatIndex{2}};
                          static_cast<void>(house.buy_candidate(all, at(1), until_late, 2));
                      }};
    };
    scenario.check = [](ModelHouse& house) {
        if (house.free_at(at(1)) > 2) house.fail("nobody has either place");
    };
    explore(scenario);
}

TEST_CASE("candidates are not refused by claims that fail, nor by what has expired", "[model]") {
    Scenario scenario{"candidates, a claim that must fail and an expired hold", 2,
                      plain_layout(1, 3)};
    scenario.prepare = [&](ModelHouse& house) {
        REQUIRE(house.take({1}, at(0), until_late).kind == Kind::won);
        REQUIRE(house.take({2}, at(0), at(1)).kind == Kind::won);
        return Actors{[&] { static_cast<void>(house.claim_judged({0, 1}, at(2), until_late)); },
                      [&] {
                          std::vector<SeatIndex> const all{SeatIndex{0}, SeatIndex{1},
                                                           SeatIndex{2}};
                          if (!house.buy_candidate(all, at(2), until_late))
                              house.fail("refused although two were free");
                      }};
    };
    scenario.check = [](ModelHouse& house) { house.at_rest(at(2)); };
    explore(scenario);
}

}  // namespace
}  // namespace holdfast::inventory::test
