// What an answer to a wrong body tells its sender, over every decoder.
#include "api/event_body.hpp"
#include "tests/api/stage.hpp"

#include <catch2/catch.hpp>

namespace holdfast::test {
namespace {

using Catch::Contains;

std::string errors_of(Stage::Answer const& answer) {
    auto const start = answer.body.find("\"errors\":[");
    return start == std::string::npos ? answer.body : answer.body.substr(start + 9);
}

std::string missing(std::string const& pointer, std::string const& unknown) {
    return R"([{"pointer":")" + pointer + R"(","code":"required"},{"pointer":")" + unknown +
           R"(","code":"unknown-field"}])";
}

std::string event_errors(std::string const& body) {
    api::JsonReader reader;
    auto const decoded = api::decode_event_body(reader, body, {});
    if (decoded) return "good";
    auto const& error = decoded.error();
    return error.pointer + " " + std::string{error.code} + error.more + " " + error.unknown;
}

std::string with_section(std::string const& section) {
    return R"({"name":"N","sections":[)" + section + "]}";
}

}  // namespace

TEST_CASE("a misspelt required member is named beside the one that is missing", "[api][errors]") {
    Stage stage;
    struct Case {
        std::string body, pointer, unknown;
    };
    for (auto const& [body, pointer, unknown] : std::vector<Case>{
             {R"({"best":{"quantitiy":2}})", "/best/quantity", "/best/quantitiy"},
             {R"({"best":{"sections":["A"],"accessible":0,"quantitiy":2,"preview":true}})",
              "/best/quantity", "/best/quantitiy"},
             {R"({"section":"GA","quantty":2})", "/quantity", "/quantty"},
             {R"({"lines":[{"section":"GA","quantty":2}]})", "/lines/0/quantity",
              "/lines/0/quantty"},
             {R"({"candidates":["A-1-1"],"cuont":1})", "/count", "/cuont"}}) {
        CAPTURE(body);
        CHECK_THAT(errors_of(stage.claim(body)), Contains(missing(pointer, unknown)));
    }
    auto const hold = stage.claim(R"({"seats":["A-1-1"]})");
    REQUIRE(hold.status == 201);
    auto const extended = stage.post("/v1/holds/" + hold["hold"] + "/extend", R"({"minutes":10})",
                                     hold_credentials(hold));
    CHECK_THAT(errors_of(extended), Contains(missing("/seconds", "/minutes")));
    auto const order =
        stage.post("/v1/orders", R"({"hold":["h_1"],"payment":{"method":"none"}})", staff);
    CHECK_THAT(errors_of(order), Contains(missing("/holds", "/hold")));
    CHECK_THAT(
        errors_of(stage.post("/v1/orders", R"({"holds":["h_1"],"payment":{"how":"none"}})", staff)),
        Contains(missing("/payment/method", "/payment/how")));
    CHECK_THAT(errors_of(stage.post(demo_blocks, R"({"section":"GA","amount":1,"kind":"blocked"})",
                                    staff)),
               Contains(missing("/quantity", "/amount")));
}

TEST_CASE("so in the body of an event, and what is known there is not called unknown",
          "[api][errors]") {
    std::string const rest =
        R"(,"venue":"V","id":"n","time_zone":"UTC","starts_at":null,"currency":"EUR",
           "publish":true,"sale":{"opens_at":null},"policy":{"guest":true},"categories":[])";
    CHECK(event_errors(R"({"nme":"N","sections":[])" + rest + "}") == "/name required /nme");
    CHECK(event_errors(R"({"sections":[])" + rest + "}") == "/name required ");
    CHECK(event_errors(R"({"name":"N","secitons":[])" + rest + "}") ==
          "/sections required /secitons");
    CHECK(event_errors(R"({"name":"N","import":{"fromat":"pretix","plan":{}}})") ==
          "/import/format required /import/fromat");
    CHECK(event_errors(with_section(R"({"idd":"A","name":"B","capacity":3})")) ==
          "/sections/0/id required /sections/0/idd");
    CHECK(event_errors(with_section(R"({"name":"B","category":"x","capacity":3})")) ==
          "/sections/0/id required ");
    CHECK(event_errors(with_section(R"({"id":"A","cpacity":3})")) ==
          "/sections/0/rows required /sections/0/cpacity");
    CHECK(
        event_errors(with_section(R"({"id":"A","rows":[{"labl":"1","seats":2,"whole":true}]})")) ==
        "/sections/0/rows/0/label required /sections/0/rows/0/labl");
    CHECK(event_errors(with_section(R"({"id":"A","rows":[{"label":"1","seats":[{"lable":"1","x":1,
              "y":2,"accessible":true,"joined":true}]}]})")) ==
          "/sections/0/rows/0/seats/0/label required /sections/0/rows/0/seats/0/lable");
    CHECK(event_errors(R"({"name":"N","categories":[{"kee":"a","name":"A","price":1}],
              "sections":[]})") == "/categories/0/key required /categories/0/kee");
}

