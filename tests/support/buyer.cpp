#include "tests/support/buyer.hpp"

#include "tests/support/server_process.hpp"

#include <chrono>

namespace holdfast::test {

using namespace std::chrono_literals;

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

std::string in_quotes(std::string const& text) {
    return "\"" + text + "\"";
}

/// The strings of a JSON list of strings.
std::vector<std::string> strings_of(std::string const& list) {
    std::vector<std::string> strings;
    for (auto from = list.find('"'); from != std::string::npos; from = list.find('"', from + 1)) {
        auto const to = list.find('"', from + 1);
        strings.push_back(list.substr(from + 1, to - from - 1));
        from = to;
    }
    return strings;
}

/// It says that nothing happened; a disk that does not answer is a reason.
bool is_overloaded(loadgen::Reply const& reply) {
    return reply.status == 503 && json_text(reply.body, "code") == "overloaded";
}

}  // namespace

Step own_step(Known const& hold, Step::Kind kind, std::string method, std::string const& what,
              std::string body) {
    return {kind,
            std::move(method),
            "/v1/holds/" + hold.hold + what,
            std::move(body),
            "own-" + std::to_string(static_cast<int>(kind)),
            hold.authorization()};
}

Step staff_step(Known const& hold, Step::Kind kind, std::string const& what, std::string body) {
    return {kind,
            "POST",
            "/v1/orders/" + hold.order + what,
            std::move(body),
            hold.order + what,
            std::string("Bearer ") + admin_token};
}

Step order_step(Known const& hold) {
    return {Step::Kind::order,
            "POST",
            "/v1/orders",
            R"({"holds":[)" + in_quotes(hold.hold) + R"(],"payment":{"method":"none"}})",
            "order",
            hold.authorization()};
}

loadgen::Query KeyedClaim::query() const {
    return keyed_query("POST", "/v1/events/" + event + "/holds", body, key, {});
}

std::string ServerClock::now(loadgen::Session& session) const {
    loadgen::Query query{.method = "GET", .target = "/v1/holds/" + hold, .fields = {}, .body = {}};
    query.fields.emplace_back("Authorization", "Hold " + token);
    auto const reply = session.call(query);
    return reply && reply->status == 200 ? json_text(reply->body, "server_time") : "";
}

loadgen::Query Step::query() const {
    return keyed_query(method, target, body, key, authorization);
}

Known::Known(KeyedClaim const& made, std::string const& body)
    : claim(made),
      claimed(json_part(body, "seats")),
      hold(json_text(body, "hold")),
      token(json_text(body, "token")),
      seats(claimed),
      expires(json_text(body, "expires_at")) {}

bool Known::take_in(loadgen::Reply const& reply) {
    Step::Kind const kind = asked->kind;
    // The places that are wished for instead may be somebody's.
    bool const wishes = kind == Step::Kind::exchange || kind == Step::Kind::reseat;
    unsigned const success = kind == Step::Kind::order     ? 201
                             : kind == Step::Kind::release ? 204
                                                           : 200;
    bool const refused = wishes && reply.status == 409;
    if (!refused && reply.status != success) return false;
    asked.reset();
    if (refused) return true;
    switch (kind) {
        case Step::Kind::extend:
        case Step::Kind::exchange:
        case Step::Kind::part:
            seats = json_part(reply.body, "seats");
            expires = json_text(reply.body, "expires_at");
            break;
        case Step::Kind::order:
            state = State::confirmed;
            order = json_text(reply.body, "order");
            [[fallthrough]];
        case Step::Kind::reseat:
        case Step::Kind::refund:
            tickets = json_part(reply.body, "tickets");
            break;
        case Step::Kind::release:
            state = State::released;
            break;
        case Step::Kind::cancel:
            state = State::cancelled;
            break;
    }
    return true;
}

bool Known::expire(std::string const& now) {
    if (state != State::held || now < expires) return false;
    asked.reset();
    state = State::expired;
    return true;
}

std::vector<std::string> Known::places() const {
    if (state == State::held) return strings_of(seats);
    std::vector<std::string> names;
    if (state != State::confirmed) return names;
    for (auto from = tickets.find('{'); from != std::string::npos;
         from = tickets.find('{', from + 1)) {
        std::string const ticket = tickets.substr(from, tickets.find('}', from) - from);
        if (json_text(ticket, "state") != "refunded") names.push_back(json_text(ticket, "seat"));
    }
    return names;
}

Buyer::Buyer(std::string const& url, std::uint64_t seed, Habits habits)
    : session_(*loadgen::parse_url(url), 10s), random_(seed), habits_(habits) {}

