// Claims, ends, searches and the wheel under the simulated memory model.

#include "tests/memory_model/guarded.hpp"

#include <holdfast/timer/wheel.hpp>

namespace holdfast::test {
namespace {

/// Overlapping lists, given back and claimed again from few slots.
struct Claims3 : HouseTest<Claims3, 3> {
    void before() { open(floor_of_two(), 1); }
    void thread(unsigned index) {
        if (index == 0) house->claim_and_end({0, 1});
        if (index == 1) house->claim_and_end({1});
        if (index == 2) {
            house->claim_and_end({0});
            house->claim_and_end({0, 1});
        }
    }
    void after() {
        house->at_rest(2);
        close();
    }
};

/// Winners keep their places. Lists of different lengths: a helper may read of another hold.
struct Unequal : HouseTest<Unequal, 3> {
    int won[3]{};
    void before() { open(floor_of_two(), 2); }
    void thread(unsigned index) {
        std::vector<std::uint32_t> const seats =
            index == 2 ? std::vector<std::uint32_t>{1} : std::vector<std::uint32_t>{0, 1};
        won[index] = house->claim(seats).kind == Kind::won ? 1 : 0;
    }
    void after() {
        RL_ASSERT(won[0] + won[1] + won[2] == 1);
        RL_ASSERT(house->free_count(at(1)) == (won[2] == 1 ? 1U : 0U));
        close();
    }
};

/// A hold past its deadline is ended by whoever comes by, and its slot is used again at once.
struct Expiry : HouseTest<Expiry, 3> {
    HoldRef due;
    void before() {
        open(floor_of_two(), 0);
        due = house->hold({0}, 5);
    }
    void thread(unsigned index) {
        if (index == 0) {
            std::size_t ended = 0;
            static_cast<void>(house->holds.fire(due.slot(), at(6), at(7), ended));
            return;
        }
        // A full pool is `busy`; but nobody is refused for a hold that has expired.
        auto const outcome = house->claim({index == 1 ? 0U : 1U}, 6);
        RL_ASSERT(outcome.kind != Kind::lost);
    }
    void after() { close(); }
};

/// Expiry against claims of both places, with slots to spare.
struct ExpiryHelp : HouseTest<ExpiryHelp, 3> {
    HoldRef due;
    int won[3]{};
    void before() {
        open(floor_of_two(), 2);
        due = house->hold({0, 1}, 5);
    }
    void thread(unsigned index) {
        if (index == 0) {
            std::size_t ended = 0;
            static_cast<void>(house->holds.fire(due.slot(), at(6), at(7), ended));
        } else {
            won[index] = house->claim({0, 1}, 6).kind == Kind::won ? 1 : 0;
        }
    }
    void after() {
        RL_ASSERT(won[1] + won[2] == 1);
        close();
    }
};

/// A hold that has hardly begun is ended by another thread: its CLAIM comes before that END.
struct Young : HouseTest<Young, 3> {
    void before() { open(floor_of_two(), 2); }
    void thread(unsigned index) {
        if (index == 0) static_cast<void>(house->take({0, 1}, at(1), at(5)));
        if (index == 1) static_cast<void>(house->take({1}, at(6), at(1'000)));
        if (index == 2) static_cast<void>(house->claim({0}, 6));
    }
    void after() { close(); }
};

/// A release against claims of its places.
struct Release : HouseTest<Release, 3> {
    HoldRef hold_;
    void before() {
        open(floor_of_two(), 1);
        hold_ = house->hold({0, 1});
    }
    void thread(unsigned index) {
        if (index == 0) house->end(hold_);
        if (index == 1) house->claim_and_end({0, 1});
        if (index == 2) house->claim_and_end({1});
    }
    void after() {
        house->at_rest(2);
        close();
    }
};

/// A kept "sold out" against a release.
struct Verdict : HouseTest<Verdict, 3> {
    HoldRef hold_;
    void before() {
        open(floor_of_two(), 2);
        hold_ = house->hold({0, 1});
    }
    void thread(unsigned index) {
        if (index == 0) {
            house->end(hold_);
            return;
        }
        if (auto const bought = house->buy(1)) house->end(*bought);
        if (index == 2) return;
        if (auto const bought = house->buy(2)) house->end(*bought);
    }
    void after() {
        house->at_rest(2);
        close();
    }
};

/// Two releases: a search that saw the one may not keep a verdict over the other.
struct TwoFrees : HouseTest<TwoFrees, 3> {
    HoldRef holds_[2];
    void before() {
        open(floor_of_two(), 2);
        for (std::uint32_t seat = 0; seat < 2; ++seat) holds_[seat] = house->hold({seat});
    }
    void thread(unsigned index) {
        if (index < 2) house->end(holds_[index]);
        if (index < 2) return;
        if (auto const bought = house->buy(2)) house->end(*bought);
    }
    void after() {
        house->at_rest(2);
        close();
    }
};

/// Whoever lost a place clears its hint while the place is freed.
struct Hints : HouseTest<Hints, 2> {
    HoldRef hold_;
    void before() {
        open(floor_of_two(), 2);
        hold_ = house->hold({0});
    }
    void thread(unsigned index) {
        if (index == 0)
            house->end(hold_);
        else
            house->claims.unhint(0);
    }
    void after() {
        house->at_rest(2);
        close();
    }
};

/// A list that goes on in a second slot.
struct LongLists : HouseTest<LongLists, 3> {
    void before() { open(floor_of_seven(), 0); }
    void thread(unsigned index) {
        if (index == 0) house->claim_and_end({0, 1, 2, 3, 4, 5, 6});
        if (index == 1) house->claim_and_end({6});
        if (index == 2) house->claim_and_end({0, 1, 2, 3, 4, 5, 6});
    }
    void after() {
        house->at_rest(7);
        close();
    }
};

/// The wheel drops a slot while it is used again.
struct Wheel : HouseTest<Wheel, 2> {
    std::unique_ptr<timer::Wheel<RelacyAtomics>> wheel;
    HoldRef hold_;
    std::size_t ended{0};
    void before() {
        open(floor_of_two(), 0);
        wheel = std::make_unique<timer::Wheel<RelacyAtomics>>(2U, Milliseconds{40});
        house->facts.armed = [this](SlotIndex slot) { wheel->arm(slot); };
        hold_ = house->hold({0}, 500);
    }
    void advance(TimePoint now) {
        auto& holds = house->holds;
        wheel->advance(
            now,
            [&](SlotIndex slot) { return holds.fire(slot, now, now + Milliseconds{10}, ended); },
            [&](SlotIndex slot) { return holds.needs_timer(slot); });
    }
    void thread(unsigned index) {
        if (index == 1) {
            advance(at(20));
            return;
        }
        house->end(hold_);
        static_cast<void>(house->take({1}, at(10), at(60)));
    }
    void after() {
        for (std::int64_t ms = 30; ms <= 110; ms += 10) advance(at(ms));
        // By what the wheel has done, not by the clock.
        for (std::uint32_t place = 0; place < 2; ++place) RL_ASSERT(house->is_free(place, at(0)));
        wheel.reset();
        close();
    }
};

}  // namespace

std::vector<Suite> claim_suites() {
    return {{"claims in each other's way", simulate<Claims3>},
            {"claims of unequal lists", simulate<Unequal>},
            {"expiry and slots used again", simulate<Expiry>},
            {"expiry against claims", simulate<ExpiryHelp>},
            {"a hold ended as soon as it is there", simulate<Young>},
            {"a release against claims", simulate<Release>},
            {"a verdict against a release", simulate<Verdict>},
            {"a verdict against two releases", simulate<TwoFrees>},
            {"hints", simulate<Hints>},
            {"lists of two slots", simulate<LongLists>},
            {"the wheel and a slot used again", simulate<Wheel>}};
}

}  // namespace holdfast::test
