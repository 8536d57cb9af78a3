// The parts of a sale that read back and judge.
#include "loadgen/sale.hpp"

#include <algorithm>

namespace holdfast::loadgen {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t releases_read_max = 1'000;
/// A hold this close to its deadline may have ended before the stop.
constexpr Milliseconds alive_margin = 200ms;

}  // namespace

bool Sale::restart() {
    ++market_->stops;
    if (!connect()) return fail("the restart failed");
    return true;
}

void Sale::add_check(Check check, std::string_view when) {
    if (!when.empty()) check.name.append("-").append(when);
    checks_.push_back(std::move(check));
}

std::optional<Snapshot> Sale::read_state() {
    auto const reply = call(
        {.method = "GET", .target = "/v1/events/" + event_ + "/state", .fields = {}, .body = {}});
    if (!reply) {
        fail(reply.error().text);
        return std::nullopt;
    }
    auto state = read_snapshot(reply->body, venue_);
    if (!state) {
        fail("GET …/state: answer " + std::to_string(reply->status) + ", " + state.error().text);
        return std::nullopt;
    }
    return std::move(*state);
}

/// Acknowledged, not ended by their buyers, and before their deadline at the stop.
std::vector<std::size_t> Sale::holds_alive(Moment stopped_at) const {
    std::vector<std::size_t> alive;
    auto const& holds = market_->ledger.holds;
    for (std::size_t entry = 0; entry < holds.size(); ++entry) {
        auto const& hold = holds[entry];
        bool const not_ended =
            hold.fate == Fate::held || hold.fate == Fate::ordering || hold.fate == Fate::abandoned;
        auto const deadline = hold.claimed_at + market_->hold_ttl;
        if (not_ended && deadline - alive_margin > stopped_at) alive.push_back(entry);
    }
    return alive;
}

/// The newest ones: what a torn journal would lose.
std::vector<std::size_t> Sale::holds_released() const {
    std::vector<std::size_t> released;
    auto const& holds = market_->ledger.holds;
    for (auto entry = holds.size(); entry > 0 && released.size() < releases_read_max; --entry) {
        if (holds[entry - 1].fate == Fate::released) released.push_back(entry - 1);
    }
    return released;
}

ReadBack Sale::read_back(std::size_t entry, std::string target, std::string const& token) {
    auto reply = call({.method = "GET",
                       .target = std::move(target),
                       .fields = {{"Authorization", "Hold " + token}},
                       .body = {}});
    if (!reply) {
        fail(reply.error().text);
        return {.entry = entry, .status = 0, .body = {}};
    }
    return {.entry = entry, .status = reply->status, .body = std::move(reply->body)};
}

std::vector<ReadBack> Sale::read_holds(std::vector<std::size_t> const& which) {
    std::vector<ReadBack> read;
    for (auto const entry : which) {
        if (!failure_.empty()) break;
        auto const& hold = market_->ledger.holds[entry];
        read.push_back(read_back(entry, "/v1/holds/" + hold.id, hold.token));
    }
    return read;
}

std::vector<ReadBack> Sale::read_orders() {
    auto const& orders = market_->ledger.orders;
    tell("reads " + std::to_string(orders.size()) + " orders again");
    std::vector<ReadBack> read;
    read.reserve(orders.size());
    for (std::size_t entry = 0; entry < orders.size() && failure_.empty(); ++entry) {
        auto const& order = orders[entry];
        read.push_back(
            read_back(entry, "/v1/orders/" + order.id, market_->ledger.holds[order.hold].token));
    }
    return read;
}

bool Sale::check_end() {
    tell("sold out; checks");
    auto const state = read_state();
    if (!state) return false;
    auto const& ledger = market_->ledger;
    add_check(check_no_seat_twice(venue_, ledger), "");
    add_check(check_all_or_nothing(venue_, ledger), "");
    add_check(check_sold_out(venue_, ledger, *state, blocked_at_start_), "");
    add_check(check_sold_by_orders(venue_, ledger, *state), "");
    add_check(watcher_->sums(), "");
    add_check(check_orders_found(venue_, ledger, read_orders()), "");
    return failure_.empty();
}

bool Sale::stop_at_the_end() {
    tell("kill -9 of the server, then a restart on the same data");
    host_.stop_now();
    if (!restart()) return false;
    auto const& ledger = market_->ledger;
    add_check(check_orders_found(venue_, ledger, read_orders()), "after-stop");
    auto const state = read_state();
    if (!state) return false;
    add_check(check_sold_out(venue_, ledger, *state, blocked_at_start_), "after-stop");
    add_check(check_sold_by_orders(venue_, ledger, *state), "after-stop");
    auto const reply =
        call({.method = "GET", .target = "/v1/events/" + event_, .fields = {}, .body = {}});
    if (!reply) return fail(reply.error().text);
    auto const event = read_event(reply->body);
    if (!event) return fail("GET of the event: " + event.error().text);
    auto sums = new_sums_check();
    add_sums(sums, venue_, *event);
    add_sums(sums, venue_, *state);
    add_check(std::move(sums), "after-stop");
    return failure_.empty();
}

void Sale::fill(Report& report) {
    report.seed = options_.seed;
    report.clients = options_.clients;
    report.plan = plan_name_;
    report.url = options_.url;
    report.failure = failure_;
    report.checks = checks_;
    report.restart_ms = host_.restart_ms();
    if (!market_) return;
    using Seconds = std::chrono::duration<double>;
    report.capacity = venue_.capacity();
    report.places_sold = market_->ledger.places_ordered;
    report.orders = market_->ledger.orders.size();
    report.selling_s = Seconds(ended_ - began_ - stopped_for_).count();
    if (bulk_ended_ != Moment{}) {
        report.bulk_s = Seconds(bulk_ended_ - began_ - stopped_in_bulk_).count();
    }
    report.stops = market_->stops;
    report.requests_in_bulk = bulk_requests_;
    report.places_in_bulk = bulk_places_;
    report.conduct = market_->conduct;
    report.claims_unanswered = market_->ledger.claims_unanswered;
    report.checks.push_back(market_->conduct.answers);
}

}  // namespace holdfast::loadgen
