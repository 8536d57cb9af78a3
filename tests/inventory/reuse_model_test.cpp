// Configurations B: slots that are used again, the free list, and the journal's order.

#include "tests/inventory/model_house.hpp"

namespace holdfast::inventory::test {
namespace {

TEST_CASE("B1: an end and claims of its places", "[model]") {
    Scenario scenario{"B1, a release and two claims", 2, plain_layout(0, 0, 2), 4};
    HoldRef hold;
    scenario.prepare = [&](ModelHouse& house) {
        hold = house.take({0, 1}).ref;
        return Actors{
            [&] { static_cast<void>(house.release(hold)); },
            [&] { static_cast<void>(house.claim_judged({0, 1}, at(0), at(1'000))); },
            [&] { static_cast<void>(house.claim_judged({1}, at(0), at(1'000))); },
        };
    };
    scenario.check = [&](ModelHouse& house) { house.at_rest(at(0)); };
    explore(scenario);
}

TEST_CASE("B1: two threads that end the same hold", "[model]") {
    Scenario scenario{"B1, a release and an expiry of one hold", 3, plain_layout(0, 0, 2), 4};
    HoldRef hold;
    scenario.prepare = [&](ModelHouse& house) {
        hold = house.take({0, 1}, at(0), at(5)).ref;
        return Actors{
            [&] {
                HoldWord const seen = house.word(hold);
                if (seen.state() == State::held)
                    static_cast<void>(house.claims.end(hold, seen, State::ending_released));
            },
            [&] {
                std::size_t ended = 0;
                static_cast<void>(house.holds.fire(hold.slot(), at(5), at(6), ended));
            },
        };
    };
    scenario.check = [&](ModelHouse& house) {
        house.expect(house.free_at(at(0)) == 2, "an ended hold still has places");
        house.at_rest(at(5));
    };
    explore(scenario);
}

TEST_CASE("B2: a slot that is used again is another hold", "[model]") {
    Scenario scenario{"B2, claim, release, claim against a claim", 2, plain_layout(0, 0, 2), 2};
    scenario.prepare = [&](ModelHouse& house) {
        return Actors{
            [&] {
                auto const first = house.claim_judged({0}, at(0), at(1'000));
                if (first.kind == Kind::won) static_cast<void>(house.release(first.ref));
                static_cast<void>(house.claim_judged({1}, at(0), at(1'000)));
            },
            [&] { static_cast<void>(house.claim_judged({0, 1}, at(0), at(1'000))); },
        };
    };
    scenario.check = [&](ModelHouse& house) { house.at_rest(at(0)); };
    explore(scenario);
}

TEST_CASE("B2: the reference of an ended hold names nothing any more", "[model]") {
    ModelHouse house(plain_layout(0, 0, 2), 2);
    auto const first = house.take({0});
    CHECK(house.release(first.ref).kind == EndOutcome::Kind::ended);
    auto const second = house.take({1});
    CHECK(second.ref.slot() == first.ref.slot());
    CHECK_FALSE(second.ref == first.ref);
    std::vector<SeatIndex> seats;
    CHECK_FALSE(house.holds.look(first.ref, seats).has_value());
    house.at_rest(at(0));
    CHECK(house.finding.empty());
}

TEST_CASE("B6: no slot is given to two threads", "[model]") {
    // The pool alone and fine-grained: a slot that leaves and comes back between a popper's load
    // and its CAS must not let the CAS succeed.
    Scenario scenario{"B6, three threads on a pool of three slots", 2, plain_layout(0, 0, 1), 3};
    std::vector<std::uint32_t> owned;
    scenario.prepare = [&](ModelHouse& house) {
        owned.clear();
        auto const pop = [&] {
            if (std::uint32_t const slot = house.places.pool().pop()) owned.push_back(slot);
        };
        return Actors{
            pop,
            [&, pop] {
                std::uint32_t const back = house.places.pool().pop();
                pop();
                if (back != 0) house.places.pool().push(back);
            },
            pop,
        };
    };
    scenario.check = [&](ModelHouse& house) {
        std::uint32_t const count = house.places.pool().count();
        for (std::uint32_t i = 0; i <= count; ++i) {
            std::uint32_t const slot = house.places.pool().pop();
            if (slot == 0) break;
            owned.push_back(slot);
        }
        std::sort(owned.begin(), owned.end());
        house.expect(owned == std::vector<std::uint32_t>({1, 2, 3}),
                     "a slot has two owners, or none");
    };
    explore(scenario);
}

TEST_CASE("B7: a list over several slots is taken and freed whole", "[model]") {
    Scenario scenario{"B7, chained lists in a tiny pool", 2, plain_layout(0, 0, 8), 9};
    scenario.prepare = [&](ModelHouse& house) {
        return Actors{
            [&] {
                auto const all = house.claim_judged({0, 1, 2, 3, 4, 5, 6, 7}, at(0), at(1'000));
                if (all.kind == Kind::won) static_cast<void>(house.release(all.ref));
            },
            [&] { static_cast<void>(house.claim_judged({6, 7}, at(0), at(1'000))); },
        };
    };
    scenario.check = [&](ModelHouse& house) { house.at_rest(at(0)); };
    explore(scenario);
}

}  // namespace
}  // namespace holdfast::inventory::test
