// Claims that staff make for an account, and what its limits answer.
#include "tests/api/stage.hpp"

#include <catch2/catch.hpp>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

EventSpec with(std::function<void(EventPolicy&)> const& set) {
    EventSpec spec = sample_event();
    spec.policy.orphan_rule = OrphanRule::off;
    set(spec.policy);
    return spec;
}

struct Desk : Stage {
    using Stage::Stage;
    Answer claim_for(std::string const& account, std::string const& wish) {
        return post("/v1/events/demo/holds", "{\"account\":" + account + "," + wish + "}",
                    operator_credentials());
    }
    Answer order(Answer const& hold) {
        return post("/v1/orders",
                    R"({"holds":[")" + hold["hold"] + R"("],"payment":{"method":"none"}})",
                    operator_credentials());
    }
};

std::string const one_place = R"("section":"GA","quantity":1)";

TEST_CASE("staff claim for an account, nobody else does", "[limits]") {
    Desk desk;
    CHECK(desk.claim_for("7", one_place).status == 201);
    CHECK(desk.claim_for("281474976710655", one_place).status == 201);
    CHECK(desk.claim_for("0", one_place).error() == "/account range");
    CHECK(desk.claim_for("281474976710656", one_place).error() == "/account range");
    CHECK(desk.claim_for("\"7\"", one_place).error() == "/account type");
    auto const guest = desk.claim("{\"account\":7," + one_place + "}");
    CHECK(guest.status == 403);
    CHECK(guest["code"] == "forbidden");
    auto const lines = desk.post("/v1/events/demo/holds",
                                 R"({"account":7,"lines":[{"section":"GA","quantity":1}]})",
                                 Desk::operator_credentials());
    CHECK(lines.status == 201);
}

TEST_CASE("four for each account, over all its orders", "[limits][43]") {
    Desk desk(with([](EventPolicy& policy) {
        policy.max_per_user = 4;
        policy.guest = false;
    }));
    CHECK(desk.claim("{" + one_place + "}").status == 401);
    for (int i = 0; i < 4; ++i) {
        auto const hold = desk.claim_for("7", one_place);
        REQUIRE(hold.status == 201);
        REQUIRE(desk.order(hold).status == 201);
    }
    auto const fifth = desk.claim_for("7", one_place);
    CHECK(fifth.status == 409);
    CHECK(fifth["code"] == "user-limit");
    CHECK(fifth["limit"] == "4");
    CHECK(fifth["have"] == "4");
    CHECK(fifth["of"] == "places");
    CHECK(desk.claim_for("8", one_place).status == 201);
    // Staff for nobody are not counted.
    CHECK(desk.post("/v1/events/demo/holds", "{" + one_place + "}", Desk::operator_credentials())
              .status == 201);
}

TEST_CASE("a limit just reached is not exceeded, whatever form the wish has", "[limits]") {
    for (std::string const wish : {R"("section":"A","quantity":2)", R"("best":{"quantity":2})",
                                   R"("section":"GA","quantity":2)", R"("seats":["A-1-1","A-1-2"])",
                                   R"("candidates":["A-1-1","A-1-2"],"count":2)"}) {
        CAPTURE(wish);
        Desk desk(with([](EventPolicy& policy) {
            policy.max_per_user = 2;
            policy.guest = false;
        }));
        CHECK(desk.claim_for("7", wish).status == 201);
        CHECK(desk.claim_for("7", one_place)["code"] == "user-limit");
    }
}

TEST_CASE("open holds are limited and guests are not", "[limits]") {
    Desk desk(with([](EventPolicy& policy) { policy.max_open_holds_per_user = 1; }));
    auto const hold = desk.claim_for("7", one_place);
    REQUIRE(hold.status == 201);
    auto const second = desk.claim_for("7", one_place);
    CHECK(second["code"] == "user-limit");
    CHECK(second["of"] == "open-holds");
    CHECK(desk.claim("{" + one_place + "}").status == 201);
    CHECK(desk.claim("{" + one_place + "}").status == 201);
    REQUIRE(desk.del("/v1/holds/" + hold["hold"], Desk::operator_credentials()).status == 204);
    CHECK(desk.claim_for("7", one_place).status == 201);
}

