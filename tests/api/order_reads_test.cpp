// Orders read back through the real path.
#include "tests/api/backstage.hpp"
#include "tests/api/stage.hpp"

#include <future>

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
        // The session waits for the disk before it answers; the read itself waits for the store.
        REQUIRE(back.journal->wait_durable(order.lsn));
        auto const read =
            back.send(http::Method::get, "/v1/orders/" + member(order, "order"), "", credentials);
        CHECK(read.status == 200);
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
    REQUIRE(back.journal->wait_durable(cancelled.lsn));
    CHECK(back.send(http::Method::post, "/v1/events/demo/holds", claim, "").status == 201);
    auto const read = back.send(http::Method::get, path, "", credentials);
    CHECK(read.status == 200);
    CHECK(member(read, "state") == "cancelled");
    CHECK(read.body == cancelled.body);
    CHECK(back.send(http::Method::post, path + "/cancel", "", "Bearer staff").status == 409);
}

TEST_CASE("P14: a read of orders does not wait for the disk", "[orders]") {
    Stage stage;
    auto const hold = stage.claim(R"({"seats":["A-1-1"]})");
    auto const order = stage.post("/v1/orders", R"({"holds":[")" + hold["hold"] + R"("]})",
                                  hold_credentials(hold));
    REQUIRE(order.status == 201);
    stage.record_order(order["order"], {hold["hold"]});
    stage.journal.hold_back(true);
    REQUIRE(stage.claim(R"({"seats":["A-1-2"]})").status == 201);
    std::size_t const before = stage.journal.waits();
    std::string const path = "/v1/orders/" + order["order"];
    CHECK(stage.get(path, hold_credentials(hold)).status == 200);
    CHECK(stage.get("/v1/orders", staff).status == 200);
    std::string unknown = path;
    unknown.back() = unknown.back() == 'a' ? 'q' : 'a';
    CHECK(stage.get(unknown, "Hold x").status == 404);
    CHECK(stage.journal.waits() == before);
    // To change it is staff's: that waits for what was changed before, though not for ever.
    CHECK(stage.post(path + "/refund", "", staff)["code"] == "overloaded");
    CHECK(stage.journal.waits() == before + 1);
}

TEST_CASE("P14: whoever asks for another's order is refused before any wait", "[orders]") {
    Backstage back;
    auto const hold =
        back.send(http::Method::post, "/v1/events/demo/holds", R"({"seats":["A-1-1"]})", "");
    auto const order = back.send(http::Method::post, "/v1/orders",
                                 R"({"holds":[")" + member(hold, "hold") + R"("]})",
                                 "Hold " + member(hold, "token"));
    std::string const path = "/v1/orders/" + member(order, "order");
    REQUIRE(back.projector->wait_applied(order.lsn, std::chrono::seconds{20}));
    std::promise<void> reached;
    std::promise<void> go_on;
    std::thread store_is_busy([&] {
        static_cast<void>(back.projector->when_stored(no_lsn, [&] {
            reached.set_value();
            go_on.get_future().wait();
        }));
    });
    reached.get_future().wait();
    // What is durable now the store does not know of.
    auto const later =
        back.send(http::Method::post, "/v1/events/demo/holds", R"({"seats":["A-1-2"]})", "");
    REQUIRE(back.journal->wait_durable(later.lsn));
    auto const began = std::chrono::steady_clock::now();
    auto const refused = back.send(http::Method::get, path, "", "Hold " + member(later, "token"));
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds{1});
    CHECK(refused.status == 404);
    go_on.set_value();
    store_is_busy.join();
}

}  // namespace holdfast::test
