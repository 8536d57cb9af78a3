#include "tests/domain/layout_samples.hpp"
#include "tests/engine/tape.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <set>
#include <tuple>

namespace holdfast::engine::test {

TEST_CASE("live and sold holds are restored with all they have", "[replay]") {
    Tape tape;
    CHECK(tape.claim(key(1, 1), {0, 1}));
    CHECK(tape.claim(key(2, 9), {4}, no_deadline));
    CHECK(tape.claim(key(3, 1), {5, 9}));
    CHECK(tape.edit(key(3, 1), 77, at(2'000)));
    CHECK(tape.sell(order(8), {key(1, 1)}));
    CHECK(tape.step(event, LifeStep::published));
    CHECK(tape.step(event, LifeStep::paused));
    CHECK(tape.breach().empty());
    auto restored = tape.replay().take();
    REQUIRE(restored.size() == 2);
    RestoredEvent& found = restored.at(event);
    CHECK(found.life == LifeStep::paused);
    REQUIRE(found.generations.size() == 4);  // and none of slot 4, which was never used
    CHECK(found.generations[1] == 1);
    CHECK(found.generations[2] == 9);
    std::ranges::sort(found.holds, {}, &RestoredHold::ref);
    REQUIRE(found.holds.size() == 3);
    RestoredHold const& sold = found.holds[0];
    CHECK(sold.ref == key(1, 1).ref);
    CHECK(sold.holder == 5);
    CHECK(sold.created_at == at(100));
    CHECK(sold.order == order(8));
    CHECK(sold.seats == seats({0, 1}));
    RestoredHold const& extended = found.holds[1];
    CHECK(extended.ref == key(3, 1).ref);
    CHECK(extended.holder == 77);
    CHECK(extended.expires_at == at(2'000));
    CHECK(extended.order == OrderId{});
    CHECK(found.holds[2].expires_at == no_deadline);
    RestoredEvent const& untouched = restored.at(other_event);
    CHECK(untouched.holds.empty());
    CHECK_FALSE(untouched.life);
    CHECK(untouched.generations.empty());
}

TEST_CASE("ended holds and cancelled orders give their places back", "[replay]") {
    Tape tape;
    CHECK(tape.claim(key(1, 1), {0, 1}));
    CHECK(tape.end(key(1, 1)));
    CHECK(tape.claim(key(2, 1), {1, 2}));
    CHECK(tape.claim(key(1, 2), {0}));
    CHECK(tape.sell(order(1), {key(2, 1), key(1, 2)}));
    CHECK(tape.cancel(order(1), {key(2, 1), key(1, 2)}));
    CHECK(tape.claim(key(3, 1), {0, 1, 2}));
    auto const restored = tape.replay().take();
    REQUIRE(restored.at(event).holds.size() == 1);
    CHECK(restored.at(event).holds[0].ref == key(3, 1).ref);
    CHECK(restored.at(event).generations[1] == 2);
}

TEST_CASE("an END of a hold that is not live is counted and ignored", "[replay]") {
    Tape tape;
    CHECK(tape.claim(key(1, 1), {0}));
    CHECK(tape.end(key(1, 1)));
    CHECK(tape.end(key(1, 1)));
    CHECK(tape.claim(key(1, 2), {0}));
    CHECK(tape.end(key(1, 1)));
    CHECK(tape.claim(key(2, 1), {1}));
    CHECK(tape.sell(order(1), {key(2, 1)}));
    CHECK(tape.end(key(2, 1)));
    CHECK(tape.replay().ignored_ends() == 3);
    CHECK(tape.replay().take().at(event).holds.size() == 2);
}

TEST_CASE("a restart grace moves only live deadlines that were before it", "[replay]") {
    Tape tape;
    CHECK(tape.claim(key(1, 1), {0}, at(900)));
    CHECK(tape.claim(key(2, 1), {1}, at(5'000)));
    CHECK(tape.claim(key(3, 1), {2}, no_deadline));
    CHECK(tape.claim(key(4, 1), {3}, at(900)));
    CHECK(tape.claim(key(1, 1, other_event), {3}, at(900)));
    CHECK(tape.sell(order(1), {key(4, 1)}));
    CHECK(tape.clock(at(2'000)));
    CHECK(tape.claim(key(5, 1), {4}, at(1'000)));
    auto restored = tape.replay().take();
    auto& holds = restored.at(event).holds;
    std::ranges::sort(holds, {}, [](RestoredHold const& hold) { return hold.seats[0]; });
    std::vector<TimePoint> deadlines;
    for (RestoredHold const& hold : holds) deadlines.push_back(hold.expires_at);
    CHECK(deadlines == std::vector{at(2'000), at(5'000), no_deadline, at(900), at(1'000)});
    CHECK(restored.at(other_event).holds.at(0).expires_at == at(2'000));
}

TEST_CASE("one order may sell holds of several events", "[replay]") {
    Tape tape;
    CHECK(tape.claim(key(1, 1), {0}));
    CHECK(tape.claim(key(1, 1, other_event), {0}));
    CHECK(tape.sell(order(4), {key(1, 1), key(1, 1, other_event)}));
    auto const restored = tape.replay().take();
    CHECK(restored.at(event).holds.at(0).order == order(4));
    CHECK(restored.at(other_event).holds.at(0).order == order(4));
}

TEST_CASE("a place with two owners stops the replay and names both records", "[replay]") {
    Tape tape;
    CHECK(tape.claim(key(1, 1), {3, 4}));
    CHECK(tape.sell(order(255), {key(1, 1)}));
    CHECK_FALSE(tape.claim(key(2, 6), {4, 5}));
    CHECK_THAT(tape.breach(), contains("LSN 3"));
    CHECK_THAT(tape.breach(), contains("slot 2 generation 6"));
    CHECK_THAT(tape.breach(), contains("place 4"));
    CHECK_THAT(tape.breach(), contains("slot 1 generation 1, CLAIM at LSN 1"));
    CHECK_THAT(tape.breach(), contains("00ff at LSN 2"));
}

namespace {

/// Slot 1 is held, slot 2 was held and ended, slot 3 is sold.
void record_three_lives(Tape& tape) {
    CHECK(tape.claim(key(1, 5), {0}));
    CHECK(tape.claim(key(2, 1), {1}));
    CHECK(tape.end(key(2, 1)));
    CHECK(tape.claim(key(3, 1), {2}));
    CHECK(tape.sell(order(1), {key(3, 1)}));
}

}  // namespace

TEST_CASE("claims and ends that cannot be stop the replay", "[replay]") {
    Tape tape;
    record_three_lives(tape);
    auto const last_slot = place_count + limits::spare_slots_max;
    SECTION("the slot is in use") {
        CHECK_FALSE(tape.claim(key(1, 6), {7}));
        CHECK_THAT(tape.breach(), contains("in use by the hold of slot 1 generation 5"));
    }
    SECTION("a generation is used twice") {
        CHECK_FALSE(tape.claim(key(2, 1), {7}));
        CHECK_THAT(tape.breach(), contains("had generation 1 already, last record at LSN 3"));
    }
    SECTION("places out of range") {
        CHECK_FALSE(tape.claim(key(4, 1), {9, 10}));
        CHECK_THAT(tape.breach(), contains("place 10 of an event of 10 places"));
    }
    SECTION("places out of order") {
        CHECK_FALSE(tape.claim(key(4, 1), {8, 7}));
        CHECK_THAT(tape.breach(), contains("place 7 does not come after place 8"));
    }
    SECTION("a place twice") {
        CHECK_FALSE(tape.claim(key(4, 1), {7, 7}));
    }
    SECTION("the last slot is one") {
        CHECK(tape.claim(key(last_slot, 1), {7}));
    }
    SECTION("no such slot") {
        CHECK_FALSE(tape.claim(key(last_slot + 1, 1), {7}));
        CHECK_THAT(tape.breach(), contains("no such slot"));
    }
    SECTION("END of a hold that was never claimed") {
        CHECK_FALSE(tape.end(key(2, 2)));
        CHECK_THAT(tape.breach(), contains("newest generation 1, last record at LSN 3"));
    }
    SECTION("END in a slot that cannot be") {
        CHECK_FALSE(tape.end(key(last_slot + 1, 1)));
    }
}

TEST_CASE("records that break the life of a hold stop the replay", "[replay]") {
    Tape tape;
    record_three_lives(tape);
    SECTION("EDIT after END") {
        CHECK_FALSE(tape.edit(key(2, 1), 1, at(5)));
    }
    SECTION("EDIT after ORDER") {
        CHECK_FALSE(tape.edit(key(3, 1), 1, at(5)));
        CHECK_THAT(tape.breach(), contains("sold to order"));
    }
    SECTION("EDIT of an older hold") {
        CHECK_FALSE(tape.edit(key(1, 4), 1, at(5)));
    }
    SECTION("ORDER after END") {
        CHECK_FALSE(tape.sell(order(2), {key(1, 5), key(2, 1)}));
    }
    SECTION("ORDER after ORDER") {
        CHECK_FALSE(tape.sell(order(2), {key(3, 1)}));
    }
    SECTION("ORDER of a hold twice") {
        CHECK_FALSE(tape.sell(order(2), {key(1, 5), key(1, 5)}));
    }
    SECTION("CANCEL of what is not sold") {
        CHECK_FALSE(tape.cancel(order(1), {key(1, 5)}));
    }
    SECTION("CANCEL by another order") {
        CHECK_FALSE(tape.cancel(order(2), {key(3, 1)}));
        CHECK_THAT(tape.breach(), contains("did not buy it"));
    }
    SECTION("CANCEL twice") {
        CHECK(tape.cancel(order(1), {key(3, 1)}));
        CHECK_FALSE(tape.cancel(order(1), {key(3, 1)}));
    }
    SECTION("a claim in an event that is not there") {
        CHECK_FALSE(tape.claim(key(1, 1, EventId{3}), {0}));
        CHECK_THAT(tape.breach(), contains("event 3"));
    }
    SECTION("a life step of an event that is not there") {
        CHECK_FALSE(tape.step(EventId{3}, LifeStep::paused));
        CHECK_THAT(tape.breach(), contains("LSN 6"));
    }
}

TEST_CASE("records of a newer holdfast stop the replay unless they may be ignored", "[replay]") {
    Tape tape;
    auto const claimed = encode(ClaimFact{key(1, 1), 5, at(100), at(900), seats({0})});
    SECTION("ignorable") {
        auto const type = static_cast<RecordType>(journal::ignorable_type_bit | 99U);
        CHECK(tape.raw(type, 200, claimed));
        CHECK(tape.breach().empty());
    }
    SECTION("a type of this version that nothing here makes yet") {
        CHECK_FALSE(tape.raw(RecordType::credit, fact_version, claimed));
        CHECK_THAT(tape.breach(), contains("type 7 version 1"));
    }
    SECTION("an unknown type") {
        CHECK_FALSE(tape.raw(static_cast<RecordType>(99), fact_version, claimed));
        CHECK_THAT(tape.breach(), contains("type 99"));
    }
    SECTION("a newer version of a known type") {
        CHECK_FALSE(tape.raw(RecordType::claim, fact_version + 2, claimed));
        CHECK_THAT(tape.breach(), contains("record version 3 or later"));
    }
    SECTION("a payload of another type") {
        CHECK_FALSE(tape.raw(RecordType::end, fact_version, claimed));
        CHECK_THAT(tape.breach(), contains("END record of 44 bytes"));
    }
    SECTION("the journal's own seal") {
        CHECK(tape.raw(RecordType::seal, fact_version, {}));
        CHECK(tape.breach().empty());
    }
}

TEST_CASE("a long random sale is restored as a plain map knows it", "[replay]") {
    struct Known {
        OrderId order;
        std::vector<std::uint32_t> seats;
    };
    std::mt19937_64 random{samples::seed()};
    Tape tape;
    std::map<HoldKey, Known> model;
    std::map<std::pair<EventId, std::uint32_t>, std::uint64_t> generations;
    std::uint64_t orders = 0;
    for (int step = 0; step < 50'000; ++step) {
        EventId const of = random() % 2 == 0 ? event : other_event;
        auto picked = model.begin();
        if (!model.empty()) std::advance(picked, random() % model.size());
        if (random() % 2 == 0) {
            std::set<std::uint32_t> wanted;
            std::set<std::uint32_t> slots_in_use;
            for (auto const& [hold, known] : model) {
                if (hold.event == of) slots_in_use.insert(hold.ref.slot().value());
            }
            for (auto n = 1 + random() % 3; n > 0; --n) {
                wanted.insert(static_cast<std::uint32_t>(random() % place_count));
            }
            for (auto const& [hold, known] : model) {
                if (hold.event != of) continue;
                for (std::uint32_t const seat : known.seats) wanted.erase(seat);
            }
            auto const slot = static_cast<std::uint32_t>(1 + random() % 20);
            if (wanted.empty()) continue;
            if (slots_in_use.contains(slot)) continue;
            std::vector<std::uint32_t> const list{wanted.begin(), wanted.end()};
            auto const generation = generations[{of, slot}] += 1 + random() % 2;
            REQUIRE(tape.claim(key(slot, generation, of), list));
            model[key(slot, generation, of)] = {{}, list};
        } else if (picked == model.end()) {
            continue;
        } else if (picked->second.order != OrderId{}) {
            REQUIRE(tape.cancel(picked->second.order, {picked->first}));
            model.erase(picked);
        } else if (random() % 2 == 0) {
            picked->second.order = order(++orders);
            REQUIRE(tape.sell(picked->second.order, {picked->first}));
        } else {
            REQUIRE(tape.end(picked->first));
            model.erase(picked);
        }
    }
    auto const restored = tape.replay().take();
    std::size_t found = 0;
    for (auto const& [of, state] : restored) {
        for (RestoredHold const& hold : state.holds) {
            auto const known = model.find({of, hold.ref});
            REQUIRE(known != model.end());
            CHECK(hold.order == known->second.order);
            CHECK(hold.seats == seats(known->second.seats));
            ++found;
        }
        for (std::uint32_t slot = 1; slot <= 20; ++slot) {
            bool const seen = slot < state.generations.size();
            CHECK((seen ? state.generations[slot] : 0) == generations[{of, slot}]);
        }
    }
    CHECK(found == model.size());
}

}  // namespace holdfast::engine::test
