// What few venues and few requests need: places that are not for sale, very long rows, very many
// edits at once, limits of one kind only, numbers at their bounds.
#include "tests/inventory/limited_venue.hpp"
#include "tests/inventory/venue.hpp"

#include <holdfast/inventory/candidates.hpp>
#include <holdfast/inventory/fit_verdicts.hpp>
#include <holdfast/inventory/general_places.hpp>
#include <holdfast/inventory/known_filters.hpp>
#include <holdfast/inventory/verdicts.hpp>

#include <catch2/catch.hpp>
#include <functional>
#include <numeric>

namespace holdfast::inventory::test {
namespace {

using Kind = ClaimOutcome::Kind;

std::vector<SeatIndex> indices_of(std::uint32_t first, std::uint32_t count) {
    std::vector<SeatIndex> seats;
    for (std::uint32_t seat = first; seat < first + count; ++seat) seats.emplace_back(seat);
    return seats;
}

/// One row; the flags of its seats by number, 0 if there are fewer.
Layout row_of(std::uint32_t seats, std::vector<SeatFlag> const& flags, double focal_x = -1) {
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 100});
    builder.set_focal({focal_x, -1});
    Section section;
    section.id = "A";
    builder.add_section(section);
    builder.add_row("1");
    for (std::uint32_t seat = 0; seat < seats; ++seat) {
        auto const flag = seat < flags.size() ? flags[seat] : SeatFlag::none;
        std::string const name = "A-1-" + std::to_string(seat);
        builder.add_seat({name, name, {{seat * 1.0, 0}, {}, static_cast<std::uint8_t>(flag)}});
    }
    return std::move(*std::move(builder).build());
}

std::vector<std::uint32_t> best_of(Venue& venue, std::uint32_t quantity, TimePoint now = at(0)) {
    Wish wish;
    wish.quantity = quantity;
    wish.together = true;
    std::vector<SeatIndex> chosen;
    if (venue.search.best(wish, now, chosen).kind != Choice::Kind::chosen) return {};
    return numbers(chosen);
}

CandidatesOutcome::Kind chosen_of(Venue& venue, std::vector<SeatIndex> const& seats,
                                  std::uint32_t count,
                                  std::function<bool(SeatIndex)> const& pass_over) {
    std::vector<SeatIndex> chosen;
    return Candidates<StdAtomics, CountingFacts>(venue.claims)
        .choose(seats, count, at(0), pass_over, chosen)
        .kind;
}

}  // namespace

TEST_CASE("places that are not for sale are held by staff and given back without being counted",
          "[inventory]") {
    using enum SeatFlag;
    Venue venue(row_of(6, {none, not_for_sale, not_for_sale, none}));
    auto const of_one_kind = venue.take({1, 2});
    auto const of_both = venue.take({3, 4});
    REQUIRE(venue.release(of_both.ref).kind == EndOutcome::Kind::ended);
    auto const mixed = venue.take({0, 4});
    REQUIRE(venue.release(of_one_kind.ref).kind == EndOutcome::Kind::ended);
    REQUIRE(venue.release(mixed.ref).kind == EndOutcome::Kind::ended);
    auto const over_both = venue.take({0, 1, 3});
    REQUIRE(venue.release(over_both.ref).kind == EndOutcome::Kind::ended);
    CHECK(venue.free_count() == 6);
    // No search finds them, no party spans them, nobody has one for a candidate.
    CHECK(best_of(venue, 3) == std::vector<std::uint32_t>{3, 4, 5});
    CHECK(best_of(venue, 4).empty());
    CHECK(chosen_of(venue, indices_of(1, 2), 1, [](SeatIndex) { return false; }) ==
          CandidatesOutcome::Kind::taken);
}

