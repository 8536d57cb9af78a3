// Handlers on workers that take too long: what the client hears, and where the late reply goes.
#include "tests/http/live.hpp"

#include <atomic>
#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>
#include <string>
#include <thread>

using namespace live;

namespace {

class LateLessor final : public Lessor {
public:
    Lease lend() {
        ++out;
        return Lease(*this, {7, 0});
    }
    void give_back(std::uint64_t) noexcept override { --out; }
    std::atomic<int> out{};
};

/// POST /change, on a worker: it stands still until release(), and then has changed something.
class LateServer {
public:
    LateServer() {
        std::vector<Route> table;
        Handler const change = [this](Request const&, Reply& reply) {
            begun.set(true);
            released_.wait();
            if (throws.get()) throw std::runtime_error{"planted"};
            reply.lsn = Lsn{9};
            reply.body = "late";
        };
        table.push_back({Method::post, "/change", RunsOn::worker, change, {}, 0});
        table.back().admission = [this](Request const&, Reply& reply) {
            reply.lease = lessor.lend();
            return true;
        };
        Handler const count = [this](Request const&, Reply&) { handled.set(handled.get() + 1); };
        table.push_back({Method::get, "/", RunsOn::io, count, {}, 0});
        ServerOptions options;
        options.listen = "127.0.0.1:0";
        options.handler_timeout = Milliseconds{1};
        server = std::make_unique<Server>(options, Router{std::move(table)}, gate, workers, clock);
        server->start();
    }
    ~LateServer() {
        if (server) server->stop(Milliseconds{0});
    }
    [[nodiscard]] Client send_change() const {
        Client client{server->address()};
        REQUIRE(client.send("POST /change HTTP/1.1\r\nHost: t\r\n\r\n" + get("/")));
        return client;
    }
    /// One whose handler runs; `worker` is in it.
    [[nodiscard]] Client late_change(std::thread& worker) {
        for (;;) {
            Client client = send_change();
            worker = std::thread([this] { static_cast<void>(workers.run_one()); });
            Answer const answer = client.answer();
            CHECK(answer.status == 503);
            CHECK(answer.header("Retry-After") == "1");
            CHECK(answer.header("Connection") == "close");
            if (code_of(answer) == "timeout") {
                CHECK(boost::json::parse(answer.body).at("instance").as_string() == "/change");
                return client;
            }
            CHECK(code_of(answer) == "busy");  // the worker had not even begun
            worker.join();
            CHECK_FALSE(begun.get());
        }
    }
    [[nodiscard]] static std::string code_of(Answer const& answer) {
        return std::string(boost::json::parse(answer.body).at("code").as_string());
    }
    void release() { release_.set_value(); }
    template <class Condition>
    [[nodiscard]] static bool until(Condition const& holds) {
        auto const end = std::chrono::steady_clock::now() + deadline;
        while (!holds() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        return holds();
    }

    LateLessor lessor;
    FakeGate gate;
    HeldWorkers workers;
    RunningClock clock{TimePoint{}};
    Published<unsigned> handled;
    Published<bool> begun;
    Published<bool> throws;
    std::unique_ptr<Server> server;

private:
    std::promise<void> release_;
    std::shared_future<void> released_{release_.get_future().share()};
};

}  // namespace

TEST_CASE("a request that waits for a worker for too long is busy, and never run",
          "[live][worker][timeout]") {
    LateServer late;
    Client client = late.send_change();
    Answer const answer = client.answer();
    CHECK(answer.status == 503);
    CHECK(LateServer::code_of(answer) == "busy");
    CHECK(answer.header("Retry-After") == "1");
    CHECK(client.closed());
    CHECK(late.lessor.out == 1);  // it is in the queue still
    late.release();               // if it does run, it comes to an end
    CHECK(late.workers.run_one());
    CHECK_FALSE(late.begun.get());
    CHECK(LateServer::until([&] { return late.lessor.out == 0; }));
    CHECK(late.handled.get() == 0);  // what stood behind it
    CHECK(late.server->counts().handlers_late == 1);
    Client next{late.server->address()};
    REQUIRE(next.send(get("/")));
    CHECK(next.answer().status == 200);
}

TEST_CASE("a handler that takes too long is answered for, and its late reply goes nowhere",
          "[live][worker][timeout]") {
    bool const client_gone = GENERATE(false, true);
    bool const throws = GENERATE(false, true);
    LateServer late;
    late.throws.set(throws);
    std::thread worker;
    Client client = late.late_change(worker);
    CHECK(client.closed());
    auto const nobody = [&late] { return late.server->counts().connections_open == 0; };
    if (client_gone) {
        client.reset();
        CHECK(LateServer::until(nobody));
    }
    CHECK(late.lessor.out == 1);  // a worker has it
    late.release();
    worker.join();
    CHECK(LateServer::until([&] { return late.lessor.out == 0; }));
    if (!client_gone) client.reset();
    CHECK(LateServer::until(nobody));
    CHECK(late.handled.get() == 0);
    CHECK(late.server->counts().handlers_late >= 1);
    CHECK(late.server->counts().replies_2xx == 0);
    // The session serves others.
    for (int i = 0; i < 3; ++i) {
        Client next{late.server->address()};
        REQUIRE(next.send(get("/")));
        CHECK(next.answer().status == 200);
    }
}

TEST_CASE("a late reply finds no server any more", "[live][worker][timeout]") {
    LateServer late;
    std::thread worker;
    Client client = late.late_change(worker);
    Milliseconds const grace{GENERATE(0, 20'000)};
    late.server->stop(grace);
    late.server.reset();
    CHECK(client.closed());
    CHECK(late.lessor.out == 1);
    late.release();
    worker.join();
    CHECK(late.lessor.out == 0);
}

TEST_CASE("a worker that is in time is not hurried by the clock of the last one, nor is the disk",
          "[live][worker][timeout]") {
    LateServer late;
    late.release();  // no handler takes any time
    for (;;) {
        Client client = late.send_change();
        REQUIRE(late.workers.run_one());
        // The time of this one ends after that of the first: the wheel has met both by then.
        Client later = late.send_change();
        Answer const refused = later.answer();
        CHECK(LateServer::code_of(refused) == "busy");
        REQUIRE(late.workers.run_one());
        if (!client.silent()) {
            REQUIRE(client.answer().status == 503);  // its worker was late
            continue;
        }
        late.gate.durable.set(Lsn{9});
        late.server->wake();
        Answer const answer = client.answer();
        CHECK(answer.status == 200);
        CHECK(answer.body == "late");
        CHECK(client.answer().status == 200);  // what stood behind it
        break;
    }
    CHECK(late.handled.get() == 1);
}
