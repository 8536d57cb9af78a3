// The limits of an account under every interleaving of a few actors (configuration G).

#include "tests/inventory/limited_venue.hpp"
#include "tests/support/check.hpp"
#include "tests/support/interleave.hpp"

#include <iostream>

namespace holdfast::inventory::test {
namespace {

using holdfast::test::Explorer;
using holdfast::test::SteppedAtomics;
using House = LimitedVenueOn<SteppedAtomics>;
using Actors = std::vector<std::function<void()>>;
using Kind = ClaimOutcome::Kind;

constexpr std::uint64_t me = 9;

bool over(ClaimOutcome const& outcome) {
    return outcome.kind == Kind::limited && outcome.limit != UserVerdict::busy;
}
bool busy(ClaimOutcome const& outcome) {
    return outcome.kind == Kind::limited && outcome.limit == UserVerdict::busy;
}

void run(char const* name, int preemptions, std::function<Actors(std::unique_ptr<House>&)> prepare,
         std::function<bool(House&)> check) {
    if (!holdfast::test::has_fibers()) {
        std::cout << "skipped under this sanitizer: " << name << '\n';
        return;
    }
    Explorer explorer(holdfast::test::deepened(preemptions));
    std::unique_ptr<House> house;
    auto const watch = [&] {
        if (!house->within(me)) explorer.fail("an account has more than its limit");
    };
    CHECK(explorer.explore([&] { return prepare(house); }, [&] { return check(*house); }, watch));
    std::cout << name << ": " << explorer.schedules << " schedules";
    if (!explorer.failure.empty()) std::cout << "; " << explorer.failure;
    std::cout << std::endl;
    CHECK(explorer.schedules > 50);
}

std::unique_ptr<House> house_of(Limits const& limits) {
    return std::make_unique<House>(plain_layout(1, 4), limits, 8);
}

TEST_CASE("G: a claim that loses a seat never has another refused for good", "[model]") {
    ClaimOutcome loser;
    ClaimOutcome other;
    run(
        "G1, two claims of one account, one loses a seat", 2,
        [&](std::unique_ptr<House>& house) {
            house = house_of(most_units(2));
            REQUIRE(house->take(5, {1}).kind == Kind::won);
            return Actors{[&] { loser = house->take(me, {0, 1}); },
                          [&] { other = house->take(me, {2, 3}); }};
        },
        [&](House& house) {
            // The loser may also meet the other's live units, and be over the limit by these.
            bool const right =
                loser.kind == Kind::lost || busy(loser) || (over(loser) && other.kind == Kind::won);
            return right && (other.kind == Kind::won || busy(other)) && house.at_rest(me) &&
                   house.users.counts(me).units == (other.kind == Kind::won ? 2 : 0);
        });
}

TEST_CASE("G: two first claims of an account at its limit never both win", "[model]") {
    std::vector<ClaimOutcome> outcomes;
    bool const holds = GENERATE(false, true);
    run(
        holds ? "G, open holds" : "G, units", 2,
        [&](std::unique_ptr<House>& house) {
            Limits limits = most_units(1);
            if (holds) limits = {{UserRules::no_limit, 1, UserRules::no_budget}, {}};
            house = house_of(limits);
            outcomes.clear();
            Actors actors;
            for (std::uint32_t const seat : {0U, 1U})
                actors.push_back([&, seat] { outcomes.push_back(house->take(me, {seat})); });
            return actors;
        },
        [&](House& house) {
            auto const won = std::ranges::count(outcomes, Kind::won, &ClaimOutcome::kind);
            auto const refused = std::ranges::count_if(outcomes, over);
            auto const retry = std::ranges::count_if(outcomes, busy);
            // Both may be told to try again only by a lock or a flight that was in the way.
            UserCounts const counts = house.users.counts(me);
            if (won > 1 || (refused > 0 && won == 0)) return false;
            if (holds) return counts.open_holds == won && counts.open_holds_in_flight == 0;
            return won + refused + retry == 2 && house.at_rest(me);
        });
}

TEST_CASE("G: an end and a claim of one account", "[model]") {
    HoldRef hold;
    ClaimOutcome claim;
    EndOutcome end;
    run(
        "G, release against a claim at the limit", 3,
        [&](std::unique_ptr<House>& house) {
            house = house_of(most_units(2));
            hold = house->take(me, {0, 1}).ref;
            return Actors{[&] { end = house->release(hold); },
                          [&] { claim = house->take(me, {2, 3}); }};
        },
        [&](House& house) {
            return end.kind == EndOutcome::Kind::ended &&
                   (claim.kind == Kind::won || over(claim)) && house.at_rest(me) &&
                   house.users.counts(me).units == (claim.kind == Kind::won ? 2 : 0);
        });
}

TEST_CASE("G: whoever sees a released place free finds the limit given back", "[model]") {
    HoldRef hold;
    ClaimOutcome claim;
    run(
        "G, release against a claim of the same place", 3,
        [&](std::unique_ptr<House>& house) {
            house = house_of(most_units(1));
            hold = house->take(me, {0}).ref;
            return Actors{[&] { static_cast<void>(house->release(hold)); },
                          [&] {
                              claim = {};
                              // Looks only: does not help, so nobody overtakes the release.
                              if (house->is_free(0)) claim = house->take(me, {0});
                          }};
        },
        [&](House& house) {
            return !over(claim) && !busy(claim) && claim.kind != Kind::lost && house.at_rest(me);
        });
}

TEST_CASE("G: whoever sees a dropped place free finds its limit given back", "[model]") {
    HoldRef hold;
    ClaimOutcome claim;
    run(
        "G, a partial release against a claim of the dropped place", 3,
        [&](std::unique_ptr<House>& house) {
            house = house_of(most_units(2));
            hold = house->take(me, {0, 1}).ref;
            return Actors{[&] { static_cast<void>(house->exchange(hold, {0}, at(0))); },
                          [&] {
                              claim = {};
                              if (house->is_free(1)) claim = house->take(me, {1});
                          }};
        },
        [&](House& house) {
            return !over(claim) && !busy(claim) && claim.kind != Kind::lost && house.at_rest(me);
        });
}

TEST_CASE("G: nobody sees a dropped place free without its cool-down", "[model]") {
    HoldRef hold;
    bool cooled = true;
    run(
        "G, an exchange against a look at the dropped place", 3,
        [&](std::unique_ptr<House>& house) {
            house = house_of({{4, 4, UserRules::no_budget}, 30s});
            hold = house->take(me, {0, 1}).ref;
            cooled = true;
            return Actors{[&] { static_cast<void>(house->exchange(hold, {0, 2}, at(5'000))); },
                          [&] {
                              if (house->is_free(1, at(5'000)))
                                  cooled = house->cool_downs.cooling(1, me, at(5'000)).has_value();
                          }};
        },
        [&](House& house) {
            return cooled && house.cool_downs.cooling(1, me, at(5'000)).has_value() &&
                   house.at_rest(me, at(5'000));
        });
}

TEST_CASE("G: an end that a helper finishes gives back once", "[model]") {
    HoldRef hold;
    ClaimOutcome mine;
    ClaimOutcome others;
    run(
        "G, expiry, helped by a claim of another, against a claim", 2,
        [&](std::unique_ptr<House>& house) {
            house = house_of({{2, 1, 1'000'000}, 30s});
            hold = house->take(me, {0, 1}, at(0), at(5)).ref;
            return Actors{
                [&] {
                    std::size_t ended = 0;
                    static_cast<void>(house->holds.fire(hold.slot(), at(5), at(6), ended));
                },
                [&] { others = house->take(5, {0}, at(5), at(50)); },
                [&] { mine = house->take(me, {2}, at(6), at(50)); }};
        },
        [&](House& house) {
            UserCounts const counts = house.users.counts(me);
            // Early is allowed, late is not; time is charged once, whoever ended the hold.
            return others.kind == Kind::won && (mine.kind == Kind::won || over(mine)) &&
                   counts.spent_ms == 2 * 5 && house.at_rest(me, at(6)) &&
                   counts.open_holds == (mine.kind == Kind::won ? 1 : 0);
        });
}

/// Two places whose holds cool down: of one account, that ends at 5 s.
std::unique_ptr<House> cooling_house(HoldRef& hold) {
    auto house = std::make_unique<House>(plain_layout(1, 2), Limits{{}, 30s}, 8);
    hold = house->take(me, {0}, at(0), at(5'000)).ref;
    return house;
}
void expire(House& house, HoldRef hold) {
    std::size_t ended = 0;
    static_cast<void>(house.holds.fire(hold.slot(), at(5'000), at(5'010), ended));
}

TEST_CASE("G: nobody sees a place free without its cool-down, whoever finishes the end",
          "[model]") {
    HoldRef hold;
    bool cooled = false;
    run(
        "G, expiry, helped by the account itself", 2,
        [&](std::unique_ptr<House>& house) {
            house = cooling_house(hold);
            cooled = false;
            return Actors{[&] { expire(*house, hold); },
                          [&] {
                              static_cast<void>(house->claims.settle(0, at(5'000)));
                              cooled = house->cool_downs.cooling(0, me, at(5'000)).has_value();
                          }};
        },
        [&](House&) { return cooled; });
}

TEST_CASE("G: an end noted late does not cover a later one", "[model]") {
    HoldRef hold;
    ClaimOutcome others;
    run(
        "G, expiry against a claim of another and its release in the same second", 2,
        [&](std::unique_ptr<House>& house) {
            house = cooling_house(hold);
            return Actors{[&] { expire(*house, hold); },
                          [&] {
                              others = house->take(5, {0}, at(5'000), at(90'000));
                              if (others.kind != Kind::won) return;
                              static_cast<void>(house->release(others.ref, at(5'000)));
                          }};
        },
        [&](House& house) {
            return others.kind == Kind::won && house.cool_downs.cooling(0, 5, at(5'001)) &&
                   !house.cool_downs.cooling(0, me, at(5'001));
        });
}

TEST_CASE("G: a cool-down is noted though an old one is swept at the same time", "[model]") {
    using Cool = CoolDowns<SteppedAtomics>;
    std::unique_ptr<Cool> cool;
    auto const still = [] { return true; };
    auto const prepare = [&](std::unique_ptr<House>& house) {
        house = house_of(most_units(1));
        cool = std::make_unique<Cool>(2, 30s);
        cool->note(0, me, at(0), still);
        cool->note(1, me, at(0), still);
        return Actors{[&] {
                          cool->note(0, me, at(100'000), still);
                          cool->note(1, me, at(100'000), still);
                      },
                      [&] { cool->sweep(at(100'000)); }};
    };
    run("G, notes against a sweep", 2, prepare, [&](House&) {
        return cool->cooling(0, me, at(100'001)) && cool->cooling(1, me, at(100'001));
    });
}

TEST_CASE("G: an exchange against the end that spends the budget", "[model]") {
    HoldRef hold;
    HoldRef other;
    ChangeOutcome exchange;
    run(
        "G, an exchange against a release that spends all", 3,
        [&](std::unique_ptr<House>& house) {
            house = house_of({{4, 4, 100}, {}});
            hold = house->take(me, {0}).ref;
            other = house->take(me, {1}).ref;
            return Actors{
                [&] { exchange = house->exchange(hold, {0, 2}, at(50)); },
                [&] { static_cast<void>(house->release(other, at(100))); },
            };
        },
        [&](House& house) {
            bool const grown = exchange.kind == ChangeOutcome::Kind::ready;
            bool const refused = exchange.kind == ChangeOutcome::Kind::limited &&
                                 exchange.limit == UserVerdict::budget;
            // Whatever it was, from now on it is over, and the time is told as it was.
            return (grown || refused) && house.users.counts(me).spent_ms == 100 &&
                   house.exchange(hold, {3}, at(100)).limit == UserVerdict::budget &&
                   house.at_rest(me, at(100));
        });
}

TEST_CASE("G: a sale and a refund against a claim at the limit", "[model]") {
    HoldRef hold;
    ClaimOutcome claim;
    run(
        "G, sale and refund against a claim", 2,
        [&](std::unique_ptr<House>& house) {
            house = house_of({{2, 1, UserRules::no_budget}, {}});
            hold = house->take(me, {0, 1}).ref;
            return Actors{[&] {
                              REQUIRE(house->sell(hold));
                              REQUIRE(house->refund(hold));
                          },
                          [&] { claim = house->take(me, {2, 3}); }};
        },
        [&](House& house) {
            return (claim.kind == Kind::won || over(claim)) && house.at_rest(me) &&
                   house.users.counts(me).open_holds == (claim.kind == Kind::won ? 1 : 0);
        });
}

TEST_CASE("G: an exchange against a claim of one account", "[model]") {
    HoldRef hold;
    ChangeOutcome exchange;
    ClaimOutcome claim;
    run(
        "G, an exchange for more against a claim", 2,
        [&](std::unique_ptr<House>& house) {
            house = house_of(most_units(2));
            hold = house->take(me, {0}).ref;
            return Actors{[&] { exchange = house->exchange(hold, {1, 2}, at(1)); },
                          [&] { claim = house->take(me, {3}); }};
        },
        [&](House& house) {
            bool const grown = exchange.kind == ChangeOutcome::Kind::ready;
            bool const won = claim.kind == Kind::won;
            return !(grown && won) && (won || over(claim) || busy(claim)) && house.at_rest(me) &&
                   house.users.counts(me).units == (grown || won ? 2 : 1);
        });
}

TEST_CASE("G: an entry changes hands without taking a number along", "[model]") {
    std::vector<UserVerdict> verdicts;
    using Users = UserLimits<SteppedAtomics>;
    std::unique_ptr<Users> users;
    // One entry, two accounts that want it, and one that comes back for it.
    auto const prepare = [&](std::unique_ptr<House>& house) {
        house = house_of(most_units(1));
        users = std::make_unique<Users>(UserRules{1, 1, UserRules::no_budget}, 1);
        verdicts.clear();
        auto const visit = [&](std::uint64_t account) {
            Users::Ticket ticket;
            verdicts.push_back(users->reserve_claim(account, 1, ticket));
            if (verdicts.back() != UserVerdict::granted) return;
            users->win(ticket);
            users->end_hold(account, 1, 0ms);
        };
        return Actors{[visit] {
                          visit(1);
                          visit(1);
                      },
                      [visit] { visit(2); }};
    };
    run("G, reuse of an entry", 3, prepare, [&](House&) {
        // `units` would be a number of the other's: each has only one at a time.
        return std::ranges::count(verdicts, UserVerdict::units) == 0 &&
               std::ranges::count(verdicts, UserVerdict::granted) > 0 &&
               users->counts(1).units == 0 && users->counts(2).units == 0;
    });
}

TEST_CASE("G: spent time does not change hands with its entry", "[model]") {
    std::vector<UserVerdict> verdicts;
    using Users = UserLimits<SteppedAtomics>;
    std::unique_ptr<Users> users;
    // The only entry is that of an account without pins that has spent all of its budget.
    auto const prepare = [&](std::unique_ptr<House>& house) {
        house = house_of(most_units(1));
        users = std::make_unique<Users>(UserRules{9, 9, 100}, 1);
        verdicts.clear();
        Users::Ticket ticket;
        REQUIRE(users->reserve_claim(1, 1, ticket) == UserVerdict::granted);
        users->win(ticket);
        users->end_hold(1, 1, 500ms);
        auto const visit = [&] {
            Users::Ticket own;
            verdicts.push_back(users->reserve_claim(2, 1, own));
            if (verdicts.back() == UserVerdict::granted) users->win(own);
        };
        return Actors{visit, visit};
    };
    run("G, an entry with spent time", 3, prepare, [&](House&) {
        auto const granted = std::ranges::count(verdicts, UserVerdict::granted);
        return std::ranges::count(verdicts, UserVerdict::budget) == 0 && granted > 0 &&
               users->counts(2).units == static_cast<std::uint32_t>(granted) &&
               users->counts(2).spent_ms == 0;
    });
}

}  // namespace
}  // namespace holdfast::inventory::test
