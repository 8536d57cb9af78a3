// Nothing is acknowledged before it is on disk, also when the disk fails.
#include "tests/http/live.hpp"

#include <atomic>
#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>
#include <string>

using namespace live;

namespace {

std::string mutation(std::uint64_t lsn) {
    return post("/lsn", "", "X-Lsn: " + std::to_string(lsn) + "\r\n");
}

/// Until the io thread has run that many requests; then their replies wait or are on their way.
bool handled(LiveServer& live, unsigned count) {
    return live.until([&](ServerCounts const&) { return live.handled.get() >= count; });
}

}  // namespace

TEST_CASE("P3: a batch waits once for its highest LSN and then leaves in order",
          "[live][durable]") {
    LiveServer live;
    Client client = live.connect();
    REQUIRE(client.send(mutation(3) + mutation(5) + get("/") + mutation(4)));
    REQUIRE(handled(live, 4));
    live.gate.durable.set(Lsn{4});
    live.server->wake();
    // Another connection that waits for nothing is served meanwhile, after the wake-up.
    Client other = live.connect();
    REQUIRE(other.send(get("/")));
    CHECK(other.answer().status == 200);
    CHECK(client.silent());
    live.gate.durable.set(Lsn{5});
    live.server->wake();
    for (char const* const body : {"3", "5", "query=", "4"}) CHECK(client.answer().body == body);
    CHECK(live.server->counts().batches == 2);
}

TEST_CASE("what sockets and the disk have run is run in turns, one after the other",
          "[live][durable]") {
    LiveServer live;
    Client first = live.connect();
    Client second = live.connect();
    REQUIRE(first.send(mutation(1) + mutation(2)));
    REQUIRE(second.send(mutation(2)));
    REQUIRE(handled(live, 3));
    // Goes on with the second half of a batch once the first is durable.
    std::string many;
    for (std::size_t i = 0; i <= limits::batch_requests_max; ++i) many += mutation(3);
    REQUIRE(first.send(many));
    live.gate.durable.set(Lsn{2});
    live.server->wake();
    for (int i = 0; i < 2; ++i) CHECK(first.answer().status == 201);
    CHECK(second.answer().status == 201);
    live.gate.durable.set(Lsn{3});
    live.server->wake();
    for (std::size_t i = 0; i <= limits::batch_requests_max; ++i) {
        REQUIRE(first.answer().status == 201);
    }
    CHECK_FALSE(live.gate.unpaired.get());
    CHECK_FALSE(live.gate.outside.get());
}

TEST_CASE("what is durable already does not wait", "[live][durable]") {
    LiveServer live;
    live.gate.durable.set(Lsn{9});
    Client client = live.connect();
    REQUIRE(client.send(mutation(9)));
    CHECK(client.answer().status == 201);
}

TEST_CASE("P9: if the journal fails, what is durable is answered and the rest is 503",
          "[live][durable]") {
    LiveServer live;
    Client client = live.connect();
    REQUIRE(client.send(get("/?a") + mutation(1) + mutation(2) + mutation(3) + get("/?b")));
    Client durable = live.connect();
    REQUIRE(durable.send(mutation(1)));
    REQUIRE(handled(live, 6));
    live.gate.durable.set(Lsn{1});
    live.gate.broken.set(true);
    live.server->wake();
    CHECK(client.answer().body == "query=a");
    CHECK(client.answer().body == "1");
    Answer const lost = client.answer();
    CHECK(lost.status == 503);
    CHECK(lost.header("Connection") == "close");
    CHECK(lost.header("Retry-After").empty());
    auto const document = boost::json::parse(lost.body).as_object();
    CHECK(document.at("code").as_string() == "durability-lost");
    CHECK(document.at("instance").as_string() == "/lsn");
    CHECK(client.closed());
    CHECK(durable.answer().status == 201);
    // After the failure: a new mutation is 503 at once, a read is answered.
    REQUIRE(durable.send(get("/") + mutation(4)));
    CHECK(durable.answer().status == 200);
    CHECK(durable.answer().status == 503);
}

TEST_CASE("the longest plain head is read once more for a worker, and for a reply that is lost",
          "[live][durable][worker]") {
    // Of few fields, and as many bytes as a head may have: nothing but the guard has to like it.
    auto const filled = [](std::string head) {
        for (char name = 'A'; name < 'K'; ++name) head.append({name}).append(": 1\r\n");
        std::size_t const rest = limits::head_bytes_max - head.size() - 12;
        head.append("X: ").append(rest / 2, 'x').append("\r\nY: ");
        return head.append(rest - rest / 2, 'y').append("\r\n\r\n");
    };
    LiveServer live;
    Client client = live.connect();
    std::string const work = filled("GET /work?all HTTP/1.1\r\nHost: t\r\n");
    REQUIRE(work.size() == limits::head_bytes_max);
    REQUIRE(client.send(work));
    REQUIRE(live.workers.run_one());
    CHECK(client.answer().body == "work all");
    // An empty line in front is skipped, and the worker's copy has it, too.
    REQUIRE(client.send("\r\n" + get("/work?line")));
    REQUIRE(live.workers.run_one());
    CHECK(client.answer().body == "work line");
    REQUIRE(client.send(filled("POST /lsn HTTP/1.1\r\nHost: t\r\nX-Lsn: 1\r\n")));
    REQUIRE(handled(live, 1));
    live.gate.broken.set(true);
    live.server->wake();
    CHECK(client.answer().status == 503);
    CHECK(client.closed());
}

