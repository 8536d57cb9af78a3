// Routes that run on a worker: order, refusals, and clients or servers that go away meanwhile.
#include "tests/http/live.hpp"

#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>
#include <string>

using namespace live;

TEST_CASE("a worker's reply keeps its place in the order", "[live][worker]") {
    LiveServer live;
    Client client = live.connect();
    REQUIRE(
        client.send(get("/?1") + get("/work?2") + get("/?3") + post("/work?4", "{}") + get("/?5")));
    // What came before leaves although the worker has not begun.
    CHECK(client.answer().body == "query=1");
    CHECK(client.silent());
    REQUIRE(live.workers.run_one());
    CHECK(client.answer().body == "work 2");
    CHECK(client.answer().body == "query=3");
    REQUIRE(live.workers.run_one());
    CHECK(client.answer().body == "work 4{}");
    CHECK(client.answer().body == "query=5");
}

TEST_CASE("what is at hand waits for no worker, and keeps its place in the order",
          "[live][worker]") {
    LiveServer live;
    Client client = live.connect();
    REQUIRE(client.send(get("/?1") + get("/at-hand?ready") + get("/at-hand?later") +
                        get("/at-hand?ready") + get("/?2")));
    CHECK(client.answer().body == "query=1");
    CHECK(client.answer().body == "found");
    CHECK(client.silent());
    REQUIRE(live.workers.run_one());
    CHECK(client.answer().body == "made");  // and nothing of what the look left
    CHECK(client.answer().body == "found");
    CHECK(client.answer().body == "query=2");
}

TEST_CASE("where looking for what is at hand fails, a worker answers", "[live][worker]") {
    LiveServer live;
    Client client = live.connect();
    REQUIRE(client.send(get("/at-hand?throw")));
    REQUIRE(live.workers.run_one());
    CHECK(client.answer().body == "made");
    live.workers.full.set(true);
    REQUIRE(client.send(get("/at-hand?later") + get("/at-hand?ready")));
    CHECK(client.answer().status == 503);
    CHECK(client.answer().body == "found");
}

TEST_CASE("a chunked body reaches the worker decoded", "[live][worker]") {
    LiveServer live;
    Client client = live.connect();
    REQUIRE(
        client.send("POST /work HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n1\r\n[\r\n1\r\n]\r\n0\r\n\r\n" +
                    get("/?next")));
    REQUIRE(live.workers.run_one());
    CHECK(client.answer().body == "work []");
    CHECK(client.answer().body == "query=next");
}

TEST_CASE("a full worker queue is 503 busy, and the connection lives on", "[live][worker]") {
    LiveServer live;
    live.workers.full.set(true);
    Client client = live.connect();
    REQUIRE(client.send(get("/work") + get("/")));
    Answer const busy = client.answer();
    CHECK(busy.status == 503);
    CHECK(busy.header("Retry-After") == "1");
    CHECK(boost::json::parse(busy.body).at("code").as_string() == "busy");
    CHECK(boost::json::parse(busy.body).at("retryable").as_bool());
    CHECK(client.answer().status == 200);
}

TEST_CASE("a request for which a worker's copy has no memory is 503, and the connection lives on",
          "[live][worker][memory]") {
    LiveServer live;
    live.workers.poor.set(true);
    Client client = live.connect();
    REQUIRE(client.send(post("/work", "{}") + get("/")));
    Answer const refused = client.answer();
    CHECK(refused.status == 503);
    CHECK(refused.header("Retry-After") == "1");
    CHECK(boost::json::parse(refused.body).at("code").as_string() == "overloaded");
    CHECK(client.answer().status == 200);
    live.workers.poor.set(false);
    REQUIRE(client.send(get("/work?2")));
    REQUIRE(live.workers.run_one());
    CHECK(client.answer().body == "work 2");
}

TEST_CASE("a worker's success waits for the disk too", "[live][worker][durable]") {
    LiveServer live;
    Client client = live.connect();
    REQUIRE(client.send(get("/work?lsn")));
    REQUIRE(live.workers.run_one());
    Client other = live.connect();
    REQUIRE(other.send(get("/")));
    CHECK(other.answer().status == 200);
    CHECK(client.silent());
    live.gate.durable.set(Lsn{7});
    live.server->wake();
    CHECK(client.answer().body == "work lsn");
}

