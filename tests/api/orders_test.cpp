#include "tests/api/stage.hpp"
#include "tests/support/mutate.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <sstream>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using Catch::Contains;
using Catch::StartsWith;

std::string order_body(Stage::Answer const& hold) {
    return R"({"holds":[")" + hold["hold"] + R"("],"payment":{"method":"none"}})";
}

std::string cart_entry(Stage::Answer const& hold) {
    return R"({"hold":")" + hold["hold"] + R"(","token":")" + hold["token"] + "\"}";
}

Stage::Answer place_order(Stage& stage, Stage::Answer const& hold) {
    return stage.post("/v1/orders", order_body(hold), hold_credentials(hold));
}

}  // namespace

TEST_CASE("an order answers 201 in the shape of API.md", "[orders]") {
    Stage stage;
    auto const hold = stage.claim(R"({"lines":[{"seats":["A-1-7","A-1-8"]},)"
                                  R"({"section":"GA","quantity":2}]})");
    auto const order = place_order(stage, hold);
    REQUIRE(order.status == 201);
    CHECK(order.lsn == Lsn{2});
    CHECK(stage.journal.count(journal::RecordType::order) == 1);
    CHECK_THAT(order["order"], StartsWith("o_"));
    CHECK(order.header("Location") == "/v1/orders/" + order["order"]);
    CHECK(order["state"] == "confirmed");
    CHECK(order["event"] == "demo");
    CHECK(order["total"] == "28000");
    CHECK(order["currency"] == "EUR");
    CHECK(order["created_at"] == "2027-05-01T12:00:00.000Z");
    std::istringstream tickets(order["tickets"]);
    std::set<std::string> ids;
    std::string places;
    for (std::string ticket; tickets >> ticket;) {
        CHECK_THAT(ticket, StartsWith("t_"));
        ids.insert(ticket.substr(0, 28));
        places += ticket.substr(28);
    }
    CHECK(ids.size() == 4);
    CHECK(places == ":A-1-7:A-1-8:GA:GA");
    CHECK_THAT(order.body, Contains(R"("seat":"A-1-7")") && Contains(R"("section":"GA")"));

    auto const read = stage.get("/v1/holds/" + hold["hold"], hold_credentials(hold));
    CHECK(read["state"] == "confirmed");
    CHECK(read["order"] == order["order"]);
    CHECK(read["expires_at"] == "null");
}

TEST_CASE("a hold becomes an order once", "[orders]") {
    Stage stage;
    auto const hold = stage.claim(R"({"seats":["A-1-1"]})");
    auto const order = place_order(stage, hold);
    REQUIRE(order.status == 201);
    auto const again = place_order(stage, hold);
    CHECK(again.status == 409);
    CHECK(again["code"] == "already-confirmed");
    CHECK(again["order"] == order["order"]);
    auto const release = stage.del("/v1/holds/" + hold["hold"], hold_credentials(hold));
    CHECK(release.status == 409);
    CHECK(release["order"] == order["order"]);
    CHECK(stage.journal.count(journal::RecordType::order) == 1);
    CHECK(stage.journal.reserved() == 0);
}

TEST_CASE("holds that ended make no order", "[orders]") {
    Stage stage;
    auto const released = stage.claim(R"({"seats":["A-1-1"]})");
    REQUIRE(stage.del("/v1/holds/" + released["hold"], hold_credentials(released)).status == 204);
    CHECK(place_order(stage, released)["code"] == "already-released");
    auto const expired = stage.claim(R"({"seats":["A-1-1"]})");
    stage.now += 300s;
    auto const gone = place_order(stage, expired);
    CHECK(gone.status == 410);
    CHECK(gone["code"] == "hold-expired");
    CHECK(stage.journal.count(journal::RecordType::order) == 0);
}

TEST_CASE("a cart of a guest carries its own tokens", "[orders]") {
    Stage stage;
    EventSpec second = sample_event("second");
    stage.add_event(std::move(second));
    auto const one = stage.claim(R"({"seats":["A-1-1"]})");
    auto const two = stage.post("/v1/events/second/holds", R"({"seats":["B-1-1"]})");
    std::string const both = R"({"holds":[)" + cart_entry(one) + "," + cart_entry(two) +
                             R"(],"payment":{"method":"none"}})";
    auto const order = stage.post("/v1/orders", both);
    REQUIRE(order.status == 201);
    CHECK(order["event"] == "demo");
    CHECK(order["total"] == "16500");
    CHECK_THAT(order.body, Contains(R"("event":"second","seat":"B-1-1")"));
    SECTION("all or nothing") {
        auto const three = stage.claim(R"({"seats":["A-1-3"]})");
        std::string const mixed =
            R"({"holds":[)" + cart_entry(three) + "," + cart_entry(two) + "]}";
        CHECK(stage.post("/v1/orders", mixed)["code"] == "already-confirmed");
        auto const read = stage.get("/v1/holds/" + three["hold"], hold_credentials(three));
        CHECK(read["state"] == "held");
    }
}

