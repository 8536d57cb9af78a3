// Admissions of routes, what is in flight, rests, and buffers that are laid down, over loopback.
#include "tests/http/live.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

using namespace live;

namespace {

/// Counts leases that are out.
class CountingLessor final : public Lessor {
public:
    Lease lend() {
        ++out;
        return Lease(*this, {7, 0});
    }
    void give_back(std::uint64_t key) noexcept override {
        if (key == 7) --out;
    }
    std::atomic<int> out{};  // io threads give back, the test looks
};

/// POST /claim (waits for LSN 5) · GET /job (on a worker) · GET /read: each with a lease, unless
/// ?no, which its admission refuses; ?throw throws there. What reaches no handler is refused with
/// 429 if ?no is behind it.
class AdmittedServer {
public:
    AdmittedServer() {
        std::vector<Route> table;
        auto const add = [&](Method method, std::string pattern, RunsOn runs_on, Lsn lsn) {
            Handler const handler = [this, lsn](Request const&, Reply& reply) {
                handled.set(handled.get() + 1);
                reply.lsn = lsn;
                reply.body = "done";
            };
            table.push_back({method, std::move(pattern), runs_on, handler, {}, 0});
            table.back().admission = [this](Request const& request, Reply& reply) {
                if (request.query == "throw") throw std::runtime_error{"planted"};
                reply.admission_headers = "X-Admitted: 1\r\n";
                reply.lease = lessor.lend();
                if (request.query != "no") return true;
                reply.status = 503;
                reply.rests = true;
                return false;
            };
        };
        add(Method::post, "/claim", RunsOn::io, Lsn{5});
        add(Method::get, "/job", RunsOn::worker, no_lsn);
        add(Method::get, "/read", RunsOn::io, no_lsn);
        add(Method::post, "/text", RunsOn::io, no_lsn);
        table.back().body_bytes_max = 64;
        ServerOptions options;
        options.listen = "127.0.0.1:0";
        Admission const unserved = [this](Request const& request, Reply& reply) {
            unserved_asked.set(unserved_asked.get() + 1);
            if (request.query == "throw") throw std::runtime_error{"planted"};
            reply.admission_headers = "X-Admitted: 1\r\n";
            if (request.query != "no") return true;
            reply.status = 429;
            reply.rests = true;
            return false;
        };
        server.emplace(options, Router{std::move(table), unserved}, gate, workers, clock);
        server->start();
    }
    ~AdmittedServer() { server->stop(Milliseconds{0}); }
    [[nodiscard]] bool leases_are(int count) const {
        auto const end = std::chrono::steady_clock::now() + deadline;
        while (lessor.out != count && std::chrono::steady_clock::now() < end)
            std::this_thread::yield();
        return lessor.out == count;
    }

    CountingLessor lessor;  // outlives whoever may have a lease
    FakeGate gate;
    HeldWorkers workers;
    RunningClock clock{TimePoint{}};
    Published<unsigned> handled;
    Published<unsigned> unserved_asked;
    std::optional<Server> server;
};

std::string claim() {
    return "POST /claim HTTP/1.1\r\nHost: t\r\n\r\n";
}

}  // namespace

TEST_CASE("a request is in flight until its answer may leave", "[live][admission]") {
    AdmittedServer admitted;
    Client client{admitted.server->address()};
    REQUIRE(client.send(claim() + get("/read")));
    CHECK(admitted.leases_are(2));  // the second is answered behind the first
    CHECK(client.silent());
    admitted.gate.durable.set(Lsn{5});
    admitted.server->wake();
    Answer const answer = client.answer();
    CHECK(answer.body == "done");
    CHECK(answer.header("X-Admitted") == "1");
    CHECK(client.answer().body == "done");
    CHECK(admitted.leases_are(0));
    REQUIRE(client.send(get("/job")));
    CHECK(admitted.leases_are(1));
    CHECK(admitted.workers.run_one());
    CHECK(client.answer().header("X-Admitted") == "1");
    CHECK(admitted.leases_are(0));
}