TEST_CASE("a worker handler that throws is a counted 500", "[live][worker]") {
    LiveServer live;
    Client client = live.connect();
    REQUIRE(client.send(get("/work?throw")));
    REQUIRE(live.workers.run_one());
    CHECK(client.answer().status == 500);
    CHECK(live.server->counts().handler_exceptions == 1);
}

TEST_CASE("a client that resets while a worker runs leaves the server at work", "[live][worker]") {
    LiveServer live;
    {
        Client client = live.connect();
        REQUIRE(client.send(get("/work")));
        CHECK(live.until([](ServerCounts const& counts) { return counts.bytes_in > 0; }));
        client.reset();
    }
    REQUIRE(live.workers.run_one());
    CHECK(live.until([](ServerCounts const& counts) { return counts.connections_open == 0; }));
    Client client = live.connect();
    REQUIRE(client.send(get("/")));
    CHECK(client.answer().status == 200);
}

TEST_CASE("stop lets a request in flight finish and closes idle connections", "[live][stop]") {
    LiveServer live;
    Client idle = live.connect();
    REQUIRE(idle.send(get("/")));
    CHECK(idle.answer().status == 200);
    Client busy = live.connect();
    REQUIRE(busy.send(get("/work") + get("/")));
    // Read, not only connected: a connection that has sent nothing yet is idle.
    std::size_t const sent = 2 * get("/").size() + get("/work").size();
    CHECK(live.until([sent](ServerCounts const& counts) { return counts.bytes_in == sent; }));
    std::thread stopper{[&] { live.server->stop(Milliseconds{20'000}); }};
    CHECK(idle.closed());
    bool const ran = live.workers.run_one();
    Answer const last = busy.answer();
    bool const ended = busy.closed();
    stopper.join();
    CHECK(ran);
    CHECK(last.body == "work ");
    CHECK(last.header("Connection") == "close");
    CHECK(ended);
    CHECK(live.server->counts().connections_open == 0);
    CHECK_THROWS(live.connect());
}

TEST_CASE("after the grace everything is closed, and a late worker finds nobody", "[live][stop]") {
    auto live = std::make_unique<LiveServer>();
    Client client = live->connect();
    Client waiting = live->connect();
    REQUIRE(client.send(get("/work")));
    REQUIRE(waiting.send(post("/lsn", "", "X-Lsn: 1\r\n")));
    CHECK(live->until([&](ServerCounts const&) { return live->handled.get() == 1; }));
    live->server->stop(Milliseconds{1});
    CHECK(client.closed());
    CHECK(waiting.closed());
    live->server.reset();
    CHECK(live->workers.run_one());  // must not touch what is gone
}

TEST_CASE("a server that never started, and one that is dropped at once, stop", "[stop]") {
    FakeGate gate;
    HeldWorkers workers;
    RunningClock const clock{TimePoint{}};
    ServerOptions options;
    options.listen = "127.0.0.1:0";
    options.threads = GENERATE(1U, 3U);
    {
        Server const never{options, Router{{}}, gate, workers, clock};
        CHECK(never.address().starts_with("127.0.0.1:"));
    }
    Server server{options, Router{{}}, gate, workers, clock};
    server.start();
    server.stop(Milliseconds{0});
    CHECK(server.counts().requests == 0);
}

TEST_CASE("a stop that comes while a tick is overdue ends all the same", "[stop]") {
    // The timer has fired, but its handler stands in the queue behind the abort: it cannot be
    // cancelled any more, and must not set the next timer.
    FakeGate gate;
    HeldWorkers workers;
    RunningClock const clock{TimePoint{}};
    ServerOptions options;
    options.listen = "127.0.0.1:0";
    Published<bool> inside;
    std::vector<Route> table;
    Handler const busy = [&inside](Request const&, Reply&) {
        inside.set(true);
        auto const end = std::chrono::steady_clock::now() + Milliseconds{300};
        while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
    };
    table.push_back(Route{Method::get, "/", RunsOn::io, busy, {}, 0});
    auto server = std::make_unique<Server>(options, Router{std::move(table)}, gate, workers, clock);
    server->start();
    Client client{server->address()};
    REQUIRE(client.send(get("/")));
    while (!inside.get()) std::this_thread::yield();
    server->stop(Milliseconds{0});
    CHECK(client.answer().status == 200);
    CHECK(client.closed());
}
