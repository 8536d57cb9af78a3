// What a holder does with a hold: read, extend, give back.
#include "tests/api/stage.hpp"

#include <catch2/catch.hpp>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

}  // namespace

TEST_CASE("a hold is its holder's alone", "[holds][C9]") {
    Stage stage;
    auto const mine = stage.claim(R"({"seats":["A-1-1"]})");
    auto const other = stage.claim(R"({"seats":["A-1-2"]})");
    std::string const path = "/v1/holds/" + mine["hold"];
    auto const missing = stage.get("/v1/holds/h_" + std::string(26, 'a'), hold_credentials(mine));
    CHECK(missing.status == 404);
    for (std::string const& target : {path, path + "/extend"}) {
        auto const method = target == path ? http::Method::get : http::Method::post;
        std::string const body = target == path ? "" : R"({"seconds":60})";
        CHECK(stage.send(method, target, body).status == 401);
        CHECK(stage.send(method, target, body).header("WWW-Authenticate") == "Hold");
        CHECK(stage.send(method, target, body, "Basic x").status == 401);
        auto wrong = stage.send(method, target, body, hold_credentials(other));
        CHECK(wrong.status == 404);
        // The same bytes as for a hold that is not there, but for the path itself.
        auto const at = wrong.body.find(target);
        REQUIRE(at != std::string::npos);
        wrong.body.replace(at, target.size(), "/v1/holds/h_" + std::string(26, 'a'));
        CHECK(wrong.body == missing.body);
    }
    CHECK(stage.del(path).status == 401);
    CHECK(stage.del(path, hold_credentials(other)).status == 404);
    CHECK(stage.del(path, "Hold x").status == 404);
    CHECK(stage.get("/v1/holds/1", hold_credentials(mine)).status == 404);
    CHECK(stage.get("/v1/holds/" + std::string(500, 'h'), hold_credentials(mine)).status == 404);
    CHECK(stage.get("/v1/holds/x").status == 401);
    CHECK(stage.get(path, hold_credentials(mine)).status == 200);
    CHECK(stage.get(path, Stage::operator_credentials()).status == 200);
    CHECK_FALSE(stage.seat_is_free("A-1-1"));
}

TEST_CASE("reading a hold shows the claim's shape without the token", "[holds]") {
    Stage stage;
    auto const hold = stage.claim(R"({"seats":["A-1-1"]})");
    stage.now += 100'500ms;
    auto const read = stage.get("/v1/holds/" + hold["hold"], hold_credentials(hold));
    CHECK(read.status == 200);
    CHECK(read["token"].empty());
    for (auto const* key : {"hold", "event", "state", "seats", "general", "together", "total",
                            "currency", "expires_at", "extensions_left"}) {
        CAPTURE(key);
        CHECK(read[key] == hold[key]);
    }
    CHECK(read["expires_in_s"] == "199");
    CHECK(read["server_time"] == "2027-05-01T12:01:40.500Z");
}

TEST_CASE("P6: a read waits for what it has seen, also after a failure", "[holds]") {
    Stage stage;
    stage.journal.hold_back(true);
    auto const hold = stage.claim(R"({"seats":["A-1-1"]})");
    CHECK(hold.lsn == Lsn{1});
    auto const read = stage.get("/v1/holds/" + hold["hold"], hold_credentials(hold));
    CHECK(read.lsn == Lsn{1});
    stage.journal.set_mode(journal::Mode::failed);
    // It never becomes durable: the session makes 503 of the answer.
    CHECK(stage.get("/v1/holds/" + hold["hold"], hold_credentials(hold)).lsn == Lsn{1});
}

TEST_CASE("a release is 204 again and again", "[holds]") {
    Stage stage;
    auto const hold = stage.claim(R"({"seats":["A-1-1"]})");
    std::string const path = "/v1/holds/" + hold["hold"];
    auto const first = stage.del(path, hold_credentials(hold));
    CHECK(first.status == 204);
    CHECK(first.body.empty());
    CHECK(first.lsn == Lsn{2});
    CHECK(stage.seat_is_free("A-1-1"));
    auto const second = stage.del(path, hold_credentials(hold));
    CHECK(second.status == 204);
    CHECK(second.lsn == Lsn{2});
    CHECK(stage.journal.count(journal::RecordType::end) == 1);
    CHECK(stage.get(path, hold_credentials(hold))["code"] == "already-released");
    auto const extend = stage.post(path + "/extend", R"({"seconds":60})", hold_credentials(hold));
    CHECK(extend.status == 409);
    CHECK(extend["code"] == "already-released");
    CHECK(stage.claim(R"({"seats":["A-1-1"]})").status == 201);
}

