// Faults: what each is answered with, who it is counted for, and when it is not answered at all.
#include "http/fault.hpp"

#include "tests/http/live.hpp"

#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace live;

namespace {

/// GET / · POST /text (bodies of 64 bytes) · POST /late (a worker that never comes). What asks
/// before faults are answered counts, and refuses once it is told to.
class FaultServer {
public:
    explicit FaultServer(ServerOptions options = {}) {
        options.listen = "127.0.0.1:0";
        std::vector<Route> table;
        Handler const done = [](Request const&, Reply& reply) { reply.body = "done"; };
        table.push_back({Method::get, "/", RunsOn::io, done, {}, 0});
        table.push_back({Method::post, "/text", RunsOn::io, done, {}, 64});
        table.push_back({Method::post, "/late", RunsOn::worker, done, {}, 64});
        Admission const faults = [this](Request const& request, Reply&) {
            asked.set(asked.get() + 1);
            asked_for_loopback.set(request.loopback_peer && request.peer[15] == 1 &&
                                   request.received_at != TimePoint{});
            if (throws.get()) throw std::runtime_error{"planted"};
            return !refuses.get();
        };
        server.emplace(options, Router{std::move(table), {}, faults}, gate, workers, clock);
        server->start();
    }
    ~FaultServer() { server->stop(Milliseconds{0}); }
    [[nodiscard]] Client send(std::string const& bytes) const {
        Client client{server->address()};
        REQUIRE(client.send(bytes));
        return client;
    }

