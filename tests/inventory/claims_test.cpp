#include "tests/inventory/venue.hpp"

#include <catch2/catch.hpp>

namespace holdfast::inventory::test {
namespace {

using Kind = ClaimOutcome::Kind;

TEST_CASE("a slot is one cache line", "[inventory]") {
    STATIC_REQUIRE(sizeof(Slot<StdAtomics>) == 64);
    STATIC_REQUIRE(
        HoldWord(HoldRef::generation_max, State::ending_staff, HoldWord::x_max).generation() ==
        HoldRef::generation_max);
    STATIC_REQUIRE(HoldWord(5, State::held, 9).next_version(State::sold).x() == 10);
}

TEST_CASE("a claim takes all its places or none", "[inventory]") {
    Venue venue(plain_layout(1, 10));
    REQUIRE(venue.take({2, 3}).kind == Kind::won);
    auto const lost = venue.take({1, 3, 4});
    REQUIRE(lost.kind == Kind::lost);
    CHECK(lost.seat == SeatIndex{3});
    CHECK(venue.is_free(1));
    CHECK(venue.is_free(4));
    CHECK(venue.free_count() == 8);
    CHECK(venue.facts.claims == 1);
    CHECK(venue.facts.given_back == 1);
}

TEST_CASE("a released hold frees every place at once and its slot for a new generation",
          "[inventory]") {
    Venue venue(plain_layout(1, 10));
    auto const first = venue.take({0, 1, 2});
    REQUIRE(venue.release(first.ref).kind == EndOutcome::Kind::ended);
    CHECK(venue.free_count() == 10);
    CHECK(venue.slots_in_use() == 0);
    auto const second = venue.take({1});
    CHECK(second.ref.slot() == first.ref.slot());
    CHECK(second.ref.generation() == first.ref.generation() + 1);
    std::vector<SeatIndex> seats;
    CHECK_FALSE(venue.holds.look(first.ref, seats).has_value());
    CHECK(venue.holds.look(second.ref, seats).has_value());
}

TEST_CASE("a look at an old version ends nothing", "[inventory]") {
    Venue venue(plain_layout(1, 4));
    auto const hold = venue.take({0});
    HoldWord const old = venue.word(hold.ref);
    auto const edit = venue.holds.enter(hold.ref, old, State::editing);
    REQUIRE(edit.has_value());
    venue.holds.leave_extended(*edit, at(9'000), 7);
    CHECK(venue.claims.end(hold.ref, old, State::ending_expired).kind == EndOutcome::Kind::lost);
    CHECK_FALSE(venue.is_free(0, at(8'999)));
    CHECK(venue.is_free(0, at(9'000)));
}

TEST_CASE("a hold is taken until its deadline and free at it, whoever looks", "[inventory]") {
    Venue venue(plain_layout(1, 4));
    REQUIRE(venue.take({0, 1}, at(0), at(1'000)).kind == Kind::won);
    CHECK(venue.take({1}, at(999)).kind == Kind::lost);
    CHECK_FALSE(venue.is_free(1, at(999)));
    CHECK(venue.is_free(1, at(1'000)));
    CHECK(venue.take({1}, at(1'000), at(2'000)).kind == Kind::won);
    CHECK(venue.facts.last_cause == State::ending_expired);
    CHECK(venue.is_free(0, at(1'000)));
}

TEST_CASE("a hold without a deadline never expires and is not armed", "[inventory]") {
    Venue venue(plain_layout(1, 4));
    REQUIRE(venue.take({0}, at(0), no_deadline).kind == Kind::won);
    CHECK(venue.facts.arms == 0);
    CHECK(venue.take({0}, at(1'000'000'000'000)).kind == Kind::lost);
}

TEST_CASE("long lists go on in further slots and come back whole", "[inventory]") {
    Venue venue(plain_layout(100, 100));
    auto const count = GENERATE(1U, 6U, 7U, 12U, 13U, 10'000U);
    std::vector<std::uint32_t> seats(count);
    for (std::uint32_t i = 0; i < count; ++i) seats[i] = i;
    auto const hold = venue.take(seats);
    REQUIRE(hold.kind == Kind::won);
    CHECK(venue.slots_in_use() == (count + seats_inline - 1) / seats_inline);
    std::vector<SeatIndex> found;
    REQUIRE(venue.holds.look(hold.ref, found).has_value());
    REQUIRE(found.size() == count);
    CHECK(found.back() == SeatIndex{count - 1});
    CHECK(venue.take({count - 1}).kind == Kind::lost);
    REQUIRE(venue.release(hold.ref).kind == EndOutcome::Kind::ended);
    CHECK(venue.slots_in_use() == 0);
    CHECK(venue.free_count() == 10'000);
}

TEST_CASE("without journal space nothing changes and nothing leaks", "[inventory]") {
    Venue venue(plain_layout(1, 4));
    auto const hold = venue.take({0});
    venue.facts.room = false;
    CHECK(venue.take({1}).kind == Kind::busy);
    CHECK(venue.release(hold.ref).kind == EndOutcome::Kind::no_space);
    CHECK_FALSE(venue.is_free(0));
    CHECK(venue.is_free(1));
    CHECK(venue.slots_in_use() == 1);
    venue.facts.room = true;
    CHECK(venue.release(hold.ref).kind == EndOutcome::Kind::ended);
    CHECK(venue.slots_in_use() == 0);
}

TEST_CASE("an exhausted pool refuses with busy and leaks no slot", "[inventory]") {
    Venue venue(plain_layout(1, 14), 0);  // 14 slots
    std::vector<HoldRef> refs;
    for (std::uint32_t seat = 0; seat < 13; ++seat) refs.push_back(venue.take({seat}).ref);
    // One slot is left, seven places need two.
    CHECK(venue.take({0, 1, 2, 3, 4, 5, 6}).kind == Kind::busy);
    CHECK(venue.slots_in_use() == 13);
    CHECK(venue.take({13}).kind == Kind::won);
    CHECK(venue.take({13}).kind == Kind::busy);
    for (HoldRef const ref : refs) REQUIRE(venue.release(ref).kind == EndOutcome::Kind::ended);
    CHECK(venue.slots_in_use() == 1);
}

TEST_CASE("a slot at its last generation is retired", "[inventory]") {
    Venue venue(plain_layout(1, 4), 0);
    std::vector<std::uint32_t> popped;
    std::uint32_t const slot = venue.places.pool().pop();
    venue.places.pool()[slot].word.store(
        HoldWord(HoldRef::generation_max - 1, State::dead, 0).bits());
    venue.places.pool().push(slot);
    auto const last = venue.take({0});
    REQUIRE(last.kind == Kind::won);
    CHECK(last.ref.generation() == HoldRef::generation_max);
    REQUIRE(venue.release(last.ref).kind == EndOutcome::Kind::ended);
    CHECK(venue.is_free(0));
    for (std::uint32_t seat = 0; seat < 3; ++seat) CHECK(venue.take({seat}).kind == Kind::won);
    CHECK(venue.take({3}).kind == Kind::busy);  // the fourth slot is gone for good
}

TEST_CASE("a hold left in `ending` is finished by whoever meets it", "[inventory]") {
    Venue venue(plain_layout(1, 4));
    auto const hold = venue.take({0, 1});
    auto& word = venue.places.slot_of(hold.ref).word;
    word.store(venue.word(hold.ref).in(State::ending_staff).bits());
    REQUIRE(venue.take({1}).kind == Kind::won);
    CHECK(venue.facts.last_cause == State::ending_staff);
    CHECK(venue.is_free(0));
    CHECK(venue.slots_in_use() == 1);
}

}  // namespace
}  // namespace holdfast::inventory::test
