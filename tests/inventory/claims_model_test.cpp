// The real protocol code under every interleaving of a few actors, with a bounded number of
// preemptions. Named after the configurations of the protocol's review: A claims, C expiry,
// D searches, F edits.

#include "tests/inventory/venue.hpp"
#include "tests/support/interleave.hpp"

#include <catch2/catch.hpp>
#include <iostream>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HOLDFAST_NO_FIBERS
#endif

namespace holdfast::inventory::test {
namespace {

using holdfast::test::Explorer;
using holdfast::test::SteppedAtomics;
using House = VenueOn<SteppedAtomics>;
using Actors = std::vector<std::function<void()>>;
using Kind = ClaimOutcome::Kind;

/// At rest: hints of all free places set, no slot lost, each live hold owns what it lists.
bool at_rest(House& house, std::uint32_t live_slots) {
    for (std::uint32_t place = 0; place < house.places.count(); ++place)
        if (house.is_free(place) && !house.places.hinted(place)) return false;
    return house.slots_in_use() == live_slots;
}

void run(char const* name, int preemptions, std::function<Actors(std::unique_ptr<House>&)> prepare,
         std::function<bool(House&)> check) {
#ifdef HOLDFAST_NO_FIBERS
    static_cast<void>(preemptions);
    static_cast<void>(prepare);
    static_cast<void>(check);
    std::cout << "skipped under this sanitizer: " << name << '\n';
#else
    Explorer explorer(preemptions);
    std::unique_ptr<House> house;
    CHECK(explorer.explore([&] { return prepare(house); }, [&] { return check(*house); }));
    std::cout << name << ": " << explorer.schedules << " schedules\n";
    CHECK(explorer.schedules > 50);
#endif
}

TEST_CASE("the explorer finds a planted lost update", "[model]") {
#ifndef HOLDFAST_NO_FIBERS
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
#endif
}

TEST_CASE("A: of overlapping claims exactly one wins, and nothing is left behind", "[model]") {
    std::vector<Kind> outcomes;
    auto const three = GENERATE(false, true);
    run(
        three ? "A, three claims" : "A, two claims", three ? 2 : 3,
        [&](std::unique_ptr<House>& house) {
            house = std::make_unique<House>(plain_layout(1, 3), 8);
            outcomes.clear();
            Actors actors;
            std::vector<std::vector<std::uint32_t>> wanted{{0, 1}, {1, 2}};
            if (three) wanted.push_back({0, 2});
            for (auto const& seats : wanted)
                actors.push_back([&, seats] { outcomes.push_back(house->take(seats).kind); });
            return actors;
        },
        [&](House& house) {
            auto const won = std::count(outcomes.begin(), outcomes.end(), Kind::won);
            return won == 1 && house.free_count() == 1 && at_rest(house, 1);
        });
}

TEST_CASE("C: a hold past its deadline refuses nobody, whoever ends it", "[model]") {
    std::vector<Kind> outcomes;
    run(
        "C, expired hold and two claims", 2,
        [&](std::unique_ptr<House>& house) {
            house = std::make_unique<House>(plain_layout(1, 3), 8);
            outcomes.clear();
            REQUIRE(house->take({0, 1}, at(0), at(5)).kind == Kind::won);
            return Actors{[&] { outcomes.push_back(house->take({0}, at(5), at(50)).kind); },
                          [&] { outcomes.push_back(house->take({1, 2}, at(6), at(50)).kind); }};
        },
        [&](House& house) {
            return outcomes == std::vector<Kind>{Kind::won, Kind::won} && at_rest(house, 2);
        });
}

TEST_CASE("C: an extension and an expiry never both succeed", "[model]") {
    bool extended = false;
    bool expired = false;
    HoldRef hold;
    run(
        "C, extend against expiry", 3,
        [&](std::unique_ptr<House>& house) {
            house = std::make_unique<House>(plain_layout(1, 2), 8);
            extended = expired = false;
            hold = house->take({0, 1}, at(0), at(5)).ref;
            return Actors{
                [&] {
                    HoldWord const seen = house->word(hold);
                    if (seen.state() != State::held) return;
                    auto const edit = house->holds.enter(hold, seen, State::editing);
                    if (!edit) return;
                    house->holds.leave_extended(*edit, at(90), 7);
                    extended = true;
                },
                [&] {
                    std::size_t ended = 0;
                    static_cast<void>(house->holds.fire(hold.slot(), at(5), at(6), ended));
                    expired = ended == 1;
                }};
        },
        [&](House& house) {
            if (extended == expired) return false;
            return house.free_count(at(5)) == (expired ? 2U : 0U) &&
                   at_rest(house, expired ? 0 : 1);
        });
}

TEST_CASE("D: a release is never hidden by a verdict or a lost hint", "[model]") {
    HoldRef hold;
    run(
        "D, release against two searches", 2,
        [&](std::unique_ptr<House>& house) {
            house = std::make_unique<House>(plain_layout(1, 2), 8);
            hold = house->take({0, 1}, at(0), at(1'000)).ref;
            auto const search = [&] {
                std::vector<SeatIndex> chosen;
                Wish wish;
                wish.quantity = 1;
                static_cast<void>(house->search.best(wish, at(1), chosen));
            };
            return Actors{[&] { static_cast<void>(house->release(hold)); }, search, search};
        },
        [&](House& house) {
            std::vector<SeatIndex> chosen;
            Wish wish;
            wish.quantity = 2;
            return house.search.best(wish, at(1), chosen).kind == Choice::Kind::chosen &&
                   at_rest(house, 0);
        });
}

TEST_CASE("D: a search never misses a free place because another thread looks at its hint",
          "[model]") {
    Choice seated;
    Choice standing;
    run(
        "D, unhint against two searches", 2,
        [&](std::unique_ptr<House>& house) {
            house = std::make_unique<House>(plain_layout(1, 2, 1), 8);
            return Actors{[&] {
                              house->claims.unhint(0);
                              house->claims.unhint(2);
                          },
                          [&] {
                              std::vector<SeatIndex> chosen;
                              Wish wish;
                              wish.quantity = 2;
                              seated = house->search.best(wish, at(1), chosen);
                              chosen.clear();
                              standing =
                                  house->search.general(SectionIndex{1}, 1, {}, at(1), chosen);
                          }};
        },
        [&](House& house) {
            return seated.kind == Choice::Kind::chosen && standing.kind == Choice::Kind::chosen &&
                   at_rest(house, 0);
        });
}

TEST_CASE("F: a sale cancelled while others claim its places frees them once", "[model]") {
    HoldRef hold;
    Kind outcome{};
    run(
        "F, cancel against a claim", 3,
        [&](std::unique_ptr<House>& house) {
            house = std::make_unique<House>(plain_layout(1, 3), 8);
            hold = house->take({0, 1}, at(0), at(1'000)).ref;
            auto const sale = house->holds.enter(hold, house->word(hold), State::confirming);
            house->holds.leave_sold(*sale, {1, 2});
            return Actors{[&] {
                              auto const edit =
                                  house->holds.enter(hold, house->word(hold), State::editing);
                              house->holds.leave_dead(*edit);
                          },
                          [&] { outcome = house->take({1, 2}).kind; }};
        },
        [&](House& house) {
            bool const won = outcome == Kind::won;
            return house.free_count() == (won ? 1U : 3U) && at_rest(house, won ? 1 : 0);
        });
}

}  // namespace
}  // namespace holdfast::inventory::test