TEST_CASE("an order needs the right credentials for every hold", "[orders][C15]") {
    Stage stage;
    auto const mine = stage.claim(R"({"seats":["A-1-1"]})");
    auto const other = stage.claim(R"({"seats":["A-1-2"]})");
    auto const post = [&stage](std::string const& body, std::string const& credentials = {}) {
        return stage.post("/v1/orders", body, credentials).status;
    };
    CHECK(post(order_body(mine)) == 401);
    CHECK(post(R"({"holds":["x"]})") == 401);
    CHECK(post(R"({"holds":[]})") == 401);
    CHECK(post("not json") == 400);
    CHECK(post(order_body(mine), "Basic x") == 401);
    CHECK(post(order_body(mine), "Bearer wrong") == 401);
    CHECK(post(order_body(mine), hold_credentials(other)) == 404);
    CHECK(post(R"({"holds":["h_zzz"]})", hold_credentials(mine)) == 404);
    CHECK(post(R"({"holds":["1"]})", hold_credentials(mine)) == 404);
    // One entry with a token does not speak for one without.
    std::string const half = R"({"holds":[)" + cart_entry(mine) + R"(,")" + other["hold"] + "\"]}";
    CHECK(post(half) == 401);
    CHECK(post(half, hold_credentials(mine)) == 404);
    std::string const swapped =
        R"({"holds":[{"hold":")" + mine["hold"] + R"(","token":")" + other["token"] + "\"}]}";
    CHECK(post(swapped) == 404);
    CHECK(stage.journal.count(journal::RecordType::order) == 0);
    CHECK(post(half, hold_credentials(other)) == 201);
}

TEST_CASE("an order over the event's bound is refused whole", "[orders]") {
    Stage stage;
    auto const one = stage.claim(R"({"section":"GA","quantity":6})");
    auto const two = stage.claim(R"({"section":"GA","quantity":5})");
    auto const order =
        stage.post("/v1/orders", R"({"holds":[)" + cart_entry(one) + "," + cart_entry(two) + "]}");
    CHECK(order.status == 409);
    CHECK(order["code"] == "user-limit");
    CHECK(order["limit"] == "10");
    CHECK(order["have"] == "11");
    CHECK(place_order(stage, one).status == 201);
}

TEST_CASE("payment must be one the event takes", "[orders]") {
    EventSpec spec = sample_event();
    spec.policy.payment_methods.none = false;
    Stage stage(std::move(spec));
    auto const hold = stage.claim(R"({"seats":["A-1-1"]})");
    auto const order = place_order(stage, hold);
    CHECK(order.status == 422);
    CHECK(order.error() == "/payment/method not-accepted");
    auto const wallet = stage.post(
        "/v1/orders", R"({"holds":[")" + hold["hold"] + R"("],"payment":{"method":"wallet"}})",
        hold_credentials(hold));
    CHECK(wallet.error() == "/payment/method unsupported");
    CHECK(stage.journal.count(journal::RecordType::order) == 0);
}

TEST_CASE("an order is read by its holder and by staff", "[orders][C9]") {
    Stage stage;
    auto const hold =
        stage.claim(R"({"lines":[{"seats":["A-1-1"]},{"section":"GA","quantity":1}]})");
    auto const order = place_order(stage, hold);
    stage.record_order(order["order"], {hold["hold"]});
    std::string const path = "/v1/orders/" + order["order"];
    auto const read = stage.get(path, hold_credentials(hold));
    CHECK(read.status == 200);
    for (auto const* key :
         {"order", "state", "event", "tickets", "total", "currency", "created_at", "payment"}) {
        CAPTURE(key);
        CHECK(read[key] == order[key]);
    }
    CHECK(stage.get(path, Stage::operator_credentials()).body == read.body);
    CHECK(stage.get(path).status == 401);
    CHECK(stage.get(path, "Bearer wrong").status == 401);
    auto const other = stage.claim(R"({"seats":["A-1-2"]})");
    CHECK(stage.get(path, hold_credentials(other)).status == 404);
    CHECK(stage.get("/v1/orders/o_" + std::string(26, 'b'), hold_credentials(hold)).status == 404);
    for (std::string const id : {"1", "h_aaaqeayeaudaocajbifqydiob4", "O_", "x"}) {
        CHECK(stage.get("/v1/orders/" + id, hold_credentials(hold)).status == 404);
    }
}

