// Changes of lists under every interleaving of a few actors, with a bounded number of preemptions:
// the configurations F of the protocol's review, and what the review left out (chained lists,
// changes of sold holds, several holds at once).

#include "tests/inventory/edit_moves.hpp"
#include "tests/inventory/model_house.hpp"

#include <cstdlib>
#include <iostream>
#include <optional>

namespace holdfast::inventory::test {
namespace {

using House = ModelHouse;

void run(char const* name, int preemptions, std::function<Actors(std::unique_ptr<House>&)> prepare,
         std::function<bool(House&)> check) {
    if (!holdfast::test::has_fibers()) {
        std::cout << "skipped under this sanitizer: " << name << '\n';
        return;
    }
    Explorer explorer(holdfast::test::deepened(preemptions));
    std::unique_ptr<House> house;
    auto const watch = [&] {
        house->witness();
        if (!house->finding.empty()) explorer.fail(house->finding);
    };
    auto const at_end = [&] {
        if (!check(*house) || !is_sound(*house)) return false;
        house->at_rest(at(1));
        if (!house->finding.empty()) explorer.fail(house->finding);
        return house->finding.empty();
    };
    static_cast<void>(explorer.explore([&] { return prepare(house); }, at_end, watch));
    std::cout << name << ": " << explorer.schedules << " schedules";
    if (!explorer.failure.empty()) std::cout << "; " << explorer.failure;
    std::cout << std::endl;
    CHECK(explorer.failure.empty());
    CHECK(explorer.schedules > 50);
}

/// Preemptions of an exploration of two actors: one more at the size of the commit gate.
int most() {
    return std::getenv("HOLDFAST_CI") != nullptr ? 3 : 2;
}

std::unique_ptr<House> house_of(std::uint32_t seats) {
    return std::make_unique<House>(plain_layout(1, seats), seats + 8);
}

/// A claim whose refusal the witness judges.
Kind claimed(House& house, SeatNumbers const& seats) {
    return house.claim_judged(seats, at(0), at(1'000)).kind;
}

/// Leaves so many slots on the free list; the others are the caller's.
std::vector<std::uint32_t> leave_slots(House& house, std::uint32_t left) {
    std::vector<std::uint32_t> popped;
    while (std::uint32_t const slot = house.places.pool().pop()) popped.push_back(slot);
    REQUIRE(popped.size() >= left);
    for (; left > 0; --left) {
        house.places.pool().push(popped.back());
        popped.pop_back();
    }
    return popped;
}

void sell(House& house, HoldRef hold) {
    auto const sale = house.holds.enter(hold, house.word(hold), State::confirming);
    house.holds.leave_sold(*sale, {1, 2});
}

TEST_CASE("F: an exchange and a claim of the dropped seat", "[model]") {
    HoldRef hold;
    Moved moved{};
    Kind outcome{};
    run(
        "F, exchange against a claim of what it drops", most(),
        [&](std::unique_ptr<House>& house) {
            house = house_of(3);
            hold = house->take({0, 1}).ref;
            return Actors{[&] { moved = exchange(*house, hold, {1, 2}); },
                          [&] { outcome = claimed(*house, {0}); }};
        },
        [&](House& house) {
            if (moved != Moved::done) return false;
            if (list_of(house, hold) != SeatNumbers{1, 2}) return false;
            return house.is_free(0) == (outcome == Kind::lost);
        });
}

TEST_CASE("F: an exchange to places of another kind, and the end of the hold", "[model]") {
    auto const explore_exchange = [](char const* name, SeatNumbers const& before,
                                     SeatNumbers const& after) {
        HoldRef hold;
        run(
            name, most(),
            [&](std::unique_ptr<House>& house) {
                house = std::make_unique<House>(plain_layout(1, 2, 2), 12);  // seats 0, 1
                hold = house->take(before).ref;
                return Actors{
                    [&] { static_cast<void>(exchange(*house, hold, after)); },
                    [&] {
                        HoldWord const seen = house->word(hold);
                        if (!names(hold, seen) || seen.state() != State::held) return;
                        static_cast<void>(house->claims.end(hold, seen, State::ending_released));
                    }};
            },
            [&](House& house) {
                HoldWord const seen = house.word(hold);
                if (names(hold, seen) && seen.state() == State::held)
                    static_cast<void>(house.claims.end(hold, seen, State::ending_released));
                return house.free_count() == 4;
            });
    };
    explore_exchange("F, from seats to standing against a release", {0, 1}, {2, 3});
    explore_exchange("F, from seats to both against a release", {0, 1}, {1, 2});
    explore_exchange("F, from both to standing against a release", {1, 2}, {2, 3});
}

TEST_CASE("F: of an exchange and a claim of the added seat exactly one succeeds", "[model]") {
    HoldRef hold;
    Moved moved{};
    Kind outcome{};
    run(
        "F, exchange against a claim of what it adds", most(),
        [&](std::unique_ptr<House>& house) {
            house = house_of(4);
            hold = house->take({0, 1}).ref;
            return Actors{[&] { moved = exchange(*house, hold, {1, 2}); },
                          [&] { outcome = claimed(*house, {2, 3}); }};
        },
        [&](House& house) {
            bool const exchanged = moved == Moved::done;
            if (exchanged == (outcome == Kind::won)) return false;
            return list_of(house, hold) == (exchanged ? SeatNumbers{1, 2} : SeatNumbers{0, 1});
        });
}

TEST_CASE("F: a late helper never gives a seat back to a hold that has parted with it", "[model]") {
    Moved moved{};
    Kind outcome{};
    HoldRef hold;
    run(
        "F, helpers of a claim that then releases a part", most(),
        [&](std::unique_ptr<House>& house) {
            house = house_of(2);
            outcome = {};
            return Actors{[&] {
                              auto const claim = house->take({0, 1});
                              hold = claim.ref;
                              moved = claim.kind == Kind::won ? exchange(*house, hold, {0})
                                                              : Moved::gone;
                          },
                          [&] { outcome = claimed(*house, {1}); }};
        },
        [&](House& house) {
            if (moved == Moved::gone) return outcome == Kind::won;
            if (moved != Moved::done) return false;
            return list_of(house, hold) == SeatNumbers{0} &&
                   house.is_free(1) == (outcome == Kind::lost);
        });
}

TEST_CASE("F: a late helper that has seen a seat free does not install the old claim", "[model]") {
    Moved moved{};
    Kind outcome{};
    HoldRef hold;
    run(
        "F2, a helper that comes by the first seat while the second is given back", most(),
        [&](std::unique_ptr<House>& house) {
            house = house_of(2);
            outcome = {};
            return Actors{[&] {
                              auto const claim = house->take({0, 1});
                              hold = claim.ref;
                              moved = claim.kind == Kind::won ? exchange(*house, hold, {0})
                                                              : Moved::gone;
                          },
                          [&] { outcome = claimed(*house, {0}); }};
        },
        [&](House& house) {
            if (moved == Moved::gone) return outcome == Kind::won && house.is_free(1);
            return moved == Moved::done && outcome == Kind::lost &&
                   list_of(house, hold) == SeatNumbers{0} && house.is_free(1);
        });
}

TEST_CASE("F: two late helpers and a hold that moves on", "[model]") {
    std::vector<Kind> outcomes;
    Moved moved{};
    run(
        "F, two helpers of a claim that then exchanges", 2,
        [&](std::unique_ptr<House>& house) {
            house = house_of(3);
            outcomes.clear();
            auto const rival = [&] { outcomes.push_back(claimed(*house, {1})); };
            return Actors{[&] {
                              auto const claim = house->take({0, 1});
                              moved = claim.kind == Kind::won ? exchange(*house, claim.ref, {0, 2})
                                                              : Moved::gone;
                          },
                          rival, rival};
        },
        [&](House& house) {
            auto const won = std::count(outcomes.begin(), outcomes.end(), Kind::won);
            if (moved == Moved::gone) return won == 1;
            return moved == Moved::done && won <= 1 && house.is_free(1) == (won == 0);
        });
}

TEST_CASE("F: an exchange and the end of the hold", "[model]") {
    HoldRef hold;
    Moved moved{};
    bool ended{};
    bool const expires = GENERATE(false, true);
    run(
        expires ? "F, exchange against expiry" : "F, exchange against release", most(),
        [&](std::unique_ptr<House>& house) {
            house = house_of(3);
            hold = house->take({0, 1}, at(0), at(5)).ref;
            ended = false;
            return Actors{
                [&] { moved = exchange(*house, hold, {1, 2}, at(4)); },
                [&, expires] {
                    if (expires) {
                        std::size_t count = 0;
                        static_cast<void>(house->holds.fire(hold.slot(), at(5), at(6), count));
                        ended = count == 1;
                        return;
                    }
                    HoldWord const seen = house->word(hold);
                    if (seen.state() != State::held) return;
                    ended = house->claims.end(hold, seen, State::ending_released).kind ==
                            EndOutcome::Kind::ended;
                }};
        },
        [&](House& house) {
            if (ended) return house.free_count() == 3;
            return moved == Moved::done && list_of(house, hold) == SeatNumbers{1, 2};
        });
}

TEST_CASE("F: an exchange and the sale of the hold", "[model]") {
    HoldRef hold;
    Moved moved{};
    bool sold{};
    run(
        "F, exchange against confirm", most(),
        [&](std::unique_ptr<House>& house) {
            house = house_of(3);
            hold = house->take({0, 1}).ref;
            sold = false;
            return Actors{[&] { moved = exchange(*house, hold, {1, 2}); },
                          [&] {
                              HoldWord const seen = house->word(hold);
                              if (seen.state() != State::held) return;
                              auto const edit = house->holds.enter(hold, seen, State::confirming);
                              if (!edit) return;
                              house->holds.leave_sold(*edit, {1, 2});
                              sold = true;
                          }};
        },
        [&](House& house) {
            bool const exchanged = moved == Moved::done;
            if (!exchanged && !sold) return false;
            return list_of(house, hold) == (exchanged ? SeatNumbers{1, 2} : SeatNumbers{0, 1}) &&
                   (house.word(hold).state() == State::sold) == sold;
        });
}

TEST_CASE("F: a partial release is never hidden by a verdict or a lost hint", "[model]") {
    HoldRef hold;
    Moved moved{};
    run(
        "F, partial release against two searches", 2,
        [&](std::unique_ptr<House>& house) {
            house = house_of(2);
            hold = house->take({0, 1}).ref;
            auto const search = [&] {
                std::vector<SeatIndex> chosen;
                Wish wish;
                wish.quantity = 1;
                static_cast<void>(house->search.best(wish, at(1), chosen));
            };
            return Actors{[&] { moved = exchange(*house, hold, {1}); }, search, search};
        },
        [&](House& house) {
            std::vector<SeatIndex> chosen;
            Wish wish;
            wish.quantity = 1;
            return moved == Moved::done &&
                   house.search.best(wish, at(1), chosen).kind == Choice::Kind::chosen &&
                   chosen == indices({0});
        });
}

TEST_CASE("F: a search is refused during edits only if there was no place", "[model]") {
    HoldRef hold;
    HoldRef other;
    std::optional<HoldRef> bought;
    run(
        "F, a search against a partial release and an exchange", 2,
        [&](std::unique_ptr<House>& house) {
            house = house_of(4);
            hold = house->take({0, 1}).ref;
            other = house->take({2, 3}).ref;
            return Actors{[&] { static_cast<void>(exchange(*house, hold, {0})); },
                          [&] { bought = house->buy_any(1, at(1), at(900)); },
                          [&] { static_cast<void>(exchange(*house, other, {2})); }};
        },
        [&](House& house) { return house.free_count() == (bought ? 1U : 2U); });
}

TEST_CASE("F: a search that claims, and an exchange", "[model]") {
    HoldRef hold;
    Moved moved{};
    Kind outcome{};
    run(
        "F, exchange against a search that claims", most(),
        [&](std::unique_ptr<House>& house) {
            house = house_of(3);
            hold = house->take({0, 1}).ref;
            outcome = Kind::busy;
            return Actors{[&] { moved = exchange(*house, hold, {1, 2}); },
                          [&] {
                              std::vector<SeatIndex> chosen;
                              Wish wish;
                              wish.quantity = 1;
                              auto const found = house->search.best(wish, at(1), chosen);
                              if (found.kind != Choice::Kind::chosen) return;
                              auto const claim = house->claims.claim(chosen, {at(1), at(90), 7});
                              outcome = claim.kind;
                              if (claim.kind == Kind::lost)
                                  house->claims.unhint(claim.seat.value());
                          }};
        },
        [&](House& house) {
            bool const claimed = outcome == Kind::won;
            return house.free_count() == (claimed ? 0U : 1U) &&
                   (moved == Moved::done || (claimed && moved == Moved::lost));
        });
}

TEST_CASE("F: a seat in both lists is never shown free, and a new one not again", "[model]") {
    HoldRef hold;
    bool kept_taken{};
    bool never_back{};
    run(
        "F, exchange against display", most(),
        [&](std::unique_ptr<House>& house) {
            house = house_of(3);
            hold = house->take({0, 1}).ref;
            kept_taken = never_back = true;
            return Actors{[&] { static_cast<void>(exchange(*house, hold, {1, 2})); },
                          [&] {
                              bool const added = !house->is_free(2);
                              bool const dropped = house->is_free(0);
                              if (house->is_free(1)) kept_taken = false;
                              if (added && house->is_free(2)) never_back = false;
                              if (dropped && !house->is_free(0)) never_back = false;
                              // What is dropped is free only after what is added is taken.
                              if (dropped && house->is_free(2)) never_back = false;
                          }};
        },
        [&](House&) { return kept_taken && never_back; });
}

TEST_CASE("F: two exchanges that want each other's seat change nothing", "[model]") {
    HoldRef one;
    HoldRef two;
    std::vector<Moved> moved;
    run(
        "F, two exchanges that swap", most(),
        [&](std::unique_ptr<House>& house) {
            house = house_of(2);
            one = house->take({0}).ref;
            two = house->take({1}).ref;
            moved.clear();
            return Actors{[&] { moved.push_back(exchange(*house, one, {1})); },
                          [&] { moved.push_back(exchange(*house, two, {0})); }};
        },
        [&](House& house) {
            return moved == std::vector<Moved>{Moved::lost, Moved::lost} &&
                   list_of(house, one) == SeatNumbers{0} && list_of(house, two) == SeatNumbers{1};
        });
}

TEST_CASE("F: an exchange onto what another exchange gives up", "[model]") {
    HoldRef one;
    HoldRef two;
    Moved first{};
    Moved second{};
    run(
        "F, two exchanges in a chain", most(),
        [&](std::unique_ptr<House>& house) {
            house = house_of(3);
            one = house->take({0}).ref;
            two = house->take({1}).ref;
            return Actors{[&] { first = exchange(*house, one, {1}); },
                          [&] { second = exchange(*house, two, {2}); }};
        },
        [&](House& house) {
            if (second != Moved::done || list_of(house, two) != SeatNumbers{2}) return false;
            bool const followed = first == Moved::done;
            return list_of(house, one) == (followed ? SeatNumbers{1} : SeatNumbers{0});
        });
}

TEST_CASE("F: a chained list gives places and slots back while others want both", "[model]") {
    HoldRef hold;
    Moved moved{};
    Kind outcome{};
    std::vector<std::uint32_t> kept_back;
    run(
        "F, partial release of a chain in a tiny pool", 2,
        [&](std::unique_ptr<House>& house) {
            house = house_of(8);
            hold = house->take({0, 1, 2, 3, 4, 5, 6, 7}).ref;
            kept_back = leave_slots(*house, 3);
            return Actors{[&] { moved = exchange(*house, hold, {3}); },
                          [&] { outcome = claimed(*house, {6, 7}); }};
        },
        [&](House& house) {
            for (std::uint32_t const slot : kept_back) house.places.pool().push(slot);
            bool const kept = moved == Moved::busy && list_of(house, hold).size() == 8;
            bool const released = moved == Moved::done && list_of(house, hold) == SeatNumbers{3};
            return (kept || released) && (outcome != Kind::won || released);
        });
}

TEST_CASE("F: a sold hold changes its seat while others claim", "[model]") {
    HoldRef hold;
    Moved moved{};
    std::vector<Kind> outcomes;
    run(
        "F, reseat against claims of both seats", 2,
        [&](std::unique_ptr<House>& house) {
            house = house_of(3);
            hold = house->take({0, 1}).ref;
            sell(*house, hold);
            outcomes.clear();
            return Actors{[&] { moved = exchange(*house, hold, {1, 2}); },
                          [&] { outcomes.push_back(claimed(*house, {0})); },
                          [&] { outcomes.push_back(claimed(*house, {2})); }};
        },
        [&](House& house) {
            std::vector<SeatIndex> seats;
            auto const look = house.holds.look(hold, seats);
            if (!look || look->word.state() != State::sold) return false;
            if (look->order != OrderId{1, 2}) return false;
            bool const reseated = moved == Moved::done;
            return seats == indices(reseated ? SeatNumbers{1, 2} : SeatNumbers{0, 1});
        });
}

TEST_CASE("F: seats change hands between two sold holds under a claim", "[model]") {
    HoldRef one;
    HoldRef two;
    Moved moved{};
    Kind outcome{};
    bool shown_free{};
    run(
        "F, two sold holds swap against a claim and a look", 2,
        [&](std::unique_ptr<House>& house) {
            house = house_of(3);
            one = house->take({0}).ref;
            two = house->take({1}).ref;
            sell(*house, one);
            sell(*house, two);
            shown_free = false;
            return Actors{[&] { moved = change_lists(*house, {{one, {1}}, {two, {0}}}, at(0)); },
                          [&] { outcome = claimed(*house, {0, 1}); },
                          [&] {
                              if (house->is_free(0)) shown_free = true;
                              if (house->is_free(1)) shown_free = true;
                          }};
        },
        [&](House& house) {
            return moved == Moved::done && outcome == Kind::lost && !shown_free &&
                   list_of(house, one) == SeatNumbers{1} && list_of(house, two) == SeatNumbers{0};
        });
}

}  // namespace
}  // namespace holdfast::inventory::test
