#include "loadgen/buyer.hpp"

namespace holdfast::loadgen {
namespace {

constexpr std::uint32_t general_share = 10;
constexpr std::uint32_t named_share = 20;
constexpr std::uint32_t pay_share = 75;
constexpr std::uint32_t release_share = 12;
constexpr std::uint32_t party_max = 4;
/// Between our clock and the server's view of the same moment.
constexpr Milliseconds clock_margin{200};

}  // namespace

Buyer::Buyer(Market& market, std::uint64_t seed)
    : market_(market), connection_(market.loop, market.url), dice_(seed) {}

void Buyer::resume() {
    if (!std::exchange(parked_, false)) return;
    step();
}

// Every path of a buyer ends in exactly one of: a request sent, a wait, parked, at rest.
void Buyer::step() {
    if (market_.paused) {
        parked_ = true;
        return;
    }
    if (market_.over && next_ == Next::claim) {
        ++market_.resting;
        market_.changed();
        return;
    }
    if (stops_seen_ != market_.stops) {
        stops_seen_ = market_.stops;
        connection_.move_to(market_.url);
    }
    switch (next_) {
        case Next::claim:
            return claim();
        case Next::pay:
            return pay();
        case Next::pay_late:
            return pay_late();
        case Next::release:
            return release();
    }
}

void Buyer::wait(std::uint32_t least_ms) {
    market_.loop.after(Milliseconds{least_ms + dice_.below(least_ms + 1)}, [this] { step(); });
}

void Buyer::send(Query query, Histogram& latency, void (Buyer::*answered)(Outcome const&)) {
    ++market_.open_requests;
    if (!query.body.empty()) query.fields.emplace_back("Content-Type", "application/json");
    connection_.send(query, request_timeout, [this, &latency, answered](Outcome&& outcome) {
        --market_.open_requests;
        ++market_.conduct.requests;
        if (outcome.lost) {
            lost(outcome);
        } else {
            latency.record(outcome.latency_us());
            if (tells_the_result(outcome)) (this->*answered)(outcome);
        }
        if (market_.paused) market_.changed();
    });
}

std::string_view Buyer::doing() const noexcept {
    constexpr std::string_view names[] = {"claim", "order", "late order", "release"};
    return names[static_cast<std::size_t>(next_)];
}

void Buyer::lost(Outcome const& outcome) {
    std::string const what(doing());
    if (outcome.timed_out) {
        market_.fail("the server stalled at a request for " + what + ": " + outcome.error);
        return;
    }
    if (outcome.error.find("bad reply") != std::string::npos) {
        market_.conduct.answers.fail(what + ": " + outcome.error);
    }
    ++market_.conduct.answers_lost;
    leave_open();
}

/// False: it does not, and that is dealt with.
bool Buyer::tells_the_result(Outcome const& outcome) {
    if (outcome.reply.status != 503) return true;
    auto const code = read_problem(outcome.reply.body).code;
    bool const unknown = result_unknown(code);
    if (!unknown && !ends_the_sale(code)) return true;
    market_.conduct.refuse(doing(), code);
    if (ends_the_sale(code)) market_.fail("the server takes no more changes: " + code);
    if (unknown) leave_open();
    return false;
}

/// What was asked for may have happened; a repeat tells.
void Buyer::leave_open() {
    if (next_ == Next::claim) ++market_.ledger.claims_unanswered;
    if (next_ == Next::pay) hold().fate = Fate::ordering;
    if (next_ == Next::release) hold().fate = Fate::releasing;
    wait(20);
}

/// False: nothing to ask for at the moment.
bool Buyer::choose() {
    auto const& picture = market_.picture;
    auto const kind = dice_.below(100);
    auto const party = 1 + dice_.below(party_max);
    bool const careful = refused_in_a_row_ > 0;
    wish_ = Wish{};
    bool const general = kind < general_share || !picture.has_free_seats();
    if (general && picture.has_free_areas()) {
        wish_.places = picture.pick_general(dice_, party);
    } else if ((careful || kind < general_share + named_share) && picture.has_free_seats()) {
        wish_.places = picture.pick_seats(dice_, party);
    } else if (careful || market_.venue.seats.empty()) {
        return false;
    } else {
        wish_.best = party;
    }
    return true;
}

void Buyer::claim() {
    if (!choose()) return wait(50);
    auto body = wish_.best > 0 ? best_body(wish_.best) : claim_body(market_.venue, wish_.places);
    send({.method = "POST",
          .target = "/v1/events/" + market_.event + "/holds",
          .fields = {},
          .body = std::move(body)},
         market_.conduct.claim_us, &Buyer::claimed);
}

void Buyer::claimed(Outcome const& outcome) {
    if (outcome.reply.status != 201) return claim_refused(outcome);
    auto reply = read_hold(outcome.reply.body, market_.venue);
    if (!reply || reply->token.empty() || reply->state != "held") {
        return broken(reply ? "claim" : "claim (" + reply.error().text + ")", outcome);
    }
    market_.conduct.answers.look(true);
    ++market_.conduct.claims;
    refused_in_a_row_ = 0;
    hold_ = market_.ledger.holds.size();
    market_.ledger.holds.push_back({.id = std::move(reply->id),
                                    .token = std::move(reply->token),
                                    .wish = std::move(wish_),
                                    .places = std::move(reply->places),
                                    .total = reply->total,
                                    .claimed_at = outcome.sent,
                                    .stops_seen = market_.stops,
                                    .fate = Fate::held});
    decide();
}

void Buyer::claim_refused(Outcome const& outcome) {
    auto const code = read_problem(outcome.reply.body).code;
    if (!claim_may_be_refused(code)) return broken("claim", outcome);
    market_.conduct.refuse("claim", code);
    if (++refused_in_a_row_ < 2) return step();
    wait(50);
}

void Buyer::decide() {
    auto const roll = dice_.below(100);
    if (roll < pay_share) {
        next_ = Next::pay;
    } else if (roll < pay_share + release_share || market_.none_abandoned) {
        next_ = Next::release;
    } else {
        hold().fate = Fate::abandoned;
        if (dice_.below(4) == 0) {
            next_ = Next::pay_late;
            auto const late = market_.hold_ttl + 2 * clock_margin;
            market_.loop.after(late, [this] { step(); });
            return;
        }
    }
    step();
}

Fields Buyer::proof() {
    return {{"Authorization", "Hold " + hold().token}};
}

void Buyer::pay() {
    send({.method = "POST",
          .target = "/v1/orders",
          .fields = proof(),
          .body = order_body(hold().id, hold().token)},
         market_.conduct.confirm_us, &Buyer::paid);
}

void Buyer::paid(Outcome const& outcome) {
    if (outcome.reply.status != 201) return payment_refused(outcome);
    add_order(outcome);
}

void Buyer::add_order(Outcome const& outcome) {
    next_ = Next::claim;
    auto reply = read_order(outcome.reply.body, market_.venue);
    if (!reply || reply->state != "confirmed") {
        return broken(reply ? "order" : "order (" + reply.error().text + ")", outcome);
    }
    market_.conduct.answers.look(true);
    market_.ledger.add_order({.id = std::move(reply->id),
                              .hold = hold_,
                              .places = std::move(reply->places),
                              .tickets = std::move(reply->tickets),
                              .total = reply->total});
    market_.changed();
    step();
}

void Buyer::payment_refused(Outcome const& outcome) {
    auto const problem = read_problem(outcome.reply.body);
    bool const sent_before = hold().fate == Fate::ordering;
    if (try_again(problem.code)) {
        market_.conduct.refuse("order", problem.code);
        return wait(50);
    }
    // The first try went through and only its answer was lost.
    if (sent_before && problem.code == "already-confirmed" && !problem.order.empty()) {
        market_.conduct.refuse("order", problem.code);
        return read_order_again(problem.order);
    }
    auto const alive_until = hold().claimed_at + market_.hold_ttl - clock_margin;
    if (problem.code == "hold-expired" && outcome.received >= alive_until) {
        market_.conduct.refuse("order", problem.code);
        hold().fate = Fate::expired;
        next_ = Next::claim;
        return step();
    }
    next_ = Next::claim;
    broken("order", outcome);
}

void Buyer::read_order_again(std::string const& order) {
    send({.method = "GET", .target = "/v1/orders/" + order, .fields = proof(), .body = {}},
         market_.conduct.confirm_us, &Buyer::order_read_again);
}

void Buyer::order_read_again(Outcome const& outcome) {
    if (!read_again(outcome.reply)) return add_order(outcome);
    market_.conduct.refuse("order", read_problem(outcome.reply.body).code);
    wait(50);  // then it orders once more, and is told the order
}

void Buyer::pay_late() {
    // A restart gives every hold it restores some more time, so "too late" is not known here.
    if (hold().stops_seen != market_.stops) {
        next_ = Next::claim;
        return step();
    }
    send({.method = "POST",
          .target = "/v1/orders",
          .fields = proof(),
          .body = order_body(hold().id, hold().token)},
         market_.conduct.confirm_us, &Buyer::paid_late);
}

void Buyer::paid_late(Outcome const& outcome) {
    auto const code = read_problem(outcome.reply.body).code;
    if (outcome.reply.status == 201) {
        // It is a fact all the same; the ledger has to know it.
        market_.conduct.answers.fail("hold " + hold().id + " was sold after its deadline");
        return add_order(outcome);
    }
    if (try_again(code)) {
        market_.conduct.refuse("late order", code);
        return wait(50);
    }
    next_ = Next::claim;
    if (code != "hold-expired") return broken("late order", outcome);
    hold().fate = Fate::expired;
    ++market_.conduct.late_payments;
    market_.conduct.refuse("late order", code);
    step();
}

void Buyer::release() {
    send({.method = "DELETE", .target = "/v1/holds/" + hold().id, .fields = proof(), .body = {}},
         market_.conduct.release_us, &Buyer::released);
}

void Buyer::released(Outcome const& outcome) {
    if (outcome.reply.status == 204) {
        market_.conduct.answers.look(true);
        ++market_.conduct.releases;
        hold().fate = Fate::released;
        next_ = Next::claim;
        return step();
    }
    auto const code = read_problem(outcome.reply.body).code;
    if (try_again(code)) {
        market_.conduct.refuse("release", code);
        return wait(50);
    }
    next_ = Next::claim;
    broken("release", outcome);
}

void Buyer::broken(std::string_view verb, Outcome const& outcome) {
    constexpr std::size_t body_told_max = 300;
    market_.conduct.answers.fail(std::string(verb) + ": answer " +
                                 std::to_string(outcome.reply.status) + " " +
                                 outcome.reply.body.substr(0, body_told_max));
    constexpr std::uint64_t broken_max = 1'000;
    if (market_.conduct.answers.broken >= broken_max) {
        market_.fail("too many answers break the API");
        return;
    }
    next_ = Next::claim;
    wait(50);
}

}  // namespace holdfast::loadgen
