// Configurations E: the wheel that reminds of deadlines, against claims that use slots again.

#include "tests/inventory/model_house.hpp"

namespace holdfast::inventory::test {
namespace {

void advance(ModelHouse& house, TimePoint now, std::size_t& ended) {
    house.facts.wheel->advance(
        now, [&](SlotIndex slot) { return house.holds.fire(slot, now, now + 10ms, ended); },
        [&](SlotIndex slot) { return house.holds.needs_timer(slot); });
}

TEST_CASE("E1: a slot that is dropped while it is used again is reminded of", "[model]") {
    HoldRef hold;
    HoldRef next;
    Scenario scenario{"E1, the wheel against a release and a claim", 3, plain_layout(0, 0, 2), 2};
    scenario.prepare = [&](ModelHouse& house) {
        house.facts.wheel.emplace(house.places.pool().count(), 1'000ms);
        hold = house.take({0}, at(0), at(500)).ref;
        next = {};
        return Actors{
            [&] {
                static_cast<void>(house.release(hold));
                auto const claim = house.claim_judged({1}, at(10), at(700));
                next = claim.ref;
            },
            [&] {
                std::size_t ended = 0;
                advance(house, at(20), ended);
            },
        };
    };
    scenario.check = [&](ModelHouse& house) {
        std::size_t ended = 0;
        for (std::int64_t ms = 100; ms <= 710; ms += 10) advance(house, at(ms), ended);
        house.expect(ended == 1 && !house.live(1), "the wheel has forgotten a hold");
        house.at_rest(at(710));
    };
    explore(scenario);
}

TEST_CASE("E2: the wheel and a claim that meets the same expired hold", "[model]") {
    Kind outcome{};
    Scenario scenario{"E2, the wheel against a claim of an expired place", 3, plain_layout(0, 0, 2),
                      3};
    scenario.prepare = [&](ModelHouse& house) {
        house.facts.wheel.emplace(house.places.pool().count(), 1'000ms);
        REQUIRE(house.take({0, 1}, at(0), at(500)).kind == Kind::won);
        return Actors{
            [&] { outcome = house.claim_judged({1}, at(500), at(900)).kind; },
            [&] {
                std::size_t ended = 0;
                advance(house, at(500), ended);
            },
        };
    };
    scenario.check = [&](ModelHouse& house) {
        house.expect(outcome == Kind::won, "an expired hold has refused a claim");
        std::size_t ended = 0;
        for (std::int64_t ms = 510; ms <= 910; ms += 10) advance(house, at(ms), ended);
        house.expect(house.free_at(at(0)) == 2, "the wheel has forgotten a hold");
        house.at_rest(at(910));
    };
    explore(scenario);
}

TEST_CASE("E3: two that drive the wheel, and a slot that is used again", "[model]") {
    HoldRef hold;
    bool settled = false;
    Scenario scenario{"E3, a settling claim against the timer and a release", 2,
                      plain_layout(0, 0, 2), 3};
    scenario.prepare = [&](ModelHouse& house) {
        house.facts.wheel.emplace(house.places.pool().count(), 1'000ms);
        REQUIRE(house.take({0}, at(0), at(503)).kind == Kind::won);
        hold = house.take({1}, at(0), at(2'000)).ref;
        std::size_t ended = 0;
        advance(house, at(490), ended);
        return Actors{
            [&] {
                std::size_t mine = 0;
                settled = house.facts.wheel->settle(
                    at(505), 100,
                    [&](SlotIndex slot) { return house.holds.fire(slot, at(505), at(505), mine); },
                    [&](SlotIndex slot) { return house.holds.needs_timer(slot); });
            },
            [&] {
                std::size_t mine = 0;
                advance(house, at(500), mine);
            },
            [&] {
                static_cast<void>(house.release(hold));
                static_cast<void>(house.claim_judged({1}, at(505), at(1'505)));
            },
        };
    };
    scenario.check = [&](ModelHouse& house) {
        std::size_t ended = 0;
        for (std::int64_t ms = 510; ms <= 1'510; ms += 10) advance(house, at(ms), ended);
        house.expect(house.free_at(at(0)) == 2, "the wheel has forgotten a hold");
        house.at_rest(at(1'510));
    };
    explore(scenario);
}

TEST_CASE("E4: a short hold in the slot of a long one is reminded of in time", "[model]") {
    ModelHouse house(plain_layout(0, 0, 2), 2);
    house.facts.wheel.emplace(house.places.pool().count(), 1'000ms);
    std::size_t ended = 0;
    HoldRef const block = house.take({0}, at(0), at(60'000)).ref;
    advance(house, at(10), ended);
    CHECK(house.release(block).kind == EndOutcome::Kind::ended);
    HoldRef const next = house.take({1}, at(100), at(2'000)).ref;
    CHECK(next.slot() == block.slot());
    for (std::int64_t ms = 110; ms <= 2'000; ms += 10) advance(house, at(ms), ended);
    CHECK(ended == 1);
    house.at_rest(at(2'000));
    CHECK(house.finding.empty());
}

}  // namespace
}  // namespace holdfast::inventory::test
