// What a search that is refused may cost, and what it may say.

#include "tests/inventory/venue.hpp"
#include "tests/inventory/watched_atomics.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

namespace holdfast::inventory::test {
namespace {

/// `rows` rows of `seats` seats, of which the first `accessible` of each row are accessible.
Layout accessible_layout(std::uint32_t rows, std::uint32_t seats, std::uint32_t accessible) {
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 100});
    builder.set_focal({0, -1});
    Section section;
    section.id = "A";
    builder.add_section(section);
    for (std::uint32_t row = 1; row <= rows; ++row) {
        builder.add_row(std::to_string(row));
        for (std::uint32_t seat = 1; seat <= seats; ++seat) {
            std::string const label = std::to_string(seat);
            auto const flags = static_cast<std::uint8_t>(seat <= accessible ? SeatFlag::accessible
                                                                            : SeatFlag::none);
            builder.add_seat({"A-" + std::to_string(row) + "-" + label,
                              label,
                              {{seat - 1.0, row * 1.0}, {}, flags}});
        }
    }
    return std::move(*std::move(builder).build());
}

Wish party_with(std::uint32_t quantity, std::uint32_t accessible = 0) {
    Wish wish;
    wish.quantity = quantity;
    wish.accessible = accessible;
    return wish;
}

std::vector<std::uint32_t> places_from(std::uint32_t from, std::uint32_t to) {
    std::vector<std::uint32_t> places;
    for (std::uint32_t place = from; place < to; ++place) places.push_back(place);
    return places;
}

