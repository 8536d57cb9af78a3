#include "tests/inventory/venue.hpp"

#include <catch2/catch.hpp>

namespace holdfast::inventory::test {
namespace {

TEST_CASE("restored holds keep slot, generation and places; new ones start above", "[inventory]") {
    Layout const layout = plain_layout(2, 10);
    Geometry const geometry(layout);
    Places<StdAtomics> places(geometry, 24);
    std::vector<SeatIndex> const few{SeatIndex{3}, SeatIndex{4}};
    std::vector<SeatIndex> const many{SeatIndex{10}, SeatIndex{11}, SeatIndex{12}, SeatIndex{13},
                                      SeatIndex{14}, SeatIndex{15}, SeatIndex{16}};
    std::vector<std::uint64_t> const generations{0, 4, 9, 2};
    std::vector<StoredHold> const stored{
        {HoldRef{9, SlotIndex{2}}, 5, at(10), at(900), {}, few},
        {HoldRef{4, SlotIndex{1}}, 6, at(20), at(900), {77, 88}, many}};
    Restore<StdAtomics> restore(places, generations);
    restore.reserve_heads(stored);
    for (StoredHold const& hold : stored) restore.put(hold);
    restore.finish();

    CountingFacts facts;
    Claims<StdAtomics, CountingFacts> claims(places, facts);
    Holds<StdAtomics, CountingFacts> holds(claims);
    std::vector<SeatIndex> seats;
    auto const held = holds.look(stored[0].ref, seats);
    REQUIRE(held.has_value());
    CHECK(seats == few);
    CHECK(held->expires_at == at(900));
    CHECK(held->holder == 5);
    auto const sold = holds.look(stored[1].ref, seats);
    REQUIRE(sold.has_value());
    CHECK(seats == many);
    CHECK(sold->word.state() == State::sold);
    CHECK(sold->order == OrderId{77, 88});
    auto const any = [](CellGeometry const&) { return true; };
    CHECK(places.free_counts().most(any) == places.count() - few.size() - many.size());

    for (int i = 0; i < 21; ++i) {  // 24 slots, three in use
        std::uint32_t const slot = places.pool().pop();
        REQUIRE(slot != 0);
        CHECK(slot != 1);
        CHECK(slot != 2);
    }
    CHECK(places.pool().pop() == 0);
}

TEST_CASE("a claim after a restart never repeats an old reference", "[inventory]") {
    Layout const layout = plain_layout(1, 4);
    Geometry const geometry(layout);
    Places<StdAtomics> places(geometry, 1);
    Restore<StdAtomics>(places, std::vector<std::uint64_t>{0, 41}).finish();
    CountingFacts facts;
    Claims<StdAtomics, CountingFacts> claims(places, facts);
    std::vector<SeatIndex> const seats{SeatIndex{0}};
    CHECK(claims.claim(seats, {at(0), at(9), 0}).ref == HoldRef{42, SlotIndex{1}});
}

TEST_CASE("new holds begin with the first generation, also in a slot that was in use",
          "[inventory]") {
    Layout const layout = plain_layout(1, 4);
    Geometry const geometry(layout);
    Places<StdAtomics> places(geometry, 3);
    std::vector<SeatIndex> const held{SeatIndex{0}};
    std::vector<StoredHold> const stored{{HoldRef{7, SlotIndex{1}}, 0, at(0), at(9), {}, held}};
    Restore<StdAtomics> restore(places, std::vector<std::uint64_t>{0, 7, 5'000, 3}, 1'000);
    restore.reserve_heads(stored);
    restore.put(stored.front());
    restore.finish();
    CountingFacts facts;
    Claims<StdAtomics, CountingFacts> claims(places, facts);
    auto const claim = [&](std::uint32_t seat) {
        return claims.claim(std::vector<SeatIndex>{SeatIndex{seat}}, {at(10), at(90), 0}).ref;
    };
    CHECK(claim(1) == HoldRef{5'000 + 1, SlotIndex{2}});
    CHECK(claim(2) == HoldRef{1'000, SlotIndex{3}});
    HoldRef const old = stored.front().ref;
    HoldWord const word{places.slot_of(old).word.load()};
    CHECK(claims.end(old, word, State::ending_released).kind == EndOutcome::Kind::ended);
    CHECK(claim(0) == HoldRef{1'000, SlotIndex{1}});
}

}  // namespace
}  // namespace holdfast::inventory::test