TEST_CASE("a cancelled order frees its places, once", "[orders][D9]") {
    Stage stage;
    auto const hold = stage.claim(R"({"seats":["A-1-1","A-1-2"]})");
    auto const order = place_order(stage, hold);
    stage.record_order(order["order"], {hold["hold"]});
    std::string const path = "/v1/orders/" + order["order"] + "/cancel";
    CHECK(stage.post(path, "").status == 401);
    CHECK(stage.post(path, "", "Bearer wrong").status == 401);
    CHECK(stage.post(path, "", hold_credentials(hold)).status == 403);
    CHECK(stage.post("/v1/orders/x/cancel", "", Stage::operator_credentials()).status == 404);
    CHECK(stage.post(path, R"({"why":1})", Stage::operator_credentials()).error() ==
          "/why unknown-field");
    CHECK(stage.post(path, "{", Stage::operator_credentials()).status == 400);
    CHECK_FALSE(stage.seat_is_free("A-1-1"));
    auto const cancelled = stage.post(path, "{}", Stage::operator_credentials());
    CHECK(cancelled.status == 200);
    CHECK(cancelled.lsn == Lsn{3});
    CHECK(cancelled["state"] == "cancelled");
    CHECK(stage.seat_is_free("A-1-1"));
    auto const again = stage.post(path, "", Stage::operator_credentials());
    CHECK(again.status == 409);
    CHECK(again["code"] == "already-released");
    CHECK(stage.journal.count(journal::RecordType::cancel) == 1);
    CHECK(stage.journal.reserved() == 0);
}

TEST_CASE("the list of orders is paged by a cursor of ours", "[orders]") {
    Stage stage;
    std::vector<std::string> made;
    for (int i = 1; i <= 5; ++i) {
        auto const hold = stage.claim(R"({"seats":["A-1-)" + std::to_string(i) + "\"]}");
        auto const order = place_order(stage, hold);
        stage.record_order(order["order"], {hold["hold"]});
        made.insert(made.begin(), order["order"]);
    }
    auto const list = [&stage](std::string const& query) {
        return stage.get("/v1/orders" + query, Stage::operator_credentials());
    };
    CHECK(stage.get("/v1/orders").status == 401);
    std::vector<std::string> seen;
    std::string after;
    for (int page = 0; page < 3; ++page) {
        auto const answer = list("?limit=2" + (after.empty() ? "" : "&after=" + after));
        REQUIRE(answer.status == 200);
        std::istringstream items(answer["items"]);
        for (std::string item; items >> item;) seen.push_back(item.substr(0, item.find(':')));
        after = answer["next"];
        CHECK(after.empty() == (page == 2));
    }
    CHECK(seen == made);
    CHECK(list("")["next"].empty());
    CHECK(list("?limit=0").status == 422);
    CHECK(list("?limit=1001").status == 422);
    CHECK(list("?limit=2x").status == 422);
    CHECK(list("?limit=-1").status == 422);
    auto const hold = stage.claim(R"({"seats":["A-2-1"]})");
    for (std::string const& bad : {std::string("x"), std::string("1"), hold["hold"],
                                   "c_" + hold["hold"].substr(2), "c_" + std::string(26, 'a')}) {
        auto const answer = list("?after=" + bad);
        CHECK(answer.status == 400);
        CHECK(answer["code"] == "bad-cursor");
    }
}

TEST_CASE("mutated orders never do more than they say", "[orders][fuzz]") {
    std::mt19937_64 random(seed_of_run());
    std::string_view const alphabet = "{}[]\",:\\019-.ehnot ";
    Stage stage;
    auto const hold = stage.claim(R"({"seats":["A-1-1"]})");
    std::size_t orders = 0;
    for (int round = 0; round < 3'000; ++round) {
        std::string text =
            random() % 2 == 0 ? order_body(hold) : R"({"holds":[)" + cart_entry(hold) + "]}";
        for (auto changes = 1 + random() % 2; changes > 0; --changes)
            mutate(text, alphabet, random);
        std::string const credentials = random() % 2 == 0 ? hold_credentials(hold) : "";
        auto const answer = stage.post("/v1/orders", text, credentials);
        if (answer.status == 201) ++orders;
    }
    CHECK(orders <= 1);
    CHECK(stage.journal.count(journal::RecordType::order) == orders);
    CHECK(stage.journal.reserved() == 0);
}

}  // namespace holdfast::test
