#include "bench/soak/crowd.hpp"

#include "bench/soak/buyer.hpp"
#include "bench/soak/staff.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

namespace holdfast::soak {
namespace {

using std::chrono::duration;
using std::chrono::steady_clock;

constexpr Milliseconds tick_length{5};
constexpr Milliseconds kept_for{10'000};  // an order, until it is given back
constexpr Milliseconds block_every{5'000};
constexpr std::size_t orders_remembered = 400;  // of those that were given back
constexpr std::size_t orders_looked_at = 200;   // after a start, of either kind
constexpr double due_max = 256;

std::string event_json(std::string const& id, std::uint32_t floor, std::uint32_t rows,
                       std::uint32_t seats) {
    std::string body = R"({"id":")" + id +
                       R"(","name":"Soak","publish":true,
        "policy":{"hold_ttl_s":5,"hold_max_life_s":60,"max_extensions":3,"orphan_rule":"off"},
        "categories":[{"key":"std","name":"Standard","price":4500}],
        "sections":[{"id":"GA","name":"Floor","category":"std","capacity":)" +
                       std::to_string(floor) +
                       R"(},{"id":"A","name":"Stalls","category":"std","rows":[)";
    for (std::uint32_t row = 1; row <= rows; ++row) {
        if (row > 1) body += ',';
        body +=
            R"({"label":")" + std::to_string(row) + R"(","seats":)" + std::to_string(seats) + "}";
    }
    return body + "]}]}";
}

}  // namespace

Crowd::Crowd(loadgen::Loop& loop, CrowdOptions options)
    : loop_(loop),
      options_(std::move(options)),
      dice_(options_.seed),
      staff_(std::make_unique<Staff>(*this)) {
    for (std::size_t i = 0; i < options_.buyers; ++i) {
        buyers_.push_back(std::make_unique<Buyer>(*this, dice_.next()));
        idle_.push_back(buyers_.back().get());
    }
}

Crowd::~Crowd() = default;

std::string Crowd::open_great_event(loadgen::Url const& url) const {
    Query const query{.method = "POST",
                      .target = "/v1/events",
                      .fields = {{"Authorization", "Bearer " + options_.admin_token},
                                 {"Content-Type", "application/json"}},
                      .body = event_json(great_event, options_.places, seat_rows, seats_a_row)};
    auto const made = loadgen::fetch(loadgen::to_text(url), query);
    if (!made) return made.error().text;
    if (made->status != 202) return made->body;
    Query const look{.method = "GET",
                     .target = std::string("/v1/events/") + great_event,
                     .fields = {},
                     .body = {}};
    auto const end = steady_clock::now() + std::chrono::seconds{30};
    while (steady_clock::now() < end) {
        auto const event = loadgen::fetch(loadgen::to_text(url), look);
        if (event && text_of(event->body, "state") == "open") return {};
    }
    return "the event did not open";
}

void Crowd::begin(loadgen::Url const& url) {
    url_ = url;
    for (auto const& buyer : buyers_) buyer->move_to(url);
    staff_->move_to(url);
    away_ = drains_ = false;
    ticked_ = steady_clock::now();
    if (event_made_ == Moment{}) event_made_ = ticked_ - options_.event_every;
    if (!std::exchange(ticks_, true)) loop_.post([this] { tick(); });
}

void Crowd::tick() {
    loop_.after(tick_length, [this] { tick(); });
    if (away_) return;
    Moment const now = steady_clock::now();
    send_buyers(now);
    give_orders_back(now);
    turn_events(now);
    ticked_ = now;
}

void Crowd::send_buyers(Moment now) {
    double const passed = duration<double>(now - ticked_).count();
    orders_due_ = std::min(orders_due_ + passed * options_.orders_a_second, due_max);
    claims_due_ += passed * options_.rate;
    bool const all = options_.rate == 0;
    auto waiting = std::exchange(idle_, {});
    while (!waiting.empty() && (all || claims_due_ >= 1)) {
        Buyer* const buyer = waiting.front();
        waiting.pop_front();
        if (!all) --claims_due_;
        buyer->visit();
    }
    idle_.insert(idle_.begin(), waiting.begin(), waiting.end());
    if (claims_due_ <= due_max) return;
    tally_.behind += static_cast<std::uint64_t>(claims_due_ - due_max);
    claims_due_ = due_max;
}

bool Crowd::may_order() {
    if (orders_due_ < 1) return false;
    --orders_due_;
    return true;
}

void Crowd::note_order(std::string id, std::string token) {
    orders_.push_back({std::move(id), std::move(token), steady_clock::now()});
}

void Crowd::give_orders_back(Moment now) {
    while (next_back_ < first_order_ + orders_.size() &&
           now - orders_[next_back_ - first_order_].bought_at >= kept_for)
        give_back(next_back_++);
    while (next_back_ - first_order_ > orders_remembered) {
        orders_.pop_front();
        ++first_order_;
    }
}

void Crowd::give_back(std::size_t number) {
    Order& order = orders_[number - first_order_];
    order.state = Order::State::asked_back;
    bool const refunds = dice_.below(4) == 0;
    staff_->ask({.method = "POST",
                 .target = "/v1/orders/" + order.id + (refunds ? "/refund" : "/cancel"),
                 .fields = {},
                 .body = "{}"},
                200, [this, number](Reply const&) {
                    ++tally_.cancels;
                    if (number >= first_order_)
                        orders_[number - first_order_].state = Order::State::given_back;
                });
}

/// A small event is sold out, closed and cancelled while the next one is on sale.
void Crowd::turn_events(Moment now) {
    if (now - blocked_ >= block_every) {
        blocked_ = now;
        block_a_while();
    }
    if (now - event_made_ < options_.event_every) return;
    event_made_ = now;
    if (!small_event_.empty()) end_event(std::exchange(small_event_, {}));
    make_small_event();
}

void Crowd::make_small_event() {
    std::string const id = "small-" + std::to_string(++events_made_);
    staff_->ask({.method = "POST",
                 .target = "/v1/events",
                 .fields = {},
                 .body = event_json(id, 100, small_rows, seats_a_row)},
                202, [this, id](Reply const&) {
                    ++tally_.other;
                    staff_->ask_until_open(id, [this, id] { small_event_ = id; });
                });
}

void Crowd::end_event(std::string const& id) {
    for (char const* const step : {"/close", "/cancel"})
        staff_->ask(
            {.method = "POST", .target = "/v1/events/" + id + step, .fields = {}, .body = {}}, 200,
            [this](Reply const&) { ++tally_.other; });
}

void Crowd::block_a_while() {
    staff_->ask({.method = "POST",
                 .target = std::string("/v1/events/") + great_event + "/blocks",
                 .fields = {},
                 .body = R"({"section":"GA","quantity":10})"},
                201, [this](Reply const& reply) {
                    ++tally_.other;
                    staff_->ask({.method = "DELETE",
                                 .target = "/v1/blocks/" + text_of(reply.body, "hold"),
                                 .fields = {},
                                 .body = {}},
                                204, [this](Reply const&) { ++tally_.other; });
                });
}

bool Crowd::may_refuse(Reply const& reply) {
    auto const has = [&reply](char const* word) {
        return reply.body.find(word) != reply.body.npos;
    };
    bool const is_ours = reply.status == 409 || reply.status == 410 || reply.status == 429 ||
                         (reply.status == 403 && has("\"sale-closed\"")) ||
                         (reply.status == 404 && has("\"best-available-not-found\"")) ||
                         (reply.status == 503 && (has("\"overloaded\"") || has("\"busy\"") ||
                                                  has("\"shutting-down\"") || away_));
    if (!is_ours) note_wrong(std::to_string(reply.status) + " " + reply.body.substr(0, 300));
    return is_ours;
}

void Crowd::note_lost(loadgen::Outcome const& outcome, char const* whom) {
    if (away_ && (!drains_ || outcome.fresh))
        ++tally_.lost;
    else
        note_wrong(std::string("no answer to ") + whom + (drains_ ? " by a stop: " : ": ") +
                   outcome.error);
}

std::size_t Crowd::check_kept(loadgen::Url const& url) {
    loadgen::Session session(url);
    std::size_t const from =
        next_back_ > first_order_ + orders_looked_at ? next_back_ - orders_looked_at : first_order_;
    std::size_t const to = std::min(first_order_ + orders_.size(), next_back_ + orders_looked_at);
    for (std::size_t number = from; number < to; ++number) {
        Order const& order = orders_[number - first_order_];
        Query const look{.method = "GET",
                         .target = "/v1/orders/" + order.id,
                         .fields = {{"Authorization", "Hold " + order.token}},
                         .body = {}};
        auto const reply = session.call(look);
        std::string const state = reply ? text_of(reply->body, "state") : reply.error().text;
        bool const bought = state == "confirmed";
        bool const given_back = state == "cancelled" || state == "refunded";
        bool const right = order.state == Order::State::bought       ? bought
                           : order.state == Order::State::given_back ? given_back
                                                                     : bought || given_back;
        if (!right)
            note_wrong("order " + order.id + " is " + (state.empty() ? reply->body : state));
    }
    return to - from;
}

Tally Crowd::take_tally() {
    return std::exchange(tally_, Tally{});
}

void Crowd::note_wrong(std::string what) {
    constexpr std::size_t told_max = 20;
    ++tally_.wrong;
    if (++wrongs_ <= told_max) std::fprintf(stderr, "bench_soak: %s\n", what.c_str());
    if (first_wrong_.empty()) first_wrong_ = std::move(what);
}

}  // namespace holdfast::soak