TEST_CASE("what is in flight on a connection that ends is given back", "[live][admission]") {
    AdmittedServer admitted;
    {
        Client working{admitted.server->address()};
        REQUIRE(working.send(get("/job")));
        CHECK(admitted.leases_are(1));
        working.reset();
    }
    CHECK(admitted.workers.run_one());  // its client is gone
    CHECK(admitted.leases_are(0));
    Client waiting{admitted.server->address()};
    REQUIRE(waiting.send(claim()));
    CHECK(admitted.leases_are(1));
    admitted.server->stop(Milliseconds{0});
    CHECK(admitted.leases_are(0));
}

TEST_CASE("what reaches no handler is asked for admission, and the connection lives on",
          "[live][admission]") {
    AdmittedServer admitted;
    Client client{admitted.server->address()};
    auto const with = [](std::string_view method, std::string_view target, std::string_view more) {
        return std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: t\r\n" +
               std::string(more);
    };
    std::string const preflight =
        "Origin: https://shop.example\r\nAccess-Control-Request-Method: GET\r\n\r\n";
    std::string const text = "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\nhi";
    unsigned asked = 0;
    auto const answers = [&](std::string const& request, unsigned status) {
        CAPTURE(request);
        REQUIRE(client.send(request));
        Answer const answer = client.answer();
        CHECK(answer.status == status);
        CHECK(answer.header("X-Admitted") == "1");
        CHECK(admitted.unserved_asked.get() == ++asked);
    };
    for (std::string const query : {"", "?no"}) {
        unsigned const refused = query.empty() ? 0 : 429;
        auto const status = [refused](unsigned usual) { return refused == 0 ? usual : refused; };
        answers(with("GET", "/nowhere" + query, "\r\n"), status(404));
        answers(with("POST", "/nowhere" + query, text), status(404));
        answers(with("DELETE", "/read" + query, "\r\n"), status(405));
        answers(with("OPTIONS", "/read" + query, "\r\n"), status(204));
        answers(with("OPTIONS", "/claim" + query, preflight), status(204));
        answers(with("POST", "/text" + query, text), status(415));
    }
    answers(with("OPTIONS", "*", "\r\n"), 204);
    CHECK(admitted.handled.get() == 0);
    REQUIRE(client.send(get("/nowhere?throw") + get("/read")));
    CHECK(client.answer().status == 500);
    CHECK(client.answer().status == 200);
    // Not of what a handler gets.
    CHECK(admitted.unserved_asked.get() == asked + 1);
    CHECK(admitted.server->counts().handler_exceptions == 1);
}

TEST_CASE("who sends a body for nothing and waits for 100 is asked for admission, too",
          "[live][admission]") {
    AdmittedServer admitted;
    Client client{admitted.server->address()};
    REQUIRE(
        client.send("POST /nowhere?no HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\n"
                    "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n"));
    CHECK(client.answer().status == 429);
    CHECK(client.closed());
    CHECK(admitted.unserved_asked.get() == 1);
}

TEST_CASE("a worker's request is refused before it takes a place in the queue",
          "[live][admission]") {
    AdmittedServer admitted;
    Client client{admitted.server->address()};
    REQUIRE(client.send(get("/read") + get("/job?no") + get("/read")));
    CHECK(client.answer().status == 200);
    CHECK(client.answer().status == 503);  // and no worker ran
    CHECK(client.answer().status == 200);
    CHECK(admitted.handled.get() == 2);
    CHECK(admitted.leases_are(0));
    admitted.workers.full.set(true);
    REQUIRE(client.send(get("/job")));
    CHECK(client.answer().status == 503);
    CHECK(admitted.leases_are(0));
    REQUIRE(client.send(get("/job?throw") + get("/read")));
    CHECK(client.answer().status == 500);
    CHECK(client.answer().status == 200);
    CHECK(admitted.server->counts().handler_exceptions == 1);
}

