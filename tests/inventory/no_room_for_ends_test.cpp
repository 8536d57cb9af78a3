// A journal that has no room for an END: whoever meets a hold that should end is busy, changes
// nothing, and goes on once there is room.
#include "tests/inventory/venue.hpp"

#include <holdfast/inventory/candidates.hpp>

#include <catch2/catch.hpp>
#include <functional>
#include <numeric>

namespace holdfast::inventory::test {
namespace {

using Kind = ClaimOutcome::Kind;

/// Has room for claims always.
struct FullForEnds : CountingFacts {
    bool reserve_claim(std::uint32_t) noexcept { return true; }
    bool reserve_end() noexcept {
        if (auto const first = std::exchange(meanwhile, nullptr)) first();
        return room.load();
    }
    std::function<void()> meanwhile;  // once, before the next answer
};
using FullVenue = VenueOn<StdAtomics, FullForEnds>;

/// As its ender left it when it was stopped half way.
void stop_half_way(FullVenue& venue, HoldRef hold) {
    venue.places.slot_of(hold).word.store(venue.word(hold).in(State::ending_staff).bits());
}

CandidatesOutcome::Kind choose(FullVenue& venue, std::vector<std::uint32_t> const& seats,
                               TimePoint now) {
    std::vector<SeatIndex> indices;
    for (std::uint32_t const seat : seats) indices.push_back(SeatIndex{seat});
    std::vector<SeatIndex> chosen;
    Candidates<StdAtomics, FullForEnds> candidates(venue.claims);
    return candidates.choose(indices, 1, now, [](SeatIndex) { return false; }, chosen).kind;
}

Choice::Kind search(FullVenue& venue, std::uint32_t quantity, TimePoint now) {
    Wish wish;
    wish.quantity = quantity;
    std::vector<SeatIndex> chosen;
    return venue.search.best(wish, now, chosen).kind;
}

Choice::Kind search_floor(FullVenue& venue, std::uint32_t count, TimePoint now) {
    std::vector<SeatIndex> chosen;
    return venue.search.general(SectionIndex{1}, count, {}, now, chosen).kind;
}

}  // namespace

TEST_CASE("a claim behind a hold past its deadline is busy and gives its places back",
          "[inventory]") {
    FullVenue venue(plain_layout(1, 4));
    auto const old = venue.take({2});
    venue.facts.room = false;
    auto const busy = venue.take({1, 2, 3}, at(2'000), at(9'000));
    CHECK(busy.kind == Kind::busy);
    CHECK(venue.is_free(1));
    CHECK(venue.is_free(3));
    CHECK(venue.word(old.ref).state() == State::held);
    CHECK(venue.slots_in_use() == 1);
    venue.facts.room = true;
    CHECK(venue.take({1, 2, 3}, at(2'000), at(9'000)).kind == Kind::won);
    CHECK(venue.facts.ends == 1);
}

TEST_CASE("an end that was left half way stays so, and is reminded of", "[inventory]") {
    FullVenue venue(plain_layout(1, 4, 3));
    auto const seated = venue.take({0, 1, 2, 3});
    auto const standing = venue.take({4, 5, 6});
    for (auto const& hold : {seated, standing}) stop_half_way(venue, hold.ref);
    venue.facts.room = false;
    CHECK(venue.take({0}).kind == Kind::busy);
    CHECK(choose(venue, {0, 1}, at(5)) == CandidatesOutcome::Kind::busy);
    CHECK(search(venue, 2, at(5)) == Choice::Kind::busy);
    CHECK(search_floor(venue, 2, at(5)) == Choice::Kind::busy);
    SlotIndex const slot = seated.ref.slot();
    std::size_t ended = 0;
    CHECK(venue.holds.fire(slot, at(5), at(77), ended) == at(77));
    CHECK(venue.holds.needs_timer(slot));
    CHECK(venue.word(seated.ref).state() == State::ending_staff);
    CHECK(venue.facts.ends == 0);
    venue.facts.room = true;
    CHECK_FALSE(venue.holds.fire(slot, at(5), at(77), ended).has_value());
    CHECK_FALSE(venue.holds.needs_timer(slot));
    CHECK(search(venue, 2, at(5)) == Choice::Kind::chosen);
    CHECK(search_floor(venue, 2, at(5)) == Choice::Kind::chosen);
    CHECK(venue.free_count() == 7);
}

TEST_CASE("a search over seats and floor is busy wherever it meets such an end", "[inventory]") {
    FullVenue seats(plain_layout(1, 4));
    stop_half_way(seats, seats.take({0, 1, 2, 3}).ref);
    FullVenue floor(plain_layout(0, 0, 3));
    stop_half_way(floor, floor.take({0, 1, 2}).ref);
    for (FullVenue* const venue : {&seats, &floor}) {
        venue->facts.room = false;
        CHECK(search(*venue, 1, at(5)) == Choice::Kind::busy);
        venue->facts.room = true;
        CHECK(search(*venue, 1, at(5)) == Choice::Kind::chosen);
    }
}

TEST_CASE("who looks at a place of a claim that cannot end what is in its way is busy, too",
          "[inventory]") {
    FullVenue venue(plain_layout(1, 4));
    REQUIRE(venue.take({2}).kind == Kind::won);
    venue.facts.room = false;
    std::optional<CandidatesOutcome::Kind> seen;
    // The claim has taken place 1 and is pending while it asks for room for the END of place 2.
    venue.facts.meanwhile = [&] { seen = choose(venue, {1}, at(2'000)); };
    CHECK(venue.take({1, 2}, at(2'000), at(9'000)).kind == Kind::busy);
    CHECK(seen == CandidatesOutcome::Kind::busy);
    CHECK(venue.is_free(1));
}

}  // namespace holdfast::inventory::test
