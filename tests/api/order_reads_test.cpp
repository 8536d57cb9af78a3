// Orders read back through the real path.
#include "tests/api/backstage.hpp"

namespace holdfast::test {

TEST_CASE("an order is read at once, with the tickets of its first answer", "[orders][P6]") {
    Backstage back;
    for (int round = 1; round <= 5; ++round) {
        auto const hold = back.send(http::Method::post, "/v1/events/demo/holds",
                                    R"({"lines":[{"seats":["A-1-)" + std::to_string(round) +
                                        R"("]},{"section":"GA","quantity":2}]})",
                                    "");
        REQUIRE(hold.status == 201);
        std::string const credentials = "Hold " + member(hold, "token");
        auto const order =
            back.send(http::Method::post, "/v1/orders",
                      R"({"holds":[")" + member(hold, "hold") + R"("]})", credentials);
        REQUIRE(order.status == 201);
        // No wait for anything: the read itself waits for the disk and for the store.
        auto const read =
            back.send(http::Method::get, "/v1/orders/" + member(order, "order"), "", credentials);
        CHECK(read.status == 200);
        CHECK(back.journal->durable_lsn() >= order.lsn);
        CHECK(read.body == order.body);
    }
}

TEST_CASE("a cancelled order reads as cancelled and its places sell again", "[orders]") {
    Backstage back;
    std::string const claim = R"({"seats":["A-1-1"]})";
    auto const hold = back.send(http::Method::post, "/v1/events/demo/holds", claim, "");
    std::string const credentials = "Hold " + member(hold, "token");
    auto const order = back.send(http::Method::post, "/v1/orders",
                                 R"({"holds":[")" + member(hold, "hold") + R"("]})", credentials);
    std::string const path = "/v1/orders/" + member(order, "order");
    CHECK(back.send(http::Method::post, "/v1/events/demo/holds", claim, "").status == 409);
    auto const cancelled = back.send(http::Method::post, path + "/cancel", "", "Bearer staff");
    CHECK(cancelled.status == 200);
    CHECK(back.send(http::Method::post, "/v1/events/demo/holds", claim, "").status == 201);
    auto const read = back.send(http::Method::get, path, "", credentials);
    CHECK(read.status == 200);
    CHECK(member(read, "state") == "cancelled");
    CHECK(read.body == cancelled.body);
    CHECK(back.send(http::Method::post, path + "/cancel", "", "Bearer staff").status == 409);
}

}  // namespace holdfast::test