TEST_CASE("an expired hold is gone on the millisecond", "[holds]") {
    Stage stage;
    auto const hold = stage.claim(R"({"seats":["A-1-1"]})");
    std::string const path = "/v1/holds/" + hold["hold"];
    stage.now += 300s - 1ms;
    CHECK(stage.get(path, hold_credentials(hold))["expires_in_s"] == "0");
    stage.now += 1ms;
    auto const gone = stage.get(path, hold_credentials(hold));
    CHECK(gone.status == 410);
    CHECK(gone["code"] == "hold-expired");
    CHECK(gone["expired_at"] == "2027-05-01T12:05:00.000Z");
    CHECK(gone["seats"] == "A-1-1");
    CHECK(stage.post(path + "/extend", R"({"seconds":60})", hold_credentials(hold)).status == 410);
    CHECK(stage.del(path, hold_credentials(hold)).status == 204);
    CHECK(stage.claim(R"({"seats":["A-1-1"]})").status == 201);
    CHECK(stage.get(path, hold_credentials(hold)).status == 410);
}

TEST_CASE("an extension moves the deadline within its bounds", "[holds]") {
    Stage stage;
    auto const hold = stage.claim(R"({"seats":["A-1-1"]})");
    std::string const path = "/v1/holds/" + hold["hold"] + "/extend";
    auto const extend = [&](std::string const& body) {
        return stage.post(path, body, hold_credentials(hold));
    };
    CHECK(extend(R"({"seconds":0})").error() == "/seconds range");
    CHECK(extend(R"({"seconds":-1})").error() == "/seconds range");
    CHECK(extend(R"({"seconds":1000000000})").error() == "/seconds range");
    CHECK(extend(R"({"seconds":"5m"})").error() == "/seconds type");
    CHECK(extend("{}").error() == "/seconds required");
    CHECK(extend(R"({"seconds":1,"expires_at":1})").error() == "/expires_at unknown-field");
    CHECK(stage.journal.count(journal::RecordType::edit) == 0);
    stage.now += 200s;
    auto const longer = extend(R"({"seconds":400})");
    CHECK(longer.status == 200);
    CHECK(longer.lsn == Lsn{2});
    CHECK(longer["expires_at"] == "2027-05-01T12:10:00.000Z");
    CHECK(longer["extensions_left"] == "0");
    CHECK(longer["token"].empty());
    auto const again = extend(R"({"seconds":400})");
    CHECK(again.status == 409);
    CHECK(again["code"] == "extension-refused");
    CHECK(again["reason"] == "used-up");
}

TEST_CASE("a refused extension says why and moves nothing", "[holds]") {
    EventSpec spec = sample_event();
    spec.policy.max_extensions = 9;
    spec.policy.hold_max_life = std::chrono::seconds{600};
    Stage stage(std::move(spec));
    auto const hold = stage.claim(R"({"seats":["A-1-1"]})");
    std::string const path = "/v1/holds/" + hold["hold"];
    auto const extend = [&](std::string const& body) {
        return stage.post(path + "/extend", body, hold_credentials(hold));
    };
    stage.now += 200s;
    auto const last = extend(R"({"seconds":7200})");
    CHECK(last["expires_at"] == "2027-05-01T12:10:00.000Z");
    auto const refused = extend(R"({"seconds":7200})");
    CHECK(refused.status == 409);
    CHECK(refused["code"] == "extension-refused");
    CHECK(refused["reason"] == "max-life");
    CHECK(refused["retryable"] == "false");
    REQUIRE(stage.post("/v1/events/demo/close", "", staff).status == 200);
    auto const shut = extend(R"({"seconds":60})");
    CHECK(shut.status == 403);
    CHECK(shut["code"] == "sale-closed");
    auto const read = stage.get(path, hold_credentials(hold));
    CHECK(read["expires_at"] == last["expires_at"]);
    CHECK(read["extensions_left"] == "8");
}

}  // namespace holdfast::test
