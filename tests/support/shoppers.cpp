#include "tests/support/shoppers.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <deque>
#include <future>
#include <iostream>
#include <set>
#include <utility>

namespace holdfast::test {

using namespace std::chrono_literals;

long number_from_environment(char const* name, long otherwise) {
    char const* const text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtol(text, nullptr, 10);
}

std::uint64_t seed_of_run(char const* what) {
    auto const seed = static_cast<std::uint64_t>(
        number_from_environment("HOLDFAST_SEED", static_cast<long>(std::random_device{}())));
    std::cout << what << ": HOLDFAST_SEED=" << seed << std::endl;
    return seed;
}

long cycles_of_run(char const* name, long few, long many) {
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    if (std::getenv("HOLDFAST_CI") != nullptr) few = many;
#else
    static_cast<void>(many);
#endif
    return number_from_environment(name, few);
}

namespace {

/// As it is sent the first time, and again.
loadgen::Query keyed_query(std::string const& method, std::string const& target,
                           std::string const& body, std::string const& key,
                           std::string const& authorization) {
    loadgen::Query query{.method = method, .target = target, .fields = {}, .body = body};
    if (!body.empty()) query.fields.emplace_back("Content-Type", "application/json");
    if (!authorization.empty()) query.fields.emplace_back("Authorization", authorization);
    query.fields.emplace_back("Idempotency-Key", key);
    return query;
}

loadgen::Query claim_query(KeyedClaim const& claim) {
    return keyed_query("POST", "/v1/events/show/holds", claim.body, claim.key, {});
}

Known known_of(KeyedClaim const& claim, std::string const& body) {
    Known hold;
    hold.claim = claim;
    hold.hold = json_text(body, "hold");
    hold.token = json_text(body, "token");
    hold.seats = json_part(body, "seats");
    return hold;
}

/// What every request but the claim of a hold is keyed by: one order and one release each.
constexpr char const* order_key = "order";
constexpr char const* release_key = "release";

}  // namespace

Buyer::Buyer(std::string const& url, std::uint64_t seed)
    : session_(*loadgen::parse_url(url), 10s), random_(seed) {}

bool Buyer::visit() {
    if (Known* const hold = claim()) decide(*hold);
    return alive_;
}

void Buyer::run() {
    while (visit()) continue;
}

loadgen::Reply Buyer::ask(std::string const& method, std::string const& target,
                          std::string const& body, std::string const& key,
                          std::string const& authorization) {
    auto reply = session_.call(keyed_query(method, target, body, key, authorization));
    if (!reply) alive_ = false;
    if (!reply) return {};
    // The two answers of a server whose disk has failed: what was asked for may have happened.
    std::string const code = reply->status == 503 ? json_text(reply->body, "code") : "";
    refused_ = code == "durability-lost" || code == "read-only";
    if (refused_) alive_ = false;
    return *reply;
}

Known* Buyer::claim() {
    int const row = 1 + static_cast<int>(random_() % show_rows);
    int const seat = 1 + static_cast<int>(random_() % (show_seats_per_row - 1));
    auto const name = [row](int number) {
        return "\"A-" + std::to_string(row) + "-" + std::to_string(number) + "\"";
    };
    KeyedClaim const claim{"shopper-key-" + std::to_string(random_()),
                           "{\"seats\":[" + name(seat) + "," + name(seat + 1) + "]}"};
    pending_ = claim;
    auto const reply = ask("POST", "/v1/events/show/holds", claim.body, claim.key, {});
    if (!alive_) return nullptr;
    pending_.reset();
    if (reply.status == 409) return nullptr;
    if (reply.status != 201) {
        unexpected(reply);
        return nullptr;
    }
    known_.push_back(known_of(claim, reply.body));
    return &known_.back();
}

void Buyer::decide(Known& hold) {
    switch (random_() % 4) {
        case 0:
        case 1:
            return order(hold);
        case 2:
            return release(hold);
        default:
            return;  // keep it
    }
}

void Buyer::order(Known& hold) {
    hold.asked = hold.asked_order = true;
    auto const reply =
        ask("POST", "/v1/orders", hold.order_body(), order_key, hold.authorization());
    if (reply.status != 201) return unexpected(reply);
    hold.asked = false;
    hold.state = Known::State::confirmed;
    hold.order = json_text(reply.body, "order");
    hold.tickets = json_part(reply.body, "tickets");
}

void Buyer::release(Known& hold) {
    hold.asked = true;
    auto const reply =
        ask("DELETE", "/v1/holds/" + hold.hold, {}, release_key, hold.authorization());
    if (reply.status != 204) return unexpected(reply);
    hold.asked = false;
    hold.state = Known::State::released;
}

void Buyer::unexpected(loadgen::Reply const& reply) {
    if (!alive_) return;
    surprise_ = std::to_string(reply.status) + " " + reply.body;
    alive_ = false;
}

void make_show(std::string const& url) {
    std::string body =
        R"({"id":"show","name":"Show","publish":true,
            "policy":{"hold_ttl_s":3600,"hold_max_life_s":7200,"orphan_rule":"off"},
            "categories":[{"key":"std","name":"Standard","price":4500}],
            "sections":[{"id":"A","name":"Stalls","category":"std","rows":[)";
    for (int row = 1; row <= show_rows; ++row) {
        if (row > 1) body += ',';
        body += "{\"label\":\"" + std::to_string(row) +
                "\",\"seats\":" + std::to_string(show_seats_per_row) + "}";
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

void Ledger::add(Buyer const& buyer) {
    CHECK(buyer.surprise() == "");
    holds_.insert(holds_.end(), buyer.known().begin(), buyer.known().end());
    if (buyer.pending()) unanswered_.push_back(*buyer.pending());
}

void Ledger::check(std::string const& url, bool all) {
    loadgen::Session session(*loadgen::parse_url(url), 15s);
    settle_claims(session);
    for (std::size_t at = all ? 0 : checked_; at < holds_.size(); ++at)
        check_hold(session, holds_[at]);
    for (std::size_t more = 0; !all && more < std::min<std::size_t>(checked_, 50); ++more)
        check_hold(session, holds_[again_++ % checked_]);
    checked_ = holds_.size();
    check_sums(call(url, "GET", "/v1/events/show").body);
}

/// A claim without an answer is sent again: it happened, or it happens now, or it is refused.
void Ledger::settle_claims(loadgen::Session& session) {
    std::vector<KeyedClaim> const unanswered = std::exchange(unanswered_, {});
    for (KeyedClaim const& claim : unanswered) {
        auto const reply = session.call(claim_query(claim));
        REQUIRE(reply.has_value());
        CAPTURE(claim.body, reply->status, reply->body);
        bool const decided = reply->status == 201 || reply->status == 409;
        REQUIRE((decided || reply->status == 503));
        if (reply->status == 201) holds_.push_back(known_of(claim, reply->body));
        if (!decided) unanswered_.push_back(claim);
    }
}

/// The same of an order or a release.
void Ledger::settle(loadgen::Session& session, Known& hold) const {
    auto const reply =
        session.call(hold.asked_order ? keyed_query("POST", "/v1/orders", hold.order_body(),
                                                    order_key, hold.authorization())
                                      : keyed_query("DELETE", "/v1/holds/" + hold.hold, {},
                                                    release_key, hold.authorization()));
    REQUIRE(reply.has_value());
    CAPTURE(hold.hold, hold.asked_order, reply->status, reply->body);
    if (reply->status == 503) return;
    REQUIRE(reply->status == (hold.asked_order ? 201 : 204));
    hold.asked = false;
    hold.state = hold.asked_order ? Known::State::confirmed : Known::State::released;
    hold.order = json_text(reply->body, "order");
    hold.tickets = json_part(reply->body, "tickets");
}

/// An answered claim is answered again as it was, whatever became of the hold.
void Ledger::check_again(loadgen::Session& session, Known const& hold) const {
    auto const again = session.call(claim_query(hold.claim));
    REQUIRE(again.has_value());
    CAPTURE(again->status, again->body);
    REQUIRE(again->status == 201);
    REQUIRE(again->field("idempotency-replayed") == "true");
    REQUIRE(json_text(again->body, "hold") == hold.hold);
    REQUIRE(json_text(again->body, "token") == hold.token);
    REQUIRE(json_part(again->body, "seats") == hold.seats);
}

/// What the server says now must be what it said before, or what it was asked last.
void Ledger::check_hold(loadgen::Session& session, Known& hold) const {
    check_again(session, hold);
    if (hold.asked) settle(session, hold);
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

/// No seat has two owners, and every seat is accounted for.
void Ledger::check_sums(std::string const& event) const {
    std::set<std::string> owned;
    std::string twice;
    long long held = 0;
    long long sold = 0;
    for (Known const& hold : holds_) {
        if (hold.state == Known::State::released) continue;
        (hold.state == Known::State::confirmed ? sold : held) += 2;
        auto const comma = hold.seats.find(',');
        for (std::string const& seat :
             {hold.seats.substr(1, comma - 1),
              hold.seats.substr(comma + 1, hold.seats.size() - comma - 2)})
            if (!owned.insert(seat).second) twice = seat;
    }
    REQUIRE(twice == "");
    // A claim that could not be asked for again may have been made as well.
    long long const unanswered = 2 * static_cast<long long>(unanswered_.size());
    CAPTURE(event);
    REQUIRE(json_number(event, "sold") == sold);
    REQUIRE(json_number(event, "held") >= held);
    REQUIRE(json_number(event, "held") <= held + unanswered);
    REQUIRE(json_number(event, "free") + json_number(event, "held") + sold ==
            show_rows * show_seats_per_row);
}

void shop_until(std::string const& url, int buyers, std::chrono::milliseconds moment,
                std::mt19937_64& random, Ledger& ledger, std::function<void()> const& end) {
    std::deque<Buyer> crowd;
    for (int buyer = 0; buyer < buyers; ++buyer) crowd.emplace_back(url, random());
    std::vector<std::future<void>> shopping;
    for (Buyer& buyer : crowd) {
        shopping.push_back(std::async(std::launch::async, [&buyer] { buyer.run(); }));
    }
    // No buyer may find the server gone before its end.
    CHECK(shopping.front().wait_for(moment) == std::future_status::timeout);
    end();
    for (std::future<void>& one : shopping) one.get();
    for (Buyer const& buyer : crowd) ledger.add(buyer);
}

}  // namespace holdfast::test
