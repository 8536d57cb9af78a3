// Configurations D: searches, their hints and their kept verdicts.

#include "tests/inventory/model_house.hpp"

namespace holdfast::inventory::test {
namespace {

constexpr TimePoint late = TimePoint{Milliseconds{100'000}};

void buy(ModelHouse& house, std::uint32_t count, TimePoint now = at(1)) {
    static_cast<void>(house.buy_any(count, now, late));
}

TEST_CASE("D1: a release is never hidden by a verdict or a lost hint", "[model]") {
    HoldRef hold;
    auto const explore_plan = [&](char const* name, Layout const& plan) {
        Scenario scenario{name, 2, plan};
        scenario.prepare = [&](ModelHouse& house) {
            hold = house.take({0, 1}, at(0), late).ref;
            return Actors{[&] { static_cast<void>(house.release(hold)); }, [&] { buy(house, 1); },
                          [&] { buy(house, 1); }};
        };
        scenario.check = [](ModelHouse& house) { house.at_rest(at(1)); };
        explore(scenario);
    };
    explore_plan("D1, a release and two searches for standing", plain_layout(0, 0, 2));
    explore_plan("D1, a release and two searches for seats", plain_layout(1, 2));
}

TEST_CASE("D1: freed places are hinted although their slot is used at once", "[model]") {
    HoldRef hold;
    Scenario scenario{"D1, a release and a claim that takes its slot", 2, plain_layout(0, 0, 4), 4};
    scenario.prepare = [&](ModelHouse& house) {
        hold = house.take({0, 1}, at(0), late).ref;
        return Actors{[&] { static_cast<void>(house.release(hold)); },
                      [&] { static_cast<void>(house.claim_judged({2, 3}, at(1), late)); }};
    };
    scenario.check = [](ModelHouse& house) { house.at_rest(at(1)); };
    explore(scenario);
}

TEST_CASE("D2: a verdict kept while a hold ends does not outlive the end", "[model]") {
    HoldRef hold;
    Scenario scenario{"D2, a release and one buyer who asks twice", 3, plain_layout(0, 0, 2)};
    scenario.prepare = [&](ModelHouse& house) {
        hold = house.take({0, 1}, at(0), late).ref;
        return Actors{[&] { static_cast<void>(house.release(hold)); },
                      [&] {
                          buy(house, 2);
                          buy(house, 2);
                      }};
    };
    scenario.check = [](ModelHouse& house) { house.at_rest(at(1)); };
    explore(scenario);
}

TEST_CASE("D4: a search is not refused by a claim that fails", "[model]") {
    // The look at the hint makes the search go on to its scan of the truth.
    Scenario scenario{"D4, a claim that must fail, a look at a hint, and a search", 2,
                      plain_layout(0, 0, 2)};
    scenario.prepare = [&](ModelHouse& house) {
        REQUIRE(house.take({1}, at(0), late).kind == Kind::won);
        return Actors{[&] {
                          auto const lost = house.claim_judged({0, 1}, at(1), late);
                          if (lost.kind == Kind::lost) house.claims.unhint(lost.seat.value());
                      },
                      [&] { house.claims.unhint(0); }, [&] { buy(house, 1); }};
    };
    scenario.check = [](ModelHouse& house) { house.at_rest(at(1)); };
    explore(scenario);
}

TEST_CASE("D4: not enough for two is enough for one", "[model]") {
    ModelHouse house(plain_layout(0, 0, 2), 8);
    REQUIRE(house.take({1}, at(0), late).kind == Kind::won);
    CHECK_FALSE(house.buy_any(2, at(1), late).has_value());
    CHECK_FALSE(house.buy_any(2, at(1), late).has_value());
    CHECK(house.buy_any(1, at(1), late).has_value());
    CHECK(house.finding.empty());
}

TEST_CASE("D6: a loser who clears a hint late does not hide a freed place", "[model]") {
    HoldRef hold;
    Scenario scenario{"D6, a loser and the release of what it lost", 3, plain_layout(0, 0, 2)};
    scenario.prepare = [&](ModelHouse& house) {
        hold = house.take({0}, at(0), late).ref;
        return Actors{[&] {
                          auto const lost = house.claim_judged({0}, at(1), late);
                          if (lost.kind == Kind::lost) house.claims.unhint(0);
                      },
                      [&] { static_cast<void>(house.release(hold)); }};
    };
    scenario.check = [](ModelHouse& house) { house.at_rest(at(1)); };
    explore(scenario);
}

TEST_CASE("D7: a search goes on past a place whose winner has not cleared its hint", "[model]") {
    Scenario scenario{"D7, a claim that stalls and a search", 2, plain_layout(1, 2)};
    scenario.prepare = [&](ModelHouse& house) {
        return Actors{[&] { static_cast<void>(house.claim_judged({0}, at(1), late)); },
                      [&] { buy(house, 1); }};
    };
    scenario.check = [](ModelHouse& house) { house.at_rest(at(1)); };
    explore(scenario);
}

TEST_CASE("D8: a search never misses a place because another thread looks at its hint", "[model]") {
    Scenario scenario{"D8, looks at hints and a search", 2, plain_layout(1, 2)};
    scenario.prepare = [&](ModelHouse& house) {
        return Actors{[&] {
                          house.claims.unhint(0);
                          house.claims.unhint(1);
                      },
                      [&] { buy(house, 2); }};
    };
    scenario.check = [](ModelHouse& house) { house.at_rest(at(1)); };
    explore(scenario);
}

TEST_CASE("D14: a hint cleared while another claim is pending comes back", "[model]") {
    HoldRef hold;
    Scenario scenario{"D14, a loser, a release, and a claim that fails", 2, plain_layout(0, 0, 2)};
    scenario.prepare = [&](ModelHouse& house) {
        hold = house.take({0}, at(0), late).ref;
        REQUIRE(house.take({1}, at(0), late).kind == Kind::won);
        auto const claim = [&](std::vector<std::uint32_t> const& seats) {
            auto const lost = house.claim_judged(seats, at(1), late);
            if (lost.kind == Kind::lost) house.claims.unhint(lost.seat.value());
        };
        return Actors{[&, claim] { claim({0}); }, [&] { static_cast<void>(house.release(hold)); },
                      [&, claim] { claim({0, 1}); }};
    };
    scenario.check = [](ModelHouse& house) { house.at_rest(at(1)); };
    explore(scenario);
}

TEST_CASE("D16: a search that closes a row does not hide a place freed in it", "[model]") {
    HoldRef hold;
    Scenario scenario{"D16, a release and two looks at its row", 2, plain_layout(1, 2)};
    scenario.prepare = [&](ModelHouse& house) {
        hold = house.take({0, 1}, at(0), late).ref;
        auto const look = [&house] {
            RowGeometry const& row = house.geometry.rows().front();
            if (house.places.hint_word(0) == 0) house.places.close_row(row);
        };
        return Actors{[&] { static_cast<void>(house.release(hold)); }, look, look};
    };
    scenario.check = [](ModelHouse& house) { house.at_rest(at(1)); };
    explore(scenario);
}

TEST_CASE("D16: nor does a place freed beside one that is taken at the same time", "[model]") {
    HoldRef hold;
    Scenario scenario{"D16, a release, a claim and a search in one row", 2, plain_layout(1, 2)};
    scenario.prepare = [&](ModelHouse& house) {
        hold = house.take({0}, at(0), late).ref;
        return Actors{[&] { static_cast<void>(house.release(hold)); },
                      [&] { static_cast<void>(house.claim_judged({1}, at(1), late)); },
                      [&] { buy(house, 1); }};
    };
    scenario.check = [](ModelHouse& house) { house.at_rest(at(1)); };
    explore(scenario);
}

TEST_CASE("D17: a verdict that nothing fits does not outlive a free", "[model]") {
    HoldRef hold;
    auto const ask = [](ModelHouse& house) {
        Wish pair;
        pair.quantity = 2;
        pair.together = true;
        std::vector<SeatIndex> chosen;
        return house.search.best(pair, at(1), chosen).kind;
    };
    Scenario scenario{"D17, a release and a pair that nothing takes", 3, plain_layout(1, 4)};
    scenario.prepare = [&, ask](ModelHouse& house) {
        hold = house.take({1}, at(0), late).ref;
        REQUIRE(house.take({2}, at(0), late).kind == Kind::won);
        return Actors{[&] { static_cast<void>(house.release(hold)); },
                      [&, ask] {
                          static_cast<void>(ask(house));
                          static_cast<void>(ask(house));
                      }};
    };
    scenario.check = [ask](ModelHouse& house) {
        house.at_rest(at(1));
        house.expect(ask(house) == Choice::Kind::chosen, "two free neighbours are not found");
    };
    explore(scenario);
}

TEST_CASE("D15: a kept verdict ends with the first deadline it depends on", "[model]") {
    ModelHouse house(plain_layout(0, 0, 1), 4);
    REQUIRE(house.take({0}, at(0), at(5)).kind == Kind::won);
    CHECK_FALSE(house.buy_any(1, at(4), late).has_value());
    CHECK(house.buy_any(1, at(5), late).has_value());
    CHECK(house.finding.empty());
}

TEST_CASE("D18: a kept verdict is not read with the deadline of another", "[model]") {
    // The search for one may meet the verdict that is over by its clock, and the other's newer one:
    // of its second search, since the first ends the hold and keeps nothing.
    Scenario scenario{"D18, two searches after the deadline of a verdict", 2,
                      plain_layout(0, 0, 3)};
    scenario.prepare = [&](ModelHouse& house) {
        REQUIRE(house.take({0}, at(0), at(5)).kind == Kind::won);
        REQUIRE(house.take({1, 2}, at(0), late).kind == Kind::won);
        REQUIRE(!house.buy_any(1, at(4), late).has_value());
        return Actors{[&] { static_cast<void>(house.buy_any(1, at(6), late)); },
                      [&] {
                          static_cast<void>(house.buy_any(2, at(6), late));
                          static_cast<void>(house.buy_any(2, at(6), late));
                      }};
    };
    scenario.check = [](ModelHouse& house) { house.at_rest(at(6)); };
    explore(scenario);
}

TEST_CASE("D19: a search claims what is past its deadline without ending the rest", "[model]") {
    // After a crowd's deadline; one buyer may have come before it, with a clock that is behind.
    auto const explore_plan = [](char const* name, Layout const& plan, std::uint32_t count,
                                 TimePoint now) {
        Scenario scenario{name, 2, plan};
        scenario.prepare = [=](ModelHouse& house) {
            static_cast<void>(house.take({0}, at(0), at(5)));
            static_cast<void>(house.take({1}, at(0), at(5)));
            return Actors{[&] { buy(house, 1, at(5)); }, [=, &house] { buy(house, count, now); }};
        };
        scenario.check = [](ModelHouse& house) { house.at_rest(at(5)); };
        explore(scenario);
    };
    explore_plan("D19, one each, standing", plain_layout(0, 0, 2), 1, at(5));
    explore_plan("D19, one and two, seats", plain_layout(1, 2), 2, at(5));
    explore_plan("D19, one and one too early, seats", plain_layout(1, 2), 1, at(4));
}

TEST_CASE("D20: what a kept verdict says is true after claims and while places come free",
          "[model]") {
    auto const ask = [](ModelHouse& house, std::uint32_t quantity) {
        Wish party;
        party.quantity = quantity;
        party.together = true;
        std::vector<SeatIndex> chosen;
        return house.search.best(party, at(1), chosen);
    };
    HoldRef hold;
    Scenario scenario{"D20, a claim, a release, and a party of two that nothing takes", 2,
                      plain_layout(1, 7), 12};
    scenario.prepare = [&](ModelHouse& house) {
        REQUIRE(house.take({1, 3}, at(0), late).kind == Kind::won);
        hold = house.take({5, 6}, at(0), late).ref;  // free: 0, 2, 4
        REQUIRE(ask(house, 2).kind == Choice::Kind::none_together);
        REQUIRE(ask(house, 4).kind == Choice::Kind::sold_out);
        return Actors{[&, ask] {
                          static_cast<void>(house.claim_judged({0, 2}, at(1), late));
                          static_cast<void>(ask(house, 2));
                      },
                      [&] { static_cast<void>(house.release(hold)); }};
    };
    scenario.check = [&](ModelHouse& house) {
        house.expect(house.take({4, 5}, at(1), late).kind == Kind::won,
                     "two are free");  // 6 is left
        for (std::uint32_t quantity = 2; quantity <= 4; ++quantity) {
            Choice const said = ask(house, quantity);
            house.expect(said.kind == Choice::Kind::sold_out && said.number == 1,
                         "one place is left, and something else is said");
        }
        house.at_rest(at(1));
    };
    explore(scenario);
    ModelHouse house(plain_layout(1, 7), 12);
    REQUIRE(house.take({3}, at(0), late).kind == Kind::won);
    CHECK(ask(house, 4).number == 3);
    REQUIRE(house.take({1}, at(0), late).kind == Kind::won);
    CHECK(ask(house, 4).number == 3);  // 4, 5, 6
    REQUIRE(house.take({5}, at(0), late).kind == Kind::won);
    CHECK(ask(house, 4).kind == Choice::Kind::none_together);
    CHECK(ask(house, 4).number == 1);
    REQUIRE(house.take({0, 2, 4}, at(0), late).kind == Kind::won);
    CHECK(ask(house, 4).kind == Choice::Kind::sold_out);
    CHECK(ask(house, 4).number == 1);
    CHECK(ask(house, 5).number == 1);
}

TEST_CASE("D22: words that are renewed while somebody claims are true afterwards", "[model]") {
    auto const ask = [](ModelHouse& house) {
        Wish party;
        party.quantity = 4;
        party.together = true;
        std::vector<SeatIndex> chosen;
        return house.search.best(party, at(1), chosen);
    };
    auto const explore_claim = [&](char const* name, std::vector<std::uint32_t> const& seats,
                                   Choice::Kind kind, std::uint32_t number) {
        Scenario scenario{name, 2, plain_layout(1, 7), 12};
        scenario.prepare = [&](ModelHouse& house) {
            REQUIRE(house.take({3}, at(0), late).kind == Kind::won);
            REQUIRE(ask(house).kind == Choice::Kind::none_together);
            return Actors{[&] { static_cast<void>(house.claim_judged(seats, at(1), late)); },
                          [&] { static_cast<void>(ask(house)); }};
        };
        scenario.check = [&](ModelHouse& house) {
            Choice const said = ask(house);
            house.expect(said.kind == kind && said.number == number,
                         "a kept refusal says something else than what is so");
            house.at_rest(at(1));
        };
        explore(scenario);
    };
    explore_claim("D22, a claim that leaves single seats, and a party that nothing takes", {1, 5},
                  Choice::Kind::none_together, 1);
    explore_claim("D22, a claim that leaves too few seats, and a party that nothing takes",
                  {0, 1, 2, 4}, Choice::Kind::sold_out, 2);
}

TEST_CASE("D23: a sum that was kept does not outlive an end", "[model]") {
    HoldRef hold;
    Scenario scenario{"D23, a release, and one buyer who asks twice for more than is left", 3,
                      plain_layout(0, 0, 5), 12};
    scenario.prepare = [&](ModelHouse& house) {
        hold = house.take({0, 1}, at(0), late).ref;
        REQUIRE(house.take({2}, at(0), late).kind == Kind::won);
        REQUIRE(!house.buy_any(3, at(1), late).has_value());
        REQUIRE(!house.buy_any(3, at(1), late).has_value());  // with the sum
        return Actors{[&] { static_cast<void>(house.release(hold)); },
                      [&] {
                          buy(house, 3);
                          buy(house, 3);
                      }};
    };
    scenario.check = [](ModelHouse& house) { house.at_rest(at(1)); };
    explore(scenario);
}

TEST_CASE("D21: ends of places of several kinds are counted before the places are free",
          "[model]") {
    HoldRef hold;
    Scenario scenario{"D21, a release of seats and standing, its expiry, and a claim of both", 2,
                      plain_layout(1, 2, 2), 12};
    scenario.prepare = [&](ModelHouse& house) {
        hold = house.take({0, 2, 3}, at(0), at(5)).ref;
        return Actors{[&] {
                          HoldWord const seen = house.word(hold);
                          if (seen != HoldWord(hold.generation(), State::held, 0)) return;
                          static_cast<void>(house.claims.end(hold, seen, State::ending_released));
                      },
                      [&] { static_cast<void>(house.claim_judged({0, 1, 2}, at(6), late)); }};
    };
    scenario.check = [](ModelHouse& house) { house.books_at_rest(); };
    explore(scenario);
}

}  // namespace
}  // namespace holdfast::inventory::test
