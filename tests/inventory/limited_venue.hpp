// LimitedVenue: a small event that counts by account, for tests.
#pragma once

#include "tests/inventory/venue.hpp"

#include <holdfast/inventory/edits.hpp>

#include <optional>

namespace holdfast::inventory::test {

struct Limits {
    UserRules rules;
    std::chrono::seconds cool_down{0};
};

inline Limits most_units(std::uint32_t units) {
    Limits limits;
    limits.rules.max_units = units;
    return limits;
}

template <class A>
struct LimitedVenueOn {
    static constexpr std::size_t entries = 8;  // small: accounts meet in the table

    LimitedVenueOn(Layout plan, Limits const& limits, std::uint32_t spare = 256)
        : layout(std::move(plan)),
          geometry(layout),
          places(geometry, layout.place_count() + spare),
          users(limits.rules, entries),
          cool_downs(places.count(), std::max(limits.cool_down, std::chrono::seconds{1})),
          claims(places, facts,
                 {limits.rules.any() ? &users : nullptr,
                  limits.cool_down.count() > 0 ? &cool_downs : nullptr}),
          holds(claims),
          edits(claims, holds) {
        Restore<A>(places, {}).finish();
    }

    ClaimOutcome take(std::uint64_t account, std::vector<std::uint32_t> const& seats,
                      TimePoint now = at(0), TimePoint until = at(10'000)) {
        std::vector<SeatIndex> indices;
        for (std::uint32_t const seat : seats) indices.push_back(SeatIndex{seat});
        return claims.claim(indices, {now, until, account});
    }
    HoldWord word(HoldRef ref) { return HoldWord{places.slot_of(ref).word.load(A::acquire)}; }
    EndOutcome release(HoldRef ref, TimePoint now = at(0)) {
        return claims.end(ref, word(ref), State::ending_released, now);
    }
    bool sell(HoldRef ref) {
        auto const edit = holds.enter(ref, word(ref), State::confirming);
        if (edit) holds.leave_sold(*edit, {1, 2});
        return edit.has_value();
    }
    bool refund(HoldRef ref) {
        auto const edit = holds.enter(ref, word(ref), State::editing);
        if (edit) holds.leave_dead(*edit);
        return edit.has_value();
    }
    /// Gives a hold, open or sold, another list.
    ChangeOutcome exchange(HoldRef ref, std::vector<std::uint32_t> const& seats, TimePoint now) {
        HoldWord const seen = word(ref);
        Change change;
        change.lists.resize(1);
        auto const look = holds.look(ref, change.lists[0].before);
        for (std::uint32_t const seat : seats) change.lists[0].after.push_back(SeatIndex{seat});
        change.plan();
        auto const edit = holds.enter(ref, seen, State::editing);
        if (!look || !edit) return {ChangeOutcome::Kind::busy, {}, {}};
        change.lists[0].edit = *edit;
        ChangeOutcome const outcome = edits.prepare(change, {now, look->expires_at, look->holder});
        if (outcome.kind == ChangeOutcome::Kind::ready)
            edits.apply(change, seen.state());
        else
            holds.leave(*edit, seen.state());
        return outcome;
    }
    bool is_free(std::uint32_t seat, TimePoint now = at(0)) {
        return !holds.display(seat, now).has_value();
    }
    /// Places that the account holds or has bought, by the owners: what `live` must be at rest.
    std::uint32_t places_of(std::uint64_t account, TimePoint now = at(0)) {
        std::uint32_t count = 0;
        for (std::uint32_t place = 0; place < places.count(); ++place) {
            auto const look = holds.display(place, now);
            if (look && account_of(look->holder) == account) ++count;
        }
        return count;
    }
    /// I11, at any time: what the account has been granted is within its limits.
    bool within(std::uint64_t account) const {
        UserCounts const counts = users.counts(account);
        return counts.units <= users.rules().max_units &&
               counts.open_holds <= users.rules().max_open_holds;
    }
    /// I12: nothing in flight, live = held + sold, and not above the limit.
    bool at_rest(std::uint64_t account, TimePoint now = at(0)) {
        UserCounts const counts = users.counts(account);
        return counts.units_in_flight == 0 && counts.open_holds_in_flight == 0 &&
               counts.units == places_of(account, now) && within(account);
    }

    Layout layout;
    Geometry geometry;
    Places<A> places;
    CountingFacts facts;
    UserLimits<A> users;
    CoolDowns<A> cool_downs;
    Claims<A, CountingFacts> claims;
    Holds<A, CountingFacts> holds;
    Edits<A, CountingFacts> edits;
};

using LimitedVenue = LimitedVenueOn<StdAtomics>;

}  // namespace holdfast::inventory::test
