#include "bench/soak/buyer.hpp"

#include <utility>

namespace holdfast::soak {
namespace {

constexpr Milliseconds patience{30'000};

// Of a hundred visits.
constexpr std::uint32_t new_connections = 2;
constexpr std::uint32_t looks = 5;
constexpr std::uint32_t to_the_small_event = 3;
constexpr std::uint32_t keyed = 10;

}  // namespace

Buyer::Buyer(Crowd& crowd, std::uint64_t seed)
    : crowd_(crowd), connection_(crowd.loop_, crowd.url_), dice_(seed) {}

void Buyer::visit() {
    if (dice_.below(100) < new_connections)
        connection_ = loadgen::Connection(crowd_.loop_, crowd_.url_);
    if (dice_.below(100) < looks) return look_around();
    claim();
}

void Buyer::ask(Query query, unsigned good, Then then) {
    if (crowd_.away_) return done();
    if (!query.body.empty()) query.fields.emplace_back("Content-Type", "application/json");
    ++crowd_.in_flight_;
    connection_.send(query, patience, [this, good, then](loadgen::Outcome&& outcome) {
        --crowd_.in_flight_;
        answered(outcome, good, then);
    });
}

void Buyer::answered(loadgen::Outcome const& outcome, unsigned good, Then then) {
    if (outcome.lost) {
        crowd_.note_lost(outcome, "a buyer");
        return done();
    }
    if (outcome.reply.status != good) {
        if (crowd_.may_refuse(outcome.reply)) ++crowd_.tally_.refused;
        return done();
    }
    if (then == &Buyer::claimed) crowd_.tally_.claim_us.record(outcome.latency_us());
    (this->*then)(outcome.reply);
}

void Buyer::done() {
    crowd_.idle_.push_back(this);
}

void Buyer::look_around() {
    static constexpr char const* places[] = {"", "/state", "/map"};
    Query query{.method = "GET", .target = {}, .fields = {}, .body = {}};
    query.target = std::string("/v1/events/") + great_event + places[dice_.below(3)];
    ask(std::move(query), 200, &Buyer::looked);
}

void Buyer::looked(Reply const&) {
    ++crowd_.tally_.other;
    claim();
}

/// Two places of the floor, one to three that are best, or one seat by its name.
std::string Buyer::wish() {
    auto const kind = dice_.below(100);
    on_floor_ = kind < 60;
    if (on_floor_) return R"({"section":"GA","quantity":2})";
    if (kind < 85) return R"({"best":{"quantity":)" + std::to_string(1 + dice_.below(3)) + "}}";
    auto const rows = event_ == great_event ? seat_rows : small_rows;
    return R"({"seats":["A-)" + std::to_string(1 + dice_.below(rows)) + "-" +
           std::to_string(1 + dice_.below(seats_a_row)) + R"("]})";
}

void Buyer::with_key(Query& query) {
    if (dice_.below(100) >= keyed) return;
    query.fields.emplace_back("Idempotency-Key", "soak-key-" + std::to_string(dice_.next()) +
                                                     std::to_string(dice_.next()));
}

void Buyer::claim() {
    bool const is_small = !crowd_.small_event_.empty() && dice_.below(100) < to_the_small_event;
    event_ = is_small ? crowd_.small_event_ : great_event;
    Query query{.method = "POST",
                .target = "/v1/events/" + event_ + "/holds",
                .fields = {},
                .body = wish()};
    with_key(query);
    ask(std::move(query), 201, &Buyer::claimed);
}

/// What becomes of a hold. A quarter is left to expire.
void Buyer::claimed(Reply const& reply) {
    ++crowd_.tally_.claims;
    hold_ = text_of(reply.body, "hold");
    token_ = text_of(reply.body, "token");
    auto const fate = dice_.below(100);
    if (fate < 25) return done();
    if (fate < 45) return change();
    if (crowd_.may_order()) return order();
    give_back();
}

Query Buyer::of_hold(char const* method, char const* verb, std::string body) const {
    return {.method = method,
            .target = "/v1/holds/" + hold_ + verb,
            .fields = {{"Authorization", "Hold " + token_}},
            .body = std::move(body)};
}

void Buyer::change() {
    auto const kind = dice_.below(on_floor_ ? 4 : 2);
    if (kind == 0) return ask(of_hold("GET", "", ""), 200, &Buyer::changed);
    if (kind == 1) return ask(of_hold("POST", "/extend", R"({"seconds":5})"), 200, &Buyer::changed);
    std::string const one = R"({"section":"GA","quantity":1})";
    if (kind == 2) return ask(of_hold("PUT", "/seats", one), 200, &Buyer::changed);
    ask(of_hold("POST", "/release", one), 200, &Buyer::changed);
}

void Buyer::changed(Reply const&) {
    ++crowd_.tally_.other;
    give_back();
}

void Buyer::give_back() {
    ask(of_hold("DELETE", "", ""), 204, &Buyer::gave_back);
}

void Buyer::gave_back(Reply const&) {
    ++crowd_.tally_.ends;
    done();
}

void Buyer::order() {
    Query query{.method = "POST", .target = "/v1/orders", .fields = {}, .body = {}};
    query.body = R"({"holds":[{"hold":")" + hold_ + R"(","token":")" + token_ +
                 R"("}],"payment":{"method":"none"}})";
    query.fields.emplace_back("Authorization", "Hold " + token_);
    with_key(query);
    ask(std::move(query), 201, &Buyer::ordered);
}

void Buyer::ordered(Reply const& reply) {
    ++crowd_.tally_.orders;
    if (event_ == great_event) crowd_.note_order(text_of(reply.body, "order"), token_);
    done();
}

}  // namespace holdfast::soak