TEST_CASE("a list whose kinds of places come and go gives each back to its own", "[inventory]") {
    using enum SeatFlag;
    Venue venue(row_of(5, {none, accessible, none, accessible, none}));
    auto const hold = venue.take({0, 1, 2, 3});
    REQUIRE(hold.kind == Kind::won);
    REQUIRE(venue.release(hold.ref).kind == EndOutcome::Kind::ended);
    Wish wish;
    wish.quantity = 3;
    std::vector<SeatIndex> chosen;
    CHECK(venue.search.best(wish, at(0), chosen).kind == Choice::Kind::chosen);
    CHECK(numbers(chosen) == std::vector<std::uint32_t>{0, 2, 4});
}

TEST_CASE("a row of any length is searched for parties of any size", "[inventory]") {
    Venue venue(row_of(700, {}, 600));
    for (std::uint32_t const quantity : {1U, 64U, 65U, 128U, 129U, 200U, 500U}) {
        CAPTURE(quantity);
        auto const found = best_of(venue, quantity);
        REQUIRE(found.size() == quantity);
        CHECK(found.back() == found.front() + quantity - 1);
    }
    REQUIRE(venue.take({350}).kind == Kind::won);
    CHECK(best_of(venue, 350).size() == 350);
    CHECK(best_of(venue, 351).empty());
}

