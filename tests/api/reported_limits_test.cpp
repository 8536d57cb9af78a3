// Public bug reports of other systems about limits and deadlines, by their row of the list of
// cases.
#include "tests/api/stage.hpp"

#include <catch2/catch.hpp>

namespace holdfast::test {

using namespace std::chrono_literals;

TEST_CASE("#9: a seat named twice in one claim is refused, and nothing is taken", "[reported]") {
    Stage stage;
    for (char const* const body :
         {R"({"seats":["A-1-1","A-1-1"]})", R"({"seats":["A-1-1","A-1-1"],"partial":true})",
          R"({"lines":[{"seats":["A-1-1"]},{"seats":["A-1-2","A-1-1"]}]})"}) {
        CAPTURE(body);
        auto const twice = stage.claim(body);
        CHECK(twice.status == 422);
        CHECK(twice["code"] == "duplicate-seat");
    }
    CHECK(stage.seat_is_free("A-1-1"));
    CHECK(stage.journal.records().empty());
}

TEST_CASE("#27: adding what is not there never moves a deadline", "[reported]") {
    Stage stage;
    REQUIRE(stage.claim(R"({"seats":["A-1-4"]})").status == 201);
    auto const hold = stage.claim(R"({"seats":["A-1-1"]})");
    REQUIRE(hold.status == 201);
    std::string const path = "/v1/holds/" + hold["hold"];
    for (int i = 0; i < 100; ++i) {
        stage.now += 1s;
        auto const added = stage.send(http::Method::put, path + "/seats",
                                      R"({"seats":["A-1-1","A-1-4"]})", hold_credentials(hold));
        REQUIRE(added.status == 409);
        REQUIRE(added["code"] == "seats-unavailable");
    }
    CHECK(stage.get(path, hold_credentials(hold))["expires_at"] == hold["expires_at"]);
    stage.now += 199s;
    CHECK(stage.get(path, hold_credentials(hold)).status == 200);
    stage.now += 1s;
    CHECK(stage.get(path, hold_credentials(hold)).status == 410);
}

TEST_CASE("#43: a limit is of the account, however many claims it makes", "[reported]") {
    EventSpec spec = sample_event();
    spec.policy.max_per_user = 4;
    spec.policy.guest = false;
    Stage stage(std::move(spec));
    auto const claim = [&](std::string const& account, int places) {
        return stage.post("/v1/events/demo/holds",
                          R"({"account":)" + account + R"(,"section":"GA","quantity":)" +
                              std::to_string(places) + "}",
                          staff);
    };
    for (int i = 0; i < 4; ++i) REQUIRE(claim("7", 1).status == 201);
    auto const fifth = claim("7", 1);
    CHECK(fifth.status == 409);
    CHECK(fifth["code"] == "user-limit");
    CHECK(claim("8", 4).status == 201);
    stage.now += 300s;  // what lapses is given back
    CHECK(claim("7", 4).status == 201);
}

}  // namespace holdfast::test
