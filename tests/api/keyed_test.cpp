// Idempotency keys (API.md section 7): a repeat gets the first answer and has no second effect.
#include "api/keyed.hpp"

#include "tests/api/stage.hpp"

#include <holdfast/engine/marks.hpp>

#include <boost/json.hpp>
#include <catch2/catch.hpp>

namespace holdfast::test {
namespace {

using http::Method;
using namespace std::chrono_literals;

std::string const key_one = "buyers-key-0123456789-one";
std::string const key_two = "buyers-key-0123456789-two";
std::string const two_seats = R"({"seats":["A-1-1","A-1-2"]})";
constexpr char const* demo_holds = "/v1/events/demo/holds";

Stage::Answer claim(Stage& stage, std::string const& key, std::string const& body = two_seats) {
    return stage.send_keyed(key, Method::post, demo_holds, body);
}

/// What of an answer is of its own moment.
std::string without_times(std::string const& body) {
    auto value = boost::json::parse(body).as_object();
    value.erase("server_time");
    value.erase("expires_in_s");
    return boost::json::serialize(value);
}

bool is_replay(Stage::Answer const& answer) {
    return answer.header("Idempotency-Replayed") == "true";
}

std::size_t records(Stage const& stage) {
    return stage.journal.records().size();
}

/// Sends it twice; the second answer must be the first, without an effect.
Stage::Answer twice(Stage& stage, Method method, std::string const& target, std::string const& body,
                    std::string const& who) {
    static int number = 0;
    std::string const key = "a-new-key-of-some-length-" + std::to_string(++number);
    CAPTURE(http::to_string(method), target, body);
    auto const first = stage.send_keyed(key, method, target, body, who);
    CAPTURE(first.body);
    REQUIRE(first.status < 300);
    CHECK_FALSE(is_replay(first));
    CHECK(first.lsn == stage.journal.appended_lsn());
    std::size_t const before = records(stage);
    auto const again = stage.send_keyed(key, method, target, body, who);
    CHECK(again.status == first.status);
    CHECK(again.body == first.body);  // at the same time
    CHECK(again.header("Location") == first.header("Location"));
    CHECK(is_replay(again));
    CHECK(again.lsn == first.lsn);
    CHECK(records(stage) == before);
    return first;
}

}  // namespace

TEST_CASE("a partial claim that is asked for again leaves out the same", "[keyed]") {
    Stage stage;
    auto const other = stage.claim(R"({"seats":["A-1-2"]})");
    REQUIRE(other.status == 201);
    std::string const partial = R"({"seats":["A-1-2","A-1-1"],"partial":true})";
    auto const first = claim(stage, key_one, partial);
    REQUIRE(first.status == 201);
    CHECK(first["left_out"] == "A-1-2");
    REQUIRE(
        stage.send(Method::del, "/v1/holds/" + other["hold"], {}, hold_credentials(other)).status ==
        204);
    auto const again = claim(stage, key_one, partial);
    CHECK(is_replay(again));
    CHECK(again.body == first.body);
}

TEST_CASE("P4: a claim is answered again also if its body would be refused by now", "[keyed]") {
    EventSpec spec = sample_event();
    spec.policy.max_per_order = 1;  // lowered since the claims of two were granted
    Stage stage(std::move(spec));
    stage.now += 1s;
    int number = 0;
    for (std::string const& body :
         {two_seats, std::string{R"({"seats":["A-1-1","A-1-2"],"partial":true})"}}) {
        std::string const key = "a-key-of-before-the-edit-" + std::to_string(++number);
        CAPTURE(body);
        http::Request request;
        request.method = Method::post;
        request.path = demo_holds;
        request.body = body;
        request.idempotency_key = key;
        request.received_at = stage.now;
        http::Reply reply;
        {
            api::Keyed const keyed(*stage.context, request, reply, api::Keyed::unproved);
            REQUIRE(keyed.mark() != nullptr);
            engine::Answer const first = engine::HoldAnswer{{EventId{1}, HoldRef{1, SlotIndex{1}}},
                                                            stage.now,
                                                            stage.now + 300s,
                                                            0,
                                                            {SeatIndex{0}, SeatIndex{1}}};
            stage.engine->marks().finish(
                {*keyed.mark(), stage.now, stage.now + 24h, no_lsn, engine::encode(first)});
        }
        std::size_t const before = records(stage);
        auto const again = claim(stage, key, body);
        CAPTURE(again.body);
        CHECK(again.status == 201);
        CHECK(is_replay(again));
        CHECK(again["seats"] != "");
        CHECK(again.body.find("left_out") == std::string::npos);
        CHECK(records(stage) == before);
        CHECK(claim(stage, key + "-new", body).status == 422);
    }
}

TEST_CASE("P4: a claim that is asked for again is answered again", "[keyed]") {
    Stage stage;
    auto const first = claim(stage, key_one);
    REQUIRE(first.status == 201);
    CHECK_FALSE(is_replay(first));
    std::size_t const before = records(stage);
    stage.now += 7s;
    auto const again = claim(stage, key_one);
    CHECK(again.status == 201);
    CHECK(is_replay(again));
    CHECK(without_times(again.body) == without_times(first.body));
    CHECK(again["token"] == first["token"]);
    CHECK(again["server_time"] != first["server_time"]);
    CHECK(again["expires_in_s"] == "293");
    CHECK(again.header("Location") == first.header("Location"));
    CHECK(again.lsn == first.lsn);
    CHECK(records(stage) == before);
    // Whatever became of the hold.
    REQUIRE(stage.del("/v1/holds/" + first["hold"], hold_credentials(first)).status == 204);
    REQUIRE(stage.claim(two_seats).status == 201);
    auto const late = claim(stage, key_one);
    CHECK(late.status == 201);
    CHECK(without_times(late.body) == without_times(first.body));
    // A day later it is a new request.
    stage.now += 24h;
    CHECK(claim(stage, key_one)["hold"] != first["hold"]);
}

TEST_CASE("reported bug 37: a key belongs to one request", "[keyed]") {
    Stage stage;
    auto const first = claim(stage, key_one);
    REQUIRE(first.status == 201);
    std::size_t const before = records(stage);
    for (std::string const body : {R"({"seats":["A-1-3"]})", R"({"seats":["A-1-2","A-1-1"]})",
                                   R"({"seats":["A-1-1","A-1-2"] })", "", "{"}) {
        auto const other = claim(stage, key_one, body);
        CHECK(other.status == 422);
        CHECK(other["code"] == "idempotency-mismatch");
    }
    // Another route, with credentials of the same kind.
    REQUIRE(stage.post("/v1/events/demo/pause", "", staff).status == 200);
    REQUIRE(stage.send_keyed("k", Method::post, "/v1/events/demo/resume", "", staff).status == 200);
    auto const step = stage.send_keyed("k", Method::post, "/v1/events/demo/close", "", staff);
    CHECK(step.status == 422);
    CHECK(step["code"] == "idempotency-mismatch");
    CHECK(records(stage) == before + 2);
    // Whoever only reads needs none.
    auto const read = stage.send_keyed("", Method::get, "/v1/holds/" + first["hold"], "",
                                       hold_credentials(first));
    CHECK(read.status == 200);
    CHECK_FALSE(is_replay(read));
    CHECK(claim(stage, key_one).status == 201);
}

TEST_CASE("reported bug 38: keys of different people are different keys", "[keyed]") {
    Stage stage;
    auto const mine = stage.claim(two_seats);
    auto const yours = stage.claim(R"({"seats":["A-1-4","A-1-5"]})");
    std::string const body = R"({"seconds":400})";
    for (auto const& [hold, who] :
         {std::pair{mine, hold_credentials(mine)}, std::pair{yours, hold_credentials(yours)},
          std::pair{mine, staff}}) {
        auto const answer =
            stage.send_keyed("1", Method::post, "/v1/holds/" + hold["hold"] + "/extend", body, who);
        CAPTURE(answer.body);
        CHECK_FALSE(is_replay(answer));
        // The last finds that there are no extensions left.
        CHECK(answer.status == (who == staff ? 409 : 200));
    }
    // Credentials are looked at before the key.
    auto const stranger = stage.send_keyed(
        "1", Method::post, "/v1/holds/" + mine["hold"] + "/extend", body, hold_credentials(yours));
    CHECK(stranger.status == 404);
    CHECK(
        stage.send_keyed("1", Method::post, "/v1/holds/" + mine["hold"] + "/extend", body).status ==
        401);
}

TEST_CASE("reported bug 38: whoever orders with tokens in the body is known by them", "[keyed]") {
    Stage stage;
    auto const order = [&stage](std::string const& key, Stage::Answer const& hold,
                                std::string const& who = {}) {
        return stage.send_keyed(
            key, Method::post, "/v1/orders",
            R"({"holds":[{"hold":")" + hold["hold"] + R"(","token":")" + hold["token"] + R"("}]})",
            who);
    };
    auto const mine = stage.claim(two_seats);
    auto const yours = stage.claim(R"({"seats":["A-1-4","A-1-5"]})");
    // A short key will do, for it is theirs; and what nobody has checked is no scope.
    for (auto const& [hold, who] :
         {std::pair{mine, "Hold undefined"}, std::pair{yours, "Hold undefined"}}) {
        auto const bought = order("1", hold, who);
        CAPTURE(bought.body);
        CHECK(bought.status == 201);
        CHECK_FALSE(is_replay(bought));
        auto const again = order("1", hold, who);
        CHECK(again.status == 201);
        CHECK(is_replay(again));
        CHECK(again["order"] == bought["order"]);
        // By another way the same buyer.
        CHECK(is_replay(order("1", hold)));
    }
}

TEST_CASE("C19: what is no key is refused, and a guest's is one that nobody guesses", "[keyed]") {
    Stage stage;
    std::size_t const before = records(stage);
    std::string const long_key(256, 'k');
    for (std::string const& key :
         {std::string{}, std::string{"nineteen-characters"}, long_key,
          std::string{"twenty and more characters"}, std::string{"twenty-and-more-\tcharacters"},
          std::string{"twenty-and-more-characters\x7f"},
          std::string{"twenty-and-more-charact\xc3\xa9res"}}) {
        CAPTURE(key);
        auto const answer = claim(stage, key);
        CHECK(answer.status == 400);
        CHECK(answer["code"] == "malformed");
        CHECK(answer.error() == "idempotency-key");
    }
    CHECK(records(stage) == before);
    CHECK(claim(stage, std::string(255, 'k')).status == 201);
    // A hold's token that a claim carries proves nothing.
    auto const other = stage.send_keyed("short", Method::post, demo_holds, R"({"seats":["A-2-1"]})",
                                        "Hold anything");
    CHECK(other.status == 400);
    auto const by_staff =
        stage.send_keyed("1", Method::post, demo_holds, R"({"seats":["A-2-1"]})", staff);
    CHECK(by_staff.status == 201);
}

TEST_CASE("reported bug 41: only what was decided is answered again", "[keyed]") {
    Stage stage;
    auto const taken = stage.claim(two_seats);
    // A refusal of the sale stays one, though the seats are free again.
    auto const refused = claim(stage, key_one);
    REQUIRE(refused.status == 409);
    REQUIRE(stage.del("/v1/holds/" + taken["hold"], hold_credentials(taken)).status == 204);
    auto const again = claim(stage, key_one);
    CHECK(again.status == 409);
    CHECK(again.body == refused.body);
    // Without the key the seats may be had later; with it they will not.
    CHECK(refused["retryable"] == "false");
    auto const others = stage.claim(two_seats);
    REQUIRE(others.status == 201);
    CHECK(stage.claim(two_seats)["retryable"] == "true");
    REQUIRE(stage.del("/v1/holds/" + others["hold"], hold_credentials(others)).status == 204);
    CHECK(again.content_type == "application/problem+json");
    CHECK(is_replay(again));
    CHECK(again.lsn == no_lsn);
    CHECK(claim(stage, key_one, R"({"seats":["A-2-5"]})").status == 422);
    // 404, 422, 403 and 503 are forgotten: the same request may be right later.
    CHECK(claim(stage, key_two, R"({"seats":["Z"]})").status == 422);
    CHECK(claim(stage, key_two, "{").status == 400);
    REQUIRE(stage.post("/v1/events/demo/pause", "", staff).status == 200);
    CHECK(claim(stage, key_two).status == 403);
    REQUIRE(stage.post("/v1/events/demo/resume", "", staff).status == 200);
    stage.journal.set_mode(journal::Mode::read_only);
    CHECK(claim(stage, key_two).status == 503);
    stage.journal.set_mode(journal::Mode::running);
    auto const won = claim(stage, key_two);
    CHECK(won.status == 201);
    CHECK_FALSE(is_replay(won));
    // A preview takes nothing, so its key is not used up.
    std::string const preview = R"({"best":{"quantity":2,"preview":true}})";
    std::string const third = "buyers-key-0123456789-three";
    CHECK(claim(stage, third, preview).status == 200);
    // Nor by one that is refused.
    std::string const too_many = R"({"best":{"quantity":6,"sections":["BAR"],"preview":true}})";
    auto const none = claim(stage, third, too_many);
    CHECK(none.status == 409);
    CHECK_FALSE(is_replay(claim(stage, third, too_many)));
    CHECK(claim(stage, third, R"({"best":{"quantity":2}})").status == 201);
    // Ended for good: 410 and 409 of a hold.
    std::string const hold = "/v1/holds/" + won["hold"];
    stage.now += 301s;
    for (int time = 0; time < 2; ++time) {
        auto const gone = stage.send_keyed("k", Method::post, hold + "/extend", R"({"seconds":9})",
                                           hold_credentials(won));
        CHECK(gone.status == 410);
        CHECK(is_replay(gone) == (time == 1));
    }
}

TEST_CASE("a repeat that comes while the first is under way is told to ask again", "[keyed]") {
    Stage stage;
    Stage::Answer early;
    Stage::Answer other;
    stage.journal.before_reserve([&] {
        early = claim(stage, key_one);
        other = claim(stage, key_one, R"({"seats":["A-2-5"]})");
    });
    auto const first = claim(stage, key_one);
    CHECK(first.status == 201);
    CHECK(early.status == 409);
    CHECK(early["code"] == "in-flight");
    CHECK(early["retryable"] == "true");
    CHECK(early.header("Retry-After") == "1");
    CHECK_FALSE(is_replay(early));
    CHECK(other["code"] == "idempotency-mismatch");
    auto const again = claim(stage, key_one);
    CHECK(again.status == 201);
    CHECK(again["hold"] == first["hold"]);
}

TEST_CASE("a repeat waits for the record of the first", "[keyed]") {
    Stage stage;
    stage.journal.hold_back(true);
    auto const first = claim(stage, key_one);
    REQUIRE(first.status == 201);
    CHECK(first.lsn > stage.journal.durable_lsn());
    // Others go on.
    REQUIRE(stage.claim(R"({"seats":["A-2-5"]})").status == 201);
    CHECK(claim(stage, key_one).lsn == first.lsn);
}

TEST_CASE("P4: every request that changes something honours a key", "[keyed]") {
    Stage stage;
    auto const hold = twice(stage, Method::post, demo_holds, two_seats, "");
    std::string const who = hold_credentials(hold);
    std::string const path = "/v1/holds/" + hold["hold"];
    twice(stage, Method::post, path + "/extend", R"({"seconds":400})", who);
    twice(stage, Method::put, path + "/seats",
          R"({"lines":[{"seats":["A-1-2","A-1-3"]},{"section":"GA","quantity":2}]})", who);
    twice(stage, Method::post, path + "/release", R"({"section":"GA","quantity":1})", who);
    std::string const cart = R"({"holds":[")" + hold["hold"] + R"("]})";
    auto const order = twice(stage, Method::post, "/v1/orders", cart, who);
    auto const other = stage.claim(R"({"seats":["A-2-1","A-2-2"]})");
    twice(stage, Method::post, "/v1/holds/" + other["hold"] + "/release",
          R"({"seats":["A-2-1","A-2-2"]})", hold_credentials(other));
    auto const third = stage.claim(R"({"seats":["A-2-1","A-2-2"]})");
    twice(stage, Method::del, "/v1/holds/" + third["hold"], "", hold_credentials(third));
    auto const block = twice(stage, Method::post, demo_blocks,
                             R"({"seats":["B-1-1"],"kind":"not-for-sale"})", staff);
    twice(stage, Method::del, "/v1/blocks/" + block["hold"], "", staff);
    for (std::string const step : {"pause", "resume", "close", "cancel"})
        twice(stage, Method::post, "/v1/events/demo/" + step, "", staff);
}

TEST_CASE("P4: what changes nothing is journaled with its key", "[keyed]") {
    Stage stage;
    auto const hold = twice(stage, Method::post, demo_holds, two_seats, "");
    std::string const who = hold_credentials(hold);
    std::string const path = "/v1/holds/" + hold["hold"];
    twice(stage, Method::put, path + "/seats", two_seats, who);
    twice(stage, Method::post, path + "/extend", R"({"seconds":1})", who);
    twice(stage, Method::del, path, "", who);
    // But for an end of what has ended: it is so again, and takes no room from others' marks.
    std::size_t const before = records(stage);
    for (int i = 0; i < 3; ++i) {
        std::string const key = "a-key-of-another-end-" + std::to_string(i);
        CHECK(stage.send_keyed(key, Method::del, path, "", who).status == 204);
    }
    CHECK(records(stage) == before);
}

TEST_CASE("an answer that cannot be shown again is a problem, and no second effect", "[keyed]") {
    Stage stage;
    stage.now += 1s;
    for (engine::Answer const& answer :
         {engine::Answer{engine::StepAnswer{EventId{1}, EventState::open}},
          engine::Answer{engine::HoldAnswer{
              {EventId{99}, HoldRef{1, SlotIndex{1}}}, stage.now, stage.now, 0, {SeatIndex{1}}}}}) {
        http::Request request;
        request.method = Method::post;
        request.path = demo_holds;
        request.body = two_seats;
        std::string const key = "some-key-of-twenty-letters-" + std::to_string(answer.index());
        request.idempotency_key = key;
        request.received_at = stage.now;
        http::Reply reply;
        {
            api::Keyed const keyed(*stage.context, request, reply, api::Keyed::unproved);
            REQUIRE(keyed.mark() != nullptr);
            stage.engine->marks().finish(
                {*keyed.mark(), stage.now, stage.now + 24h, no_lsn, engine::encode(answer)});
        }
        std::size_t const before = records(stage);
        auto const again = claim(stage, key);
        CHECK(again.status == (answer.index() == 0 ? 503U : 404U));
        CHECK_FALSE(is_replay(again));
        CHECK(records(stage) == before);
    }
}

TEST_CASE("P4: a change of an order is answered again as it was, whatever came later", "[keyed]") {
    Stage stage;
    auto const sold = stage.claim(R"({"lines":[{"seats":["B-2-1","B-2-2"]},)"
                                  R"({"section":"GA","quantity":1}]})");
    std::string const cart = R"({"holds":[")" + sold["hold"] + R"("]})";
    auto const order = stage.post("/v1/orders", cart, hold_credentials(sold));
    REQUIRE(order.status == 201);
    stage.record_order(order["order"], {sold["hold"]});
    std::string const path = "/v1/orders/" + order["order"];
    auto const ticket = [&](std::size_t i) {
        return std::string(
            boost::json::parse(order.body).at("tickets").at(i).at("ticket").as_string());
    };
    auto const move = [&](std::string const& seat) {
        return R"({"seats":[{"ticket":")" + ticket(0) + R"(","to":")" + seat + R"("}]})";
    };
    std::string const refund = R"({"tickets":[")" + ticket(1) + R"("]})";
    auto const send = [&](std::string const& key, std::string const& verb,
                          std::string const& body) {
        auto const answer = stage.send_keyed(key, Method::post, path + verb, body, staff);
        CAPTURE(answer.body);
        CHECK(answer.status == 200);
        return answer;
    };
    // The store of the stage does not follow: each reads the order as it was sold.
    auto const moved = send("1", "/reseat", move("B-2-5"));
    auto const refunded = send("2", "/refund", refund);
    auto const cancelled = send("3", "/cancel", "");
    std::size_t const before = records(stage);
    CHECK(moved.body.find("B-2-5") != std::string::npos);
    CHECK(refunded.body.find("refunded") != std::string::npos);
    CHECK(cancelled["state"] == "cancelled");
    for (auto const& [key, verb, body, first] :
         {std::tuple{"1", "/reseat", move("B-2-5"), moved},
          std::tuple{"2", "/refund", refund, refunded},
          std::tuple{"3", "/cancel", std::string{}, cancelled}}) {
        auto const again = send(key, verb, body);
        CHECK(is_replay(again));
        CHECK(again.body == first.body);
        CHECK(again.lsn == first.lsn);
    }
    CHECK(records(stage) == before);
    // A new key asks anew: the order has ended.
    CHECK(stage.send_keyed("4", Method::post, path + "/cancel", "", staff).status == 409);
    CHECK(is_replay(stage.send_keyed("4", Method::post, path + "/cancel", "", staff)));
}

TEST_CASE("metrics count the marks", "[keyed]") {
    Stage stage;
    claim(stage, key_one);
    claim(stage, key_one);
    claim(stage, key_two);  // taken
    claim(stage, key_two, "{}");
    std::string const text = stage.get("/metrics").body;
    for (std::string const line :
         {"holdfast_idempotency_marks 1\n", "holdfast_idempotency_refusals 1\n",
          "holdfast_idempotency_in_flight 0\n", "holdfast_idempotency_replayed_total 1\n",
          "holdfast_idempotency_mismatched_total 1\n", "holdfast_idempotency_evicted_total 0\n"}) {
        CAPTURE(line);
        CHECK(text.find(line) != std::string::npos);
    }
}

}  // namespace holdfast::test
