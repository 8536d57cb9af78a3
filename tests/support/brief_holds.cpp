// Ledger: holds that expire while the server lives, and while none does. Each check is one of what
// the server says against its own time, asked for before or after: it is valid at any speed.
#include "tests/support/ledger.hpp"
#include "tests/support/server_process.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <ctime>
#include <set>

namespace holdfast::test {

using namespace std::chrono_literals;

namespace {

std::chrono::milliseconds time_of(std::string const& text) {
    std::tm day{};
    int ms = 0;
    int const read = std::sscanf(text.c_str(), "%d-%d-%dT%d:%d:%d.%dZ", &day.tm_year, &day.tm_mon,
                                 &day.tm_mday, &day.tm_hour, &day.tm_min, &day.tm_sec, &ms);
    REQUIRE(read == 7);
    day.tm_year -= 1900;
    day.tm_mon -= 1;
    return std::chrono::seconds{::timegm(&day)} + std::chrono::milliseconds{ms};
}

bool is_brief(Known const& hold) {
    return hold.claim.event == brief;
}

}  // namespace

/// The server says that a held hold has ended.
void Ledger::check_ended(loadgen::Session& session, Known& hold) const {
    std::string const now = clock_->now(session);
    CAPTURE(hold.hold, hold.expires, now);
    REQUIRE_FALSE(now.empty());
    REQUIRE(hold.expire(now));
    loadgen::Query order{.method = "POST", .target = "/v1/orders", .fields = {}, .body = {}};
    order.fields = {{"Content-Type", "application/json"},
                    {"Authorization", hold.authorization()},
                    {"Idempotency-Key", "late"}};
    order.body = R"({"holds":[")" + hold.hold + R"("],"payment":{"method":"none"}})";
    auto const late = session.call(order);
    REQUIRE(late.has_value());
    INFO(late->body);
    REQUIRE(late->status == 410);
}

/// Of a hold that the server calls held. `is_older`: it is of a life before.
void Ledger::check_deadline(Known& hold, std::string const& document, bool is_older) const {
    std::string const expires = json_text(document, "expires_at");
    REQUIRE(json_text(document, "server_time") < expires);
    bool const had_grace = is_older && !started_after_.empty();
    CAPTURE(started_after_, grace_.count());
    if (had_grace) REQUIRE(time_of(expires) >= time_of(started_after_) + grace_);
    hold.expires = expires;
}

/// What has surely not expired is held by one, what may have is held or free.
void Ledger::check_brief_sums(loadgen::Session& session) {
    loadgen::Query const look{
        .method = "GET", .target = "/v1/events/brief", .fields = {}, .body = {}};
    auto const event = session.call(look);
    REQUIRE(event.has_value());
    seen_ = clock_->now(session);
    REQUIRE_FALSE(seen_.empty());
    std::set<std::string> owned;
    std::string twice;
    long long sold = 0;
    long long live = 0;
    long long held = 0;
    for (Known const& hold : holds_) {
        if (!is_brief(hold)) continue;
        bool const is_sold = hold.state == Known::State::confirmed;
        bool const is_live = is_sold || hold.expires > seen_;
        for (std::string const& seat : hold.places()) {
            ++(is_sold ? sold : held);
            if (!is_sold && is_live) ++live;
            if (is_live && !owned.insert(seat).second) twice = seat;
        }
    }
    CAPTURE(event->body, seen_);
    REQUIRE(twice == "");
    REQUIRE(json_number(event->body, "sold") == sold);
    REQUIRE(json_number(event->body, "held") >= live);
    REQUIRE(json_number(event->body, "held") <= held + unanswered(brief));
    REQUIRE(json_number(event->body, "free") + json_number(event->body, "held") + sold ==
            show_rows * show_seats_per_row);
}

void Ledger::check_all_expired(std::string const& url) {
    check(url, true);
    std::string last;
    for (Known const& hold : holds_)
        if (is_brief(hold) && hold.state == Known::State::held) last = std::max(last, hold.expires);
    loadgen::Session session(*loadgen::parse_url(url), 15s);
    auto const patience = std::chrono::steady_clock::now() + 60s;
    while (clock_->now(session) <= last) REQUIRE(std::chrono::steady_clock::now() < patience);
    check(url, true);
    auto const is_held = [](Known const& hold) {
        return is_brief(hold) && hold.state == Known::State::held;
    };
    CHECK(std::ranges::none_of(holds_, is_held));
    CHECK(json_number(call(url, "GET", "/v1/events/brief").body, "held") <= unanswered(brief));
}

std::size_t Ledger::expired() const noexcept {
    auto const expired = std::ranges::count(holds_, Known::State::expired, &Known::state);
    return static_cast<std::size_t>(expired);
}

}  // namespace holdfast::test