TEST_CASE("who was told to come later is not read for 15 ms, others are", "[live][admission]") {
    AdmittedServer admitted;
    Client hasty{admitted.server->address()};
    Client patient{admitted.server->address()};
    auto const began = std::chrono::steady_clock::now();
    constexpr int tries = 20;
    for (int i = 0; i < tries; ++i) {
        REQUIRE(hasty.send(get("/read?no")));
        REQUIRE(hasty.answer().status == 503);
        REQUIRE(patient.send(get("/read")));
        REQUIRE(patient.answer().status == 200);
    }
    // The first is answered at once; each other one waits for the end of a rest.
    CHECK(std::chrono::steady_clock::now() - began >= (tries - 1) * Milliseconds{15});
    // What was sent meanwhile is not lost, in pieces or whole.
    REQUIRE(hasty.send(get("/read?no") + get("/read") + "GET /re"));
    REQUIRE(hasty.send("ad HTTP/1.1\r\nHost: t\r\n\r\n"));
    CHECK(hasty.answer().status == 503);
    CHECK(hasty.answer().status == 200);
    CHECK(hasty.answer().status == 200);
}

TEST_CASE("of a crowd that rests everybody is read again", "[live][admission]") {
    AdmittedServer admitted;
    std::vector<std::unique_ptr<Client>> crowd;
    for (int i = 0; i < 200; ++i)
        crowd.push_back(std::make_unique<Client>(admitted.server->address()));
    for (int round = 0; round < 3; ++round) {
        for (auto& client : crowd) REQUIRE(client->send(get("/read?no")));
        for (auto& client : crowd) REQUIRE(client->answer().status == 503);
    }
    // Some leave while they rest, from the middle of the line.
    for (std::size_t i = 0; i < crowd.size(); i += 3) crowd[i]->reset();
    for (std::size_t i = 0; i < crowd.size(); ++i) {
        if (i % 3 == 0) continue;
        REQUIRE(crowd[i]->send(get("/read")));
        REQUIRE(crowd[i]->answer().status == 200);
    }
}

TEST_CASE("a connection that rests can end, or the server can", "[live][admission]") {
    AdmittedServer admitted;
    for (int i = 0; i < 50; ++i) {
        Client client{admitted.server->address()};
        REQUIRE(client.send(get("/read?no")));
        CHECK(client.answer().status == 503);
        i % 2 == 0 ? client.reset() : client.end_sending();
    }
    Client last{admitted.server->address()};
    REQUIRE(last.send(get("/read?no")));
    CHECK(last.answer().status == 503);
    admitted.server->stop(Milliseconds{20'000});  // and does not wait for that long
    CHECK(last.closed());
}

TEST_CASE("buffers wander from connection to connection, and bytes do not", "[live][admission]") {
    LiveServer live;
    std::vector<Client> clients;
    for (int i = 0; i < 40; ++i) clients.push_back(live.connect());
    for (int round = 0; round < 5; ++round) {
        // All have half a request in their buffer, then all have the rest.
        std::uint64_t sent = live.server->counts().bytes_in;
        for (std::size_t i = 0; i < clients.size(); ++i) {
            std::string const half = "GET /?" + std::to_string(i);
            REQUIRE(clients[i].send(half));
            sent += half.size();
        }
        REQUIRE(live.until([sent](ServerCounts const& counts) { return counts.bytes_in >= sent; }));
        for (Client& client : clients) REQUIRE(client.send(" HTTP/1.1\r\nHost: t\r\n\r\n"));
        for (std::size_t i = 0; i < clients.size(); ++i) {
            Answer const answer = clients[i].answer();
            REQUIRE(answer.status == 200);
            REQUIRE(answer.body == "query=" + std::to_string(i));
        }
    }
}