TEST_CASE("enough places are not sold out while an edit keeps the accessible one", "[inventory]") {
    Venue venue(accessible_layout(1, 11, 1));
    auto const hold = venue.take({0}, at(0), at(90'000));
    auto const edit = venue.holds.enter(hold.ref, venue.word(hold.ref), State::editing);
    REQUIRE(edit.has_value());
    std::vector<SeatIndex> chosen;
    Choice const choice = venue.search.best(party_with(2, 1), at(1), chosen);
    CHECK(choice.kind == Choice::Kind::none_together);
    CHECK(choice.number == 0);
    // Ten are left: that is sold out for eleven, whatever they are.
    Choice const all = venue.search.best(party_with(11, 1), at(1), chosen);
    CHECK(all.kind == Choice::Kind::sold_out);
    CHECK(all.number == 10);
    venue.holds.leave(*edit, State::held);
    CHECK(chosen.empty());
}

TEST_CASE("one refusal ends so many holds past their deadline and no more", "[inventory]") {
    constexpr std::uint32_t places = 6'000;
    Venue venue(plain_layout(places / 100, 100));
    std::vector<std::uint32_t> others;
    for (std::uint32_t place = 0; place < places; place += 2) {
        REQUIRE(venue.take({place}, at(0), at(10)).kind == ClaimOutcome::Kind::won);
        others.push_back(place + 1);
    }
    REQUIRE(venue.take(others, at(0), at(90'000)).kind == ClaimOutcome::Kind::won);
    Wish neighbours = party_with(2);
    neighbours.together = true;
    std::vector<SeatIndex> chosen;
    int calls = 0;
    Choice choice{Choice::Kind::busy, 0};
    for (; choice.kind == Choice::Kind::busy && calls < 10; ++calls) {
        std::uint64_t const before = venue.facts.ends;
        choice = venue.search.best(neighbours, at(20), chosen);
        CHECK(venue.facts.ends - before <= limits::settled_per_claim_max);
    }
    CHECK(calls == 3);
    CHECK(venue.facts.ends == places / 2);
    CHECK(choice.kind == Choice::Kind::none_together);
    CHECK(choice.number == 1);
    CHECK(chosen.empty());
    // Whom one place is enough for ends nothing but what is in his way.
    CHECK(venue.search.best(party_with(1), at(20), chosen).kind == Choice::Kind::chosen);
}

TEST_CASE("while places come free a sold-out event is not scanned for each request",
          "[inventory]") {
    constexpr std::uint32_t places = 20'000;
    VenueOn<WatchedAtomics> venue(plain_layout(0, 0, places));
    for (std::uint32_t first = 0; first < places; first += 10'000) {
        auto const part = places_from(first == 0 ? 8 : first, first + 10'000);
        REQUIRE(venue.take(part, at(0), at(90'000)).kind == ClaimOutcome::Kind::won);
    }
    venue.search.ask_when_none_is_due([](TimePoint) { return true; });
    auto const cost = [&] {
        std::vector<SeatIndex> chosen;
        WatchedAtomics::loads = 0;
        Choice const choice = venue.search.general(SectionIndex{0}, 10, {}, at(1), chosen);
        CHECK(choice.kind == Choice::Kind::sold_out);
        CHECK(choice.number == 8);
        return WatchedAtomics::loads;
    };
    CHECK(cost() > places);  // the first who asks makes a verdict
    CHECK(cost() < 20);
    for (int round = 0; round < 100; ++round) {
        auto const hold = venue.take({7}, at(0), at(90'000));
        REQUIRE(hold.kind == ClaimOutcome::Kind::won);
        REQUIRE(venue.release(hold.ref).kind == EndOutcome::Kind::ended);
        CHECK(cost() < places / 8);  // hints and counts
    }
    // Once nothing comes free any more, somebody scans after a while, and one only.
    int scans = 0;
    for (std::uint32_t asks = 0; asks < places / limits::scan_places_a_refusal + 10; ++asks)
        scans += cost() > places ? 1 : 0;
    CHECK(scans == 1);
    CHECK(cost() < 20);
}

TEST_CASE("a party for accessible seats that are gone is refused by the counts", "[inventory]") {
    constexpr std::uint32_t rows = 50;
    VenueOn<WatchedAtomics> venue(accessible_layout(rows, 100, 2));
    std::vector<std::uint32_t> taken;
    for (std::uint32_t row = 0; row < rows; ++row) {
        taken.push_back(100 * row);
        if (row > 0) taken.push_back(100 * row + 1);
    }
    REQUIRE(venue.take(taken, at(0), at(90'000)).kind == ClaimOutcome::Kind::won);
    bool none_due = true;
    venue.search.ask_when_none_is_due([&](TimePoint) { return none_due; });
    auto const ask = [&](Wish const& wish) {
        std::vector<SeatIndex> chosen;
        WatchedAtomics::loads = 0;
        return venue.search.best(wish, at(1), chosen);
    };
    Choice const two = ask(party_with(4, 2));
    CHECK(WatchedAtomics::loads < 20);
    CHECK(two.kind == Choice::Kind::none_together);
    CHECK(two.number == 0);
    CHECK(ask(party_with(4, 1)).kind == Choice::Kind::chosen);
    // The same without the counts.
    none_due = false;
    Choice const scanned = ask(party_with(4, 2));
    CHECK(WatchedAtomics::loads > venue.places.count());
    CHECK(scanned.kind == Choice::Kind::none_together);
    CHECK(scanned.number == 0);
}

TEST_CASE("no split is sought where accessible seats are too few or too many", "[inventory]") {
    Venue venue(accessible_layout(4, 4, 1));
    REQUIRE(venue.take({0, 4}, at(0), at(90'000)).kind == ClaimOutcome::Kind::won);
    SplitSlices<Places<StdAtomics>> slices;
    auto const sought = [&](Wish const& wish) {
        slices.find(venue.places, wish);
        return !slices.slices().empty();
    };
    CHECK(sought(party_with(6)));
    CHECK(sought(party_with(6, 2)));
    CHECK_FALSE(sought(party_with(6, 3)));
    CHECK(sought(party_with(14, 2)));
    CHECK_FALSE(sought(party_with(13)));  // twelve are plain
    CHECK_FALSE(sought(party_with(14, 1)));
}

TEST_CASE("a split in haste seats the party in the longest blocks", "[inventory]") {
    Venue venue(plain_layout(2, 7));
    // Free: 0 1 2 3, 5 6 | 7 8, 10 11 12, of which five want seats.
    REQUIRE(venue.take({4, 9, 13}, at(0), at(90'000)).kind == ClaimOutcome::Kind::won);
    Wish wish = party_with(5);
    SplitScratch<Places<StdAtomics>> scratch;
    std::vector<SeatIndex> best;
    REQUIRE(SplitBlocks(venue.places, wish, scratch).find(best));
    CHECK(numbers(best) == std::vector<std::uint32_t>{2, 3, 10, 11, 12});
    wish.in_haste = true;
    std::vector<SeatIndex> any;
    REQUIRE(SplitBlocks(venue.places, wish, scratch).find(any));
    CHECK(any.size() == 5);
    CHECK(any != best);
    wish.quantity = 12;
    CHECK_FALSE(SplitBlocks(venue.places, wish, scratch).find(any));
}

TEST_CASE("a large party is split over so many rows as its work allows", "[inventory]") {
    // The nearest three hundred rows have pairs; fewer blocks are to be had behind them.
    Venue venue(plain_layout(400, 60));
    std::vector<std::uint32_t> taken;
    for (std::uint32_t row = 0; row < 300; ++row)
        for (std::uint32_t seat = 2; seat < 60; seat += 3) taken.push_back(60 * row + seat);
    for (std::uint32_t row = 300; row < 400; ++row)
        for (std::uint32_t seat = 40; seat < 60; ++seat) taken.push_back(60 * row + seat);
    REQUIRE(venue.take(taken, at(0), at(90'000)).kind == ClaimOutcome::Kind::won);
    SplitScratch<Places<StdAtomics>> scratch;
    std::vector<SeatIndex> chosen;
    REQUIRE(SplitBlocks(venue.places, party_with(500), scratch).find(chosen));
    CHECK(chosen.size() == 500);
    // A row may give forty, to each of 501 counts.
    CHECK(scratch.part.size() == SplitBlocks<Places<StdAtomics>>::steps_max / 501 / 40);
    CHECK(std::ranges::adjacent_find(chosen) == chosen.end());
}

TEST_CASE("where few blocks are left, who passes over more begins anew", "[inventory]") {
    Venue venue(plain_layout(1, 6));
    auto const block_after = [&](std::uint32_t passed) {
        Wish wish = party_with(2);
        wish.pass_over = passed;
        std::vector<SeatIndex> chosen;
        REQUIRE(venue.search.best(wish, at(0), chosen).kind == Choice::Kind::chosen);
        return chosen.front().value();
    };
    CHECK(block_after(0) == 2);
    CHECK(block_after(1) == 0);
    CHECK(block_after(2) == 4);
    for (std::uint32_t passed = 3; passed < 9; ++passed)
        CHECK(block_after(passed) == block_after(passed % 3));
}

}  // namespace
}  // namespace holdfast::inventory::test