TEST_CASE("holding again and again without buying ends in 429", "[limits][46]") {
    Desk desk(with([](EventPolicy& policy) { policy.hold_seconds_budget = 60; }));
    for (int i = 0; i < 3; ++i) {
        auto const hold = desk.claim_for("7", R"("seats":["A-1-1"])");
        REQUIRE(hold.status == 201);
        desk.now += 20s;
        REQUIRE(desk.del("/v1/holds/" + hold["hold"], Desk::operator_credentials()).status == 204);
    }
    auto const refused = desk.claim_for("7", R"("seats":["A-1-1"])");
    CHECK(refused.status == 429);
    CHECK(refused["code"] == "hold-budget");
    CHECK(refused["reason"] == "budget");
    CHECK(refused["budget_s"] == "60");
    CHECK(refused.header("Retry-After") == "3600");
    CHECK(refused["retryable"] != "true");
    CHECK(desk.claim_for("8", R"("seats":["A-1-1"])").status == 201);
}

TEST_CASE("a seat left a moment ago is refused by name to the same account", "[limits][46]") {
    Desk desk(with([](EventPolicy& policy) { policy.rehold_cooldown = 30s; }));
    auto const hold = desk.claim_for("7", R"("seats":["A-1-1"])");
    desk.now += 10s;
    REQUIRE(desk.del("/v1/holds/" + hold["hold"], Desk::operator_credentials()).status == 204);
    desk.now += 5s;
    auto const refused = desk.claim_for("7", R"("seats":["A-1-1"])");
    CHECK(refused.status == 429);
    CHECK(refused["code"] == "hold-budget");
    CHECK(refused["reason"] == "cool-down");
    CHECK(refused.header("Retry-After") == "25");
    CHECK(refused.body.find(R"("refused":[{"seat":"A-1-1","reason":"cooling-down"}])") !=
          std::string::npos);
    CHECK(desk.claim(R"({"seats":["A-1-1"]})").status == 201);
}

TEST_CASE("an exchange is bound by the limits of its difference", "[limits][44]") {
    Desk desk(with([](EventPolicy& policy) {
        policy.max_per_user = 2;
        policy.guest = false;
        policy.rehold_cooldown = 30s;
    }));
    auto const hold = desk.claim_for("7", R"("seats":["A-1-1","A-1-2"])");
    REQUIRE(hold.status == 201);
    auto const exchange = [&](std::string const& seats) {
        return desk.send(http::Method::put, "/v1/holds/" + hold["hold"] + "/seats",
                         "{\"seats\":[" + seats + "]}", Desk::operator_credentials());
    };
    auto const three = exchange(R"("A-1-1","A-1-2","A-1-3")");
    CHECK(three["code"] == "user-limit");
    CHECK(three["of"] == "places");
    CHECK(three["have"] == "2");
    CHECK(exchange(R"("A-1-2","A-1-3")").status == 200);
    auto const back = exchange(R"("A-1-1","A-1-2")");
    CHECK(back["code"] == "hold-budget");
    CHECK(back["reason"] == "cool-down");
}

TEST_CASE("above max_per_order one claim is 422 and several holds are 409", "[limits]") {
    Desk desk(with([](EventPolicy& policy) { policy.max_per_order = 2; }));
    CHECK(desk.claim(R"({"section":"GA","quantity":3})").status == 422);
    auto const first = desk.claim(R"({"section":"GA","quantity":2})");
    auto const second = desk.claim(R"({"section":"GA","quantity":1})");
    auto const order = desk.post("/v1/orders",
                                 R"({"holds":[")" + first["hold"] + R"(",")" + second["hold"] +
                                     R"("],"payment":{"method":"none"}})",
                                 Desk::operator_credentials());
    CHECK(order.status == 409);
    CHECK(order["code"] == "user-limit");
    CHECK(order["limit"] == "2");
    CHECK(order["of"] == "order");
}

}  // namespace
}  // namespace holdfast::test
