#include "tests/support/ledger.hpp"

#include "tests/support/server_process.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <set>
#include <utility>

namespace holdfast::test {

using namespace std::chrono_literals;

namespace {

loadgen::Reply read(loadgen::Session& session, Known const& hold, std::string const& target) {
    loadgen::Query query{.method = "GET", .target = target, .fields = {}, .body = {}};
    query.fields.emplace_back("Authorization", hold.authorization());
    auto reply = session.call(query);
    REQUIRE(reply.has_value());
    return *reply;
}

/// An answered claim is answered again as it was, whatever became of the hold.
void check_again(loadgen::Session& session, Known const& hold) {
    auto const again = session.call(hold.claim.query());
    REQUIRE(again.has_value());
    CAPTURE(again->status, again->body);
    REQUIRE(again->status == 201);
    REQUIRE(again->field("idempotency-replayed") == "true");
    REQUIRE(json_text(again->body, "hold") == hold.hold);
    REQUIRE(json_text(again->body, "token") == hold.token);
    REQUIRE(json_part(again->body, "seats") == hold.claimed);
}

/// What was asked and not answered is asked again: it has happened, or it happens now. False: the
/// hold has ended before.
bool settle(loadgen::Session& session, Known& hold) {
    auto const reply = session.call(hold.asked->query());
    REQUIRE(reply.has_value());
    CAPTURE(hold.hold, hold.asked->target, reply->status, reply->body);
    if (hold.claim.event == brief && reply->status == 410) return false;
    if (reply->status != 503) REQUIRE(hold.take_in(*reply));
    return true;
}

/// A server that can acknowledge nothing answers no repeat, but its journal has decided.
void take_over(loadgen::Session& session, Known& hold) {
    hold.asked.reset();
    auto const now = read(session, hold, "/v1/holds/" + hold.hold);
    CAPTURE(now.status, now.body);
    bool const confirmed = now.status == 200 && json_text(now.body, "state") == "confirmed";
    if (now.status != 200) {
        bool const was_sold = hold.state == Known::State::confirmed;
        hold.state = was_sold ? Known::State::cancelled : Known::State::released;
    } else if (!confirmed) {
        hold.seats = json_part(now.body, "seats");
        hold.expires = json_text(now.body, "expires_at");
    } else {
        hold.state = Known::State::confirmed;
        hold.order = json_text(now.body, "order");
        hold.tickets = json_part(read(session, hold, "/v1/orders/" + hold.order).body, "tickets");
    }
}

/// SQLite may be far behind on a machine that has much to do: "nothing happened, ask again".
loadgen::Reply read_order(loadgen::Session& session, Known const& hold) {
    auto const deadline = std::chrono::steady_clock::now() + 60s;
    for (;;) {
        auto order = read(session, hold, "/v1/orders/" + hold.order);
        bool const later = order.status == 503 && json_text(order.body, "code") == "overloaded";
        if (!later || std::chrono::steady_clock::now() > deadline) return order;
    }
}

void check_order(loadgen::Session& session, Known const& hold) {
    auto const order = read_order(session, hold);
    CAPTURE(order.status, order.body);
    REQUIRE(order.status == 200);
    REQUIRE(json_text(order.body, "state") ==
            (hold.state == Known::State::cancelled ? "cancelled" : "confirmed"));
    REQUIRE(json_part(order.body, "tickets") == hold.tickets);
}

}  // namespace

void Ledger::add(Buyer const& buyer) {
    CHECK(buyer.surprise() == "");
    add(buyer.known(), buyer.pending());
}

void Ledger::add(std::vector<Known> const& known, std::optional<KeyedClaim> const& pending) {
    holds_.insert(holds_.end(), known.begin(), known.end());
    if (pending) unanswered_.push_back(*pending);
}

void Ledger::check(std::string const& url, bool all) {
    loadgen::Session session(*loadgen::parse_url(url), 15s);
    settle_claims(session);
    for (std::size_t at = all ? 0 : checked_; at < holds_.size(); ++at)
        check_hold(session, holds_[at], at < older_);
    for (std::size_t more = 0; !all && more < std::min<std::size_t>(checked_, 50); ++more) {
        std::size_t const at = again_++ % checked_;
        check_hold(session, holds_[at], at < older_);
    }
    checked_ = holds_.size();
    check_sums(call(url, "GET", "/v1/events/show").body);
    if (clock_) check_brief_sums(session);
}

/// A claim without an answer is sent again: it happened, or it happens now, or it is refused.
void Ledger::settle_claims(loadgen::Session& session) {
    std::vector<KeyedClaim> const unanswered = std::exchange(unanswered_, {});
    for (KeyedClaim const& claim : unanswered) {
        auto const reply = session.call(claim.query());
        REQUIRE(reply.has_value());
        CAPTURE(claim.body, reply->status, reply->body);
        bool const decided = reply->status == 201 || reply->status == 409;
        REQUIRE((decided || reply->status == 503));
        if (reply->status == 201) holds_.emplace_back(claim, reply->body);
        if (!decided) unanswered_.push_back(claim);
    }
}

/// What the server says now must be what it said before, or what it was asked last.
void Ledger::check_hold(loadgen::Session& session, Known& hold, bool is_older) const {
    check_again(session, hold);
    if (hold.asked && !settle(session, hold)) check_ended(session, hold);
    if (hold.asked) take_over(session, hold);
    auto const reply = read(session, hold, "/v1/holds/" + hold.hold);
    CAPTURE(hold.hold, hold.seats, static_cast<int>(hold.state), reply.status, reply.body);
    bool const may_end = hold.claim.event == brief && hold.state == Known::State::held;
    if (may_end && reply.status == 410) return check_ended(session, hold);
    bool const confirmed = hold.state == Known::State::confirmed;
    if (confirmed || hold.state == Known::State::cancelled) check_order(session, hold);
    if (confirmed || hold.state == Known::State::held) {
        REQUIRE(reply.status == 200);
        REQUIRE(json_text(reply.body, "state") == (confirmed ? "confirmed" : "held"));
    } else {
        // Which of the two depends on whether the end is still remembered.
        bool const ended = reply.status == 410 || reply.status == 409;
        REQUIRE(ended);
    }
    if (hold.state != Known::State::held) return;
    REQUIRE(json_part(reply.body, "seats") == hold.seats);
    // A restart may give more time, and never takes any.
    REQUIRE(json_text(reply.body, "expires_at") >= hold.expires);
    if (may_end) check_deadline(hold, reply.body, is_older);
}

long long Ledger::unanswered(std::string const& event) const {
    return 2 * std::ranges::count(unanswered_, event, &KeyedClaim::event);
}

/// No seat has two owners, and every seat is accounted for.
void Ledger::check_sums(std::string const& event) const {
    std::set<std::string> owned;
    std::string twice;
    long long held = 0;
    long long sold = 0;
    for (Known const& hold : holds_) {
        if (hold.claim.event == brief) continue;
        for (std::string const& seat : hold.places()) {
            ++(hold.state == Known::State::confirmed ? sold : held);
            if (!owned.insert(seat).second) twice = seat;
        }
    }
    REQUIRE(twice == "");
    CAPTURE(event);
    REQUIRE(json_number(event, "sold") == sold);
    REQUIRE(json_number(event, "held") >= held);
    REQUIRE(json_number(event, "held") <= held + unanswered("show"));
    REQUIRE(json_number(event, "free") + json_number(event, "held") + sold ==
            show_rows * show_seats_per_row);
}

}  // namespace holdfast::test
