// PUT /v1/holds/{hold}/seats and POST /v1/holds/{hold}/release.
#include "tests/api/stage.hpp"

#include <catch2/catch.hpp>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

/// A hold of A-1-1 and A-1-2, and how its holder changes it.
struct Held {
    Stage stage;
    Stage::Answer hold = stage.claim(R"({"seats":["A-1-1","A-1-2"]})");
    std::string path = "/v1/holds/" + hold["hold"];
    std::string credentials = "Hold " + hold["token"];

    Stage::Answer put(std::string const& body) {
        return stage.send(http::Method::put, path + "/seats", body, credentials);
    }
    Stage::Answer give_back(std::string const& body) {
        return stage.post(path + "/release", body, credentials);
    }
    std::string seats() { return stage.get(path, credentials).body; }
    bool has(std::string const& list) {
        return seats().find("\"seats\":" + list) != std::string::npos;
    }
    std::size_t edits() { return stage.journal.count(journal::RecordType::edit); }
};

/// "A-1-1:A-1-2 B-1-1", as Stage prints a list of lists: the first list as a `seats` member.
std::string first_list(std::string const& lists) {
    std::string seats = R"("seats":[")";
    for (char const c : lists.substr(0, lists.find(' '))) {
        if (c == ':')
            seats += R"(",")";
        else
            seats += c;
    }
    return seats + R"("])";
}

}  // namespace

TEST_CASE("an alternative of a refused exchange is sent back as it is", "[exchange]") {
    EventSpec spec = sample_event();
    spec.policy.orphan_rule = OrphanRule::strict;
    Stage stage(std::move(spec));
    auto const hold =
        stage.claim(R"({"lines":[{"seats":["A-1-1","A-1-2"]},{"section":"GA","quantity":2}]})");
    REQUIRE(hold.status == 201);
    std::string const path = "/v1/holds/" + hold["hold"];
    auto const put = [&](std::string const& seats) {
        return stage.send(http::Method::put, path + "/seats",
                          R"({"lines":[{)" + seats + R"(},{"section":"GA","quantity":3}]})",
                          "Hold " + hold["token"]);
    };
    auto const refused = put(R"("seats":["A-1-1","A-1-2","A-1-4"])");
    CHECK(refused.status == 409);
    CHECK(refused["code"] == "orphan-seat");
    CHECK(refused["orphans"] == "A-1-3");
    CHECK(refused["alternatives"] == "A-1-1:A-1-2:A-1-5 A-1-1:A-1-2:A-1-3 A-1-1:A-1-2:A-1-6");
    auto const accepted = put(first_list(refused["alternatives"]));
    CHECK(accepted.status == 200);
    CHECK(accepted["seats"] == "A-1-1 A-1-2 A-1-5");
    CHECK(accepted["general"] == "GA:3");
    // The seats it gives up are free to the rule: after this 1, 2 and 3 are.
    CHECK(put(R"("seats":["A-1-4","A-1-5"])").status == 200);
    CHECK(stage.seat_is_free("A-1-3"));
}

TEST_CASE_METHOD(Held, "an exchange answers the hold's shape without the token", "[exchange]") {
    stage.now += 100s;
    auto const answer = put(R"({"seats":["A-1-2","B-1-1"]})");
    CHECK(answer.status == 200);
    CHECK(answer.lsn == Lsn{2});
    CHECK(answer["hold"] == hold["hold"]);
    CHECK(answer["token"].empty());
    CHECK(answer["state"] == "held");
    CHECK(answer["total"] == "16500");
    CHECK(answer["expires_at"] == hold["expires_at"]);
    CHECK(answer["expires_in_s"] == "200");
    CHECK(answer["extensions_left"] == hold["extensions_left"]);
    CHECK(has(R"(["A-1-2","B-1-1"])"));
    CHECK(stage.seat_is_free("A-1-1"));
    CHECK_FALSE(stage.seat_is_free("A-1-2"));
}

TEST_CASE_METHOD(Held, "an exchange of general places gives the whole new wish", "[exchange]") {
    CHECK(put(R"({"lines":[{"seats":["A-1-1"]},{"section":"GA","quantity":3}]})").status == 200);
    CHECK(seats().find(R"("general":[{"section":"GA","quantity":3}])") != std::string::npos);
    CHECK(put(R"({"section":"GA","quantity":1})").status == 200);
    CHECK(has("[]"));
    CHECK(seats().find(R"("general":[{"section":"GA","quantity":1}])") != std::string::npos);
    CHECK(stage.seat_is_free("A-1-1"));
    auto const much = put(R"({"section":"BAR","quantity":9})");
    CHECK(much.status == 409);
    CHECK(much["code"] == "sold-out");
    CHECK(much["left"] == "5");
}

