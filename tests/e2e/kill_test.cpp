// kill -9, or SIGTERM, in the middle of load, again and again: nothing that was acknowledged may be
// lost.
#include "loadgen/client.hpp"
#include "tests/support/server_process.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <future>
#include <iostream>
#include <map>
#include <random>
#include <set>

using namespace std::chrono_literals;
using namespace holdfast;
using namespace holdfast::test;

namespace {

constexpr int rows = 100;
constexpr int seats_per_row = 100;
constexpr int buyers = 4;

long number_from_environment(char const* name, long otherwise) {
    char const* const text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtol(text, nullptr, 10);
}

/// How far the server has said yes to one hold, and whether a request is without an answer.
struct Known {
    enum class State { held, confirmed, released };
    State state{State::held};
    bool asked{};  // a confirm or release was sent and not answered: both outcomes are right
    std::string hold;
    std::string token;
    std::string seats;
    std::string order;
    std::string tickets;
    [[nodiscard]] std::string authorization() const { return "Hold " + token; }
};

/// One buyer: claims, then orders, releases or keeps; remembers every answer. One thread.
class Buyer {
public:
    Buyer(std::string const& url, std::uint64_t seed)
        : session_(*loadgen::parse_url(url), 10s), random_(seed) {}

    /// Until the server is gone.
    void run() {
        while (alive_) {
            if (Known* const hold = claim()) decide(*hold);
        }
    }
    [[nodiscard]] std::vector<Known> const& known() const noexcept { return known_; }
    [[nodiscard]] std::string const& surprise() const noexcept { return surprise_; }

private:
    loadgen::Reply ask(std::string const& method, std::string const& target,
                       std::string const& body, std::string const& authorization) {
        loadgen::Query query{.method = method, .target = target, .fields = {}, .body = body};
        if (!body.empty()) query.fields.emplace_back("Content-Type", "application/json");
        if (!authorization.empty()) query.fields.emplace_back("Authorization", authorization);
        auto reply = session_.call(query);
        if (reply) return *reply;
        alive_ = false;
        return {};
    }

    Known* claim() {
        int const row = 1 + static_cast<int>(random_() % rows);
        int const seat = 1 + static_cast<int>(random_() % (seats_per_row - 1));
        auto const name = [row](int number) {
            return "\"A-" + std::to_string(row) + "-" + std::to_string(number) + "\"";
        };
        auto const reply = ask("POST", "/v1/events/show/holds",
                               "{\"seats\":[" + name(seat) + "," + name(seat + 1) + "]}", {});
        if (reply.status == 409 || !alive_) return nullptr;
        if (reply.status != 201) {
            surprise_ = std::to_string(reply.status) + " " + reply.body;
            alive_ = false;
            return nullptr;
        }
        Known hold;
        hold.hold = json_text(reply.body, "hold");
        hold.token = json_text(reply.body, "token");
        hold.seats = json_part(reply.body, "seats");
        known_.push_back(hold);
        return &known_.back();
    }

    void decide(Known& hold) {
        switch (random_() % 4) {
            case 0:
            case 1: {
                hold.asked = true;
                auto const reply =
                    ask("POST", "/v1/orders",
                        "{\"holds\":[\"" + hold.hold + "\"],\"payment\":{\"method\":\"none\"}}",
                        hold.authorization());
                if (reply.status != 201) return unexpected(reply);
                hold.asked = false;
                hold.state = Known::State::confirmed;
                hold.order = json_text(reply.body, "order");
                hold.tickets = json_part(reply.body, "tickets");
                return;
            }
            case 2: {
                hold.asked = true;
                auto const reply =
                    ask("DELETE", "/v1/holds/" + hold.hold, {}, hold.authorization());
                if (reply.status != 204) return unexpected(reply);
                hold.asked = false;
                hold.state = Known::State::released;
                return;
            }
            default:
                return;  // keep it
        }
    }

    void unexpected(loadgen::Reply const& reply) {
        if (!alive_) return;
        surprise_ = std::to_string(reply.status) + " " + reply.body;
        alive_ = false;
    }

