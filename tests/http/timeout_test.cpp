// Deadlines and limits, with short times from the options; the tests wait for their effects.
#include "tests/http/live.hpp"
#include "tests/support/few_descriptors.hpp"

#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

using namespace live;

namespace {

ServerOptions brief() {
    ServerOptions options;
    options.head_timeout = Milliseconds{300};
    options.body_timeout = Milliseconds{300};
    options.idle_timeout = Milliseconds{300};
    options.write_timeout = Milliseconds{300};
    return options;
}

}  // namespace

TEST_CASE("a head or a body that does not come is 408, and then the end", "[live][timeout]") {
    ServerOptions options = brief();
    options.idle_timeout = Milliseconds{60'000};
    LiveServer live{options};
    std::string const part =
        GENERATE(as<std::string>{}, "G", "\r\n", "GET / HTTP/1.1\r\nHost: t\r\nX: 1",
                 "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Type: "
                 "application/json\r\nContent-Length: 5\r\n\r\nhe",
                 "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Type: "
                 "application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nh");
    Client client = live.connect();
    REQUIRE(client.send(get("/") + part));
    CHECK(client.answer().status == 200);
    Answer const late = client.answer();
    CHECK(late.status == 408);
    CHECK(boost::json::parse(late.body).at("code").as_string() == "request-timeout");
    CHECK(late.header("Connection") == "close");
    CHECK(client.closed());
    CHECK(live.handled.get() == 1);
}

TEST_CASE("bytes that trickle in do not move the deadline of the head", "[live][timeout]") {
    ServerOptions options = brief();
    options.idle_timeout = Milliseconds{60'000};
    LiveServer live{options};
    Client client = live.connect();
    REQUIRE(client.send("GET / HTTP/1.1\r\nHost: t\r\nX: "));
    // A byte each 20 ms for up to 10 s; the answer comes long before they are used up.
    int bytes = 0;
    while (bytes < 500 && client.silent(Milliseconds{20}) && client.send("x")) ++bytes;
    CHECK(bytes < 500);
    CHECK(client.answer().status == 408);
}

TEST_CASE("an idle connection is closed without a word", "[live][timeout]") {
    LiveServer live{brief()};
    Client fresh = live.connect();
    Client used = live.connect();
    REQUIRE(used.send(get("/")));
    CHECK(used.answer().status == 200);
    CHECK(fresh.closed());
    CHECK(used.closed());
}

TEST_CASE("what came while the thread stood still is answered, however long that was",
          "[live][timeout]") {
    ServerOptions options;
    options.head_timeout = options.idle_timeout = Milliseconds{1'000};
    LiveServer live{options};
    Client stalling = live.connect();
    Client used = live.connect();
    REQUIRE(used.send(get("/")));
    CHECK(used.answer().status == 200);
    Client partly = live.connect();
    std::string const part = "GET / HTTP/1.1\r\n";
    REQUIRE(partly.send(part));
    std::size_t const sent = get("/").size() + part.size();
    CHECK(live.until([sent](ServerCounts const& counts) { return counts.bytes_in == sent; }));
    REQUIRE(stalling.send(get("/stall")));
    CHECK(live.until([&live](ServerCounts const&) { return live.handled.get() == 2; }));
    Client fresh = live.connect();  // the kernel takes it; nobody accepts it yet
    for (Client* const client : {&used, &fresh}) REQUIRE(client->send(get("/")));
    REQUIRE(partly.send("Host: t.example\r\n\r\n"));
    CHECK(fresh.silent(Milliseconds{2'500}));  // longer than every timeout
    live.end_stall();
    CHECK(stalling.answer().status == 200);
    for (Client* const client : {&used, &fresh, &partly}) CHECK(client->answer().status == 200);
    CHECK(fresh.closed());  // and in the end it is idle like any other
}

TEST_CASE("a client that never reads is bounded in memory and closed", "[live][timeout]") {
    LiveServer live{brief()};
    // Many small replies, and few large ones.
    std::string const request = GENERATE(get("/?" + std::string(200, 'q')), get("/big"));
    {
        Client reader = live.connect();
        REQUIRE(reader.send(request));
        CHECK(reader.answer().status == 200);
    }
    CHECK(live.until([](ServerCounts const& counts) { return counts.connections_open == 0; }));
    std::uint64_t const reply_bytes = live.server->counts().bytes_out;
    Client client = live.connect();
    std::string requests;
    for (int i = 0; i < 10'000; ++i) requests += request;
    // Nothing is read once the replies stall, so most of this never gets into the server.
    while (client.send_some(requests) != 0) {
    }
    CHECK(live.until([](ServerCounts const& counts) {
        return counts.connections_accepted == 2 && counts.connections_open == 0;
    }));
    auto const counts = live.server->counts();
    // What it had to keep: replies until there were enough of them, and one buffer of requests.
    std::uint64_t const made = counts.requests * reply_bytes;
    CHECK(made - counts.bytes_out < limits::batch_reply_bytes_max + reply_bytes);
    CHECK(counts.bytes_in - counts.requests * request.size() <= limits::head_bytes_max);
}

TEST_CASE("a reader that takes less than 1 KiB a second is cut off, though it takes something",
          "[live][timeout]") {
    ServerOptions options;
    options.write_timeout = Milliseconds{2'000};
    options.idle_timeout = Milliseconds{60'000};  // of who says when
    LiveServer live{options};
    Client timer = live.connect();
    Client client;
    client.keep_little();
    client.connect(live.server->address());
    REQUIRE(client.send(get("/shared")));
    // 640 bytes a second for up to 20 s: the window opens again and again, by a little.
    int steps = 0;
    while (steps < 200 && live.server->counts().connections_open == 2 &&
           timer.silent(Milliseconds{100})) {
        client.skip(64);
        ++steps;
    }
    CHECK(steps < 200);
    CHECK(live.until([](ServerCounts const& counts) { return counts.connections_open == 1; }));
}

TEST_CASE("a reader that keeps the pace has all the time it needs", "[live][timeout]") {
    ServerOptions options;
    options.write_timeout = Milliseconds{1'000};
    options.idle_timeout = Milliseconds{60'000};
    LiveServer live{options};
    Client timer = live.connect();
    Client client;
    client.keep_little();
    client.connect(live.server->address());
    REQUIRE(client.send(get("/shared")));
    // 2 KiB each 50 ms, for longer than two of its timeouts: less in each than the kernel asks for
    // before it tells that there is room.
    for (int step = 0; step < 50; ++step) {
        REQUIRE(timer.silent(Milliseconds{50}));
        REQUIRE(client.skip(2 * 1'024));
    }
    std::uint64_t const taken = 50 * 2 * 1'024;
    CHECK(client.rest().size() > live.document->size() - taken);
}

TEST_CASE("a reader that takes much at once has time until the next step", "[live][timeout]") {
    ServerOptions options;
    options.write_timeout = Milliseconds{4'000};
    options.idle_timeout = Milliseconds{60'000};
    LiveServer live{options};
    Client timer = live.connect();
    Client client;
    client.keep_little(64 * 1'024);
    client.connect(live.server->address());
    REQUIRE(client.send(get("/shared")));
    // More than its kernel has, then nothing for longer than its timeout, and once more.
    std::size_t const step_bytes = 512 * 1'024;
    for (auto const pause : {Milliseconds{2'000}, Milliseconds{6'000}}) {
        REQUIRE(timer.silent(pause));
        REQUIRE(client.skip(step_bytes));
    }
    CHECK(client.rest().size() > live.document->size() - 2 * step_bytes);
}

TEST_CASE("a connection past its life is closed with its next answer", "[live][timeout]") {
    ServerOptions options;
    options.connection_life = Milliseconds{1};
    LiveServer live{options};
    Client client = live.connect();
    Answer answer;
    int requests = 0;
    do {
        REQUIRE(client.send(get("/")));
        answer = client.answer();
        ++requests;
    } while (answer.status == 200 && answer.header("Connection").empty());
    CHECK(answer.status == 200);
    CHECK(answer.header("Connection") == "close");
    CHECK(client.closed());
}

TEST_CASE("connections over a limit hear 503 and the others are served", "[live][limits]") {
    ServerOptions options;
    bool const by_address = GENERATE(true, false);
    options.limit_loopback = by_address;
    (by_address ? options.connections_per_address_max : options.connections_max) = 3;
    LiveServer live{options};
    std::vector<Client> clients;
    for (int i = 0; i < 3; ++i) {
        clients.push_back(live.connect());
        REQUIRE(clients.back().send(get("/")));
        CHECK(clients.back().answer().status == 200);
    }
    Client over = live.connect();
    Answer const refused = over.answer();
    CHECK(refused.status == 503);
    CHECK(boost::json::parse(refused.body).at("code").as_string() == "overloaded");
    CHECK(over.closed());
    REQUIRE(clients[0].send(get("/")));
    CHECK(clients[0].answer().status == 200);
    clients.pop_back();
    CHECK(live.until([](ServerCounts const& counts) { return counts.connections_open == 2; }));
    Client next = live.connect();
    REQUIRE(next.send(get("/")));
    CHECK(next.answer().status == 200);
    CHECK(live.server->counts().connections_refused == 1);
}

TEST_CASE("without descriptors a connection hears 503, and later ones are served",
          "[live][limits]") {
#ifdef __SANITIZE_ADDRESS__
    // UBSan opens a pipe to see whether an object is there, and without one takes it for broken.
    std::cout << "skipped: this sanitizer needs descriptors of its own\n";
    return;
#endif
    LiveServer live;
    Client first;
    Client second;
    Answer refused;
    {
        holdfast::test::FewDescriptors const none;
        first.connect(live.server->address());
        refused = first.answer();
    }
    CHECK(refused.status == 503);
    second.connect(live.server->address());
    REQUIRE(second.send(get("/")));
    CHECK(second.answer().status == 200);
}

TEST_CASE("without descriptors one connection a tick is refused, however many wait",
          "[live][limits]") {
#ifdef __SANITIZE_ADDRESS__
    std::cout << "skipped: this sanitizer needs descriptors of its own\n";
    return;
#endif
    LiveServer live;
    std::vector<Client> waiting(5);
    std::vector<unsigned> statuses;
    auto const began = std::chrono::steady_clock::now();
    {
        holdfast::test::FewDescriptors const none;
        for (Client& client : waiting) client.connect(live.server->address());
        for (Client& client : waiting) statuses.push_back(client.answer().status);
    }
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - began;
    CHECK(statuses == std::vector<unsigned>(waiting.size(), 503));
    // The last pause begins behind the last answer.
    CHECK(live.until(
        [&](ServerCounts const& counts) { return counts.accept_pauses >= waiting.size(); }));
    auto const pauses = static_cast<double>(live.server->counts().accept_pauses);
    // At once, then once a tick of a tenth of a second, the first of them at any time. A slow
    // machine only allows more.
    CHECK(pauses <= 10 * took.count() + 2);
}

TEST_CASE("only so many large bodies come in at one time", "[live][limits]") {
    LiveServer live;
    std::string const body(limits::body_bytes_max + 1, '1');
    std::string const request = post("/import", body);
    std::vector<Client> clients;
    std::uint64_t sent = 0;
    for (std::uint32_t i = 0; i < limits::large_bodies_per_thread_max; ++i) {
        clients.push_back(live.connect());
        REQUIRE(clients.back().send(std::string_view{request}.substr(0, 200)));
        sent += 200;
    }
    CHECK(live.until([&](ServerCounts const& counts) { return counts.bytes_in == sent; }));
    Client over = live.connect();
    REQUIRE(over.send(std::string_view{request}.substr(0, 200)));
    CHECK(over.answer().status == 503);
    clients.pop_back();  // its place becomes free
    CHECK(live.until([](ServerCounts const& counts) { return counts.connections_open <= 16; }));
    REQUIRE(clients.back().send(std::string_view{request}.substr(200)));
    CHECK(clients.back().answer().body == std::to_string(body.size()));
    REQUIRE(clients.back().send(request));
    CHECK(clients.back().answer().status == 200);
    Client next = live.connect();
    REQUIRE(next.send(request));
    CHECK(next.answer().status == 200);
}

TEST_CASE("whoever may not send a large body fills no place of those who may", "[live][limits]") {
    LiveServer live;
    std::string const body(limits::body_bytes_max + 1, '1');
    std::string const stranger = "X-Stranger: 1\r\n";
    std::vector<Client> strangers;
    for (std::uint32_t i = 0; i <= limits::large_bodies_per_thread_max; ++i) {
        strangers.push_back(live.connect());
        std::string const more = stranger + (i == 0 ? "Expect: 100-continue\r\n" : "");
        std::string const request = post("/import", body, more);
        REQUIRE(strangers.back().send(request.substr(0, request.size() - body.size() + 1)));
        CHECK(strangers.back().answer().status == 403);
    }
    Client chunked = live.connect();
    REQUIRE(chunked.send("POST /import HTTP/1.1\r\nHost: t\r\n" + stranger +
                         "Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n"));
    CHECK(chunked.answer().status == 403);
    CHECK(chunked.closed());
    Client client = live.connect();
    REQUIRE(client.send(post("/import", body)));
    CHECK(client.answer().body == std::to_string(body.size()));
    REQUIRE(client.send(post("/import", body.substr(1), stranger)));
    CHECK(client.answer().body == std::to_string(body.size() - 1));
}