    FakeGate gate;
    HeldWorkers workers;
    RunningClock clock{TimePoint{Milliseconds{1}}};
    Published<unsigned> asked;
    Published<bool> asked_for_loopback, refuses, throws;
    std::optional<Server> server;
};

/// With times that pass at once for heads and bodies that do not come.
ServerOptions hasty() {
    ServerOptions options;
    options.head_timeout = options.body_timeout = Milliseconds{1};
    options.hosts = HostNames::parse("t").value();
    return options;
}

std::string const fine_request = "GET / HTTP/1.1\r\nHost: t\r\n\r\n";

struct Case {
    std::string sent;
    unsigned status;
};

std::vector<Case> faults_of_clients() {
    std::string const json = "Content-Type: application/json\r\n";
    return {
        {"nonsense\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: t\r\n folded\r\n\r\n", 400},
        {"CONNECT t:1 HTTP/1.1\r\nHost: t\r\n\r\n", 405},
        {"GET / HTTP/1.1\r\nHost: t\r\nX: 1", 408},
        {"POST /text HTTP/1.1\r\nHost: t\r\n" + json + "Content-Length: 2\r\n\r\nx", 408},
        {"POST /text HTTP/1.1\r\nHost: t\r\n" + json + "Content-Length: 65\r\n\r\n", 413},
        {"POST /text HTTP/1.1\r\nHost: t\r\n" + json + "Transfer-Encoding: chunked\r\n\r\n41\r\n",
         413},
        {"POST / HTTP/1.1\r\nHost: t\r\n" + json + "Transfer-Encoding: chunked\r\n\r\n!\r\n", 400},
        {"GET /" + std::string(5'000, 'x') + " HTTP/1.1\r\nHost: t\r\n\r\n", 414},
        {"GET / HTTP/1.1\r\nHost: t\r\nExpect: tea\r\n\r\n", 417},
        {"GET / HTTP/1.1\r\nHost: other\r\n\r\n", 421},
        {"GET / HTTP/1.1\r\nHost: t\r\nX: " + std::string(9'000, 'x') + "\r\n\r\n", 431},
        {"POST /text HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
        {"GET / HTTP/2.0\r\nHost: t\r\n\r\n", 505},
    };
}

}  // namespace

TEST_CASE("every fault is answered with a problem of its own", "[faults]") {
    Request request;
    request.request_id = "r-1";
    for (auto number = static_cast<unsigned>(Fault::none) + 1;
         number <= static_cast<unsigned>(Fault::version); ++number) {
        CAPTURE(number);
        auto const fault = static_cast<Fault>(number);
        Reply reply;
        write_fault(reply, request, fault);
        auto const problem = boost::json::parse(reply.body).as_object();
        CHECK(reply.status >= 400);
        CHECK(problem.at("status").as_int64() == reply.status);
        CHECK_FALSE(problem.at("code").as_string().empty());
        CHECK_FALSE(problem.at("detail").as_string().empty());
        // Whoever is told to come later did nothing wrong, but for the half read heads.
        bool const later = reply.headers.find("Retry-After") != std::string::npos;
        if (later && fault != Fault::half_read_heads) CHECK_FALSE(is_of_client(fault));
        if (reply.status < 500) CHECK(is_of_client(fault));
    }
    CHECK_FALSE(is_of_client(Fault::none));
    CHECK_FALSE(is_of_client(Fault::internal));
    CHECK_FALSE(is_of_client(Fault::durability_lost));
    CHECK(is_of_client(Fault::half_read_heads));
    CHECK(is_of_client(Fault::coding));
}

TEST_CASE("a fault of the client is counted once, and without room for it ends without a word",
          "[live][faults]") {
    FaultServer faulty{hasty()};
    unsigned asked = 0;
    for (bool const refuses : {false, true}) {
        faulty.refuses.set(refuses);
        for (Case const& row : faults_of_clients()) {
            CAPTURE(refuses, row.status, row.sent.substr(0, 100));
            Client client = faulty.send(fine_request + row.sent);
            CHECK(client.answer().body == "done");  // what was asked before it
            if (!refuses) {
                CHECK(client.answer().status == row.status);
                CHECK(client.closed());
            } else {
                CHECK(client.rest().empty());
            }
            CHECK(faulty.asked.get() == ++asked);
            CHECK(faulty.asked_for_loopback.get());
            Client alone = faulty.send(row.sent);
            if (refuses) CHECK(alone.answer().status == 0);
            if (!refuses) CHECK(alone.answer().status == row.status);
            CHECK(faulty.asked.get() == ++asked);
        }
    }
    CHECK(faulty.server->counts().handler_exceptions == 0);
    CHECK(faulty.send(fine_request).answer().status == 200);
}

TEST_CASE("an end without a word loses no answer that is on its way", "[live][faults]") {
    FaultServer faulty;
    faulty.refuses.set(true);
    Client client;
    client.keep_little();
    client.connect(faulty.server->address());
    constexpr unsigned requests = 60;
    std::string many;
    for (unsigned i = 0; i < requests; ++i) many += fine_request;
    REQUIRE(client.send(many));
    while (faulty.server->counts().requests != requests) std::this_thread::yield();
    // With bytes behind it that nobody reads.
    REQUIRE(client.send("nonsense\r\n\r\n" + std::string(20'000, 'x')));
    while (faulty.asked.get() != 1) std::this_thread::yield();
    for (unsigned i = 0; i < requests; ++i) REQUIRE(client.answer().body == "done");
    CHECK(client.closed());
}

TEST_CASE("one half read head too many is a fault of the client, too", "[live][faults]") {
    ServerOptions options;
    options.limit_loopback = true;
    options.half_read_heads_per_address_max = 1;
    options.head_timeout = Milliseconds{600'000};
    FaultServer faulty{options};
    Client const first = faulty.send("G");
    while (faulty.server->counts().bytes_in != 1) std::this_thread::yield();
    CHECK(faulty.send("G").answer().status == 503);
    CHECK(faulty.asked.get() == 1);
    faulty.refuses.set(true);
    CHECK(faulty.send("G").answer().status == 0);
    CHECK(faulty.asked.get() == 2);
    CHECK(faulty.server->counts().half_read_heads_refused == 2);
}

TEST_CASE("what is the server's own fault is told, whoever has made too many requests",
          "[live][faults]") {
    ServerOptions options;
    options.handler_timeout = Milliseconds{1};
    FaultServer faulty{options};
    faulty.refuses.set(true);
    Client client = faulty.send(post("/late", "{}"));
    Answer const late = client.answer();
    CHECK(late.status == 503);
    CHECK(boost::json::parse(late.body).at("code").as_string() == "busy");
    CHECK(client.closed());
    CHECK(faulty.asked.get() == 0);
    CHECK(faulty.workers.run_one());  // nobody waits for it
}

TEST_CASE("a fault whose admission throws is 500", "[live][faults]") {
    FaultServer faulty;
    faulty.throws.set(true);
    Client client = faulty.send("nonsense\r\n\r\n");
    CHECK(client.answer().status == 500);
    CHECK(client.closed());
    CHECK(faulty.server->counts().handler_exceptions == 1);
}

TEST_CASE("what comes from a trusted proxy without a head is counted for nobody",
          "[live][faults][proxies]") {
    ServerOptions options;
    options.proxies = {parse_ranges("127.0.0.1").value(), ClientNamedBy::x_forwarded_for};
    FaultServer faulty{options};
    faulty.refuses.set(true);
    CHECK(faulty.send("nonsense\r\n\r\n").answer().status == 400);
    CHECK(faulty.asked.get() == 0);
    // With one it is counted for whom it names.
    std::string const named = "POST /text HTTP/1.1\r\nHost: t\r\nX-Forwarded-For: 192.0.2.1\r\n";
    CHECK(faulty.send(named + "Content-Length: 65\r\n\r\n").answer().status == 0);
    CHECK(faulty.asked.get() == 1);
    CHECK_FALSE(faulty.asked_for_loopback.get());
}