    loadgen::Session session_;
    std::mt19937_64 random_;
    std::vector<Known> known_;
    std::string surprise_;
    bool alive_{true};
};

void make_event(std::string const& url) {
    std::string body =
        R"({"id":"show","name":"Show","publish":true,
            "policy":{"hold_ttl_s":3600,"hold_max_life_s":7200,"orphan_rule":"off"},
            "categories":[{"key":"std","name":"Standard","price":4500}],
            "sections":[{"id":"A","name":"Stalls","category":"std","rows":[)";
    for (int row = 1; row <= rows; ++row) {
        if (row > 1) body += ',';
        body += "{\"label\":\"" + std::to_string(row) +
                "\",\"seats\":" + std::to_string(seats_per_row) + "}";
    }
    body += "]}]}";
    auto const made = call(url, "POST", "/v1/events", body, std::string("Bearer ") + admin_token);
    INFO(made.body);
    REQUIRE(made.status == 202);
    std::string state;
    auto const deadline = std::chrono::steady_clock::now() + 20s;
    while (state != "open" && std::chrono::steady_clock::now() < deadline) {
        state = json_text(call(url, "GET", "/v1/events/show").body, "state");
    }
    REQUIRE(state == "open");
}

/// What the server says now must be what it said before, or what it was asked last.
void check_hold(loadgen::Session& session, Known& hold) {
    loadgen::Query query{
        .method = "GET", .target = "/v1/holds/" + hold.hold, .fields = {}, .body = {}};
    query.fields.emplace_back("Authorization", hold.authorization());
    auto const reply = session.call(query);
    CAPTURE(hold.hold, hold.seats, static_cast<int>(hold.state), hold.asked);
    REQUIRE(reply.has_value());
    CAPTURE(reply->status, reply->body);
    std::string const state = json_text(reply->body, "state");
    if (hold.asked) {
        // The journal has decided; remember how.
        hold.asked = false;
        if (reply->status != 200) hold.state = Known::State::released;
        if (reply->status == 200 && state == "confirmed") hold.state = Known::State::confirmed;
        hold.order = json_text(reply->body, "order");
    }
    if (hold.state == Known::State::released) {
        // Which of the two depends on whether the release is still remembered.
        bool const ended = reply->status == 410 || reply->status == 409;
        REQUIRE(ended);
        return;
    }
    REQUIRE(reply->status == 200);
    REQUIRE(json_part(reply->body, "seats") == hold.seats);
    bool const confirmed = hold.state == Known::State::confirmed;
    REQUIRE(state == (confirmed ? "confirmed" : "held"));
    if (!confirmed) return;
    query.target = "/v1/orders/" + hold.order;
    auto const order = session.call(query);
    REQUIRE(order.has_value());
    CAPTURE(order->status, order->body);
    REQUIRE(order->status == 200);
    if (hold.tickets.empty()) hold.tickets = json_part(order->body, "tickets");
    REQUIRE(json_part(order->body, "tickets") == hold.tickets);
}

/// `"A-1-1","A-1-2"`: how often each pair of seats is owned.
void check_owners(std::vector<Known> const& holds, std::string const& event) {
    std::set<std::string> owned;
    long long held = 0;
    long long sold = 0;
    for (Known const& hold : holds) {
        if (hold.state == Known::State::released) continue;
        (hold.state == Known::State::confirmed ? sold : held) += 2;
        auto const comma = hold.seats.find(',');
        CAPTURE(hold.seats);
        REQUIRE(owned.insert(hold.seats.substr(1, comma - 1)).second);
        REQUIRE(owned.insert(hold.seats.substr(comma + 1, hold.seats.size() - comma - 2)).second);
    }
    // A claim that was never answered may have been made as well: held is at least ours.
    REQUIRE(json_number(event, "sold") == sold);
    REQUIRE(json_number(event, "held") >= held);
    REQUIRE(json_number(event, "held") <= held + 2 * buyers * 1'000);
    REQUIRE(json_number(event, "free") + json_number(event, "held") + sold == rows * seats_per_row);
}

}  // namespace

TEST_CASE("kill -9 under load loses nothing that was acknowledged", "[e2e][kill]") {
    long const cycles = number_from_environment("HOLDFAST_KILL_CYCLES", 10);
    auto const seed = static_cast<std::uint64_t>(
        number_from_environment("HOLDFAST_SEED", static_cast<long>(std::random_device{}())));
    std::cout << "kill test: seed " << seed << ", " << cycles << " cycles\n";
    std::mt19937_64 random(seed);
    TempFolder const folder;
    ServerProcess::Options const options{
        .data = folder.path(),
        .flags = {},
        .variables = {{"HOLDFAST_STORAGE_SEGMENT_BYTES", "1048576"},
                      {"HOLDFAST_LOG_LEVEL", "warn"}}};
    std::vector<Known> holds;
    for (long cycle = 0; cycle < cycles; ++cycle) {
        CAPTURE(seed, cycle);
        ServerProcess server(options);
        if (cycle == 0) make_event(server.url());
        std::deque<Buyer> crowd;
        for (int buyer = 0; buyer < buyers; ++buyer) crowd.emplace_back(server.url(), random());
        std::vector<std::future<void>> shopping;
        for (Buyer& buyer : crowd) {
            shopping.push_back(std::async(std::launch::async, [&buyer] { buyer.run(); }));
        }
        // The moment of the end; no buyer may have found the server gone before it.
        auto const moment = std::chrono::milliseconds(5 + random() % 500);
        CHECK(shopping.front().wait_for(moment) == std::future_status::timeout);
        if (cycle % 3 == 2) {
            CHECK(server.stop() == 0);
        } else {
            server.kill();
        }
        for (std::future<void>& one : shopping) one.get();
        for (Buyer const& buyer : crowd) {
            CHECK(buyer.surprise() == "");
            holds.insert(holds.end(), buyer.known().begin(), buyer.known().end());
        }
        ServerProcess again(options);
        loadgen::Session session(*loadgen::parse_url(again.url()), 15s);
        for (Known& hold : holds) check_hold(session, hold);
        check_owners(holds, call(again.url(), "GET", "/v1/events/show").body);
        // Every other restart is clean, so that both kinds of end are built upon.
        if (cycle % 2 == 0)
            REQUIRE(again.stop() == 0);
        else
            again.kill();
    }
    std::cout << "kill test: " << holds.size() << " acknowledged holds checked\n";
    CHECK(holds.size() > 0);
}
