// Changes of lists, one thread at a time, and many threads at once.
#include "tests/inventory/edit_moves.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <random>
#include <thread>

namespace holdfast::inventory::test {
namespace {

SeatNumbers first_seats(std::uint32_t count) {
    SeatNumbers seats(count);
    std::iota(seats.begin(), seats.end(), 0U);
    return seats;
}

std::uint64_t seed() {
    char const* const given = std::getenv("HOLDFAST_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : 20'261'128;
}

TEST_CASE("a list grows and shrinks over any number of slots and keeps what stays", "[edits]") {
    for (std::uint32_t const from : {1U, 5U, 6U, 7U, 12U, 13U, 19U}) {
        for (std::uint32_t const to : {1U, 5U, 6U, 7U, 12U, 13U, 19U}) {
            CAPTURE(from, to);
            Venue house(plain_layout(2, 12));
            HoldRef const hold = house.take(first_seats(from)).ref;
            REQUIRE(exchange(house, hold, first_seats(to)) == Moved::done);
            CHECK(list_of(house, hold) == first_seats(to));
            CHECK(house.free_count() == 24 - to);
            CHECK(is_sound(house));
            CHECK(house.release(hold).kind == EndOutcome::Kind::ended);
            CHECK(house.free_count() == 24);
            CHECK(is_sound(house));
        }
    }
}

TEST_CASE("an exchange keeps the deadline, the holder and the reference", "[edits]") {
    Venue house(plain_layout(1, 6));
    HoldRef const hold = house.take({0, 1}, at(3), at(700)).ref;
    REQUIRE(exchange(house, hold, {1, 4}) == Moved::done);
    std::vector<SeatIndex> seats;
    auto const look = house.holds.look(hold, seats);
    REQUIRE(look.has_value());
    CHECK(look->expires_at == at(700));
    CHECK(look->asked == at(3));
    CHECK(look->holder == 7);
    CHECK(seats == indices({1, 4}));
    CHECK(house.is_free(0));
    CHECK(house.take({0}).kind == ClaimOutcome::Kind::won);
    CHECK(is_sound(house));
}

TEST_CASE("a hundred lost exchanges name the seat and change nothing", "[edits]") {
    Venue house(plain_layout(1, 6));
    HoldRef const hold = house.take({0, 1}, at(0), at(700)).ref;
    REQUIRE(house.take({3}).kind == ClaimOutcome::Kind::won);
    for (int i = 0; i < 100; ++i) {
        SeatIndex refusing{};
        REQUIRE(exchange(house, hold, {1, 2, 3, 4}, at(i), &refusing) == Moved::lost);
        REQUIRE(refusing == SeatIndex{3});
    }
    std::vector<SeatIndex> seats;
    CHECK(house.holds.look(hold, seats)->expires_at == at(700));
    CHECK(seats == indices({0, 1}));
    CHECK(house.free_count() == 3);
    CHECK(is_sound(house));
}

TEST_CASE("without a slot an exchange is busy and changes nothing", "[edits]") {
    // 6 of {0 ... 7} stay: a slot for those that go, one for the new one.
    SeatNumbers const after{2, 3, 4, 5, 6, 7, 9};
    for (std::uint32_t left = 0; left <= 2; ++left) {
        CAPTURE(left);
        Venue house(plain_layout(1, 12));
        HoldRef const hold = house.take(first_seats(8)).ref;
        std::vector<std::uint32_t> drained;
        while (std::uint32_t const slot = house.places.pool().pop()) drained.push_back(slot);
        for (std::uint32_t i = 0; i < left; ++i) {
            house.places.pool().push(drained.back());
            drained.pop_back();
        }
        CHECK(exchange(house, hold, after) == (left == 2 ? Moved::done : Moved::busy));
        for (std::uint32_t const slot : drained) house.places.pool().push(slot);
        CHECK(list_of(house, hold) == (left == 2 ? after : first_seats(8)));
        CHECK(is_sound(house));
    }
}

TEST_CASE("places move between the holds of one change without becoming free", "[edits]") {
    Venue house(plain_layout(1, 8));
    HoldRef const one = house.take({0, 1}).ref;
    HoldRef const two = house.take({2, 3}).ref;
    REQUIRE(change_lists(house, {{one, {0, 2}}, {two, {1, 5}}}, at(0)) == Moved::done);
    CHECK(list_of(house, one) == SeatNumbers{0, 2});
    CHECK(list_of(house, two) == SeatNumbers{1, 5});
    CHECK(house.is_free(3));
    CHECK(is_sound(house));
    REQUIRE(change_lists(house, {{one, {1, 5}}, {two, {0, 2}}}, at(0)) == Moved::done);
    CHECK(is_sound(house));
}

TEST_CASE("edits of a held hold stop before its last versions, its sale does not", "[edits]") {
    Venue house(plain_layout(1, 4));
    HoldRef const hold = house.take({0}).ref;
    auto& word = house.places.slot_of(hold).word;
    HoldWord const late(hold.generation(), State::held, HoldWord::x_max - 100);
    word.store(late.bits(), StdAtomics::release);
    CHECK(exchange(house, hold, {1}) == Moved::gone);
    CHECK(house.holds.is_worn_out(late));
    CHECK_FALSE(house.holds.is_worn_out(HoldWord(hold.generation(), State::held, 1'000'000)));
    CHECK(house.holds.enter(hold, late, State::confirming).has_value());
}

TEST_CASE("threads that exchange, release and claim leave every place in at most one list",
          "[edits][stress]") {
    std::uint64_t const base = seed();
    std::cout << "seed " << base << '\n';
    Venue house(plain_layout(2, 12));
    std::atomic<std::uint32_t> broken{0};
    auto const play = [&](std::uint64_t thread) {
        std::mt19937_64 random(base + thread);
        std::vector<HoldRef> mine;
        auto const pick = [&](std::uint32_t most) {
            SeatNumbers seats;
            for (std::uint32_t seat = 0; seat < 24; ++seat)
                if (random() % 24 < most) seats.push_back(seat);
            if (seats.empty()) seats.push_back(static_cast<std::uint32_t>(random() % 24));
            return seats;
        };
        for (int step = 0; step < 4'000; ++step) {
            if (mine.size() < 3) {
                auto const outcome = house.take(pick(2));
                if (outcome.kind == ClaimOutcome::Kind::won) mine.push_back(outcome.ref);
            }
            if (mine.empty()) continue;
            HoldRef const hold = mine[random() % mine.size()];
            SeatNumbers after = list_of(house, hold);
            if (after.empty()) ++broken;
            if (random() % 4 == 0) {
                if (house.release(hold).kind != EndOutcome::Kind::ended) ++broken;
                std::erase(mine, hold);
                continue;
            }
            if (after.size() > 1) after.erase(after.begin() + random() % after.size());
            SeatNumbers const more = pick(random() % 3 == 0 ? 6 : 1);
            after.insert(after.end(), more.begin(), more.end());
            std::ranges::sort(after);
            auto const again = std::ranges::unique(after);
            after.erase(again.begin(), again.end());
            Moved const moved = exchange(house, hold, after);
            if (moved == Moved::gone) ++broken;
            bool const as_said = moved != Moved::done || list_of(house, hold) == after;
            if (!as_said) ++broken;
        }
    };
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 0; thread < 3; ++thread) threads.emplace_back(play, thread);
    for (auto& thread : threads) thread.join();
    CHECK(broken == 0);
    CHECK(is_sound(house));
}

}  // namespace
}  // namespace holdfast::inventory::test
