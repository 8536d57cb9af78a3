// The wheel with several drivers and the cool-downs of accounts under the simulated memory model.

#include "tests/inventory/limited_venue.hpp"
#include "tests/memory_model/guarded.hpp"

#include <holdfast/timer/wheel.hpp>

namespace holdfast::test {
namespace {

using inventory::test::LimitedVenueOn;
using inventory::test::Limits;
using inventory::test::most_units;
using namespace std::chrono_literals;

/// Two that arm a slot each and drive the wheel, and one that only asks whether all is settled.
struct TwoDrivers : rl::test_suite<TwoDrivers, 3> {
    static constexpr std::uint32_t slots = 3;
    std::unique_ptr<timer::Wheel<RelacyAtomics>> wheel;
    rl::var<int> ring;  // whoever drives the wheel has it alone
    rl::var<int> armed[slots + 1];
    rl::var<int> fired[slots + 1];

    TwoDrivers() {
        UntracedMemory::use();
        Burst::choose();
    }
    void before() {
        wheel = std::make_unique<timer::Wheel<RelacyAtomics>>(slots, Milliseconds{10'000});
        ring(RL_INFO) = 0;
        for (std::uint32_t slot = 1; slot <= slots; ++slot) fired[slot](RL_INFO) = 0;
        arm(3);
    }
    void thread(unsigned index) {
        if (index < 2) {
            arm(index + 1);
            drive(index == 0);
            return;
        }
        // What it was told is ended it sees ended.
        if (wheel->settled(at(100))) RL_ASSERT(fired[3](RL_INFO) == 1);
    }
    void arm(std::uint32_t slot) {
        armed[slot](RL_INFO) = 1;
        wheel->arm(SlotIndex{slot});
    }
    void drive(bool by_timer, std::int64_t now = 100) {
        auto const fire = [this](SlotIndex slot) -> std::optional<TimePoint> {
            ring(RL_INFO) = 1;
            RL_ASSERT(armed[slot.value()](RL_INFO) == 1);
            fired[slot.value()](RL_INFO) = 1;
            return std::nullopt;
        };
        auto const needs_timer = [](SlotIndex) { return false; };
        if (by_timer) return wheel->advance(at(now), fire, needs_timer);
        static_cast<void>(wheel->settle(at(now), 100, fire, needs_timer));
    }
    void after() {
        drive(true, 20'000);
        for (std::uint32_t slot = 1; slot <= slots; ++slot) RL_ASSERT(fired[slot](RL_INFO) == 1);
        wheel.reset();
    }
};

/// A place that two accounts leave one after the other: the later one's cool-down stays.
struct LeftTwice : rl::test_suite<LeftTwice, 3> {
    std::unique_ptr<LimitedVenueOn<RelacyAtomics>> house;
    HoldRef hold_;
    rl::atomic<int> left;  // the second account's end was acknowledged

    LeftTwice() {
        UntracedMemory::use();
        Burst::choose();
    }
    void before() {
        Limits limits = most_units(2);
        limits.cool_down = 30s;
        house = std::make_unique<LimitedVenueOn<RelacyAtomics>>(floor_of_two(), limits, 3);
        hold_ = house->take(7, {0}).ref;
        left($) = 0;
    }
    void thread(unsigned index) {
        if (index == 0) {
            static_cast<void>(house->release(hold_, at(0)));
            return;
        }
        // The second helps the first end, if it must; the third helps as well, and is refused.
        if (index == 2) {
            static_cast<void>(house->take(7, {0}, at(0)));
            return;
        }
        auto const taken = house->take(9, {0}, at(2'000));
        if (taken.kind != Kind::won) return;
        if (house->release(taken.ref, at(2'000)).kind == EndOutcome::Kind::ended) left($) = 1;
    }
    void after() {
        bool const second_left = left($) == 1;
        bool const cooling = house->cool_downs.cooling(0, 9, at(3'000)).has_value();
        RL_ASSERT(cooling == second_left);
        house.reset();
    }
};

}  // namespace

std::vector<Suite> upkeep_suites() {
    return {{"two drivers of the wheel", simulate<TwoDrivers>},
            {"a place that two accounts leave", simulate<LeftTwice>}};
}

}  // namespace holdfast::test