TEST_CASE_METHOD(Held, "an exchange for the same is a read", "[exchange]") {
    auto const same = put(R"({"seats":["A-1-2","A-1-1"]})");
    CHECK(same.status == 200);
    CHECK(same.lsn == Lsn{1});
    CHECK(edits() == 0);
}

TEST_CASE_METHOD(Held, "a lost exchange names what is gone and changes nothing", "[exchange]") {
    REQUIRE(stage.claim(R"({"seats":["A-1-4"]})").status == 201);
    for (int i = 0; i < 100; ++i) {
        stage.now += 1s;
        auto const lost = put(R"({"seats":["A-1-1","A-1-3","A-1-4"]})");
        REQUIRE(lost.status == 409);
        REQUIRE(lost["code"] == "seats-unavailable");
        REQUIRE(lost.body.find(R"("refused":[{"seat":"A-1-4","reason":"held"}])") !=
                std::string::npos);
    }
    auto const not_for_sale = put(R"({"seats":["A-1-1","B-1-10"]})");
    CHECK(not_for_sale.body.find(R"([{"seat":"B-1-10","reason":"not-for-sale"}])") !=
          std::string::npos);
    auto const read = stage.get(path, credentials);
    CHECK(read["expires_at"] == hold["expires_at"]);
    CHECK(read["extensions_left"] == hold["extensions_left"]);
    CHECK(has(R"(["A-1-1","A-1-2"])"));
    CHECK(stage.seat_is_free("A-1-3"));
    CHECK(edits() == 0);
}

TEST_CASE_METHOD(Held, "bad bodies of an exchange are named and change nothing", "[exchange]") {
    for (bool const whole : {true, false}) {
        auto const send = [&](std::string const& body) {
            return whole ? put(body) : give_back(body);
        };
        CHECK(send("").status == 400);
        CHECK(send("[]").status == 422);
        CHECK(send("{}").status == 422);
        CHECK(send(R"({"seats":[]})").error() == "/seats range");
        CHECK(send(R"({"seats":"A-1-1"})").error() == "/seats type");
        CHECK(send(R"({"seats":[1]})").error() == "/seats/0 type");
        CHECK(send(R"({"seats":["A-1-1"],"ttl":1})").error() == "/ttl unknown-field");
        CHECK(send(R"({"section":"GA","quantity":0})").error() == "/quantity range");
        CHECK(send(R"({"section":"XX","quantity":1})").error() == "/section unknown-section");
        // What a claim may ask for beyond a list.
        for (auto const& [body, error] :
             {std::pair{R"({"best":{"quantity":1}})", "/best seats-or-general-places-only"},
              {R"({"best":{"quantity":1,"sections":["GA"],"preview":true}})",
               "/best seats-or-general-places-only"},
              {R"({"candidates":["A-1-1"],"count":1})", "/candidates seats-or-general-places-only"},
              {R"({"lines":[{"seats":["A-1-1"]},{"best":{"quantity":1}}]})",
               "/lines/1/best seats-or-general-places-only"},
              {R"({"section":"A","quantity":1})", "/section not-general"},
              {R"({"lines":[{"section":"A","quantity":1}]})", "/lines/0/section not-general"},
              {R"({"lines":[{"seats":["A-1-1"],"section":"GA","quantity":1}]})",
               "/lines/0 one-of-seats-section"},
              {R"({"seats":["A-1-1"],"account":7})", "/account unknown-field"},
              {R"({"seats":["A-1-1"],"partial":false})", "/partial unknown-field"},
              {R"({"seats":["A-1-1"],"preview":true})", "/preview unknown-field"}}) {
            CAPTURE(body);
            CHECK(send(body).status == 422);
            CHECK(send(body).error() == error);
        }
        CHECK(send(R"({"seats":["A-1-1","Z-9"]})")["code"] == "unknown-seat");
        CHECK(send(R"({"seats":["A-1-1","A-1-1"]})")["code"] == "duplicate-seat");
        CHECK(send(R"({"seats":["A-1-1","A-1-2","A-1-3","A-1-4","A-1-5","A-1-6","A-1-7",)"
                   R"("A-1-8","A-1-9","A-1-10","A-2-1"]})")
                  .error() == "/seats range");
    }
    CHECK(has(R"(["A-1-1","A-1-2"])"));
    CHECK(edits() == 0);
}