TEST_CASE("where seats stand wider apart on one side, a party sits on the other", "[inventory]") {
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 100});
    builder.set_focal({3, -1});
    Section section;
    section.id = "A";
    builder.add_section(section);
    builder.add_row("1");
    for (double const x : {0, 1, 2, 3, 13, 23, 33}) {
        std::string const name = "A-1-" + std::to_string(x);
        builder.add_seat({name, name, {{x, 0}, {}, 0}});
    }
    Venue venue(std::move(*std::move(builder).build()));
    CHECK(best_of(venue, 2) == std::vector<std::uint32_t>{2, 3});
    CHECK(best_of(venue, 3) == std::vector<std::uint32_t>{0, 1, 2});  // else seat 0 is left alone
    CHECK(best_of(venue, 4) == std::vector<std::uint32_t>{0, 1, 2, 3});
    CHECK(best_of(venue, 6) == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("more edits than a look keeps are busy, not a refusal", "[inventory]") {
    std::uint32_t const edited = 20;
    Venue venue(plain_layout(1, edited));
    std::vector<Edit> edits;
    for (std::uint32_t seat = 0; seat < edited; ++seat) {
        auto const hold = venue.take({seat});
        auto const edit = venue.holds.enter(hold.ref, venue.word(hold.ref), State::editing);
        REQUIRE(edit.has_value());
        edits.push_back(*edit);
    }
    auto const nobody = [](SeatIndex) { return false; };
    CHECK(chosen_of(venue, indices_of(0, edited), 1, nobody) == CandidatesOutcome::Kind::busy);
    std::vector<SeatIndex> chosen;
    Wish wish;
    wish.quantity = 1;
    CHECK(venue.search.best(wish, at(0), chosen).kind == Choice::Kind::busy);
    for (Edit const& edit : edits) venue.holds.leave(edit, State::held);
    CHECK(chosen_of(venue, indices_of(0, edited), 1, nobody) == CandidatesOutcome::Kind::taken);
    CHECK(venue.search.best(wish, at(0), chosen).kind == Choice::Kind::sold_out);
}

TEST_CASE("a candidate that was edited in between is looked at again", "[inventory]") {
    Venue venue(plain_layout(1, 3));
    auto const hold = venue.take({0});
    auto edit = venue.holds.enter(hold.ref, venue.word(hold.ref), State::editing);
    REQUIRE(edit.has_value());
    int looks = 0;
    auto const pass_over = [&](SeatIndex) {
        if (++looks == 1) {
            // What the look has just seen being edited is so again, by another edit.
            venue.holds.leave(*edit, State::held);
            edit = venue.holds.enter(hold.ref, venue.word(hold.ref), State::editing);
        }
        return true;
    };
    CHECK(chosen_of(venue, indices_of(0, 2), 1, pass_over) == CandidatesOutcome::Kind::passed_over);
    CHECK(looks == 2);
    venue.holds.leave(*edit, State::held);
}

TEST_CASE("verdicts of numbers that no request has are not kept", "[inventory]") {
    FitVerdicts<StdAtomics> fits(1, true);
    FitQuestion const two{2, 0};
    fits.keep(0, 7, {5'000, 0}, {1, 1}, at(100));
    fits.keep(0, 7, {2, 5'000}, {1, 1}, at(100));
    CHECK_FALSE(fits.refuses(0, 7, two, at(0)).has_value());
    // Nothing to renew; nor of another count.
    fits.renew(0, 7, two, {1, 1});
    CHECK_FALSE(fits.refuses(0, 7, two, at(0)).has_value());
    fits.keep(0, 7, two, {1, 4}, at(100));
    fits.renew(0, 8, two, {0, 0});
    CHECK(fits.refuses(0, 7, two, at(0))->most == 4);
    fits.renew(0, 7, two, {0, 3});
    CHECK(fits.refuses(0, 7, two, at(0))->most == 3);
    // With groups it is of two seats only, though ten share its entry.
    CHECK_FALSE(fits.refuses(0, 7, {10, 0}, at(0)).has_value());

    // Without groups it is of all that ask for as many or more; a block that would do renews none.
    FitVerdicts<StdAtomics> plain(1, false);
    plain.keep(0, 7, {5, 0}, {4, 9}, at(100));
    plain.renew(0, 7, {6, 0}, {5, 8});
    CHECK(plain.refuses(0, 7, {6, 0}, at(0))->most == 9);

    Verdicts<StdAtomics> sold_out(1);
    sold_out.keep(0, 7, ~0U - 1, at(100));
    CHECK(sold_out.left(0, 7, 5, at(0)) == Verdicts<StdAtomics>::not_refused);
}

TEST_CASE("a filter is made known once", "[inventory]") {
    KnownFilters<StdAtomics> filters;
    std::vector<SectionIndex> const sections{SectionIndex{1}, SectionIndex{2}};
    Wish wish;
    wish.sections = sections;
    auto const first = filters.find_or_add(wish);
    REQUIRE(first.has_value());
    CHECK(filters.find_or_add(wish) == first);
}

TEST_CASE("the free places of a large floor are counted without those that are left out",
          "[inventory]") {
    Venue venue(plain_layout(1, 3, 200));
    GeneralPlaces<StdAtomics> floor(venue.geometry);
    FreeMap free(venue.geometry);
    for (std::uint32_t place = 0; place < 203; ++place)
        if (place != 50) free.add(place);
    std::vector<SeatIndex> const excluded{SeatIndex{0}, SeatIndex{50}, SeatIndex{150}};
    Wish wish;
    CHECK(floor.largest(free, wish) == 199);
    wish.excluded = excluded;
    CHECK(floor.largest(free, wish) == 198);
}

TEST_CASE("what is left out of one floor counts in no other", "[inventory]") {
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 100});
    for (auto const& [id, capacity] : {std::pair{"large", 70U}, std::pair{"small", 10U}}) {
        Section section;
        section.id = id;
        section.general = true;
        section.capacity = capacity;
        builder.add_general(section);
    }
    Venue venue(std::move(*std::move(builder).build()));
    GeneralPlaces<StdAtomics> floors(venue.geometry);
    FreeMap free(venue.geometry);
    for (std::uint32_t place = 0; place < 80; ++place) free.add(place);
    std::vector<SeatIndex> const excluded = indices_of(68, 5);
    Wish wish;
    wish.excluded = excluded;
    CHECK(floors.largest(free, wish) == 68);
}

TEST_CASE("a scan has enough only if both kinds and their sum are", "[inventory]") {
    Truth truth;
    CHECK_FALSE(truth.has(2, 1, 1));
    CHECK(truth.has(2, 1, 2));
    truth.plain = 1;
    CHECK(truth.has(2, 1, 1));
}

TEST_CASE("an account without a limit of places is held to its open holds alone", "[limits]") {
    UserRules rules;
    rules.max_open_holds = 2;
    LimitedVenue venue(plain_layout(1, 8), {rules, {}});
    auto const one = venue.take(9, {0, 1});
    REQUIRE(one.kind == Kind::won);
    CHECK(venue.users.counts(9).open_holds == 1);
    CHECK(venue.users.counts(9).units == 0);
    REQUIRE(venue.take(8, {7}).kind == Kind::won);
    CHECK(venue.take(9, {6, 7}).kind == Kind::lost);
    CHECK(venue.exchange(one.ref, {0, 1, 7}, at(0)).kind == ChangeOutcome::Kind::lost);
    CHECK(venue.users.counts(9).open_holds_in_flight == 0);
    REQUIRE(venue.take(9, {2}).kind == Kind::won);
    CHECK(venue.take(9, {3}).kind == Kind::limited);
    CHECK(venue.users.foresee(9, {1, 1}) == UserVerdict::open_holds);
    CHECK(venue.exchange(one.ref, {1, 4, 5}, at(0)).kind == ChangeOutcome::Kind::ready);
    REQUIRE(venue.sell(one.ref));
    CHECK(venue.users.counts(9).open_holds == 1);
    REQUIRE(venue.refund(one.ref));
    CHECK(venue.take(9, {3}).kind == Kind::won);
    CHECK(venue.users.counts(0).open_holds == 0);

    UserLimits<StdAtomics> restored(rules, 8);
    restored.restore(9, 3);
    restored.restore_sold(9, 3);
    CHECK(restored.counts(9).open_holds == 1);
    CHECK(restored.counts(9).units == 0);
}

TEST_CASE("an account at its limit that has no pin left is not refused beforehand", "[limits]") {
    UserRules rules;
    rules.max_units = 65'535;
    UserLimits<StdAtomics> users(rules, 8);
    std::vector<UserLimits<StdAtomics>::Ticket> tickets(65'535);
    for (auto& ticket : tickets) {
        REQUIRE(users.reserve_claim(3, 1, ticket) == UserVerdict::granted);
        users.win(ticket);
    }
    CHECK(users.foresee(3, {1, 1}) == UserVerdict::granted);
    users.end_hold(3, 1, 0ms);
    CHECK(users.foresee(3, {2, 1}) == UserVerdict::units);
}

TEST_CASE("cool-downs alone follow a guest's hold, its end by helpers, and a change", "[limits]") {
    LimitedVenue venue(plain_layout(1, 8), {{}, 30s});
    auto const guest = venue.take(0, {0});
    venue.places.slot_of(guest.ref).word.store(
        venue.word(guest.ref).in(State::ending_released).bits());
    CHECK(venue.take(9, {0}).kind == Kind::won);
    CHECK_FALSE(venue.cool_downs.cooling(0, 9, at(1)));
    auto const own = venue.take(9, {2, 3});
    REQUIRE(venue.take(8, {5}).kind == Kind::won);
    CHECK(venue.exchange(own.ref, {2, 3, 5}, at(1)).kind == ChangeOutcome::Kind::lost);
    CHECK(venue.exchange(own.ref, {2}, at(1)).kind == ChangeOutcome::Kind::ready);
    CHECK(venue.cool_downs.cooling(3, 9, at(2)));
}

TEST_CASE("two holds of one account in one change count together", "[limits][edits]") {
    LimitedVenue venue(plain_layout(1, 8), most_units(4));
    auto const one = venue.take(9, {0, 1});
    auto const two = venue.take(9, {2, 3});
    Change change;
    change.lists.resize(2);
    change.lists[0].before = indices_of(0, 2);
    change.lists[0].after = indices_of(0, 1);
    change.lists[1].before = indices_of(2, 2);
    change.lists[1].after = indices_of(2, 3);
    change.plan();
    change.lists[0].edit = *venue.holds.enter(one.ref, venue.word(one.ref), State::editing);
    change.lists[1].edit = *venue.holds.enter(two.ref, venue.word(two.ref), State::editing);
    REQUIRE(venue.edits.prepare(change, {at(0), at(10'000), 9}).kind == ChangeOutcome::Kind::ready);
    venue.edits.apply(change, State::held);
    CHECK(venue.users.counts(9).units == 4);
    CHECK(venue.at_rest(9));
}

TEST_CASE("a change that only drops places can be given up", "[edits]") {
    Venue venue(plain_layout(1, 8));
    auto const hold = venue.take({0, 1, 2});
    HoldWord const seen = venue.word(hold.ref);
    Change change;
    change.lists.resize(1);
    change.lists[0].before = indices_of(0, 3);
    change.lists[0].after = indices_of(0, 1);
    change.plan();
    change.lists[0].edit = *venue.holds.enter(hold.ref, seen, State::editing);
    REQUIRE(venue.edits.prepare(change, {at(0), at(1'000), 7}).kind == ChangeOutcome::Kind::ready);
    venue.edits.give_up(change);
    venue.holds.leave(change.lists[0].edit, State::held);
    CHECK(venue.free_count() == 5);
    CHECK(venue.slots_in_use() == 1);
    CHECK(venue.release(hold.ref).kind == EndOutcome::Kind::ended);
    CHECK(venue.free_count() == 8);
}

TEST_CASE("a change that only moves places between its holds can be given up", "[edits]") {
    Venue venue(plain_layout(1, 8));
    auto const one = venue.take({0});
    auto const two = venue.take({1});
    Change change;
    change.lists.resize(2);
    change.lists[0].before = change.lists[1].after = indices_of(0, 1);
    change.lists[1].before = change.lists[0].after = indices_of(1, 1);
    change.plan();
    change.lists[0].edit = *venue.holds.enter(one.ref, venue.word(one.ref), State::editing);
    change.lists[1].edit = *venue.holds.enter(two.ref, venue.word(two.ref), State::editing);
    REQUIRE(venue.edits.prepare(change, {at(0), at(1'000), 7}).kind == ChangeOutcome::Kind::ready);
    venue.edits.give_up(change);
    for (ListChange const& list : change.lists) venue.holds.leave(list.edit, State::held);
    CHECK(venue.release(one.ref).kind == EndOutcome::Kind::ended);
    CHECK(venue.is_free(0));
    CHECK_FALSE(venue.is_free(1));
    CHECK(venue.slots_in_use() == 1);
}

TEST_CASE("a hold that is being sold is reminded of later, whatever its deadline", "[inventory]") {
    Venue venue(plain_layout(1, 4));
    auto const hold = venue.take({0});
    auto const edit = venue.holds.enter(hold.ref, venue.word(hold.ref), State::confirming);
    REQUIRE(edit.has_value());
    std::size_t ended = 0;
    CHECK(venue.holds.fire(hold.ref.slot(), at(5'000), at(5'077), ended) == at(5'077));
    CHECK(venue.holds.needs_timer(hold.ref.slot()));
    CHECK(ended == 0);
    venue.holds.leave(*edit, State::held);
    CHECK_FALSE(venue.holds.fire(hold.ref.slot(), at(5'000), at(5'077), ended).has_value());
    CHECK(ended == 1);
}

TEST_CASE("the counts tell accessible seats of another price, and ask no seat that is not for sale",
          "[inventory]") {
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 100});
    builder.add_category({"vip", "VIP", 900});
    builder.set_focal({0, -1});
    Section section;
    section.id = "A";
    builder.add_section(section);
    builder.add_row("1");
    auto const add = [&](std::uint32_t seat, std::uint32_t category, SeatFlag flag) {
        std::string const name = "A-1-" + std::to_string(seat);
        builder.add_seat(
            {name,
             name,
             {{seat * 1.0, 0}, CategoryIndex{category}, static_cast<std::uint8_t>(flag)}});
    };
    add(0, 1, SeatFlag::accessible);
    add(1, 0, SeatFlag::none);
    add(2, 0, SeatFlag::accessible);
    add(3, 0, SeatFlag::not_for_sale);
    add(4, 0, SeatFlag::none);
    Section floor;
    floor.id = "GA";
    floor.general = true;
    floor.capacity = 2;
    builder.add_general(floor);
    Venue venue(std::move(*std::move(builder).build()));
    venue.search.ask_when_none_is_due([](TimePoint) { return true; });
    std::vector<CategoryIndex> const standard{CategoryIndex{0}};
    Wish wish;
    wish.quantity = 2;
    wish.accessible = 1;
    wish.categories = standard;
    auto const answer = [&] {
        std::vector<SeatIndex> chosen;
        return venue.search.best(wish, at(0), chosen).kind;
    };
    CHECK(answer() == Choice::Kind::chosen);
    REQUIRE(venue.take({2}).kind == Kind::won);
    CHECK(answer() == Choice::Kind::none_together);
    REQUIRE(venue.take({1}).kind == Kind::won);
    CHECK(answer() == Choice::Kind::sold_out);
    std::vector<SeatIndex> chosen;
    REQUIRE(venue.take({5, 6}).kind == Kind::won);
    CHECK(venue.search.general(SectionIndex{1}, 1, {}, at(0), chosen).kind ==
          Choice::Kind::sold_out);
}

TEST_CASE("a restored slot at its last generation is not used again", "[inventory]") {
    Layout const layout = plain_layout(1, 2);
    Geometry const geometry(layout);
    Places<StdAtomics> places(geometry, 2);
    std::vector<std::uint64_t> const generations{0, HoldRef::generation_max, 5};
    Restore<StdAtomics>(places, generations).finish();
    CHECK(places.pool().pop() == 2);
    CHECK(places.pool().pop() == 0);
}

TEST_CASE("of two tables that are large enough the nearer one is taken", "[inventory]") {
    using enum SeatFlag;
    Venue venue(row_of(6, {none, joined, joined, none, joined, joined}, 5));
    Wish wish;
    wish.quantity = 2;
    wish.table_max = 3;
    std::vector<SeatIndex> chosen;
    REQUIRE(venue.search.best(wish, at(0), chosen).kind == Choice::Kind::chosen);
    CHECK(numbers(chosen) == std::vector<std::uint32_t>{3, 4, 5});
}

TEST_CASE("who passes over better blocks finds none where there is none", "[inventory]") {
    Venue venue(plain_layout(1, 4));
    REQUIRE(venue.take({1, 2}).kind == Kind::won);
    Wish wish;
    wish.quantity = 2;
    wish.together = true;
    wish.pass_over = 2;
    std::vector<SeatIndex> chosen;
    CHECK(venue.search.best(wish, at(0), chosen).kind == Choice::Kind::none_together);
}

TEST_CASE("a section without a focal point of its own looks at its zone's", "[inventory]") {
    for (bool const has_focal : {true, false}) {
        LayoutBuilder builder;
        builder.add_category({"std", "Standard", 100});
        Zone zone;
        zone.key = "left";
        if (has_focal) zone.focal = Point{3, -1};
        Section section;
        section.id = "A";
        section.zone = builder.add_zone(zone);
        builder.add_section(section);
        builder.add_row("1");
        for (std::uint32_t seat = 0; seat < 9; ++seat) {
            std::string const name = "A-1-" + std::to_string(seat);
            builder.add_seat({name, name, {{seat * 1.0, 0}, {}, 0}});
        }
        Venue venue(std::move(*std::move(builder).build()));
        // Else the middle of the first row.
        CHECK(best_of(venue, 1) == std::vector<std::uint32_t>{has_focal ? 3U : 4U});
    }
}

}  // namespace holdfast::inventory::test
