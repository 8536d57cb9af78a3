// Public bug reports of other systems, by their row of the list of cases.
#include "tests/api/stage.hpp"

#include <catch2/catch.hpp>
#include <map>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

std::string token_of(Stage::Answer const& hold) {
    return "Hold " + hold["token"];
}

/// A house whose four numbers add up whenever they are read.
struct House : Stage {
    using Stage::Stage;

    engine::SectionCount count(std::string_view section) {
        auto const counts = event->availability(now);
        auto const index = event->spec().layout.find_section(section)->value();
        auto const& found = counts[index];
        CHECK(found.free + found.held + found.sold + found.blocked == found.capacity);
        return found;
    }
    Answer order(std::vector<Answer> const& holds) {
        std::string body;
        for (auto const& hold : holds)
            body += (body.empty() ? "" : ",") + (R"({"hold":")" + hold["hold"]) + R"(","token":")" +
                    hold["token"] + "\"}";
        auto answer = post("/v1/orders", R"({"holds":[)" + body + "]}");
        if (answer.status != 201) return answer;
        std::vector<std::string> ids;
        for (auto const& hold : holds) ids.push_back(hold["hold"]);
        record_order(answer["order"], ids);
        return answer;
    }
};

}  // namespace

TEST_CASE("#3: an account at its limit burns no stock, however often it asks", "[reported]") {
    EventSpec spec = sample_event();
    spec.policy.max_per_user = 1;
    spec.policy.guest = false;
    House house(std::move(spec));
    std::string const wish = R"({"account":7,"section":"BAR","quantity":1})";
    REQUIRE(house.post("/v1/events/demo/holds", wish, staff).status == 201);
    for (int i = 0; i < 1'000; ++i)
        REQUIRE(house.post("/v1/events/demo/holds", wish, staff)["code"] == "user-limit");
    CHECK(house.count("BAR").free == 4);
    CHECK(house.journal.records().size() == 1);
}

TEST_CASE("#7, #10: what one holds is not offered for sale, and other zones are", "[reported]") {
    House house;
    REQUIRE(house.claim(R"({"section":"BAR","quantity":4})").status == 201);
    auto const last = house.claim(R"({"section":"BAR","quantity":1})");
    REQUIRE(last.status == 201);
    auto const second = house.claim(R"({"section":"BAR","quantity":1})");
    CHECK(second.status == 409);
    CHECK(second["code"] == "sold-out");
    CHECK(second["left"] == "0");
    CHECK(house.claim(R"({"section":"GA","quantity":1})").status == 201);
    CHECK(house.order({last}).status == 201);
    CHECK(house.claim(R"({"section":"BAR","quantity":1})").status == 409);
    CHECK(house.count("BAR").free == 0);
}

TEST_CASE("#11: a cancelled order gives exactly its places back, once", "[reported]") {
    House house;
    auto const four = house.claim(R"({"section":"BAR","quantity":4})");
    auto const one = house.claim(R"({"section":"BAR","quantity":1})");
    auto const order = house.order({four});
    REQUIRE(house.order({one}).status == 201);
    REQUIRE(house.count("BAR").sold == 5);
    std::string const cancel = "/v1/orders/" + order["order"] + "/cancel";
    CHECK(house.post(cancel, "", staff).status == 200);
    CHECK(house.count("BAR").free == 4);
    CHECK(house.claim(R"({"section":"BAR","quantity":4})").status == 201);
    CHECK(house.post(cancel, "", staff).status == 409);
    CHECK(house.count("BAR").free == 0);
    CHECK(house.count("BAR").sold == 1);
}

TEST_CASE("#13: an answer of what is left agrees with a recount in every state", "[reported]") {
    House house;
    std::vector<Stage::Answer> holds;
    // Held, sold, blocked and lapsed in turn; always one more than there is is asked for.
    for (int step = 0; step < 6; ++step) {
        std::uint32_t const free = house.count("BAR").free;
        CAPTURE(step, free);
        auto const over =
            house.claim(R"({"section":"BAR","quantity":)" + std::to_string(free + 1) + "}");
        REQUIRE(over.status == 409);
        CHECK(over["left"] == std::to_string(free));
        switch (step % 4) {
            case 0:
                holds.push_back(house.claim(R"({"section":"BAR","quantity":2})"));
                REQUIRE(holds.back().status == 201);
                break;
            case 1:
                REQUIRE(house.order({holds.back()}).status == 201);
                break;
            case 2:
                REQUIRE(
                    house.post("/v1/events/demo/blocks", R"({"section":"BAR","quantity":1})", staff)
                        .status == 201);
                break;
            default:
                REQUIRE(house.claim(R"({"section":"BAR","quantity":1})").status == 201);
                CHECK(house.count("BAR").free == free - 1);
                house.now += 300s;
                break;
        }
    }
}

TEST_CASE("#25, #31: with the timer stopped a cart that lapsed leaves no trace", "[reported]") {
    EventSpec spec = sample_event();
    spec.policy.max_open_holds_per_user = 1;
    House house(std::move(spec));
    std::string const cart = R"({"account":7,"seats":["A-1-1","A-1-2"]})";
    REQUIRE(house.post("/v1/events/demo/holds", cart, staff).status == 201);
    house.now += 299'999ms;
    CHECK(house.count("A").held == 2);
    CHECK(house.post("/v1/events/demo/holds", cart, staff).status == 409);
    house.now += 1ms;
    CHECK(house.count("A").free == 20);
    engine::SeatStates states;
    REQUIRE(house.event->seat_states(house.now, states));
    CHECK(states.seats[0] == 0);
    CHECK(house.post("/v1/events/demo/holds", cart, staff).status == 201);
}

TEST_CASE("#26, #30: a cart with one lapsed hold is not sold, not even in part", "[reported]") {
    House house;
    auto const old = house.claim(R"({"seats":["A-1-1","A-1-2"]})");
    house.now += 200s;
    auto const fresh = house.claim(R"({"seats":["A-2-1"]})");
    house.now += 100s;
    auto const refused = house.order({fresh, old});
    CHECK(refused.status == 410);
    CHECK(refused["code"] == "hold-expired");
    CHECK(refused["seats"] == "A-1-1 A-1-2");
    CHECK(refused["expired_at"] == "2027-05-01T12:05:00.000Z");
    CHECK(house.journal.count(journal::RecordType::order) == 0);
    CHECK(house.count("A").sold == 0);
    // The other hold is as it was.
    auto const read = house.get("/v1/holds/" + fresh["hold"], token_of(fresh));
    CHECK(read["state"] == "held");
    CHECK(read["expires_at"] == fresh["expires_at"]);
    CHECK(house.order({fresh}).status == 201);
}

TEST_CASE("#29: after the end of the sale less is possible and more is not", "[reported]") {
    House house;
    auto const hold = house.claim(R"({"seats":["A-1-1","A-1-2","A-1-3"]})");
    auto const paid = house.claim(R"({"seats":["A-2-1"]})");
    REQUIRE(house.post("/v1/events/demo/close", "", staff).status == 200);
    std::string const path = "/v1/holds/" + hold["hold"];
    auto const put = [&](std::string const& body) {
        return house.send(http::Method::put, path + "/seats", body, token_of(hold));
    };
    auto const more = put(R"({"seats":["A-1-1","A-1-2","A-1-3","A-1-4"]})");
    CHECK(more.status == 403);
    CHECK(more["code"] == "sale-closed");
    CHECK(house.claim(R"({"seats":["A-1-4"]})")["code"] == "sale-closed");
    CHECK(put(R"({"seats":["A-1-1","A-1-2"]})").status == 200);
    CHECK(house.post(path + "/release", R"({"seats":["A-1-2"]})", token_of(hold)).status == 200);
    CHECK(house.del(path, token_of(hold)).status == 204);
    CHECK(house.order({paid}).status == 201);
}

TEST_CASE("#71: a seat of another event is no seat of this one", "[reported]") {
    House house;
    EventSpec other = sofa_event();
    other.slug = "other";
    house.add_event(std::move(other));
    auto const refused = house.claim(R"({"seats":["A-2"]})");
    CHECK(refused.status == 422);
    CHECK(refused["code"] == "unknown-seat");
    CHECK(house.post("/v1/events/other/holds", R"({"seats":["A-1"]})").status == 201);
    CHECK(house.post("/v1/events/other/holds", R"({"seats":["A-1-1"]})").status == 422);
}

Stage::Answer sell(House& house) {
    return house.order({house.claim(R"({"seats":["A-1-1"]})")});
}

std::string ticket_of(Stage::Answer const& order) {
    return order["tickets"].substr(0, order["tickets"].find(':'));
}

using Ways = std::map<std::string, std::function<void(House&)>>;

Ways ways_of_held_seats() {
    return {
        {"release",
         [&](House& house) {
             auto const hold = house.claim(R"({"seats":["A-1-1"]})");
             REQUIRE(house.del("/v1/holds/" + hold["hold"], token_of(hold)).status == 204);
         }},
        {"partial release",
         [&](House& house) {
             auto const hold = house.claim(R"({"seats":["A-1-1","A-1-2"]})");
             REQUIRE(house
                         .post("/v1/holds/" + hold["hold"] + "/release", R"({"seats":["A-1-1"]})",
                               token_of(hold))
                         .status == 200);
             REQUIRE(house.del("/v1/holds/" + hold["hold"], token_of(hold)).status == 204);
         }},
        {"exchange",
         [&](House& house) {
             auto const hold = house.claim(R"({"seats":["A-1-1"]})");
             REQUIRE(house
                         .send(http::Method::put, "/v1/holds/" + hold["hold"] + "/seats",
                               R"({"seats":["A-1-5"]})", token_of(hold))
                         .status == 200);
             REQUIRE(house.del("/v1/holds/" + hold["hold"], staff).status == 204);
         }},
        {"expiry",
         [&](House& house) {
             REQUIRE(house.claim(R"({"seats":["A-1-1"]})").status == 201);
             house.now += 300s;
         }},
        {"end of a block",
         [&](House& house) {
             auto const block =
                 house.post("/v1/events/demo/blocks", R"({"seats":["A-1-1"]})", staff);
             REQUIRE(house.del("/v1/blocks/" + block["hold"], staff).status == 204);
         }},
    };
}

Ways ways_of_sold_seats() {
    return {
        {"cancelled order",
         [&](House& house) {
             auto const path = "/v1/orders/" + sell(house)["order"];
             REQUIRE(house.post(path + "/cancel", "", staff).status == 200);
         }},
        {"refund of a ticket",
         [&](House& house) {
             auto const order = sell(house);
             REQUIRE(house
                         .post("/v1/orders/" + order["order"] + "/refund",
                               R"({"tickets":[")" + ticket_of(order) + R"("]})", staff)
                         .status == 200);
         }},
        {"reseat",
         [&](House& house) {
             auto const order = sell(house);
             std::string const path = "/v1/orders/" + order["order"];
             REQUIRE(
                 house
                     .post(path + "/reseat",
                           R"({"seats":[{"ticket":")" + ticket_of(order) + R"(","to":"A-1-9"}]})",
                           staff)
                     .status == 200);
             REQUIRE(house.post(path + "/cancel", "", staff).status == 200);
         }},
    };
}

TEST_CASE("#79: whatever takes a seat back, it is free and can be had again", "[reported]") {
    Ways ways = ways_of_held_seats();
    ways.merge(ways_of_sold_seats());
    for (auto const& [name, way] : ways) {
        CAPTURE(name);
        House house;
        way(house);
        CHECK(house.seat_is_free("A-1-1"));
        CHECK(house.count("A").free == 20);
        CHECK(house.claim(R"({"seats":["A-1-1"]})").status == 201);
    }
}

TEST_CASE("#81: a reseat moves one ticket from zone to zone, and not at all in conflict",
          "[reported]") {
    House house;
    auto const order = house.order({house.claim(R"({"seats":["A-1-1"]})")});
    std::string const ticket = order["tickets"].substr(0, order["tickets"].find(':'));
    auto const reseat = [&](std::string const& to) {
        return house.post("/v1/orders/" + order["order"] + "/reseat",
                          R"({"seats":[{"ticket":")" + ticket + R"(","to":")" + to + R"("}]})",
                          staff);
    };
    REQUIRE(house.claim(R"({"seats":["B-1-1"]})").status == 201);
    CHECK(reseat("B-1-1").status == 409);
    CHECK(house.count("A").sold == 1);
    CHECK(house.count("B").sold == 0);
    CHECK(reseat("B-1-2").status == 200);
    CHECK(house.count("A").sold == 0);
    CHECK(house.count("A").free == 20);
    CHECK(house.count("B").sold == 1);
    CHECK(house.seat_is_free("A-1-1"));
}

}  // namespace holdfast::test
