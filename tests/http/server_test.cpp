// The server over loopback: one connection's life, order, bodies, and what it refuses.
#include "tests/http/live.hpp"
#include "tests/support/few_descriptors.hpp"

#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>
#include <fcntl.h>
#include <iostream>
#include <optional>
#include <string>

using namespace live;

namespace {

std::string code_of(Answer const& answer) {
    auto const document = boost::json::parse(answer.body).as_object();
    if (document.contains("errors")) {
        return std::string{document.at("errors").at(0).at("code").as_string()};
    }
    return std::string{document.at("code").as_string()};
}

/// Of this process, among the first thousand.
std::size_t open_descriptors() {
    std::size_t count = 0;
    for (int fd = 0; fd < 1'000; ++fd)
        if (::fcntl(fd, F_GETFD) >= 0) ++count;
    return count;
}

std::string chunked(std::string_view path, std::string_view body) {
    return "POST " + std::string{path} +
           " HTTP/1.1\r\nHost: t.example\r\nContent-Type: application/json\r\n"
           "Transfer-Encoding: chunked\r\n\r\n" +
           std::string{body};
}

}  // namespace

TEST_CASE("a connection lives on from request to request", "[live]") {
    LiveServer live;
    Client client = live.connect();
    for (int i = 0; i < 3; ++i) {
        REQUIRE(client.send(get("/?a=" + std::to_string(i))));
        Answer const answer = client.answer();
        CHECK(answer.status == 200);
        CHECK(answer.body == "query=a=" + std::to_string(i));
        CHECK(answer.header("Content-Type") == "application/json");
        CHECK(answer.header("Cache-Control") == "no-store");
        CHECK(answer.header("X-Content-Type-Options") == "nosniff");
        CHECK(answer.header("Server") == "holdfast");
        CHECK(answer.header("Date").ends_with(" GMT"));
        CHECK(answer.header("X-Request-Id").size() == 29);
        CHECK(answer.header("Connection").empty());
    }
    CHECK(live.server->counts().connections_accepted == 1);
    CHECK(live.server->counts().requests == 3);
    CHECK(live.server->counts().replies_2xx == 3);
}

TEST_CASE("pipelined requests are answered in order, in few batches", "[live][requests]") {
    LiveServer live;
    Client client = live.connect();
    std::string requests;
    int const count = 200;  // more than one batch takes
    for (int i = 0; i < count; ++i) requests += get("/?n=" + std::to_string(i));
    REQUIRE(client.send(requests));
    for (int i = 0; i < count; ++i) {
        Answer const answer = client.answer();
        REQUIRE(answer.status == 200);
        REQUIRE(answer.body == "query=n=" + std::to_string(i));
    }
    CHECK(live.server->counts().batches < count / 2);
}

TEST_CASE("a request cut at every byte into two packets has the same answer", "[live]") {
    LiveServer live;
    Client client = live.connect();
    std::string const requests[] = {
        post("/echo", R"({"a":1})"),
        chunked("/echo", "3\r\n{\"a\r\n4\r\n\":1}\r\n0\r\n\r\n"),
    };
    for (std::string const& request : requests) {
        for (std::size_t cut = 1; cut < request.size(); ++cut) {
            unsigned const before = static_cast<unsigned>(live.server->counts().bytes_in);
            REQUIRE(client.send(std::string_view{request}.substr(0, cut)));
            // The second part is sent once the first was read by itself.
            REQUIRE(live.until(
                [&](ServerCounts const& counts) { return counts.bytes_in == before + cut; }));
            REQUIRE(client.send(std::string_view{request}.substr(cut)));
            Answer const answer = client.answer();
            CAPTURE(cut);
            REQUIRE(answer.status == 200);
            REQUIRE(answer.body == R"({"a":1})");
        }
    }
}

TEST_CASE("HEAD has GET's header and no body; OPTIONS and 405 name the methods", "[live]") {
    LiveServer live;
    Client client = live.connect();
    REQUIRE(client.send("HEAD /?x HTTP/1.1\r\nHost: t\r\n\r\n"));
    Answer const head = client.answer(true);
    CHECK(head.status == 200);
    CHECK(head.header("Content-Length") == "7");
    REQUIRE(client.send("OPTIONS /echo HTTP/1.1\r\nHost: t\r\n\r\n"));
    Answer const options = client.answer();
    CHECK(options.status == 204);
    CHECK(options.header("Allow") == "POST, OPTIONS");
    CHECK(options.head.find("Content-Length") == std::string::npos);
    REQUIRE(client.send("OPTIONS * HTTP/1.1\r\nHost: t\r\n\r\n"));
    CHECK(client.answer().status == 204);
    REQUIRE(client.send("TRACE /echo HTTP/1.1\r\nHost: t\r\n\r\n"));
    Answer const trace = client.answer();
    CHECK(trace.status == 405);
    CHECK(trace.header("Allow") == "POST, OPTIONS");
    CHECK(code_of(trace) == "method-not-allowed");
    REQUIRE(client.send(get("/nowhere")));
    Answer const missing = client.answer();
    CHECK(missing.status == 404);
    CHECK(code_of(missing) == "not-found");
    REQUIRE(client.send("DELETE /item/7 HTTP/1.1\r\nHost: t\r\n\r\n"));
    CHECK(client.answer().header("X-Item") == "7");
}

TEST_CASE("a given request id is echoed if it is harmless", "[live][requests]") {
    LiveServer live;
    Client client = live.connect();
    REQUIRE(client.send("GET /no HTTP/1.1\r\nHost: t\r\nX-Request-Id: abc-1\r\n\r\n"));
    Answer const kept = client.answer();
    CHECK(kept.header("X-Request-Id") == "abc-1");
    CHECK(boost::json::parse(kept.body).at("request_id").as_string() == "abc-1");
    REQUIRE(client.send("GET / HTTP/1.1\r\nHost: t\r\nX-Request-Id: a<b\r\n\r\n"));
    CHECK(client.answer().header("X-Request-Id").size() == 29);
}

TEST_CASE("instance is the path of a route, up to 128 bytes, and nothing else of the request",
          "[live][requests]") {
    LiveServer live;
    Client client = live.connect();
    auto const instance = [&client](std::string const& line) {
        REQUIRE(client.send(line + " HTTP/1.1\r\nHost: t\r\n\r\n"));
        Answer const answer = client.answer();
        CHECK(answer.status >= 400);
        CHECK(answer.body.size() < 512);
        return std::string(boost::json::parse(answer.body).at("instance").as_string());
    };
    CHECK(instance("GET /throw").front() == '/');
    CHECK(instance("GET /throw?a=b") == "/throw");
    CHECK(instance("PUT /item/7") == "/item/7");
    CHECK(instance("PUT /item/" + std::string(122, 'x')) == "/item/" + std::string(122, 'x'));
    CHECK(instance("PUT /item/" + std::string(123, 'x')).empty());
    CHECK(instance("PUT /item/" + std::string(4'000, 'x')).empty());
    CHECK(instance("GET /" + std::string(4'000, 'x')).empty());
    CHECK(instance("GET /<script>").empty());
}

TEST_CASE("Connection: close and HTTP/1.0 end the connection after the answer", "[live]") {
    LiveServer live;
    std::string const requests[] = {
        "GET / HTTP/1.1\r\nHost: t\r\nConnection: Keep-Alive, Close\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
    };
    for (std::string const& request : requests) {
        Client client = live.connect();
        // What follows is never run.
        REQUIRE(client.send(request + get("/")));
        Answer const answer = client.answer();
        CHECK(answer.status == 200);
        CHECK(answer.header("Connection") == "close");
        CHECK(client.closed());
    }
    CHECK(live.handled.get() == 2);
}

TEST_CASE("a refused request is answered once and nothing behind it runs", "[live][requests]") {
    LiveServer live;
    Client client = live.connect();
    REQUIRE(client.send(get("/") + "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n" + get("/")));
    CHECK(client.answer().status == 200);
    Answer const refused = client.answer();
    CHECK(refused.status == 400);
    CHECK(code_of(refused) == "bad-host");
    CHECK(refused.header("Connection") == "close");
    CHECK(client.closed());
    CHECK(live.handled.get() == 1);
}

TEST_CASE("a refused connection takes what is still being sent and then closes", "[live]") {
    LiveServer live;
    Client client = live.connect();
    REQUIRE(client.send("GET / HTTP/1.1\r\nBad Name: 1\r\n"));
    CHECK(client.answer().status == 400);
    // More than it drains: the connection ends although the client never stops.
    std::string const more(16'384, 'x');
    int sent = 0;
    while (sent < 4'096 && client.send(more)) ++sent;
    CHECK(sent < 4'096);
}

TEST_CASE("a body needs JSON as its type and no coding", "[live]") {
    LiveServer live;
    Client client = live.connect();
    auto const with = [&](std::string_view fields) {
        REQUIRE(client.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n" +
                            std::string{fields} + "\r\n{}"));
        return client.answer().status;
    };
    CHECK(with("Content-Type: application/json\r\n") == 200);
    CHECK(with("Content-Type: Application/JSON ; charset=UTF-8\r\n") == 200);
    CHECK(with("Content-Type: application/json\r\nContent-Encoding: identity\r\n") == 200);
    CHECK(with("") == 415);
    CHECK(with("Content-Type: text/plain\r\n") == 415);
    CHECK(with("Content-Type: application/json; charset=latin1\r\n") == 415);
    CHECK(with("Content-Type: application/json\r\nContent-Encoding: gzip\r\n") == 415);
    CHECK(with("Content-Type: application/json\r\n") == 200);  // the connection lived on
    REQUIRE(client.send("POST /echo HTTP/1.1\r\nHost: t\r\n\r\n"));
    Answer const empty = client.answer();
    CHECK(empty.status == 200);
    CHECK(empty.body.empty());
}

TEST_CASE("bodies are bounded by the route", "[live][requests]") {
    LiveServer live;
    auto const ask = [&](std::string const& request) {
        Client client = live.connect();
        REQUIRE(client.send(request));
        Answer const answer = client.answer();
        bool const ends = answer.header("Connection") == "close";
        CHECK(ends == (answer.status != 200));
        return std::to_string(answer.status) + " " + (ends ? code_of(answer) : answer.body);
    };
    std::string const largest(limits::body_bytes_max, '1');
    CHECK(ask(post("/echo", largest)) == "200 " + largest);
    CHECK(ask(post("/echo", largest + "1")) == "413 content-too-large");
    CHECK(ask(post("/action", "{}")) == "400 unexpected-body");
    CHECK(ask(post("/action", "")) == "200 ");
    CHECK(ask(chunked("/action", "0\r\n\r\n")) == "200 ");
    CHECK(ask(chunked("/action", "1\r\n1\r\n0\r\n\r\n")) == "400 unexpected-body");
    CHECK(ask("DELETE /item/7 HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\n\r\n1") ==
          "400 unexpected-body");
    CHECK(ask("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 18446744073709551615\r\n\r\n") ==
          "413 content-too-large");
    std::string const plan(limits::plan_body_bytes_max, '1');
    CHECK(ask(post("/import", plan)) == "200 8388608");
    std::string pieces;
    for (int i = 0; i < 1'024; ++i) pieces += "400\r\n" + std::string(1'024, '1') + "\r\n";
    CHECK(ask(chunked("/import", pieces + "0\r\n\r\n")) == "200 1048576");
    CHECK(ask(chunked("/import", pieces + "1\r\n1\r\n0\r\n\r\n")) == "400 framing");
}

TEST_CASE("a body for a path that does not exist is read and thrown away", "[live]") {
    LiveServer live;
    Client client = live.connect();
    REQUIRE(client.send(post("/nowhere", get("/")) + get("/")));
    CHECK(client.answer().status == 404);
    CHECK(client.answer().status == 200);
    CHECK(live.handled.get() == 1);
}

TEST_CASE("100-continue is answered once, or by the final answer", "[live]") {
    LiveServer live;
    Client client = live.connect();
    auto const head = [](std::string_view path, std::string_view length) {
        return "POST " + std::string{path} +
               " HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"
               "Content-Length: " +
               std::string{length} + "\r\n\r\n";
    };
    REQUIRE(client.send(head("/echo", "2")));
    CHECK(client.answer().status == 100);
    REQUIRE(client.send("{"));
    REQUIRE(client.send("}"));
    Answer const answer = client.answer();
    CHECK(answer.status == 200);
    CHECK(answer.body == "{}");
    // The body is there already: no 100.
    REQUIRE(client.send(head("/echo", "2") + "{}"));
    CHECK(client.answer().status == 200);
    REQUIRE(client.send(head("/echo", "70000")));
    CHECK(client.answer().status == 413);
    CHECK(client.closed());
    Client other = live.connect();
    REQUIRE(other.send(head("/nowhere", "2")));
    CHECK(other.answer().status == 404);
    CHECK(other.closed());
}

TEST_CASE("a handler that throws is a counted 500, and the connection lives on", "[live]") {
    LiveServer live;
    Client client = live.connect();
    REQUIRE(client.send(get("/throw") + get("/")));
    Answer const failed = client.answer();
    CHECK(failed.status == 500);
    CHECK(code_of(failed) == "internal-server-error");
    CHECK(client.answer().status == 200);
    CHECK(live.server->counts().handler_exceptions == 1);
    CHECK(live.server->counts().replies_5xx == 1);
}

TEST_CASE("a client that stops sending still gets its answer", "[live]") {
    LiveServer live;
    Client client = live.connect();
    REQUIRE(client.send(get("/")));
    client.end_sending();
    CHECK(client.answer().status == 200);
    CHECK(client.closed());
}

TEST_CASE("half a request and the end of the connection leave nothing behind", "[live]") {
    LiveServer live;
    Client client = live.connect();
    std::string const request = post("/echo", "hello");
    REQUIRE(client.send(request.substr(0, request.size() - 3)));
    client.end_sending();
    CHECK(client.rest().empty());
    CHECK(live.handled.get() == 0);
    CHECK(live.until([](ServerCounts const& counts) { return counts.connections_open == 0; }));
}

TEST_CASE("connections that are reset leave the server at work", "[live]") {
    LiveServer live;
    for (int i = 0; i < 200; ++i) {
        Client client = live.connect();
        if (i % 2 == 0) client.send(get("/big"));
        client.reset();
    }
    CHECK(live.until([](ServerCounts const& counts) {
        return counts.connections_accepted == 200 && counts.connections_open == 0;
    }));
    Client client = live.connect();
    REQUIRE(client.send(get("/")));
    CHECK(client.answer().status == 200);
}

TEST_CASE("a reply larger than the socket's buffers arrives whole", "[live]") {
    LiveServer live;
    Client client = live.connect();
    REQUIRE(client.send(get("/big") + get("/")));
    Answer const big = client.answer();
    CHECK(big.body.size() == 4U << 20);
    CHECK(big.body.find_first_not_of('b') == std::string::npos);
    CHECK(client.answer().status == 200);
}

TEST_CASE("an address that is in use or cannot be read is refused at start", "[live]") {
    LiveServer live;
    ServerOptions options;
    options.threads = GENERATE(1U, 2U);
    std::string const bad = GENERATE(as<std::string>{}, "", "127.0.0.1", "host:1", "::1:80",
                                     "[127.0.0.1]:80", "127.0.0.1:65536", "127.0.0.1:x");
    options.listen = live.server->address();
    CHECK_THROWS_AS(Server(options, Router{{}}, live.gate, live.workers, live.clock),
                    std::system_error);
    options.listen = bad;
    CHECK_THROWS_AS(Server(options, Router{{}}, live.gate, live.workers, live.clock),
                    std::system_error);
}

TEST_CASE("an address is taken before there is a server, and one can listen beside that",
          "[live]") {
    LiveServer live;  // for its gate, workers and clock, and its address in use
    CHECK_THROWS_AS(ReservedAddress(live.server->address()), std::system_error);
    CHECK_THROWS_AS(ReservedAddress("here:1"), std::system_error);
    ReservedAddress const taken{"127.0.0.1:0"};
    ServerOptions options;
    options.threads = GENERATE(1U, 2U);
    options.listen = taken.address();
    Client early;
    CHECK_THROWS(early.connect(taken.address()));  // nobody listens yet
    Server server{options, Router{{}}, live.gate, live.workers, live.clock};
    server.start();
    CHECK(server.address() == taken.address());
    Client client{taken.address()};
    REQUIRE(client.send(get("/")));
    CHECK(client.answer().status == 404);
    CHECK_THROWS_AS(ReservedAddress(taken.address()), std::system_error);
    server.stop(Milliseconds{0});
}

TEST_CASE("without a descriptor to keep it with an address is not taken", "[server][limits]") {
#ifdef __SANITIZE_ADDRESS__
    // UBSan opens a pipe to see whether an object is there, and without one takes it for broken.
    std::cout << "skipped: this sanitizer needs descriptors of its own\n";
    return;
#endif
    bool is_taken = false;
    rlim_t more = 0;
    for (; !is_taken && more < 32; ++more) {
        std::size_t const open = open_descriptors();
        std::optional<ReservedAddress> taken;
        bool refused = false;
        try {
            holdfast::test::FewDescriptors const few(more);
            taken.emplace("127.0.0.1:0");
        } catch (std::system_error const& error) {
            refused = error.code() == std::errc::too_many_files_open;
        }
        CAPTURE(more);
        is_taken = taken.has_value();
        CHECK(refused != is_taken);
        CHECK(open_descriptors() == open + (is_taken ? 1 : 0));
    }
    CHECK(is_taken);
    CHECK(more > 2);
}

TEST_CASE("two addresses that nobody can listen at together overlap", "[live]") {
    ReservedAddress const one{"127.0.0.1:0"};
    ReservedAddress const other{"127.0.0.1:0"};
    CHECK_FALSE(one.overlaps(other));
    CHECK(one.overlaps(ReservedAddress{one.address()}));
    auto const port = one.address().substr(one.address().rfind(':'));
    CHECK(one.overlaps(ReservedAddress{"0.0.0.0" + port}));
    CHECK(ReservedAddress{"0.0.0.0" + port}.overlaps(one));
    CHECK_FALSE(one.overlaps(ReservedAddress{"127.0.0.2" + port}));
}

TEST_CASE("addresses of both families overlap where the system has one in the other", "[server]") {
    auto const overlap = [](std::string const& one, std::string const& other) {
        bool const forth = addresses_overlap(one, other);
        CHECK(addresses_overlap(other, one) == forth);
        return forth;
    };
    CHECK(overlap("[::]:80", "[::1]:80"));
    CHECK(overlap("[::]:80", "127.0.0.1:80"));
    CHECK(overlap("[::]:80", "0.0.0.0:80"));
    CHECK_FALSE(overlap("0.0.0.0:80", "[::1]:80"));
    CHECK(overlap("[::ffff:127.0.0.1]:80", "127.0.0.1:80"));
    CHECK(overlap("[::ffff:127.0.0.1]:80", "0.0.0.0:80"));
    CHECK(overlap("[::ffff:0.0.0.0]:80", "127.0.0.1:80"));
    CHECK_FALSE(overlap("[::ffff:0.0.0.0]:80", "[::1]:80"));
    CHECK_FALSE(overlap("[::]:80", "[::1]:81"));
    CHECK_FALSE(overlap("[::]:0", "[::1]:0"));
}