Buyer::Buyer(std::string const& url, std::uint64_t seed, ServerClock clock)
    : Buyer(url, seed, Habits::all) {
    clock_ = std::move(clock);
}

bool Buyer::visit() {
    Known* const hold = claim();
    if (hold == nullptr) return alive_;
    if (habits_ == Habits::all) change(*hold);
    if (alive_ && hold->state == Known::State::held) decide(*hold);
    bool const sold = hold->state == Known::State::confirmed;
    if (alive_ && sold && habits_ == Habits::all) change_order(*hold);
    return alive_;
}

void Buyer::run() {
    while (visit()) continue;
}

loadgen::Reply Buyer::ask(loadgen::Query const& query) {
    auto reply = session_.call(query);
    if (!reply) alive_ = false;
    if (!reply) return {};
    // The two answers of a server whose disk has failed: what was asked for may have happened.
    std::string const code = reply->status == 503 ? json_text(reply->body, "code") : "";
    refused_ = code == "durability-lost" || code == "read-only";
    if (refused_) alive_ = false;
    return *reply;
}

std::string Buyer::some_seat() {
    return in_quotes("A-" + std::to_string(1 + random_() % show_rows) + "-" +
                     std::to_string(1 + random_() % show_seats_per_row));
}

/// Two neighbours, as a body.
std::string Buyer::some_pair() {
    std::string const row = "A-" + std::to_string(1 + random_() % show_rows) + "-";
    auto const seat = 1 + random_() % (show_seats_per_row - 1);
    return R"({"seats":[)" + in_quotes(row + std::to_string(seat)) + "," +
           in_quotes(row + std::to_string(seat + 1)) + "]}";
}

Known* Buyer::claim() {
    KeyedClaim const claim{"shopper-key-" + std::to_string(random_()), some_pair(),
                           clock_ ? brief : "show"};
    pending_ = claim;
    auto const reply = ask(claim.query());
    if (!alive_) return nullptr;
    pending_.reset();
    if (reply.status == 409 || is_overloaded(reply)) return nullptr;
    if (reply.status != 201) {
        unexpected(reply);
        return nullptr;
    }
    known_.emplace_back(claim, reply.body);
    return &known_.back();
}

void Buyer::change(Known& hold) {
    switch (random_() % 4) {
        case 0:
            return take(
                hold, own_step(hold, Step::Kind::extend, "POST", "/extend", R"({"seconds":4000})"));
        case 1:
            return take(hold, own_step(hold, Step::Kind::exchange, "PUT", "/seats", some_pair()));
        case 2:
            return take(hold, own_step(hold, Step::Kind::part, "POST", "/release",
                                       R"({"seats":[)" + in_quotes(hold.places().front()) + "]}"));
        default:
            return;
    }
}

void Buyer::decide(Known& hold) {
    switch (random_() % 4) {
        case 0:
        case 1:
            return take(hold, order_step(hold));
        case 2:
            return take(hold, own_step(hold, Step::Kind::release, "DELETE", "", ""));
        default:
            return;  // keep it
    }
}

void Buyer::change_order(Known& hold) {
    std::string const ticket = in_quotes(json_text(hold.tickets, "ticket"));
    switch (random_() % 4) {
        case 0:
            return take(hold, staff_step(hold, Step::Kind::reseat, "/reseat",
                                         R"({"seats":[{"ticket":)" + ticket + R"(,"to":)" +
                                             some_seat() + "}]}"));
        case 1:
            if (hold.places().size() < 2) return;  // all of them are given back by a cancel
            return take(hold, staff_step(hold, Step::Kind::refund, "/refund",
                                         R"({"tickets":[)" + ticket + "]}"));
        case 2:
            return take(hold, staff_step(hold, Step::Kind::cancel, "/cancel", ""));
        default:
            return;
    }
}

void Buyer::take(Known& hold, Step step) {
    hold.asked = std::move(step);
    auto const reply = ask(hold.asked->query());
    if (clock_ && reply.status == 410) return take_end(hold);
    if (is_overloaded(reply)) hold.asked.reset();
    if (alive_ && hold.asked && !hold.take_in(reply)) unexpected(reply);
}

/// The deadline came first. Without a word on the time the end may not be durable: asked again.
void Buyer::take_end(Known& hold) {
    std::string const now = clock_->now(session_);
    alive_ = !now.empty();
    if (!alive_ || hold.expire(now)) return;
    surprise_ = "ended at " + now + ", not at " + hold.expires;
    alive_ = false;
}

void Buyer::unexpected(loadgen::Reply const& reply) {
    surprise_ = std::to_string(reply.status) + " " + reply.body;
    alive_ = false;
}

}  // namespace holdfast::test