TEST_CASE("a client that goes away while its reply waits harms nobody", "[live][durable]") {
    LiveServer live;
    Client gone = live.connect();
    Client stays = live.connect();
    REQUIRE(gone.send(mutation(1)));
    REQUIRE(stays.send(mutation(2)));
    REQUIRE(handled(live, 2));
    gone.reset();
    live.gate.durable.set(Lsn{2});
    live.server->wake();
    CHECK(stays.answer().status == 201);
    CHECK(live.until([](ServerCounts const& counts) { return counts.connections_open == 1; }));
}

TEST_CASE("a stop waits for a reply that waits for the disk, and no longer",
          "[live][durable][stop]") {
    LiveServer live;
    Client idle = live.connect();
    REQUIRE(idle.send(get("/")));
    REQUIRE(idle.answer().status == 200);
    Client client = live.connect();
    REQUIRE(client.send(mutation(9)));
    REQUIRE(live.until([](ServerCounts const& counts) { return counts.requests == 2; }));
    std::thread stop([&live] { live.server->stop(Milliseconds{60'000}); });
    bool const stops = idle.closed();
    bool const waits = client.silent();
    live.gate.durable.set(Lsn{9});
    live.server->wake();
    Answer const answer = client.answer();
    bool const closed = client.closed();  // within 20 s, which is before the stop would end it
    stop.join();
    CHECK(stops);
    CHECK(waits);
    CHECK(answer.status == 201);
    CHECK(closed);
}

TEST_CASE("a stop answers what has arrived, also what was not read yet", "[live][stop]") {
    ServerOptions options;
    options.threads = 1;
    LiveServer live(options);
    std::vector<Client> clients;
    for (int i = 0; i < 20; ++i) {
        clients.push_back(live.connect());
        REQUIRE(clients.back().send(get("/")));
        REQUIRE(clients.back().answer().status == 200);
    }
    Client idle = live.connect();
    REQUIRE(idle.send(get("/")));
    REQUIRE(idle.answer().status == 200);
    Client stalls = live.connect();
    REQUIRE(stalls.send(get("/stall")));
    REQUIRE(handled(live, 22));
    for (Client& client : clients) REQUIRE(client.send(get("/")));
    std::thread stop([&live] { live.server->stop(Milliseconds{60'000}); });
    // By then it is told to stop; if not, it is told with all of them answered, which is no wrong.
    bool const waits = idle.silent(Milliseconds{50});
    live.end_stall();
    std::size_t answered = 0;
    for (Client& client : clients) answered += client.answer().status == 200 ? 1 : 0;
    bool const closed = idle.closed() && clients.front().closed();
    stop.join();
    CHECK(waits);
    CHECK(answered == clients.size());
    CHECK(closed);
}

TEST_CASE("what runs behind a worker's reply, or after the others had their turn, is a turn",
          "[live][durable]") {
    LiveServer live;
    live.gate.durable.set(Lsn{9});
    Client client = live.connect();
    REQUIRE(client.send(get("/work") + mutation(9)));
    REQUIRE(live.workers.run_one());
    CHECK(client.answer().status == 200);
    CHECK(client.answer().status == 201);
    // More than it reads in a row; the io thread stands still until it is there.
    Client other = live.connect();
    REQUIRE(other.send(get("/stall")));
    REQUIRE(handled(live, 2));
    std::string many;
    while (many.size() < 1'000'000) many += mutation(9);
    std::size_t const sent = client.send_some(many);  // what the kernel takes
    live.end_stall();
    std::thread sender([&] { client.send(std::string_view{many}.substr(sent)); });
    bool all = true;
    for (std::size_t i = 0; i < many.size() / mutation(9).size(); ++i)
        all = client.answer().status == 201 && all;
    sender.join();
    CHECK(all);
    CHECK_FALSE(live.gate.unpaired.get());
    CHECK_FALSE(live.gate.outside.get());
}

TEST_CASE("no wake-up is lost, however closely commits follow requests",
          "[live][durable][stress]") {
    ServerOptions options;
    options.threads = 2;
    LiveServer live{options};
    std::atomic<std::uint64_t> appended{0};
    std::atomic<bool> stop{false};
    std::thread journal{[&] {
        // Makes durable what was asked for at once, so that it races with the io threads' arming.
        std::uint64_t done = 0;
        while (!stop.load()) {
            std::uint64_t const last = appended.load();
            if (last == done) {
                std::this_thread::yield();
                continue;
            }
            done = last;
            live.gate.durable.set(Lsn{done});
            live.server->wake();
        }
    }};
    std::vector<Client> clients;
    for (int i = 0; i < 4; ++i) clients.push_back(live.connect());
    std::uint64_t lsn = 0;
    bool all = true;
    for (int round = 0; round < 2'000 && all; ++round) {
        for (Client& client : clients) {
            all = client.send(mutation(++lsn)) && all;
            if (round % 2 == 0) appended.store(lsn);  // before or after the server has it
        }
        appended.store(lsn);
        for (Client& client : clients) all = client.answer().status == 201 && all;
    }
    stop.store(true);
    journal.join();
    CHECK(all);
}
