#include "tests/inventory/limited_venue.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <random>
#include <thread>

namespace holdfast::inventory::test {
namespace {

using Kind = ClaimOutcome::Kind;

/// The answer after `busy` was tried again.
template <class Venue>
ClaimOutcome take_at_last(Venue& venue, std::uint64_t account,
                          std::vector<std::uint32_t> const& seats) {
    for (;;) {
        ClaimOutcome const outcome = venue.take(account, seats);
        bool const busy = outcome.kind == Kind::limited && outcome.limit == UserVerdict::busy;
        if (!busy) return outcome;
        std::this_thread::yield();
    }
}

TEST_CASE("a double tap gives one seat where one is allowed", "[limits][stress]") {
    for (int round = 0; round < 20; ++round) {
        LimitedVenue venue(plain_layout(1, 32), most_units(1));
        std::atomic<int> won{0};
        std::atomic<int> refused{0};
        std::vector<std::thread> threads;
        for (std::uint32_t seat = 0; seat < 32; ++seat) {
            threads.emplace_back([&, seat] {
                auto const outcome = take_at_last(venue, 9, {seat});
                if (outcome.kind == Kind::won) ++won;
                if (outcome.limit == UserVerdict::units) ++refused;
            });
        }
        for (auto& thread : threads) thread.join();
        REQUIRE(won == 1);
        REQUIRE(refused == 31);
        REQUIRE(venue.at_rest(9));
    }
}

TEST_CASE("a thousand claims at the limit leave the stock alone", "[limits][stress]") {
    LimitedVenue venue(plain_layout(1, 8), most_units(1));
    REQUIRE(venue.take(9, {0}).kind == Kind::won);
    auto const claims_before = venue.facts.claims.load();
    std::atomic<int> refused{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (std::uint32_t claim = 0; claim < 250; ++claim)
                if (venue.take(9, {1 + claim % 7}).limit == UserVerdict::units) ++refused;
        });
    }
    for (auto& thread : threads) thread.join();
    CHECK(refused == 1'000);
    CHECK(venue.facts.claims == claims_before);
    CHECK(venue.places_of(9) == 1);
    for (std::uint32_t seat = 1; seat < 8; ++seat) CHECK(venue.is_free(seat));
}

TEST_CASE("the counts of many accounts agree with the seats after any load", "[limits][stress]") {
    auto const* const given = std::getenv("HOLDFAST_SEED");
    std::uint64_t const seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::cout << "HOLDFAST_SEED=" << seed << '\n';
    // Twelve accounts share eight entries, so entries change hands all the time.
    LimitedVenue venue(plain_layout(4, 8), {{3, 2, 1'000'000'000}, {}});
    std::atomic<int> over_limit{0};
    std::atomic<int> won{0};
    auto const buyer = [&](std::uint64_t own_seed) {
        std::mt19937_64 random(own_seed);
        std::vector<HoldRef> mine;
        auto const finish = [&](HoldRef ref) {
            bool const sold = random() % 2 == 0 && venue.sell(ref);
            if (sold) static_cast<void>(venue.refund(ref));
            if (!sold) static_cast<void>(venue.release(ref));
        };
        for (int round = 0; round < 20'000; ++round) {
            std::uint64_t const account = 1 + random() % 12;
            auto const first = static_cast<std::uint32_t>(random() % 31);
            auto const outcome = venue.take(account, {first, first + 1});
            if (outcome.kind == Kind::won) {
                mine.push_back(outcome.ref);
                ++won;
            }
            if (venue.users.counts(account).units > 3) ++over_limit;
            if (mine.size() > 2 || (!mine.empty() && random() % 2 == 0)) {
                finish(mine.back());
                mine.pop_back();
            }
        }
        for (HoldRef const ref : mine) finish(ref);
    };
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < 4; ++i) threads.emplace_back([&, i] { buyer(seed + i); });
    for (auto& thread : threads) thread.join();
    CHECK(over_limit == 0);
    CHECK(won > 1'000);
    for (std::uint64_t account = 1; account <= 12; ++account) {
        CHECK(venue.at_rest(account));
        CHECK(venue.users.counts(account).units == 0);
        CHECK(venue.users.counts(account).open_holds == 0);
    }
}

}  // namespace
}  // namespace holdfast::inventory::test
