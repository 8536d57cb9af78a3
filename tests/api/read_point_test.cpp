// What was only in memory when the journal failed is no ground for an answer.
#include "tests/api/stage.hpp"

#include <catch2/catch.hpp>

namespace holdfast::test {
namespace {

/// A session gives no such answer: it is refused, or waits for what is not on disk.
bool is_never_given(Stage const& stage, Stage::Answer const& answer) {
    return answer.status == 503 || answer.lsn > stage.journal.durable_lsn();
}

struct Verb {
    http::Method method;
    std::string target;
    std::string body;
    std::string who;
};

std::string one_hold_order(Stage::Answer const& hold) {
    return R"({"holds":[")" + hold["hold"] + R"("],"payment":{"method":"none"}})";
}

}  // namespace

TEST_CASE("P3 P9: after a failure nothing is acknowledged because memory has it already",
          "[holds][read_point]") {
    Stage stage;
    auto const released = stage.claim(R"({"seats":["A-1-1"]})");
    auto const extended = stage.claim(R"({"seats":["A-1-3"]})");
    auto const exchanged = stage.claim(R"({"seats":["A-1-5"]})");
    auto const parted = stage.claim(R"({"seats":["A-2-1","A-2-2"]})");
    auto const block = stage.post(demo_blocks, R"({"seats":["A-1-8"],"kind":"blocked"})", staff);
    REQUIRE(block.status == 201);
    auto const path = [](Stage::Answer const& hold, char const* verb) {
        return "/v1/holds/" + hold["hold"] + verb;
    };
    std::vector<Verb> const verbs{
        {http::Method::del, path(released, ""), "", hold_credentials(released)},
        {http::Method::post, path(extended, "/extend"), R"({"seconds":900})",
         hold_credentials(extended)},
        {http::Method::put, path(exchanged, "/seats"), R"({"seats":["A-1-6"]})",
         hold_credentials(exchanged)},
        {http::Method::post, path(parted, "/release"), R"({"seats":["A-2-1","A-2-2"]})",
         hold_credentials(parted)},
        {http::Method::del, "/v1/blocks/" + block["hold"], "", staff},
    };
    Lsn const durable = stage.journal.durable_lsn();
    stage.journal.hold_back(true);
    for (Verb const& verb : verbs) {
        auto const first = stage.send(verb.method, verb.target, verb.body, verb.who);
        CAPTURE(verb.target, first.body);
        REQUIRE(first.status < 300);
        REQUIRE(first.lsn > durable);
    }
    stage.journal.set_mode(journal::Mode::failed);
    for (int time = 0; time < 2; ++time) {
        for (Verb const& verb : verbs) {
            CAPTURE(verb.target, time);
            auto const again = stage.send(verb.method, verb.target, verb.body, verb.who);
            if (again.status < 300) CHECK(is_never_given(stage, again));
            auto const keyed = stage.send_keyed("a key of at least twenty-two bytes", verb.method,
                                                verb.target, verb.body, verb.who);
            if (keyed.status < 300) CHECK(is_never_given(stage, keyed));
        }
    }
}

TEST_CASE("P6: after a failure no read and no refusal names what may vanish",
          "[orders][read_point]") {
    Stage stage;
    auto const hold = stage.claim(R"({"seats":["A-1-1"]})");
    stage.journal.hold_back(true);
    auto const order = stage.post("/v1/orders", one_hold_order(hold), hold_credentials(hold));
    REQUIRE(order.status == 201);
    bool const failed = GENERATE(false, true);
    if (failed) stage.journal.set_mode(journal::Mode::failed);
    CAPTURE(failed);
    std::string const path = "/v1/holds/" + hold["hold"];
    auto const blocks = stage.get(demo_blocks, staff);
    CHECK(is_never_given(stage, blocks));
    for (Verb const& verb :
         {Verb{http::Method::get, path, "", hold_credentials(hold)},
          Verb{http::Method::del, path, "", hold_credentials(hold)},
          Verb{http::Method::post, path + "/extend", R"({"seconds":60})", hold_credentials(hold)},
          Verb{http::Method::put, path + "/seats", R"({"seats":["A-1-2"]})",
               hold_credentials(hold)},
          Verb{http::Method::post, "/v1/orders", one_hold_order(hold), hold_credentials(hold)}}) {
        auto const answer = stage.send(verb.method, verb.target, verb.body, verb.who);
        CAPTURE(verb.target, answer.status, answer.body);
        CHECK(is_never_given(stage, answer));
        std::string const key =
            "repeated-" + std::to_string(static_cast<int>(verb.method)) + verb.target.substr(0, 12);
        for (int time = 0; time < 2; ++time) {
            auto const keyed = stage.send_keyed(key, verb.method, verb.target, verb.body, verb.who);
            CHECK(is_never_given(stage, keyed));
        }
    }
    if (failed) return;
    // Once the order is on disk they are given.
    stage.journal.hold_back(false);
    auto const again = stage.post("/v1/orders", one_hold_order(hold), hold_credentials(hold));
    CHECK(again["code"] == "already-confirmed");
    CHECK_FALSE(is_never_given(stage, again));
}

TEST_CASE("P9: after a failure that lost nothing reads go on", "[holds][read_point]") {
    Stage stage;
    auto const hold = stage.claim(R"({"seats":["A-1-1"]})");
    stage.journal.set_mode(journal::Mode::failed);
    auto const read = stage.get("/v1/holds/" + hold["hold"], hold_credentials(hold));
    CHECK(read.status == 200);
    CHECK_FALSE(is_never_given(stage, read));
}

}  // namespace holdfast::test
