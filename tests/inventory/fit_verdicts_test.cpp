// Kept verdicts that nothing fits: what they cost, that they never refuse what a scan gives, and
// that they say what it says.

#include "tests/inventory/random_house.hpp"
#include "tests/inventory/watched_atomics.hpp"

#include <catch2/catch.hpp>

namespace holdfast::inventory::test {
namespace {

Wish party_of(std::uint32_t quantity, bool together) {
    Wish wish;
    wish.quantity = quantity;
    wish.together = together;
    return wish;
}

template <class Venue>
Choice ask(Venue& venue, Wish const& wish, TimePoint now = at(0)) {
    std::vector<SeatIndex> chosen;
    return venue.search.best(wish, now, chosen);
}

TEST_CASE("a party that no row takes costs one scan, not one a request", "[inventory]") {
    VenueOn<WatchedAtomics> venue(plain_layout(100, 8));
    auto const loads_of = [&](Wish const& wish, std::uint32_t largest) {
        WatchedAtomics::loads = 0;
        Choice const choice = ask(venue, wish);
        CHECK(choice.kind == Choice::Kind::none_together);
        CHECK(choice.number == largest);
        return WatchedAtomics::loads;
    };
    CHECK(loads_of(party_of(9, true), 8) > 800);
    for (std::uint32_t more = 9; more < 20; ++more) CHECK(loads_of(party_of(more, true), 8) < 15);
    // A claim makes nothing fit that did not, and only the largest block is looked for again, by
    // the hints; a free may.
    REQUIRE(venue.take({0}).kind == ClaimOutcome::Kind::won);
    CHECK(loads_of(party_of(9, true), 8) < 300);
    CHECK(loads_of(party_of(9, true), 8) < 15);  // once, not with every request
    auto const hold = venue.take({1});
    REQUIRE(venue.release(hold.ref).kind == EndOutcome::Kind::ended);
    CHECK(loads_of(party_of(9, true), 8) > 800);
    CHECK(loads_of(party_of(9, true), 8) < 15);
    CHECK(ask(venue, party_of(8, true)).kind == Choice::Kind::chosen);
}

TEST_CASE("a filter of several parts costs a scan the first time, and the next to keep it",
          "[inventory]") {
    VenueOn<WatchedAtomics> venue(plain_layout(100, 8, 4));
    std::vector<SectionIndex> const two{SectionIndex{0}, SectionIndex{1}};
    Wish party = party_of(9, true);
    party.sections = two;
    auto const loads = [&](std::span<SectionIndex const> sections) {
        party.sections = sections;
        WatchedAtomics::loads = 0;
        CHECK(ask(venue, party).kind == Choice::Kind::none_together);
        return WatchedAtomics::loads;
    };
    CHECK(loads(two) > 800);
    CHECK(loads(two) > 800);
    CHECK(loads(two) < 30);
    // Other lists are other filters, also when they say the same; only so many are known.
    std::vector<SectionIndex> other = two;
    for (std::uint32_t more = 1; more < KnownFilters<WatchedAtomics>::most + 2; ++more) {
        other.emplace_back(0);
        CHECK(loads(other) > 800);
    }
    CHECK(loads(two) < 40);
    CHECK(loads(other) > 800);  // that one found no room
    auto const hold = venue.take({0});
    REQUIRE(venue.release(hold.ref).kind == EndOutcome::Kind::ended);
    CHECK(loads(two) > 800);
}

TEST_CASE("with groups a verdict is for one number of seats", "[inventory]") {
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 100});
    Section section;
    section.id = "A";
    builder.add_section(section);
    builder.add_row("1");
    for (int i = 0; i < 6; ++i) {  // two sofas of three
        std::string const name = "A-1-" + std::to_string(i);
        auto const flags =
            static_cast<std::uint8_t>(i % 3 != 0 ? SeatFlag::joined : SeatFlag::none);
        builder.add_seat({name, name, {{i * 1.0, 0}, {}, flags}});
    }
    Venue venue(std::move(*std::move(builder).build()));
    for (int round = 0; round < 2; ++round) {
        for (bool const together : {false, true}) {
            CHECK(ask(venue, party_of(2, together)).kind == Choice::Kind::none_together);
            CHECK(ask(venue, party_of(4, together)).kind == Choice::Kind::none_together);
            CHECK(ask(venue, party_of(3, together)).kind == Choice::Kind::chosen);
            CHECK(ask(venue, party_of(6, together)).kind == Choice::Kind::chosen);
        }
    }
    Wish table = party_of(2, false);
    table.table_max = 3;  // was not allowed when "nothing for two" was kept
    CHECK(ask(venue, table).kind == Choice::Kind::chosen);
}

