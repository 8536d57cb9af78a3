// Large bodies that many replies share: they arrive whole and in order, and nobody has a copy.
#include "http/bodies_apart.hpp"

#include "tests/http/live.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace live;

namespace {

/// What leaves if the peer takes `most` bytes at a time.
std::string all_of(BodiesApart& bodies, std::string_view text, std::size_t most) {
    std::string out;
    std::size_t text_at = 0;
    for (;;) {
        std::string_view const next = bodies.next(text, text_at).substr(0, most);
        if (next.empty()) return out;
        out += next;
        text_at += bodies.leave(next.size(), text_at);
    }
}

}  // namespace

TEST_CASE("bodies apart leave between the parts of the text", "[http][bodies-apart]") {
    std::size_t const most = GENERATE(1U, 2U, 3U, 100U);
    BodiesApart bodies;
    CHECK(all_of(bodies, "text", most) == "text");
    bodies.add(0, "first", nullptr);
    bodies.add(2, "second", nullptr);
    bodies.add(2, "third", nullptr);
    bodies.add(4, "last", nullptr);
    CHECK(bodies.bytes() == 20);
    CHECK(all_of(bodies, "text", most) == "firsttesecondthirdxtlast");
    bodies.clear();
    CHECK(bodies.bytes() == 0);
    CHECK(all_of(bodies, "text", most) == "text");
}

TEST_CASE("bodies apart are cut off with the text behind them", "[http][bodies-apart]") {
    BodiesApart bodies;
    bodies.add(2, "kept", nullptr);
    bodies.add(3, "cut", nullptr);
    bodies.add(8, "cut, too", nullptr);
    bodies.cut(2);
    CHECK(all_of(bodies, "te503 gone", 100) == "tekept503 gone");
    CHECK(bodies.empty());
}

TEST_CASE("a document that is shared arrives whole, among others", "[live][bodies-apart]") {
    LiveServer live;
    Client client = live.connect();
    REQUIRE(client.send(get("/?a") + get("/shared") + get("/shared") +
                        "HEAD /shared HTTP/1.1\r\nHost: t\r\n\r\n" + get("/?b") + get("/shared")));
    CHECK(client.answer().body == "query=a");
    CHECK(client.answer().body == *live.document);
    CHECK(client.answer().body == *live.document);
    Answer const head = client.answer(true);
    CHECK(head.header("Content-Length") == std::to_string(live.document->size()));
    CHECK(client.answer().body == "query=b");
    CHECK(client.answer().body == *live.document);
}

TEST_CASE("nobody keeps a document of which only the head was asked for", "[live][bodies-apart]") {
    LiveServer live;
    Client client = live.connect();
    REQUIRE(client.send("HEAD /shared HTTP/1.1\r\nHost: t\r\n\r\n"));
    CHECK(client.answer(true).status == 200);
    CHECK(live.document.use_count() == 1);
}

TEST_CASE("a document before a reply that is lost arrives, one behind it does not",
          "[live][bodies-apart][durable]") {
    LiveServer live;
    Client client = live.connect();
    std::string const lost = post("/lsn", "", "X-Lsn: 1\r\n");
    REQUIRE(client.send(get("/shared?small") + lost + get("/shared?small")));
    REQUIRE(live.until([](ServerCounts const& counts) { return counts.requests == 3; }));
    live.gate.broken.set(true);
    live.server->wake();
    CHECK(client.answer().body == *live.small_document);
    CHECK(client.answer().status == 503);
    CHECK(client.closed());
}

TEST_CASE("those who do not read a document share it, and let go of it when they end",
          "[live][bodies-apart]") {
    LiveServer live;
    {
        std::vector<Client> readers;
        for (int i = 0; i < 20; ++i) {
            readers.push_back(live.connect());
            REQUIRE(readers.back().send(get("/shared")));
        }
        REQUIRE(live.until([](ServerCounts const& counts) { return counts.requests == 20; }));
        CHECK(live.document.use_count() == 21);  // none has left whole
        CHECK(readers.front().answer().body == *live.document);
        for (Client& reader : readers) reader.reset();
    }
    REQUIRE(live.until([](ServerCounts const& counts) { return counts.connections_open == 0; }));
    live.server->stop(Milliseconds{0});
    CHECK(live.document.use_count() == 1);
}
