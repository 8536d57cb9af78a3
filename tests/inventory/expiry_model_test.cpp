// Configurations C: claims against expiry. "Expired at once" is judged strictly: a hold past its
// deadline refuses nobody, whoever ends it and whenever.

#include "tests/inventory/model_house.hpp"

namespace holdfast::inventory::test {
namespace {

void fire(ModelHouse& house, HoldRef hold, TimePoint now) {
    std::size_t ended = 0;
    static_cast<void>(house.holds.fire(hold.slot(), now, now + 1ms, ended));
}

TEST_CASE("C1: a hold past its deadline refuses nobody, whoever ends it", "[model]") {
    std::vector<Kind> outcomes;
    Scenario scenario{"C1, an expired hold and two claims", 2, plain_layout(0, 0, 3)};
    scenario.prepare = [&](ModelHouse& house) {
        outcomes.clear();
        REQUIRE(house.take({0, 1}, at(0), at(5)).kind == Kind::won);
        return Actors{
            [&] { outcomes.push_back(house.claim_judged({0}, at(5), at(50)).kind); },
            [&] { outcomes.push_back(house.claim_judged({1, 2}, at(6), at(50)).kind); },
        };
    };
    scenario.check = [&](ModelHouse& house) {
        house.expect(outcomes == std::vector<Kind>({Kind::won, Kind::won}),
                     "an expired hold has refused a claim");
        house.at_rest(at(6));
    };
    explore(scenario);
}

TEST_CASE("C2: a deadline is never read from the slot's next hold", "[model]") {
    Kind outcome{};
    HoldRef hold;
    Scenario scenario{"C2, a claim while the expired hold's slot is used again", 2,
                      plain_layout(0, 0, 2), 3};
    scenario.prepare = [&](ModelHouse& house) {
        hold = house.take({0}, at(0), at(5)).ref;
        return Actors{
            [&] { outcome = house.claim_judged({0}, at(6), at(50)).kind; },
            [&] {
                fire(house, hold, at(5));
                static_cast<void>(house.claim_judged({1}, at(5), at(90)));
            },
        };
    };
    scenario.check = [&](ModelHouse& house) {
        house.expect(outcome == Kind::won, "an expired hold has refused a claim");
        house.at_rest(at(6));
    };
    explore(scenario);
}

TEST_CASE("C4: an extension and an expiry never both succeed", "[model]") {
    bool extended = false;
    HoldRef hold;
    Scenario scenario{"C4, an extension against two expiries", 3, plain_layout(0, 0, 2)};
    scenario.prepare = [&](ModelHouse& house) {
        extended = false;
        hold = house.take({0, 1}, at(0), at(5)).ref;
        return Actors{
            [&] {
                HoldWord const seen = house.word(hold);
                if (seen.state() != State::held) return;
                auto const edit = house.holds.enter(hold, seen, State::editing);
                if (!edit) return;
                house.holds.leave_extended(*edit, at(90), 7);
                extended = true;
            },
            [&] { fire(house, hold, at(5)); },
        };
    };
    scenario.check = [&](ModelHouse& house) {
        house.expect(extended == (house.free_at(at(5)) == 0),
                     "a hold has ended before the deadline it was promised");
        house.at_rest(at(5));
    };
    explore(scenario);
}

TEST_CASE("C7: an end that stalls half way refuses nobody", "[model]") {
    Kind outcome{};
    HoldRef hold;
    Scenario scenario{"C7, an expiry that stalls and a claim", 3, plain_layout(0, 0, 2)};
    scenario.prepare = [&](ModelHouse& house) {
        hold = house.take({0, 1}, at(0), at(5)).ref;
        return Actors{
            [&] { fire(house, hold, at(5)); },
            [&] { outcome = house.claim_judged({1}, at(6), at(50)).kind; },
        };
    };
    scenario.check = [&](ModelHouse& house) {
        house.expect(outcome == Kind::won, "a hold that was ending has refused a claim");
        house.at_rest(at(6));
    };
    explore(scenario);
}

TEST_CASE("C8: nobody ends a hold before its CLAIM is journaled", "[model]") {
    Scenario scenario{"C8, a claim, its helper, and staff", 2, plain_layout(0, 0, 2)};
    scenario.prepare = [&](ModelHouse& house) {
        return Actors{
            [&] { static_cast<void>(house.claim_judged({0, 1}, at(0), at(1'000))); },
            [&] {
                static_cast<void>(house.claim_judged({1}, at(0), at(1'000)));
                HoldRef const owner{house.places.owner(0).load(SteppedAtomics::acquire)};
                if (owner == HoldRef{}) return;
                HoldWord const word = house.word(owner);
                if (names(owner, word) && word.state() == State::held)
                    static_cast<void>(house.claims.end(owner, word, State::ending_staff));
            },
        };
    };
    scenario.check = [&](ModelHouse& house) { house.at_rest(at(0)); };
    explore(scenario);
}

TEST_CASE("C10: a helper with an older clock does not refuse for the claimer", "[model]") {
    Kind outcome{};
    Scenario scenario{"C10, a claim after the deadline and a helper from before it", 2,
                      plain_layout(0, 0, 2)};
    scenario.prepare = [&](ModelHouse& house) {
        outcome = {};
        REQUIRE(house.take({1}, at(0), at(6)).kind == Kind::won);
        return Actors{
            [&] { outcome = house.claim_judged({0, 1}, at(6), at(50)).kind; },
            [&] { static_cast<void>(house.claim_judged({0}, at(5), at(50))); },
        };
    };
    scenario.check = [&](ModelHouse& house) { house.at_rest(at(6)); };
    explore(scenario);
}

}  // namespace
}  // namespace holdfast::inventory::test
