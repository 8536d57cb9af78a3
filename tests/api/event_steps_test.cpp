// The steps of an event's life over HTTP: publish, pause, resume, close, cancel.
#include "tests/api/stage.hpp"

#include <catch2/catch.hpp>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

Stage::Answer step(Stage& stage, std::string const& word) {
    return stage.post("/v1/events/demo/" + word, {}, staff);
}

EventSpec draft() {
    EventSpec spec = sample_event();
    spec.publish = false;
    return spec;
}

}  // namespace

TEST_CASE("a draft is published and then sold", "[events]") {
    Stage stage(draft());
    CHECK(stage.claim(R"({"seats":["A-1-1"]})").status == 404);
    auto const published = step(stage, "publish");
    REQUIRE(published.status == 200);
    CHECK(published["event"] == "demo");
    CHECK(published["state"] == "open");
    CHECK(published.lsn == Lsn{1});
    CHECK(stage.claim(R"({"seats":["A-1-1"]})").status == 201);
    auto const again = step(stage, "publish");
    CHECK(again.status == 409);
    CHECK(again["code"] == "illegal-transition");
    CHECK(again["from"] == "open");
    CHECK(stage.journal.count(journal::RecordType::event) == 1);
}

TEST_CASE("a paused sale takes no claim until it is resumed", "[events]") {
    Stage stage;
    CHECK(step(stage, "resume").status == 409);
    REQUIRE(step(stage, "pause")["state"] == "paused");
    auto const refused = stage.claim(R"({"seats":["A-1-1"]})");
    CHECK(refused.status == 403);
    CHECK(refused["code"] == "sale-not-open");
    CHECK(step(stage, "publish").status == 409);
    REQUIRE(step(stage, "resume")["state"] == "open");
    CHECK(stage.claim(R"({"seats":["A-1-1"]})").status == 201);
}

TEST_CASE("what is closed stays closed, and what is cancelled ends everything", "[events]") {
    Stage stage;
    REQUIRE(step(stage, "close")["state"] == "closed");
    CHECK(stage.claim(R"({"seats":["A-1-1"]})")["code"] == "sale-closed");
    CHECK(step(stage, "resume").status == 409);
    CHECK(step(stage, "pause").status == 409);
    REQUIRE(step(stage, "cancel")["state"] == "cancelled");
    CHECK(step(stage, "cancel").status == 409);
    CHECK(step(stage, "close").status == 409);
}

TEST_CASE("a sale that is over by its time is neither paused nor resumed", "[events]") {
    EventSpec spec = sample_event();
    Stage stage;
    spec.slug = "short";
    spec.closes_at = ZonedTime{stage.now + 60s, 0};
    stage.add_event(std::move(spec));
    auto const step_short = [&](std::string const& word) {
        return stage.post("/v1/events/short/" + word, {}, staff);
    };
    REQUIRE(step_short("pause")["state"] == "paused");
    REQUIRE(step_short("resume")["state"] == "open");
    stage.now += 60s;
    for (auto const* const word : {"pause", "resume", "close", "publish"}) {
        CAPTURE(word);
        auto const refused = step_short(word);
        CHECK(refused.status == 409);
        CHECK(refused["code"] == "illegal-transition");
        CHECK(refused["from"] == "closed");
    }
    CHECK(stage.journal.count(journal::RecordType::event) == 2);
}

TEST_CASE("a hold is extended only while the sale is open", "[events][holds]") {
    Stage stage;
    auto const hold = stage.claim(R"({"seats":["A-1-1"]})");
    auto const extend = [&](std::string const& credentials) {
        return stage.post("/v1/holds/" + hold["hold"] + "/extend", R"({"seconds":600})",
                          credentials);
    };
    REQUIRE(step(stage, "pause").status == 200);
    auto const paused = extend("Hold " + hold["token"]);
    CHECK(paused.status == 403);
    CHECK(paused["code"] == "sale-not-open");
    CHECK(extend(staff)["code"] == "sale-not-open");
    REQUIRE(step(stage, "close").status == 200);
    auto const closed = extend("Hold " + hold["token"]);
    CHECK(closed.status == 403);
    CHECK(closed["code"] == "sale-closed");
    CHECK(stage.journal.count(journal::RecordType::edit) == 0);
    CHECK(stage.get("/v1/holds/" + hold["hold"], staff)["extensions_left"] == "1");
}

TEST_CASE("only staff moves an event, and only one that is there", "[events]") {
    Stage stage;
    CHECK(stage.post("/v1/events/demo/pause", {}).status == 401);
    CHECK(stage.post("/v1/events/demo/pause", {}, "Bearer wrong").status == 401);
    CHECK(stage.post("/v1/events/other/pause", {}, staff).status == 404);
    CHECK(stage.post("/v1/events/demo/vanish", {}, staff).status == 404);
    CHECK(stage.journal.count(journal::RecordType::event) == 0);
    CHECK(stage.claim(R"({"seats":["A-1-1"]})").status == 201);
}

}  // namespace holdfast::test
