// Configurations A: claims that help each other. The real protocol code under every interleaving of
// a few actors with a bounded number of preemptions.

#include "tests/inventory/model_house.hpp"

namespace holdfast::inventory::test {
namespace {

TEST_CASE("the explorer finds a planted lost update", "[model]") {
    if (!holdfast::test::has_fibers()) return;
    Explorer explorer(1);
    std::unique_ptr<SteppedAtomics::Atomic<int>> count;
    auto const add = [&] {
        int const old = count->load(SteppedAtomics::acquire);
        count->store(old + 1, SteppedAtomics::release);
    };
    auto const prepare = [&] {
        count = std::make_unique<SteppedAtomics::Atomic<int>>(0);
        return Actors{add, add};
    };
    CHECK_FALSE(
        explorer.explore(prepare, [&] { return count->load(SteppedAtomics::acquire) == 2; }));
}

/// Actors that each claim one list; the number of winners is counted.
Actors claimers(ModelHouse& house, std::vector<std::vector<std::uint32_t>> const& lists, int& won) {
    Actors actors;
    for (auto const& seats : lists) {
        actors.push_back([&house, &won, seats] {
            auto const outcome = house.claim_judged(seats, at(0), at(1'000));
            won += outcome.kind == Kind::won ? 1 : 0;
        });
    }
    return actors;
}

void explore_claims(char const* name, int preemptions, std::uint32_t places,
                    std::vector<std::vector<std::uint32_t>> const& lists) {
    int won = 0;
    Scenario scenario{name, preemptions, plain_layout(0, 0, places)};
    scenario.prepare = [&](ModelHouse& house) {
        won = 0;
        return claimers(house, lists, won);
    };
    scenario.check = [&](ModelHouse& house) {
        house.expect(won == 1, "of overlapping claims not exactly one has won");
        house.at_rest(at(0));
    };
    explore(scenario);
}

TEST_CASE("A1: of two overlapping claims exactly one wins", "[model]") {
    explore_claims("A1, two claims that share a place", 3, 3, {{0, 1}, {1, 2}});
    explore_claims("A1, two claims of the same places", 3, 2, {{0, 1}, {0, 1}});
}

TEST_CASE("A1: of three claims, each in the way of the others, exactly one wins", "[model]") {
    explore_claims("A1, three claims in a ring", 2, 3, {{0, 1}, {1, 2}, {0, 2}});
}

TEST_CASE("A2: a claim that fails leaves nothing behind and names the taken place", "[model]") {
    Kind first{};
    Kind second{};
    Scenario scenario{"A2, a claim that must fail and one that may win", 3, plain_layout(0, 0, 3)};
    scenario.prepare = [&](ModelHouse& house) {
        REQUIRE(house.take({2}).kind == Kind::won);
        return Actors{
            [&] { first = house.claim_judged({0, 1, 2}, at(0), at(1'000)).kind; },
            [&] { second = house.claim_judged({0, 1}, at(0), at(1'000)).kind; },
        };
    };
    scenario.check = [&](ModelHouse& house) {
        house.expect(first == Kind::lost && second == Kind::won,
                     "a claim was refused because of one that has failed");
        house.at_rest(at(0));
    };
    explore(scenario);
}

}  // namespace
}  // namespace holdfast::inventory::test
