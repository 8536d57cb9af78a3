// Replies without an end over real sockets: order, limits, slow readers, and the stop of a server.
#include "tests/http/live.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace live;

namespace {

/// A client whose stream has begun.
Client watch(LiveServer const& live) {
    Client client = live.connect();
    REQUIRE(client.send(get("/feed")));
    REQUIRE(client.answer().status == 200);
    REQUIRE(client.upto("hello\n") == "hello\n");
    return client;
}

bool until_open(LiveServer const& live, std::uint64_t streams) {
    return live.until([=](ServerCounts const& counts) { return counts.streams_open == streams; });
}

/// A server with a client half of whose head is there, which keeps its connection over the begin of
/// a stop.
struct HalfAHead {
    explicit HalfAHead(std::string_view line) : idle(live.connect()), client(live.connect()) {
        REQUIRE(idle.send(get("/")));
        REQUIRE(idle.answer().status == 200);
        std::uint64_t const before = live.server->counts().bytes_in;
        REQUIRE(client.send(line));
        REQUIRE(live.until([=](ServerCounts const& now) { return now.bytes_in > before; }));
    }
    /// The other half, once the stop has begun; that it would end by itself a minute later.
    [[nodiscard]] bool go_on_after_stop() {
        stop = std::thread([this] { live.server->stop(Milliseconds{60'000}); });
        return idle.closed() && client.send("Host: t\r\n\r\n");
    }

    LiveServer live;
    Client idle, client;
    std::thread stop;
};

}  // namespace

TEST_CASE("a stream has a head without a length, and pieces in order", "[live][stream]") {
    LiveServer live;
    live.publish("before\n");
    Client client = live.connect();
    REQUIRE(client.send(get("/feed")));
    Answer const head = client.answer();
    CHECK(head.status == 200);
    CHECK(head.header("Content-Type") == "text/event-stream");
    CHECK(head.header("Content-Length").empty());
    CHECK(head.header("Transfer-Encoding").empty());
    CHECK(head.header("Cache-Control") == "no-store");
    CHECK(head.header("Connection") == "close");
    CHECK(client.upto("before\n") == "hello\nbefore\n");
    live.publish("one\n");
    live.publish("two\n");
    CHECK(client.upto("two\n") == "one\ntwo\n");
    CHECK(live.server->counts().streams_opened == 1);
    CHECK(live.server->counts().streams_open == 1);
}

TEST_CASE("every stream is sent what was published, however many there are", "[live][stream]") {
    LiveServer live;
    std::vector<Client> clients;
    for (int i = 0; i < 200; ++i) clients.push_back(watch(live));
    std::string const piece(10'000, 'p');
    live.publish(piece + "\n");
    bool all = true;
    for (Client& client : clients) all = all && client.upto("\n") == piece + "\n";
    CHECK(all);
    CHECK(live.server->counts().streams_open == 200);
}

TEST_CASE("a stream that throws ends its connection and no other", "[live][stream][exception]") {
    LiveServer live;
    Client quiet = live.connect();
    REQUIRE(quiet.send(get("/")));
    REQUIRE(quiet.answer().status == 200);
    Client client = watch(live);
    live.publish("throw");
    CHECK(client.rest().empty());
    CHECK(live.server->counts().handler_exceptions == 1);
    REQUIRE(quiet.send(get("/")));
    CHECK(quiet.answer().status == 200);
    CHECK(until_open(live, 0));
}

TEST_CASE("HEAD of a stream is its head alone", "[live][stream]") {
    LiveServer live;
    Client client = live.connect();
    REQUIRE(client.send("HEAD /feed HTTP/1.1\r\nHost: t\r\n\r\n"));
    Answer const head = client.answer(true);
    CHECK(head.status == 200);
    CHECK(head.header("Content-Type") == "text/event-stream");
    CHECK(client.rest().empty());
    CHECK(live.broadcast.streams() == 0);
    CHECK(live.server->counts().streams_opened == 0);
}

TEST_CASE("what came before a stream is answered, what comes behind it is no request",
          "[live][stream]") {
    LiveServer live;
    Client client = live.connect();
    REQUIRE(client.send(get("/?1") + get("/feed") + get("/?2")));
    CHECK(client.answer().body == "query=1");
    CHECK(client.answer().status == 200);
    CHECK(client.upto("hello\n") == "hello\n");
    REQUIRE(client.send(get("/?3")));
    live.publish("piece\n");
    CHECK(client.upto("\n") == "piece\n");
    CHECK(live.handled.get() == 1);
}

TEST_CASE("a stream behind a reply that waits for the disk waits, too", "[live][stream][durable]") {
    LiveServer live;
    Client client = live.connect();
    REQUIRE(client.send(post("/lsn", "{}", "X-Lsn: 5\r\n") + get("/feed")));
    Client other = live.connect();
    REQUIRE(other.send(get("/")));
    CHECK(other.answer().status == 200);
    CHECK(client.silent());
    SECTION("it becomes durable") {
        live.gate.durable.set(Lsn{5});
        live.server->wake();
        CHECK(client.answer().status == 201);
        CHECK(client.answer().status == 200);
        CHECK(client.upto("\n") == "hello\n");
    }
    SECTION("the journal fails") {
        live.gate.broken.set(true);
        live.server->wake();
        CHECK(client.answer().status == 503);
        CHECK(client.rest().empty());
        CHECK(live.broadcast.streams() == 0);
    }
}

TEST_CASE("a stream without news sends comment lines", "[live][stream]") {
    ServerOptions options;
    options.stream_heartbeat = Milliseconds{100};
    options.idle_timeout = Milliseconds{100};  // not for streams
    LiveServer live{options};
    Client client = watch(live);
    CHECK(client.upto("\n\n") == ":\n\n");
    CHECK(client.upto("\n\n") == ":\n\n");
    live.publish("piece\n");
    CHECK(client.upto("piece\n").ends_with("piece\n"));
}

TEST_CASE("a stream ends with the life of its connection", "[live][stream]") {
    ServerOptions options;
    options.stream_heartbeat = Milliseconds{100};
    options.connection_life = Milliseconds{200};
    LiveServer live{options};
    Client client = watch(live);
    std::string const rest = client.rest();
    CHECK(rest.size() <= 12);  // a few comment lines
    CHECK(until_open(live, 0));
    CHECK(live.server->counts().streams_dropped == 0);
}

TEST_CASE("a client that goes gives its place back at once", "[live][stream]") {
    LiveServer live;
    {
        Client gone = watch(live);
        Client reset = watch(live);
        Client half = watch(live);
        CHECK(live.broadcast.streams() == 3);
        reset.reset();
        half.end_sending();
        CHECK(half.rest().empty());
    }
    CHECK(until_open(live, 0));
    CHECK(live.broadcast.streams() == 0);
    CHECK(live.server->counts().streams_dropped == 0);
    live.publish("for nobody\n");
    Client client = live.connect();
    REQUIRE(client.send(get("/")));
    CHECK(client.answer().status == 200);
}

TEST_CASE("a stream counts no more as a connection", "[live][stream]") {
    ServerOptions options;
    options.connections_max = 2;
    LiveServer live{options};
    std::vector<Client> streams;
    for (int i = 0; i < 5; ++i) streams.push_back(watch(live));
    Client one = live.connect();
    REQUIRE(one.send(get("/")));
    CHECK(one.answer().status == 200);
    Client two = live.connect();
    REQUIRE(two.send(get("/")));
    CHECK(two.answer().status == 200);
    Client three = live.connect();
    CHECK(three.answer().status == 503);
    streams.clear();
    CHECK(until_open(live, 0));
    // Their places were not given back a second time.
    Client four = live.connect();
    CHECK(four.answer().status == 503);
    CHECK(live.server->counts().connections_open == 2);
}

TEST_CASE("a client that does not read is cut off, and the others get everything",
          "[live][stream][slow]") {
    ServerOptions options;
    options.write_timeout = Milliseconds{300};
    LiveServer live{options};
    Client stalled = watch(live);
    Client reader = watch(live);
    std::string const piece(256 * 1'024, 'p');
    for (int i = 0; i < 32; ++i) live.publish(piece + "\n");
    std::size_t got = 0;
    for (int i = 0; i < 32; ++i) got += reader.upto("\n").size();
    CHECK(got == 32 * (piece.size() + 1));
    CHECK(live.until([](ServerCounts const& counts) { return counts.streams_dropped == 1; }));
    CHECK(until_open(live, 1));
    // The kernel keeps some, the server nothing.
    CHECK(stalled.rest().size() < 32 * piece.size() / 2);
}

TEST_CASE("a last piece is sent, and then the end", "[live][stream][slow]") {
    LiveServer live;
    Client client = watch(live);
    live.publish("one\n");
    live.publish("fell behind\n", true);
    live.publish("never\n");
    CHECK(client.rest() == "one\nfell behind\n");
    CHECK(live.server->counts().streams_dropped == 1);
    CHECK(until_open(live, 0));
    CHECK(live.broadcast.streams() == 0);
}

TEST_CASE("a stop ends all streams cleanly and soon", "[live][stream][stop]") {
    LiveServer live;
    std::vector<Client> clients;
    for (int i = 0; i < 100; ++i) clients.push_back(watch(live));
    Client stalled = watch(live);
    std::string const piece(512U << 10, 'p');
    live.publish(piece + "\n");
    for (Client& client : clients) REQUIRE(client.upto("\n").size() == piece.size() + 1);
    auto const begin = std::chrono::steady_clock::now();
    std::thread stop([&live] { live.server->stop(Milliseconds{20'000}); });
    bool clean = true;
    for (Client& client : clients) clean = clean && client.rest().empty();
    stop.join();
    CHECK(clean);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{8});
    CHECK(live.broadcast.streams() == 0);
    CHECK(live.server->counts().connections_open == 0);
}

TEST_CASE("a stream that is asked for while the server stops is a short reply",
          "[live][stream][stop]") {
    HalfAHead half{"GET /feed HTTP/1.1\r\n"};
    bool const went_on = half.go_on_after_stop();
    auto const answer = half.client.answer();
    std::string const rest = half.client.rest();
    half.stop.join();
    CHECK(went_on);
    CHECK(answer.status == 200);
    CHECK(rest == "hello\n");
    CHECK(half.live.server->counts().streams_opened == 0);
}

TEST_CASE("a stop does not wait for who had an answer after it began", "[live][stop]") {
    HalfAHead half{"GET / HTTP/1.1\r\n"};
    bool const went_on = half.go_on_after_stop();
    auto const answer = half.client.answer();
    bool const closed = half.client.closed();  // which is before the stop would end it
    half.stop.join();
    CHECK(went_on);
    CHECK(answer.status == 200);
    CHECK(closed);
}