TEST_CASE("a word that is not known is told with those that are", "[api][errors]") {
    Stage stage;
    CHECK_THAT(stage.post(demo_blocks, R"({"seats":["A-1-1"],"kind":"shut"})", staff).body,
               Contains(R"("code":"value","allowed":["blocked","not-for-sale"]})"));
    auto const error = [](std::string const& member) {
        return event_errors(R"({"name":"N","sections":[{"id":"A","capacity":3}],)" + member + "}");
    };
    CHECK(error(R"("policy":{"orphan_rule":"no"})") ==
          R"(/policy/orphan_rule value,"allowed":["off","lenient","strict"] )");
    CHECK(error(R"("policy":{"guest":true,"max_per_user":4})") ==
          R"(/policy/guest conflict,"with":"/policy/max_per_user" )");
    CHECK(error(R"("id":"No slug")") == R"(/id id,"pattern":"^[a-z0-9][a-z0-9-]{0,63}$" )");
    CHECK(event_errors(R"({"name":"N","import":{"format":"dwg","plan":{}}})") ==
          R"(/import/format value,"allowed":["pretix","seatsio"] )");
}

TEST_CASE("every range error says what is allowed", "[api][errors]") {
    Stage stage;
    CHECK_THAT(stage.claim(R"({"best":{"quantity":11}})").body,
               Contains(R"("code":"range","min":1,"max":10})"));
    std::string eleven = R"("A-1-1")";
    for (int i = 0; i < 10; ++i) eleven += R"(,"A-1-1")";
    CHECK_THAT(stage.claim(R"({"seats":[)" + eleven + "]}").body,
               Contains(R"("code":"range","min":1,"max":10,"of":"items"})"));
    CHECK_THAT(
        stage.claim(R"({"lines":[{"section":"GA","quantity":9},{"best":{"quantity":2}}]})").body,
        Contains(R"("pointer":"/lines","code":"range","min":1,"max":10,"of":"places"})"));
    CHECK_THAT(stage.get(std::string{demo_blocks} + "?limit=0", staff).body,
               Contains(R"("code":"range","min":1,"max":1000})"));
    CHECK_THAT(stage.post(demo_blocks, R"({"section":"GA","quantity":10001})", staff).body,
               Contains(R"("code":"range","min":1,"max":10000})"));
    // 30 s after the stage's time, which is the shortest hold.
    CHECK_THAT(
        stage.post(demo_blocks, R"({"seats":["A-1-1"],"until":"2027-05-01T12:00:00Z"})", staff)
            .body,
        Contains(R"("code":"range","min":"2027-05-01T12:00:30.000Z"})"));
    CHECK(event_errors(R"({"name":"","sections":[]})") ==
          R"(/name range,"min":1,"max":255,"of":"bytes" )");
    CHECK(event_errors(R"({"name":"N","sections":[],"sale":{
              "opens_at":"2027-01-01T00:00:00Z","closes_at":"2027-01-01T00:00:00Z"}})") ==
          R"(/sale/closes_at range,"after":"2027-01-01T00:00:00.000Z" )");
    CHECK(event_errors(R"({"name":"N","sections":[],"policy":{"hold_ttl_s":3601}})") ==
          R"(/policy/hold_ttl_s range,"min":30,"max":3600 )");
    CHECK(event_errors(with_section(R"({"id":"A","capacity":4000001})")) ==
          R"(/sections/0/capacity range,"min":1,"max":4000000 )");
    CHECK(event_errors(with_section(R"({"id":"A","capacity":4000000},{"id":"B","capacity":1})")) ==
          R"(/sections/1 range,"min":1,"max":4000000,"of":"places" )");
}

TEST_CASE("what cannot be read as JSON is told with the byte where reading ended",
          "[api][errors]") {
    Stage stage;
    struct Case {
        std::string body;
        int offset;
    };
    for (auto const& [body, offset] : std::vector<Case>{{"", 0},
                                                        {"{'seats':1}", 1},
                                                        {R"({"seats":["A-1-1"],})", 19},
                                                        {R"({"seats":["A-1-1")", 17},
                                                        {R"({} {})", 3}}) {
        CAPTURE(body);
        auto const answer = stage.claim(body);
        CHECK(answer.status == 400);
        CHECK_THAT(answer.body, Contains(R"("pointer":"","code":"malformed","offset":)" +
                                         std::to_string(offset) + "}"));
    }
    CHECK_THAT(stage.claim(R"({"seats":[],"seats":[]})").body,
               Contains(R"("pointer":"/seats","code":"duplicate-key","offset":)"));
}

TEST_CASE("a step of an event takes an empty object or nothing", "[api][errors]") {
    Stage stage;
    std::string const pause = "/v1/events/demo/pause";
    auto const refused = stage.post(pause, R"({"why":"rain"})", staff);
    CHECK(refused.status == 422);
    CHECK(refused.error() == "/why unknown-field");
    CHECK(stage.post(pause, "[]", staff).status == 422);
    CHECK(stage.post(pause, "{", staff).status == 400);
    CHECK(stage.post(pause, "{}", staff)["state"] == "paused");
    CHECK(stage.post("/v1/events/demo/resume", "", staff)["state"] == "open");
}

}  // namespace holdfast::test
