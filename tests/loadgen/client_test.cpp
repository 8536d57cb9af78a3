#include "loadgen/client.hpp"

#include "tests/loadgen/fake_server.hpp"

#include <catch2/catch.hpp>
#include <optional>

using namespace holdfast;
using namespace holdfast::loadgen;
using loadgen::testing::FakeServer;

namespace {

std::string const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

Query get(std::string target) {
    return {.method = "GET", .target = std::move(target), .fields = {}, .body = {}};
}

}  // namespace

TEST_CASE("fetch sends one request and returns the reply", "[loadgen]") {
    FakeServer server({{"HTTP/1.1 404 Not Found\r\nX-Why: gone\r\nContent-Length: 3\r\n\r\nno!"}});
    auto const reply = fetch(server.url() + "/shop", {.method = "POST",
                                                      .target = "/v1/events",
                                                      .fields = {{"Authorization", "Bearer t"}},
                                                      .body = "{}"});
    REQUIRE(reply.has_value());
    CHECK(reply->status == 404);
    CHECK(reply->field("x-why") == "gone");
    CHECK(reply->body == "no!");
    auto const host = "127.0.0.1:" + std::to_string(server.port());
    auto const& received = server.join();
    REQUIRE(received.size() == 1);
    CHECK(received.front() == "POST /shop/v1/events HTTP/1.1\r\nHost: " + host +
                                  "\r\nAuthorization: Bearer t\r\nContent-Length: 2\r\n\r\n{}");
}

TEST_CASE("a session keeps its connection, and opens a closed one again", "[loadgen]") {
    FakeServer server({{ok, ok}, {ok}});
    auto const url = parse_url(server.url());
    REQUIRE(url.has_value());
    Session session(*url);
    for (auto const* target : {"/a", "/b"}) {
        auto const reply = session.call(get(target));
        REQUIRE(reply.has_value());
        CHECK(reply->body == "ok");
    }
    // The server closed; its end may still be under way, and then this one request is lost.
    auto reply = session.call(get("/c"));
    if (!reply) reply = session.call(get("/c"));
    REQUIRE(reply.has_value());
    CHECK(server.join().back().substr(0, 6) == "GET /c");
}

TEST_CASE("fetch tells what went wrong", "[loadgen]") {
    auto const [answer, expected] = GENERATE(table<char const*, char const*>({
        {"hang", "no answer within 200 ms"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", "ended before the reply"},
        {"HTTP/1.1 200 OK\r\n\r\n", "exactly one Content-Length"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\ntoo much", "more bytes"},
    }));
    CAPTURE(answer);
    FakeServer server({{answer}});
    auto const reply = fetch(server.url(), get("/x"), Milliseconds{200});
    REQUIRE_FALSE(reply.has_value());
    CHECK_THAT(reply.error().text, Catch::Contains(expected));
    CHECK_THAT(reply.error().text, Catch::Contains("GET /x"));
}

TEST_CASE("fetch from a port where nobody listens says so", "[loadgen]") {
    std::uint16_t port = 0;
    {
        FakeServer closed({});
        port = closed.port();
    }
    auto const reply = fetch("http://127.0.0.1:" + std::to_string(port), get("/"));
    REQUIRE_FALSE(reply.has_value());
    CHECK_THAT(reply.error().text, Catch::Contains("cannot connect"));
}

TEST_CASE("a request on a connection that moves away is told as lost, once", "[loadgen]") {
    FakeServer first({{"hang"}});
    FakeServer second({{ok}});
    auto const from = parse_url(first.url());
    auto const to = parse_url(second.url());
    REQUIRE(from.has_value());
    REQUIRE(to.has_value());
    Loop loop;
    Connection connection(loop, *from);
    int calls = 0;
    std::optional<Outcome> lost;
    connection.send(get("/1"), Milliseconds{5'000}, [&](Outcome&& outcome) {
        ++calls;
        lost = std::move(outcome);
        loop.stop();
    });
    CHECK(connection.busy());
    connection.move_to(*to);
    REQUIRE(loop.run_for(Milliseconds{5'000}));
    REQUIRE(lost.has_value());
    CHECK(lost->lost);
    CHECK(calls == 1);

    std::optional<Outcome> good;
    connection.send(get("/2"), Milliseconds{5'000}, [&](Outcome&& outcome) {
        good = std::move(outcome);
        loop.stop();
    });
    REQUIRE(loop.run_for(Milliseconds{5'000}));
    REQUIRE(good.has_value());
    CHECK_FALSE(good->lost);
    CHECK(good->reply.body == "ok");
    CHECK(good->received >= good->sent);
    CHECK(calls == 1);
}