TEST_CASE("a verdict that nothing fits ends with the first deadline it depends on", "[inventory]") {
    Venue venue(plain_layout(1, 3));
    REQUIRE(venue.take({1}, at(0), at(1'000)).kind == ClaimOutcome::Kind::won);
    CHECK(ask(venue, party_of(2, true), at(10)).kind == Choice::Kind::none_together);
    CHECK(ask(venue, party_of(2, true), at(999)).kind == Choice::Kind::none_together);
    CHECK(ask(venue, party_of(2, true), at(1'000)).kind == Choice::Kind::chosen);
}

TEST_CASE("nothing is kept while an edit may be about to free a place", "[inventory]") {
    Venue venue(plain_layout(1, 3));
    auto const hold = venue.take({1}, at(0), at(50'000));
    auto const edit = venue.holds.enter(hold.ref, venue.word(hold.ref), State::editing);
    REQUIRE(edit.has_value());
    // As the edit does before the place is free.
    static_cast<void>(venue.claims.promise(hold.ref));
    venue.places.count_section_free(0, 1);
    venue.places.count_event_free(1);
    for (int round = 0; round < 2; ++round)
        CHECK(ask(venue, party_of(2, true)).kind == Choice::Kind::none_together);
    venue.places.slot_of(hold.ref).word.store(
        HoldWord(hold.ref.generation(), State::dead, 0).bits(), StdAtomics::release);
    CHECK(ask(venue, party_of(2, true)).kind == Choice::Kind::chosen);
}

/// Claims, frees and the clock at random, each asked about by the same few wishes. No hold is
/// shorter than the venue's shortest.
class Season {
public:
    explicit Season(Random& random) : random_(random), venue_(random_house(random, 7)) {
        for (int i = 0; i < 3; ++i) wishes_.push_back(std::make_unique<RandomWish>(random, venue_));
    }
    void step() {
        std::uint32_t const what = below(random_, 10);
        if (what == 0) now_ += Milliseconds{below(random_, 20'000)};
        if (what < 4 && !holds_.empty()) {
            std::size_t const index = below(random_, static_cast<std::uint32_t>(holds_.size()));
            HoldWord const word = venue_.word(holds_[index]);
            if (word == HoldWord(holds_[index].generation(), State::held, 0))
                static_cast<void>(venue_.claims.end(holds_[index], word, State::ending_released));
            holds_.erase(holds_.begin() + static_cast<std::ptrdiff_t>(index));
        } else {
            std::uint32_t const place = below(random_, venue_.places.count());
            if (!venue_.geometry.for_sale(place)) return;
            auto const taken =
                venue_.take({place}, now_, now_ + 30s + Milliseconds{below(random_, 9'000)});
            if (taken.kind == ClaimOutcome::Kind::won) holds_.push_back(taken.ref);
        }
    }
    /// Compares what is kept with what a search without verdicts says; true if nothing fits.
    bool judge() {
        bool met = false;
        for (auto const& each : wishes_) {
            Wish const& wish = each->wish;
            Search<StdAtomics, CountingFacts> fresh(venue_.claims, venue_.layout, 30s);
            std::vector<SeatIndex> chosen;
            Choice const kept = ask(venue_, wish, now_);
            Choice const truth = fresh.best(wish, now_, chosen);
            using Found = Choice::Kind;
            REQUIRE((kept.kind == Found::chosen) == (truth.kind == Found::chosen));
            if (kept.kind == Found::chosen) continue;
            // In words that are true now, whatever was claimed since.
            REQUIRE(kept.kind == truth.kind);
            REQUIRE(kept.number == truth.number);
            met = met || kept.kind == Found::none_together;
        }
        return met;
    }

private:
    Random& random_;
    Venue venue_;
    std::vector<std::unique_ptr<RandomWish>> wishes_;
    std::vector<HoldRef> holds_;
    TimePoint now_{at(0)};
};

TEST_CASE("a kept verdict never refuses what a scan would give", "[inventory]") {
    Random random(seed_of_run());
    int met = 0;
    for (int house = 0; house < 150; ++house) {
        Season season(random);
        for (int step = 0; step < 120; ++step) {
            season.step();
            met += season.judge() ? 1 : 0;
        }
    }
    CHECK(met > 100);  // 1,500 and more
}

}  // namespace
}  // namespace holdfast::inventory::test
