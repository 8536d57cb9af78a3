#include "tests/inventory/limited_venue.hpp"

#include <catch2/catch.hpp>

namespace holdfast::inventory::test {
namespace {

using Kind = ClaimOutcome::Kind;
using Users = UserLimits<StdAtomics>;

UserRules rules(std::uint32_t units, std::uint32_t holds = UserRules::no_limit,
                std::uint64_t budget_ms = UserRules::no_budget) {
    return {units, holds, budget_ms};
}

TEST_CASE("units are reserved, made live, and given back", "[limits]") {
    Users users(rules(4), 8);
    Users::Ticket ticket;
    REQUIRE(users.reserve_claim(5, 3, ticket) == UserVerdict::granted);
    CHECK(users.counts(5).units_in_flight == 3);
    CHECK(users.counts(5).units == 0);
    users.win(ticket);
    CHECK_FALSE(ticket);
    CHECK(users.counts(5).units == 3);
    CHECK(users.counts(5).units_in_flight == 0);
    CHECK(users.reserve_claim(5, 2, ticket) == UserVerdict::units);
    REQUIRE(users.reserve_claim(5, 1, ticket) == UserVerdict::granted);
    users.lose(ticket);
    users.end_hold(5, 3, 0ms);
    CHECK(users.counts(5).units == 0);
    CHECK(users.reserve_claim(5, 5, ticket) == UserVerdict::units);
}

TEST_CASE("what is only in flight makes a claim busy, never over the limit", "[limits]") {
    Users users(rules(2), 8);
    Users::Ticket first;
    Users::Ticket second;
    REQUIRE(users.reserve_claim(5, 2, first) == UserVerdict::granted);
    CHECK(users.reserve_claim(5, 1, second) == UserVerdict::busy);
    CHECK(users.reserve_claim(5, 3, second) == UserVerdict::units);
    CHECK(users.reserve_claim(6, 2, second) == UserVerdict::granted);  // another's is not ours
    users.lose(second);
    users.lose(first);
    CHECK(users.reserve_claim(5, 2, first) == UserVerdict::granted);
}

TEST_CASE("nobody's claims are not counted", "[limits]") {
    Users users(rules(1), 8);
    Users::Ticket ticket;
    REQUIRE(users.reserve_claim(0, 50, ticket) == UserVerdict::granted);
    CHECK_FALSE(ticket);
    CHECK(account_of(0) == 0);
    CHECK(account_of(7) == 7);
    CHECK(account_of((std::uint64_t{1} << 48) | 7) == 7);  // extended once
    CHECK(account_of((std::uint64_t{1} << 56) | 7) == 0);  // staff
}

TEST_CASE("open holds fall with a sale, units with its refund only", "[limits]") {
    LimitedVenue venue(plain_layout(1, 8), {rules(4, 1), {}});
    auto const hold = venue.take(9, {0, 1});
    REQUIRE(hold.kind == Kind::won);
    auto const second = venue.take(9, {2});
    CHECK(second.kind == Kind::limited);
    CHECK(second.limit == UserVerdict::open_holds);
    REQUIRE(venue.sell(hold.ref));
    CHECK(venue.users.counts(9).open_holds == 0);
    CHECK(venue.users.counts(9).units == 2);
    auto const third = venue.take(9, {2, 3});
    REQUIRE(third.kind == Kind::won);
    REQUIRE(venue.sell(third.ref));
    CHECK(venue.take(9, {4}).limit == UserVerdict::units);
    REQUIRE(venue.refund(hold.ref));
    CHECK(venue.users.counts(9).units == 2);
    CHECK(venue.take(9, {4}).kind == Kind::won);
    CHECK(venue.at_rest(9));
}

TEST_CASE("a claim that loses a seat or finds no room leaves the counts as they were", "[limits]") {
    LimitedVenue venue(plain_layout(1, 4), {rules(2, 3), {}});
    REQUIRE(venue.take(0, {1}).kind == Kind::won);
    CHECK(venue.take(9, {0, 1}).kind == Kind::lost);
    CHECK(venue.at_rest(9));
    venue.facts.room = false;
    CHECK(venue.take(9, {2, 3}).kind == Kind::busy);
    venue.facts.room = true;
    CHECK(venue.at_rest(9));
    std::vector<std::uint32_t> slots;
    while (std::uint32_t const slot = venue.places.pool().pop()) slots.push_back(slot);
    CHECK(venue.take(9, {2, 3}).kind == Kind::busy);
    for (std::uint32_t const slot : slots) venue.places.pool().push(slot);
    CHECK(venue.at_rest(9));
    CHECK(venue.take(9, {2, 3}).kind == Kind::won);
}

TEST_CASE("time held and not bought is charged, bought time is not", "[limits]") {
    LimitedVenue venue(plain_layout(1, 8), {rules(UserRules::no_limit, 9, 5'000), {}});
    auto const bought = venue.take(9, {0, 1}, at(0), at(2'000));
    REQUIRE(venue.sell(bought.ref));
    REQUIRE(venue.refund(bought.ref));
    CHECK(venue.users.counts(9).spent_ms == 0);
    auto const released = venue.take(9, {0, 1}, at(0), at(2'000));
    REQUIRE(venue.release(released.ref, at(500)).kind == EndOutcome::Kind::ended);
    CHECK(venue.users.counts(9).spent_ms == 2 * 500);
    // An expired hold was held until its deadline, however late its end is noticed.
    REQUIRE(venue.take(9, {0, 1}, at(1'000), at(3'000)).kind == Kind::won);
    REQUIRE(venue.take(8, {0}, at(9'000)).kind == Kind::won);
    CHECK(venue.users.counts(9).spent_ms == 1'000 + 2 * 2'000);
    auto const refused = venue.take(9, {4}, at(9'000));
    CHECK(refused.kind == Kind::limited);
    CHECK(refused.limit == UserVerdict::budget);
    CHECK(venue.users.foresee(9, {1, 1}) == UserVerdict::budget);
}

TEST_CASE("whoever ends a hold, it was held for nothing", "[limits]") {
    LimitedVenue venue(plain_layout(1, 8), {rules(UserRules::no_limit, 9, 50'000), 10s});
    std::uint64_t spent = 0;
    std::uint32_t place = 0;
    for (State const cause : {State::ending_released, State::ending_expired, State::ending_staff}) {
        auto const hold = venue.take(9, {place, place + 1});
        auto const ended = venue.claims.end(hold.ref, venue.word(hold.ref), cause, at(4'000));
        REQUIRE(ended.kind == EndOutcome::Kind::ended);
        CHECK(venue.users.counts(9).spent_ms == (spent += 8'000));
        CHECK(venue.users.counts(9).open_holds == 0);
        CHECK(venue.cool_downs.cooling(place, 9, at(4'000)));
        place += 2;
    }
}

TEST_CASE("an entry is used again when nothing of its account is left", "[limits]") {
    Users users(rules(2), 8);
    for (std::uint64_t account = 1; account <= 1'000; ++account) {
        Users::Ticket ticket;
        REQUIRE(users.reserve_claim(account, 2, ticket) == UserVerdict::granted);
        if (account % 2 == 0) {
            users.lose(ticket);
        } else {
            users.win(ticket);
            users.end_hold(account, 2, 0ms);
        }
        REQUIRE(users.counts(account).units == 0);
    }
}

TEST_CASE("a full table refuses newcomers and goes on for those it has", "[limits]") {
    Users users(rules(4), 8);
    std::vector<Users::Ticket> tickets(8);
    for (std::uint64_t account = 1; account <= 8; ++account)
        REQUIRE(users.reserve_claim(account, 1, tickets[account - 1]) == UserVerdict::granted);
    Users::Ticket ticket;
    CHECK(users.reserve_claim(9, 1, ticket) == UserVerdict::busy);
    for (std::uint64_t account = 1; account <= 8; ++account) {
        REQUIRE(users.reserve_claim(account, 3, ticket) == UserVerdict::granted);
        users.lose(ticket);
    }
    users.lose(tickets[3]);
    REQUIRE(users.reserve_claim(9, 1, ticket) == UserVerdict::granted);
    CHECK(users.counts(9).units_in_flight == 1);
    CHECK(users.counts(4).units_in_flight == 0);
}

/// Has `places` for so long, and lets them go.
UserVerdict hold_and_leave(Users& users, std::uint64_t account, std::uint32_t places,
                           Milliseconds held) {
    Users::Ticket ticket;
    UserVerdict const verdict = users.reserve_claim(account, places, ticket);
    if (verdict != UserVerdict::granted) return verdict;
    users.win(ticket);
    users.end_hold(account, places, places * held);
    return verdict;
}

TEST_CASE("spent time is kept while there is room, and then the least of it goes", "[limits]") {
    Users users(rules(UserRules::no_limit, UserRules::no_limit, 5'000), 8);
    for (std::uint64_t account = 1; account <= 8; ++account)
        for (int visit = 0; visit < 2; ++visit)
            REQUIRE(hold_and_leave(users, account, 2, account * 100ms) == UserVerdict::granted);
    for (std::uint64_t account = 1; account <= 8; ++account)
        CHECK(users.counts(account).spent_ms == account * 400);
    REQUIRE(hold_and_leave(users, 3, 1, 5'000ms) == UserVerdict::granted);
    // Everybody who comes is served, and takes the place of whoever has spent least.
    REQUIRE(hold_and_leave(users, 9, 1, 3'900ms) == UserVerdict::granted);
    CHECK(users.counts(1).spent_ms == 0);
    CHECK(users.counts(2).spent_ms == 800);
    REQUIRE(hold_and_leave(users, 10, 1, 1ms) == UserVerdict::granted);
    CHECK(users.counts(2).spent_ms == 0);
    for (std::uint64_t account = 11; account <= 2'000; ++account)
        REQUIRE(hold_and_leave(users, account, 1, 1ms) == UserVerdict::granted);
    CHECK(hold_and_leave(users, 3, 1, 1ms) == UserVerdict::budget);
    CHECK(users.counts(9).spent_ms == 3'900);
}

TEST_CASE("any number of accounts that let a hold go leave room for the next", "[limits]") {
    Users users({UserRules::no_limit, UserRules::no_limit, 1'000'000}, 1'024);
    for (std::uint64_t account = 1; account <= 5'000; ++account)
        REQUIRE(hold_and_leave(users, account, 1, 1ms) == UserVerdict::granted);
}

TEST_CASE("an account runs out of pins without losing count", "[limits]") {
    Users users(rules(100'000), 8);
    std::vector<Users::Ticket> tickets(65'535);
    for (auto& ticket : tickets) REQUIRE(users.reserve_claim(3, 1, ticket) == UserVerdict::granted);
    Users::Ticket one_more;
    CHECK(users.reserve_claim(3, 1, one_more) == UserVerdict::busy);
    CHECK(users.counts(3).units_in_flight == 65'535);
    for (auto& ticket : tickets) users.lose(ticket);
    CHECK(users.reserve_claim(3, 1, one_more) == UserVerdict::granted);
}

TEST_CASE("edits reserve before and give back after", "[limits]") {
    Users users(rules(4), 8);
    Users::Ticket ticket;
    REQUIRE(users.reserve_claim(3, 2, ticket) == UserVerdict::granted);
    users.win(ticket);
    CHECK(users.reserve(3, 3) == UserVerdict::units);
    REQUIRE(users.reserve(3, 2) == UserVerdict::granted);
    CHECK(users.reserve(3, 1) == UserVerdict::busy);
    users.keep(3, 2);
    CHECK(users.counts(3).units == 4);
    users.give_back(3, 3);
    REQUIRE(users.reserve(3, 3) == UserVerdict::granted);
    users.cancel(3, 3);
    CHECK(users.counts(3).units == 1);
}

TEST_CASE("an exchange is held to the limit by its difference", "[limits][edits]") {
    LimitedVenue venue(plain_layout(1, 12), {rules(4, 1, 1'000'000), 30s});
    auto const hold = venue.take(9, {0, 1, 2}, at(1'000));
    REQUIRE(hold.kind == Kind::won);
    // Three others instead of three: nothing more, so nothing in the way.
    CHECK(venue.exchange(hold.ref, {3, 4, 5}, at(3'000)).kind == ChangeOutcome::Kind::ready);
    CHECK(venue.users.counts(9).units == 3);
    CHECK(venue.users.counts(9).spent_ms == 0);
    CHECK(venue.cool_downs.cooling(1, 9, at(3'000)));
    auto const five = venue.exchange(hold.ref, {3, 4, 5, 6, 7}, at(3'000));
    CHECK(five.kind == ChangeOutcome::Kind::limited);
    CHECK(five.limit == UserVerdict::units);
    CHECK(venue.at_rest(9));
    REQUIRE(venue.take(8, {7}).kind == Kind::won);
    CHECK(venue.exchange(hold.ref, {3, 4, 5, 7}, at(3'000)).kind == ChangeOutcome::Kind::lost);
    CHECK(venue.at_rest(9));
    CHECK(venue.exchange(hold.ref, {3, 4, 5, 6}, at(3'000)).kind == ChangeOutcome::Kind::ready);
    CHECK(venue.users.counts(9).units == 4);
    REQUIRE(venue.sell(hold.ref));
    // A partial refund is no hoarding.
    CHECK(venue.exchange(hold.ref, {3}, at(9'000)).kind == ChangeOutcome::Kind::ready);
    CHECK(venue.users.counts(9).units == 1);
    CHECK(venue.users.counts(9).spent_ms == 0);
    CHECK_FALSE(venue.cool_downs.cooling(4, 9, at(9'000)));
    CHECK(venue.at_rest(9));
    REQUIRE(venue.take(9, {4, 5, 6}, at(9'000)).kind == Kind::won);
    CHECK(venue.take(9, {10}, at(9'000)).limit == UserVerdict::units);
}

TEST_CASE("an open hold spends the time of its places, however it changes them",
          "[limits][edits]") {
    LimitedVenue venue(plain_layout(1, 12), {rules(UserRules::no_limit, 9, 1'000'000), {}});
    auto const spent = [&] { return venue.users.counts(9).spent_ms; };
    auto const change = [&](HoldRef ref, std::vector<std::uint32_t> const& seats, int when) {
        REQUIRE(venue.exchange(ref, seats, at(when)).kind == ChangeOutcome::Kind::ready);
    };
    auto const hold = venue.take(9, {0}, at(1'000)).ref;
    SECTION("moved twice") {
        change(hold, {1}, 6'000);
        change(hold, {2}, 6'500);
        REQUIRE(venue.release(hold, at(7'000)).kind == EndOutcome::Kind::ended);
        CHECK(spent() == 6'000);
    }
    SECTION("grown and expired") {
        change(hold, {0, 1, 2}, 5'000);
        REQUIRE(venue.take(8, {0}, at(10'000)).kind == Kind::won);
        CHECK(spent() == 9'000 + 2 * 5'000);
    }
    SECTION("grown, shrunk to what it had, and released") {
        change(hold, {0, 1, 2}, 5'000);
        change(hold, {1}, 6'000);
        CHECK(spent() == 2 * (5'000 + 2 * 1'000) / 3 + 1);  // two thirds of all, rounded up
        REQUIRE(venue.release(hold, at(7'000)).kind == EndOutcome::Kind::ended);
        CHECK(spent() == 6'000 + 2 * 1'000);
    }
    SECTION("grown, shrunk and bought") {
        change(hold, {0, 1, 2, 3}, 2'000);
        change(hold, {0, 1}, 3'000);
        REQUIRE(venue.sell(hold));
        REQUIRE(venue.refund(hold));
        CHECK(spent() == (2'000 + 3 * 1'000) / 2);
    }
    SECTION("by a clock that trails the claim's") {
        change(hold, {0, 1}, 500);
        change(hold, {0}, 700);
        CHECK(spent() == 0);
    }
    // The next hold of the slot starts anew.
    REQUIRE(venue.take(7, {10}, at(20'000)).kind == Kind::won);
    auto const before = spent();
    auto const next = venue.take(9, {11}, at(20'000), at(30'000));
    REQUIRE(venue.release(next.ref, at(21'000)).kind == EndOutcome::Kind::ended);
    CHECK(spent() == before + 1'000);
}

TEST_CASE("a spent budget lets a hold shrink, not grow or move", "[limits][edits]") {
    LimitedVenue venue(plain_layout(1, 12), {rules(UserRules::no_limit, 9, 5'000), {}});
    auto const hold = venue.take(9, {0, 1, 2}).ref;
    auto const sold = venue.take(9, {6, 7}).ref;
    REQUIRE(venue.sell(sold));
    REQUIRE(venue.exchange(hold, {0, 1, 3}, at(4'000)).kind == ChangeOutcome::Kind::ready);
    REQUIRE(venue.exchange(hold, {0, 1}, at(5'000)).kind == ChangeOutcome::Kind::ready);
    REQUIRE(venue.users.counts(9).spent_ms == 5'000);
    for (std::vector<std::uint32_t> const& seats :
         {std::vector{0U, 1U, 2U}, std::vector{0U, 2U}, std::vector{2U}}) {
        auto const refused = venue.exchange(hold, seats, at(5'000));
        CHECK(refused.kind == ChangeOutcome::Kind::limited);
        CHECK(refused.limit == UserVerdict::budget);
        CHECK(venue.is_free(2));
    }
    CHECK(venue.exchange(hold, {1}, at(5'000)).kind == ChangeOutcome::Kind::ready);
    // What is bought is not hoarded.
    CHECK(venue.exchange(sold, {4, 5}, at(5'000)).kind == ChangeOutcome::Kind::ready);
}

TEST_CASE("restored holds are counted, and more accounts than probes find their entries",
          "[limits]") {
    Users users(rules(4, 9), 1'024);
    for (std::uint64_t account = 1; account <= 1'024; ++account)
        if (account % 2 == 0)
            users.restore_sold(account, 3);
        else
            users.restore(account, 3);
    for (std::uint64_t account = 1; account <= 1'024; ++account) {
        REQUIRE(users.counts(account).units == 3);
        REQUIRE(users.counts(account).open_holds == account % 2);
        if (account % 2 == 0)
            users.refund_hold(account, 3);
        else
            users.end_hold(account, 3, 0ms);
        REQUIRE(users.counts(account).units == 0);
    }
}

/// Whether the place is still that of the hold that ends.
bool still() {
    return true;
}

TEST_CASE("a place cools down for the account that left it, to the second", "[limits]") {
    CoolDowns<StdAtomics> cool_downs(4, 30s);
    cool_downs.note(2, 9, at(1'500), still);  // counts from second 2
    CHECK(cool_downs.cooling(2, 9, at(1'500)) == at(32'000));
    CHECK(cool_downs.cooling(2, 9, at(31'999)) == at(32'000));
    CHECK_FALSE(cool_downs.cooling(2, 9, at(32'000)));
    CHECK_FALSE(cool_downs.cooling(2, 8, at(1'500)));
    CHECK_FALSE(cool_downs.cooling(1, 9, at(1'500)));
    CHECK_FALSE(cool_downs.cooling(2, 0, at(1'500)));
    std::vector<SeatIndex> found;
    cool_downs.note(0, 9, at(2'000), still);
    cool_downs.collect(3, 9, at(3'000), found);
    CHECK(found == std::vector{SeatIndex{0}, SeatIndex{2}});
}

TEST_CASE("a look for what cools down is bounded by its window", "[limits]") {
    std::uint32_t const half = limits::cool_down_window / 2;
    std::uint32_t const all = 3 * half;
    CoolDowns<StdAtomics> cool_downs(all, 30s);
    for (std::uint32_t place = 0; place < all; ++place) cool_downs.note(place, 9, at(0), still);
    for (std::uint32_t const place : {0U, 1U, half, half + 1, 2 * half, all - 1}) {
        std::vector<SeatIndex> found;
        cool_downs.collect(place, 9, at(0), found);
        std::uint32_t const first = place < half ? 0 : place - half;
        std::uint32_t const last = std::min(place + half, all) - 1;
        CHECK(found.front().value() == first);
        CHECK(found.back().value() == last);
        CHECK(found.size() == last - first + 1);
    }
}

TEST_CASE("only the newest end of a place counts", "[limits]") {
    CoolDowns<StdAtomics> cool_downs(1, 30s);
    cool_downs.note(0, 9, at(5'000), still);
    cool_downs.note(0, 8, at(5'000), [] { return false; });  // noted late
    CHECK(cool_downs.cooling(0, 9, at(6'000)));
    CHECK_FALSE(cool_downs.cooling(0, 8, at(6'000)));
    // Newest by the order of the holds: a thread's clock may trail the last one's.
    cool_downs.note(0, 7, at(4'000), still);
    CHECK_FALSE(cool_downs.cooling(0, 9, at(6'000)));
    // Two threads note one end: the longer cool-down stays.
    cool_downs.note(0, 7, at(9'000), still);
    cool_downs.note(0, 7, at(4'000), still);
    CHECK(cool_downs.cooling(0, 7, at(9'000)) == at(39'000));
}

TEST_CASE("an old cool-down does not come back when its seconds wrap", "[limits]") {
    CoolDowns<StdAtomics> cool_downs(100'000, 3'600s);
    cool_downs.note(99'999, 9, at(0), still);
    cool_downs.note(0, 9, at(0), still);
    for (auto now = 0s; now < 5h; now += 1s)
        for (int tick = 0; tick < 100; ++tick) cool_downs.sweep(TimePoint{now});
    CHECK_FALSE(cool_downs.cooling(99'999, 9, TimePoint{65'536s}));
    CHECK_FALSE(cool_downs.cooling(0, 9, TimePoint{65'536s}));
}

TEST_CASE("a hold that ended unbought cools its places down, a sold one does not", "[limits]") {
    LimitedVenue venue(plain_layout(1, 20), {{}, 30s});
    std::vector<std::uint32_t> many(15);
    for (std::uint32_t seat = 0; seat < 15; ++seat) many[seat] = seat;
    auto const hold = venue.take(9, many);
    REQUIRE(venue.release(hold.ref, at(1'000)).kind == EndOutcome::Kind::ended);
    std::vector<SeatIndex> found;
    venue.cool_downs.collect(7, 9, at(1'000), found);
    CHECK(found.size() == 15);
    auto const sold = venue.take(8, {3});
    REQUIRE(venue.sell(sold.ref));
    REQUIRE(venue.refund(sold.ref));
    CHECK_FALSE(venue.cool_downs.cooling(3, 8, at(1'000)));
}

}  // namespace
}  // namespace holdfast::inventory::test
