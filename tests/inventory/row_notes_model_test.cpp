// Row notes: no interleaving of searches, claims and releases leaves one that hides the best block.

#include "tests/inventory/model_house.hpp"

namespace holdfast::inventory::test {
namespace {

constexpr TimePoint long_held{Milliseconds{100'000}};

Wish wish_for(std::uint32_t quantity) {
    Wish wish;
    wish.quantity = quantity;
    return wish;
}

void look_for(ModelHouse& house, std::uint32_t quantity) {
    Wish const wish = wish_for(quantity);
    static_cast<void>(BestBlock(house.places, wish).find());
}

/// What a search finds by hints and notes is what one finds that knows who has which seat.
void finds_the_best(ModelHouse& house) {
    FreeMap free(house.geometry);
    for (std::uint32_t place = 0; place < house.places.count(); ++place)
        if (!house.live(place)) free.add(place);
    for (std::uint32_t quantity = 1; quantity <= 3; ++quantity) {
        Wish const wish = wish_for(quantity);
        if (BestBlock(house.places, wish).find() != BestBlock(free, wish).find())
            house.fail("a note hides the best block");
    }
    house.at_rest(at(1));
}

/// Two rows, the middle of the first one is best. A release of `held` beside what two others do.
void explore_release(char const* name, std::uint32_t seats, std::vector<std::uint32_t> const& held,
                     std::function<void(ModelHouse&)> const& first,
                     std::function<void(ModelHouse&)> const& second) {
    HoldRef hold;
    Scenario scenario{name, 2, plain_layout(2, seats)};
    scenario.prepare = [&](ModelHouse& house) {
        hold = house.take(held, at(0), long_held).ref;
        return Actors{[&] { static_cast<void>(house.release(hold)); }, [&] { first(house); },
                      [&] { second(house); }};
    };
    scenario.check = finds_the_best;
    explore(scenario);
}

TEST_CASE("R1: a cost noted beside a release does not outlive it", "[model]") {
    // What is left of the first row is worse than the second one, what is freed is better.
    auto const look = [](ModelHouse& house) { look_for(house, 1); };
    explore_release("R1, a release and two searches", 7, {1, 2, 3, 4, 5}, look, look);
}

TEST_CASE("R2: a row without neighbours is searched again after a release", "[model]") {
    auto const look = [](ModelHouse& house) { look_for(house, 2); };
    explore_release("R2, a release and two searches", 5, {1, 3}, look, look);
    explore_release("R2, a release, a search and a claim", 5, {1, 3}, look, [](ModelHouse& house) {
        static_cast<void>(house.claim_judged({0}, at(1), long_held));
    });
}

TEST_CASE("R3: a row whose pairs leave a single seat is searched again after a claim", "[model]") {
    // Three seats of the first row are left. One of them is taken, and a pair is left.
    Scenario scenario{"R3, two searches and a claim", 2, plain_layout(2, 5)};
    scenario.prepare = [&](ModelHouse& house) {
        static_cast<void>(house.take({3, 4}, at(0), long_held));
        auto const look = [&house] { look_for(house, 2); };
        return Actors{look, [&] { static_cast<void>(house.claim_judged({0}, at(1), long_held)); },
                      look};
    };
    scenario.check = finds_the_best;
    explore(scenario);
}

}  // namespace
}  // namespace holdfast::inventory::test
