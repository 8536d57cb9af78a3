// Connections that are in the middle of a head: so many of one address, and no more.
#include "tests/http/live.hpp"

#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace live;

namespace {

std::string const half = "GET / HTTP/1.1\r\nHost: t";
std::string const other_half = "\r\n\r\n";

ServerOptions few_half_heads() {
    ServerOptions options;
    options.limit_loopback = true;
    options.half_read_heads_per_address_max = 3;
    options.head_timeout = options.body_timeout = options.idle_timeout = Milliseconds{600'000};
    return options;
}

/// A server and what was sent to it so far: one thread reads, in the order in which it came.
class HalfHeads {
public:
    explicit HalfHeads(ServerOptions const& options) : live(options) {}
    Client send(std::string const& bytes) {
        Client client = live.connect();
        more(client, bytes);
        return client;
    }
    void more(Client& client, std::string const& bytes) {
        REQUIRE(client.send(bytes));
        sent_ += bytes.size();
        REQUIRE(
            live.until([this](ServerCounts const& counts) { return counts.bytes_in == sent_; }));
    }
    void check_refused(Client client) const {
        Answer const refused = client.answer();
        CHECK(refused.status == 503);
        CHECK(refused.header("Retry-After") == "1");
        CHECK(refused.header("Connection") == "close");
        CHECK(boost::json::parse(refused.body).at("code").as_string() == "overloaded");
        CHECK(client.closed());
    }

    LiveServer live;

private:
    std::size_t sent_{};
};

}  // namespace

TEST_CASE("so many connections of one address are in the middle of a head, and no more",
          "[live][limits]") {
    HalfHeads heads(few_half_heads());
    std::vector<Client> slow;
    slow.push_back(heads.send("G"));
    slow.push_back(heads.send(get("/?whole") + half));
    CHECK(slow.back().answer().body == "query=whole");
    slow.push_back(heads.send(half));
    heads.more(slow.front(), half.substr(1, 5));  // counted once
    heads.check_refused(heads.send(half));
    CHECK(heads.live.server->counts().half_read_heads_refused == 1);
    // Whole heads, and bodies that are not there yet, are no half ones.
    Client whole = heads.send(get("/"));
    CHECK(whole.answer().status == 200);
    Client body = heads.send(post("/echo", "12").substr(0, post("/echo", "12").size() - 1));
    // A head that is whole makes room for another, and so does a connection that ends.
    heads.more(slow.back(), other_half);
    CHECK(slow.back().answer().status == 200);
    slow.push_back(heads.send(half));
    heads.check_refused(heads.send(half));
    slow.front().reset();
    REQUIRE(heads.live.until([](ServerCounts const& counts) {
        return counts.connections_open == 5;  // two in a head, one behind it, a whole one, a body
    }));
    slow.push_back(heads.send(half));
    heads.check_refused(heads.send(half));
    for (std::size_t const at : {std::size_t{1}, std::size_t{3}, std::size_t{4}}) {
        heads.more(slow[at], other_half);
        CHECK(slow[at].answer().status == 200);
    }
    heads.more(body, "2");
    CHECK(body.answer().body == "12");
    CHECK(heads.live.server->counts().half_read_heads_refused == 3);
    CHECK(heads.live.server->counts().connections_refused == 0);
}

TEST_CASE("a head that is refused, or that is late, makes room for another", "[live][limits]") {
    ServerOptions options = few_half_heads();
    options.half_read_heads_per_address_max = 1;
    options.head_timeout = Milliseconds{1};
    LiveServer live{options};
    std::vector<Client> kept;  // the server waits for their end
    for (int i = 0; i < 3; ++i) {
        kept.push_back(live.connect());
        REQUIRE(kept.back().send(half));
        CHECK(kept.back().answer().status == 408);
        CHECK(kept.back().closed());
    }
    HalfHeads heads(few_half_heads());
    for (int i = 0; i < 5; ++i) {
        Client broken = heads.send("GET / HTTP/1.1\r\nHo");
        heads.more(broken, "st\r\n");
        CHECK(broken.answer().status == 400);
        CHECK(broken.closed());
    }
    CHECK(heads.live.server->counts().half_read_heads_refused == 0);
}

TEST_CASE("a connection that ends in the middle of a head makes room for any other",
          "[live][limits]") {
    ServerOptions options = few_half_heads();
    options.half_read_heads_per_address_max = 1;
    HalfHeads heads(options);
    heads.send(half).reset();
    auto const open = [&heads](std::uint64_t connections) {
        return heads.live.until([connections](ServerCounts const& counts) {
            return counts.connections_open == connections;
        });
    };
    REQUIRE(open(0));
    Client const next = heads.live.connect();  // it has said nothing yet
    REQUIRE(open(1));
    Client slow = heads.send(half);
    heads.check_refused(heads.send(half));
    heads.more(slow, other_half);
    CHECK(slow.answer().status == 200);
}

TEST_CASE("loopback has as many half-read heads as it likes unless it is limited",
          "[live][limits]") {
    ServerOptions options = few_half_heads();
    options.limit_loopback = false;
    HalfHeads heads(options);
    std::vector<Client> slow;
    for (int i = 0; i < 10; ++i) slow.push_back(heads.send(half));
    for (Client& client : slow) {
        heads.more(client, other_half);
        CHECK(client.answer().status == 200);
    }
}

TEST_CASE("half-read heads behind the PROXY protocol count for the client", "[live][limits]") {
    ServerOptions options = few_half_heads();
    options.half_read_heads_per_address_max = 1;
    options.limit_loopback = true;
    options.proxies = {*parse_ranges("127.0.0.1"), ClientNamedBy::proxy_protocol};
    HalfHeads heads(options);
    auto const connect_for = [&heads](std::string const& client) {
        Client connection = heads.live.connect();
        REQUIRE(connection.send("PROXY TCP4 " + client + " 127.0.0.1 1 2\r\n"));
        heads.more(connection, half);
        return connection;
    };
    std::vector<Client> slow;
    slow.push_back(connect_for("192.0.2.7"));
    slow.push_back(connect_for("192.0.2.8"));
    heads.check_refused(connect_for("192.0.2.7"));
}