TEST_CASE_METHOD(Held, "a part goes back, and all of it is the whole hold", "[exchange]") {
    auto const part = give_back(R"({"seats":["A-1-1"]})");
    CHECK(part.status == 200);
    CHECK(part.lsn == Lsn{2});
    CHECK(has(R"(["A-1-2"])"));
    CHECK(stage.seat_is_free("A-1-1"));
    auto const again = give_back(R"({"seats":["A-1-1","A-1-2"]})");
    CHECK(again.status == 422);
    CHECK(again["code"] == "unknown-seat");
    CHECK(again["seats"] == "A-1-1");
    CHECK(again["detail"] == "There is no such place in this hold.");
    CHECK(give_back(R"({"section":"GA","quantity":1})")["seats"] == "GA");
    CHECK_FALSE(stage.seat_is_free("A-1-2"));
    auto const rest = give_back(R"({"seats":["A-1-2"]})");
    CHECK(rest.status == 204);
    CHECK(rest.body.empty());
    CHECK(rest.lsn == Lsn{3});
    CHECK(stage.seat_is_free("A-1-2"));
    CHECK(give_back(R"({"seats":["A-1-2"]})")["code"] == "already-released");
    CHECK(put(R"({"seats":["A-1-2"]})")["code"] == "already-released");
}

TEST_CASE_METHOD(Held, "only its holder changes a hold, and only while it lives", "[exchange]") {
    auto const other = stage.claim(R"({"seats":["A-2-1"]})");
    for (std::string_view const tail : {"/seats", "/release"}) {
        auto const method = tail == "/seats" ? http::Method::put : http::Method::post;
        std::string const body = R"({"seats":["A-1-1"]})";
        auto const send = [&](std::string const& who) {
            return stage.send(method, path + std::string(tail), body, who);
        };
        CHECK(send("").status == 401);
        CHECK(send("").header("WWW-Authenticate") == "Hold");
        CHECK(send("Hold " + other["token"]).status == 404);
        CHECK(send("Hold x").status == 404);
    }
    stage.now += 300s;
    auto const late = put(R"({"seats":["A-1-1"]})");
    CHECK(late.status == 410);
    CHECK(late["code"] == "hold-expired");
    CHECK(give_back(R"({"seats":["A-1-1"]})").status == 410);
    CHECK(stage.seat_is_free("A-1-1"));
    CHECK(edits() == 0);
}

TEST_CASE_METHOD(Held, "a sold hold is not exchanged; what is sold is what it had last",
                 "[exchange]") {
    REQUIRE(put(R"({"seats":["A-1-2","A-2-5"]})").status == 200);
    auto const order =
        stage.post("/v1/orders", R"({"holds":[")" + hold["hold"] + R"("]})", credentials);
    CHECK(order.status == 201);
    CHECK(order.body.find("A-2-5") != std::string::npos);
    CHECK(order.body.find("A-1-1\"") == std::string::npos);
    auto const sold = put(R"({"seats":["A-1-1"]})");
    CHECK(sold.status == 409);
    CHECK(sold["code"] == "already-confirmed");
    CHECK(sold["order"] == order["order"]);
    CHECK(give_back(R"({"seats":["A-1-2"]})")["code"] == "already-confirmed");
}

TEST_CASE("a group is exchanged and given back whole", "[exchange]") {
    Stage stage(sofa_event());
    auto const hold = stage.claim(R"({"seats":["A-1","A-2","A-3"]})");
    std::string const path = "/v1/holds/" + hold["hold"];
    auto const put = [&](std::string const& body) {
        return stage.send(http::Method::put, path + "/seats", body, "Hold " + hold["token"]);
    };
    auto const half = put(R"({"seats":["A-1","A-2"]})");
    CHECK(half.status == 422);
    CHECK(half["code"] == "inseparable-group");
    CHECK(half["seats"] == "A-2 A-3");
    CHECK(half["retryable"] == "false");
    CHECK(put(R"({"seats":["A-1","A-4"]})")["seats"] == "A-4 A-5 A-6");
    auto const part =
        stage.post(path + "/release", R"({"seats":["A-1","A-3"]})", "Hold " + hold["token"]);
    CHECK(part.status == 422);
    CHECK(part["seats"] == "A-2 A-3");
    CHECK(stage.journal.count(journal::RecordType::edit) == 0);
    CHECK(put(R"({"seats":["A-4","A-5","A-6"]})").status == 200);
    CHECK(stage.seat_is_free("A-1"));
}

TEST_CASE_METHOD(Held, "an extension for less than is left is not counted", "[holds]") {
    auto const answer = stage.post(path + "/extend", R"({"seconds":60})", credentials);
    CHECK(answer.status == 200);
    CHECK(answer["expires_at"] == hold["expires_at"]);
    CHECK(answer["extensions_left"] == hold["extensions_left"]);
    CHECK(answer.lsn == Lsn{1});
    CHECK(edits() == 0);
}

}  // namespace holdfast::test
