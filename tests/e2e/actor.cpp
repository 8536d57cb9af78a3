#include "tests/e2e/actor.hpp"

#include <catch2/catch.hpp>
#include <chrono>

namespace holdfast::test {

using namespace std::chrono_literals;

namespace {

std::string const as_staff = std::string("Bearer ") + admin_token;

loadgen::Query query_of(std::string const& method, std::string const& target,
                        std::string const& body = {}, std::string const& key = {}) {
    loadgen::Query query{.method = method, .target = target, .fields = {}, .body = body};
    query.fields.emplace_back("Authorization", as_staff);
    if (!body.empty()) query.fields.emplace_back("Content-Type", "application/json");
    if (!key.empty()) query.fields.emplace_back("Idempotency-Key", key);
    return query;
}

}  // namespace

loadgen::Query StaffRequest::query() const {
    return query_of(method, target, body, key);
}

Actor::Actor(ServerProcess& server, std::filesystem::path folder, long number, int& pairs)
    : server_(server),
      session_(*loadgen::parse_url(server.url()), 15s),
      folder_(std::move(folder)),
      name_("play-" + std::to_string(number)),
      event_("/v1/events/" + name_),
      pairs_(pairs) {}

loadgen::Reply Actor::ask(loadgen::Query const& query) {
    auto reply = session_.call(query);
    if (!reply) throw Gone{};
    return *std::move(reply);
}

std::string Actor::next_key() {
    return "key-of-the-scenario-" + name_ + "-" + std::to_string(++keys_);
}

std::string Actor::seats() {
    int const row = 1 + pairs_ / (show_seats_per_row / 2);
    int const first = 1 + 2 * (pairs_++ % (show_seats_per_row / 2));
    REQUIRE(row <= show_rows);
    std::string const place = "\"A-" + std::to_string(row) + "-";
    return place + std::to_string(first) + "\"," + place + std::to_string(first + 1) + "\"";
}

std::size_t Actor::claim() {
    return claim(R"({"seats":[)" + seats() + "]}");
}

std::size_t Actor::claim(std::string const& body) {
    pending_ = KeyedClaim{next_key(), body};
    auto const reply = ask(pending_->query());
    INFO(reply.body);
    REQUIRE(reply.status == 201);
    known_.emplace_back(*pending_, reply.body);
    pending_.reset();
    return known_.size() - 1;
}

void Actor::repeat(std::size_t hold) {
    auto const reply = ask(known(hold).claim.query());
    INFO(reply.body);
    REQUIRE(reply.status == 201);
    REQUIRE(json_text(reply.body, "hold") == known(hold).hold);
}

std::size_t Actor::sold() {
    std::size_t const hold = claim();
    take(hold, order_step(known(hold)));
    return hold;
}

void Actor::take(std::size_t hold, Step step) {
    Known& known = known_.at(hold);
    known.asked = std::move(step);
    auto const reply = ask(known.asked->query());
    INFO(reply.body);
    REQUIRE(known.take_in(reply));
}

std::string Actor::staff(StaffRequest request) {
    request.key = next_key();
    asked_.push_back(std::move(request));
    StaffRequest& asked = asked_.back();
    auto const reply = ask(asked.query());
    CAPTURE(asked.target, reply.body);
    REQUIRE(reply.status == asked.success);
    asked.answered = true;
    return reply.body;
}

void Actor::make_event() {
    std::string const body =
        R"({"id":")" + name_ + R"(","name":"Play","publish":false,"policy":{"orphan_rule":"off"},
            "sections":[{"id":"A","rows":[{"label":"1","seats":20}]}]})";
    auto const stands = [](std::string const& look, std::string const&) {
        std::string const state = json_text(look, "state");
        return state == "draft" || state == "preparing";
    };
    static_cast<void>(staff({"POST", "/v1/events", body, 202, event_, stands}));
}

void Actor::wait_for(std::string const& state) {
    auto const patience = std::chrono::steady_clock::now() + 20s;
    while (json_text(ask(query_of("GET", event_)).body, "state") != state)
        REQUIRE(std::chrono::steady_clock::now() < patience);
}

void Actor::step(std::string const& verb, std::string const& state) {
    auto const stands = [state](std::string const& look, std::string const&) {
        return json_text(look, "state") == state;
    };
    static_cast<void>(staff({"POST", event_ + "/" + verb, "", 200, event_, stands}));
}

void Actor::open_event() {
    make_event();
    wait_for("draft");
    step("publish", "open");
}

std::string Actor::block() {
    auto const stands = [](std::string const& look, std::string const& answer) {
        return look.find(json_text(answer, "hold")) != std::string::npos;
    };
    std::string const blocks = event_ + "/blocks";
    return json_text(staff({"POST", blocks, R"({"seats":["A-1-1"]})", 201, blocks, stands}),
                     "hold");
}

void Actor::unblock(std::string const& id) {
    auto const stands = [id](std::string const& look, std::string const&) {
        return look.find(id) == std::string::npos;
    };
    static_cast<void>(staff({"DELETE", "/v1/blocks/" + id, "", 204, event_ + "/blocks", stands}));
}

void Actor::back_up() {
    backup_ = folder_ / name_;
    loadgen::Session admin(*loadgen::parse_url(server_.admin_url()), 15s);
    auto const begun =
        admin.call(query_of("POST", "/v1/admin/backup", R"({"to":")" + backup_->string() + "\"}"));
    if (!begun) throw Gone{};
    CHECK(begun->status == 202);
    for (std::string state = "running"; state == "running";) {
        auto const now = admin.call(query_of("GET", "/v1/admin/backup"));
        if (!now) throw Gone{};
        state = json_text(now->body, "state");
    }
}

void Actor::stop() {
    exit_code_ = server_.stop();
    if (exit_code_ != 0) throw Gone{};
}

}  // namespace holdfast::test
