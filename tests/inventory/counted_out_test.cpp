// Refusals that rest on counts: whatever comes and goes meanwhile, and without a scan.

#include "tests/inventory/venue.hpp"
#include "tests/inventory/watched_atomics.hpp"

#include <catch2/catch.hpp>

namespace holdfast::inventory::test {
namespace {

using Watched = VenueOn<WatchedAtomics>;

/// While this lives, one place comes free and is taken again at every `period`th load of a call.
template <class Venue>
class Churn {
public:
    Churn(Venue& venue, std::uint32_t place, std::uint64_t period)
        : venue_(venue), place_(place), hold_(venue.take({place}, at(0), at(90'000)).ref) {
        WatchedAtomics::at_load = [this, period] {
            if (++loads_ % period != 0) return;
            static_cast<void>(venue_.release(hold_));
            hold_ = venue_.take({place_}, at(0), at(90'000)).ref;
            ++times;
        };
    }
    ~Churn() { WatchedAtomics::at_load = nullptr; }
    Churn(Churn const&) = delete;
    Churn& operator=(Churn const&) = delete;
    int times{};

private:
    Venue& venue_;
    std::uint32_t place_;
    HoldRef hold_;
    std::uint64_t loads_{};
};

void fill(Watched& venue, std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t place = from; place < to; ++place)
        REQUIRE(venue.take({place}, at(0), at(90'000)).kind == ClaimOutcome::Kind::won);
}

Wish party_for(std::uint32_t quantity) {
    Wish wish;
    wish.quantity = quantity;
    return wish;
}

TEST_CASE("what comes and goes does not make a search busy that wants more than there is",
          "[inventory]") {
    Watched venue(plain_layout(4, 40, 120));
    fill(venue, 4, 150);    // seats 0 ... 3 and 150 ... 159 stay free
    fill(venue, 165, 280);  // standing: 160 ... 164
    Churn churn(venue, 164, 40);
    std::vector<SeatIndex> chosen;
    for (int round = 0; round < 20; ++round) {
        Choice const standing = venue.search.general(SectionIndex{1}, 6, {}, at(1), chosen);
        CHECK(standing.kind == Choice::Kind::sold_out);
        CHECK(standing.number >= 4);
        CHECK(standing.number <= 5);
        Choice const all = venue.search.best(party_for(20), at(1), chosen);
        CHECK(all.kind == Choice::Kind::sold_out);
        CHECK(all.number >= 18);
        CHECK(all.number <= 19);
    }
    CHECK(churn.times > 40);
    CHECK(chosen.empty());
}

TEST_CASE("a large event is not scanned to say that it has too few places", "[inventory]") {
    std::uint32_t const places = limits::scan_places_freely + 20'000;
    Watched venue(plain_layout(0, 0, places), 64);
    for (std::uint32_t first = 0; first < places; first += 10'000) {
        std::vector<std::uint32_t> part;
        for (std::uint32_t i = first == 0 ? 8 : 0; i < 10'000; ++i) part.push_back(first + i);
        REQUIRE(venue.take(part, at(0), at(90'000)).kind == ClaimOutcome::Kind::won);
    }
    bool settled = true;
    int asked = 0;
    venue.search.ask_when_none_is_due([&](TimePoint) {
        ++asked;
        return settled;
    });
    // How many loads it takes to be refused ten.
    auto const cost = [&] {
        WatchedAtomics::loads = 0;
        std::vector<SeatIndex> chosen;
        Choice const choice = venue.search.general(SectionIndex{0}, 10, {}, at(1), chosen);
        CHECK(choice.kind == Choice::Kind::sold_out);
        CHECK(choice.number >= 7);
        CHECK(choice.number <= 8);
        return WatchedAtomics::loads;
    };
    {
        Churn churn(venue, 7, 1'000);
        for (int round = 0; round < 3; ++round) CHECK(cost() < 10'000);  // hints only
        CHECK(churn.times > 0);
    }
    CHECK(asked > 0);
    // Somebody may be past his deadline: only a scan knows.
    settled = false;
    CHECK(cost() > places);
}

TEST_CASE("what is left of many kinds of places is added up once, not with every request",
          "[inventory]") {
    constexpr std::uint32_t sections = 200;
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 100});
    for (std::uint32_t i = 0; i < sections; ++i) {
        Section floor;
        floor.id = "GA" + std::to_string(i);
        floor.general = true;
        floor.capacity = 2;
        builder.add_general(floor);
    }
    Watched venue(std::move(*std::move(builder).build()));
    REQUIRE(venue.geometry.cells().size() == sections);
    fill(venue, 2, 2 * sections);
    auto const loads_of = [&](std::uint32_t left) {
        WatchedAtomics::loads = 0;
        CHECK(venue.search.refused({}, {}, {}, 3, false, at(1)) == left);
        return WatchedAtomics::loads;
    };
    std::vector<SeatIndex> chosen;
    CHECK(venue.search.best(party_for(3), at(1), chosen).number == 2);
    CHECK(loads_of(2) < 10);
    REQUIRE(venue.take({1}, at(1), at(90'000)).kind == ClaimOutcome::Kind::won);
    static_cast<void>(loads_of(1));
    CHECK(loads_of(1) < 10);
    REQUIRE(venue.take({0}, at(1), at(90'000)).kind == ClaimOutcome::Kind::won);
    CHECK(loads_of(0) < 10);
}

}  // namespace
}  // namespace holdfast::inventory::test
