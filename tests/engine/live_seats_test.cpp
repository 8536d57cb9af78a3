// Against plain maps: a slot has one hold at a time, the one that was put last.
#include "engine/live_seats.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <utility>

namespace holdfast::engine {
namespace {

std::uint64_t seed_of_seats() {
    char const* const given = std::getenv("HOLDFAST_SEED");
    std::uint64_t const seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::cout << "HOLDFAST_SEED=" << seed << '\n';
    return seed;
}

using SeatList = std::vector<SeatIndex>;
struct LastOfSlot {
    HoldRef ref;
    SeatList seats;
};

}  // namespace

TEST_CASE("the places of live holds are found by their references, as in plain maps",
          "[projection]") {
    std::mt19937_64 random{seed_of_seats()};
    LiveSeats live;
    std::map<std::pair<std::uint32_t, std::uint32_t>, LastOfSlot> wanted;
    std::uint32_t const slots[] = {0, 1, 1'023, 1'024, 70'000, (1U << HoldRef::slot_bits) - 1};
    for (int step = 0; step < 20'000; ++step) {
        EventId const event{static_cast<std::uint32_t>(1 + random() % 3)};
        SlotIndex const slot{slots[random() % std::size(slots)]};
        HoldKey const hold{event, HoldRef{random() % 3, slot}};
        auto const place = std::pair{event.value(), slot.value()};
        if (random() % 3 == 0) {
            live.erase(hold);
            auto const at = wanted.find(place);
            if (at != wanted.end() && at->second.ref == hold.ref) wanted.erase(at);
        } else if (random() % 2 == 0) {
            SeatList seats(random() % 8);
            for (SeatIndex& seat : seats) seat = SeatIndex{static_cast<std::uint32_t>(random())};
            live.put(hold, seats);
            wanted[place] = {hold.ref, seats};
        }
        CAPTURE(step);
        auto const found = live.find(hold);
        auto const at = wanted.find(place);
        bool const is_live = at != wanted.end() && at->second.ref == hold.ref;
        REQUIRE(found.has_value() == is_live);
        if (is_live) REQUIRE(std::ranges::equal(*found, at->second.seats));
        REQUIRE(live.size() == wanted.size());
    }
}

}  // namespace holdfast::engine
