#include "loadgen/sale.hpp"

#include <holdfast/domain/limits.hpp>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <thread>

namespace holdfast::loadgen {
namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

/// Short, so that what buyers abandon is for sale again soon; other servers may not allow it.
constexpr Milliseconds hold_ttl_wanted = 2'000ms;
constexpr Milliseconds hold_ttl_anywhere = limits::hold_ttl_lowest;
constexpr Milliseconds open_timeout = 120'000ms;  // to build the seats of the largest event
constexpr Milliseconds quiet_timeout = 15'000ms;  // longer than a request may take
constexpr Milliseconds liveness_every = 250ms;
constexpr std::uint64_t bulk_per_cent = 90;

std::optional<std::string> read_file(std::filesystem::path const& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

Sale::Sale(SaleOptions const& options)
    : options_(options),
      host_(options),
      event_("bench-" + std::to_string(Dice(options.seed).below(1'000'000))) {}

Sale::~Sale() = default;

bool Sale::fail(std::string why) {
    if (failure_.empty()) failure_ = std::move(why);
    return false;
}

void Sale::tell(std::string const& line) const {
    std::fprintf(stderr, "bench sale: %s\n", line.c_str());
}

ResultOf<Reply, FetchError> Sale::call(Query query, bool as_admin) {
    if (as_admin) query.fields.emplace_back("Authorization", "Bearer " + host_.admin_token());
    if (!query.body.empty()) query.fields.emplace_back("Content-Type", "application/json");
    auto const give_up = steady_clock::now() + request_timeout;
    for (;;) {
        auto reply = session_->call(query);
        bool const again = reply && query.method == "GET" && read_again(*reply);
        if (!again || steady_clock::now() >= give_up) return reply;
        std::this_thread::sleep_for(50ms);
    }
}

Report Sale::run() {
    if (prepare() && sell() && check_end() && host_.own()) {
        static_cast<void>(stop_at_the_end());  // the last step: failure_ has what went wrong
    }
    Report report;
    fill(report);
    if (!report.ok() && host_.has_data())
        tell("the server's folder stays: " + host_.keep().string());
    return report;
}

bool Sale::prepare() {
    plan_name_ = options_.plan.empty() ? "demo" : options_.plan.filename().string();
    auto const plan =
        options_.plan.empty() ? std::optional(options_.demo_plan) : read_file(options_.plan);
    if (!plan) return fail("cannot read the plan " + options_.plan.string());
    // Before a server is started for nothing.
    auto const facts = recognise_plan(*plan);
    if (!facts) return fail(facts.error().text);
    return connect() && create_event(*plan) && wait_until_open() && read_map();
}

bool Sale::connect() {
    auto const url = host_.start();
    if (!url) return fail(url.error().text);
    url_ = *url;
    session_ = std::make_unique<Session>(url_);
    return true;
}

bool Sale::create_event(std::string const& plan) {
    auto const facts = recognise_plan(plan);
    if (!facts) return fail(facts.error().text);
    // Several runs against one server need names of their own.
    if (!host_.own()) {
        event_ += "-" + std::to_string(steady_clock::now().time_since_epoch().count() % 1'000'000);
    }
    for (auto const ttl : {hold_ttl_wanted, hold_ttl_anywhere}) {
        hold_ttl_ = ttl;
        auto body = event_body(
            {.id = event_, .plan = plan, .facts = *facts, .hold_ttl_s = ttl.count() / 1'000});
        auto const reply =
            call({.method = "POST", .target = "/v1/events", .fields = {}, .body = std::move(body)},
                 true);
        if (!reply) return fail(reply.error().text);
        if (reply->status == 202) return true;
        bool const too_short = reply->status == 422 && ttl == hold_ttl_wanted &&
                               reply->body.find("/policy/hold_ttl_s") != std::string::npos;
        if (!too_short) {
            return fail("the plan was not accepted: answer " + std::to_string(reply->status) + " " +
                        reply->body.substr(0, 500));
        }
        tell(
            "the server allows no hold of 2 s (hold.ttl_min_s): with 30 s the sale takes half a "
            "minute, some buyers being slow, or a minute if there are few");
    }
    return fail("the server allows no hold of 30 s");
}

bool Sale::wait_until_open() {
    auto const deadline = steady_clock::now() + open_timeout;
    std::string last = "no answer";
    while (steady_clock::now() < deadline) {
        auto const reply = call(
            {.method = "GET", .target = "/v1/events/" + event_, .fields = {}, .body = {}}, true);
        if (!reply) return fail(reply.error().text);
        auto const event = read_event(reply->body);
        if (event && event->state == "open") return true;
        last = event ? "state " + event->state : "answer " + std::to_string(reply->status);
        std::this_thread::sleep_for(20ms);
    }
    return fail("the event did not open: " + last);
}

bool Sale::read_map() {
    auto const reply = call(
        {.method = "GET", .target = "/v1/events/" + event_ + "/map", .fields = {}, .body = {}});
    if (!reply) return fail(reply.error().text);
    auto venue = read_venue(reply->body);
    if (!venue) return fail("GET …/map: " + venue.error().text);
    venue_ = std::move(*venue);
    auto state = read_state();
    if (!state) return false;
    picture_ = std::make_unique<Picture>(venue_);
    picture_->show(std::move(*state));
    auto const& total = picture_->total();
    blocked_at_start_ = total.blocked;
    if (total.held + total.sold > 0) return fail("the new event has places that are taken");
    if (total.free == 0) return fail("the plan has no place for sale");
    tell(std::to_string(total.free) + " places on sale to " + std::to_string(options_.clients) +
         " clients, seed " + std::to_string(options_.seed));
    return true;
}

bool Sale::sell() {
    market_ = std::unique_ptr<Market>(new Market{.loop = loop_,
                                                 .venue = venue_,
                                                 .picture = *picture_,
                                                 .url = url_,
                                                 .event = event_,
                                                 .hold_ttl = hold_ttl_,
                                                 .ledger = {},
                                                 .conduct = {},
                                                 .changed = [this] { on_change(); },
                                                 .fail =
                                                     [this](std::string why) {
                                                         fail(std::move(why));
                                                         loop_.stop();
                                                     }});
    watcher_ = std::make_unique<Watcher>(*market_, *picture_,
                                         [this](std::string const& line) { tell(line); });
    Dice dice(options_.seed);
    for (std::uint32_t i = 0; i < options_.clients; ++i) {
        buyers_.push_back(std::make_unique<Buyer>(*market_, dice.next()));
    }
    loop_.on_stop_signal([this] { market_->fail("stopped by a signal"); });
    loop_.post([this] {
        watcher_->start();
        for (auto const& buyer : buyers_) buyer->start();
    });
    began_ = steady_clock::now();
    while (turn()) {
    }
    ended_ = steady_clock::now();
    return failure_.empty();
}

/// One stretch of the loop. False: sold out and everybody at rest, or the run is over.
bool Sale::turn() {
    bool const interrupted = loop_.run_for(liveness_every);
    if (!failure_.empty()) return false;
    if (auto const how = host_.ended()) return fail("the server ended by itself: " + *how);
    if (interrupted && market_->paused) return stop_in_the_middle();
    return !(market_->over && market_->resting == buyers_.size());
}

void Sale::on_change() {
    note_bulk();
    auto const for_sale = venue_.capacity() - blocked_at_start_;
    bool const half = market_->ledger.places_ordered * 2 >= for_sale;
    market_->none_abandoned = half && hold_ttl_ > hold_ttl_wanted;
    if (host_.own() && market_->stops == 0 && half && !market_->over) {
        market_->paused = true;
        loop_.stop();
    }
    if (market_->paused || (market_->over && market_->resting == buyers_.size())) loop_.stop();
}

void Sale::note_bulk() {
    auto const for_sale = venue_.capacity() - blocked_at_start_;
    auto const ordered = market_->ledger.places_ordered;
    if (bulk_ended_ != Moment{} || ordered * 100 < for_sale * bulk_per_cent) return;
    bulk_ended_ = steady_clock::now();
    bulk_places_ = ordered;
    bulk_requests_ = market_->conduct.requests;
    stopped_in_bulk_ = stopped_for_;
}

bool Sale::stop_in_the_middle() {
    auto const stopped_at = steady_clock::now();
    tell("half is sold: kill -9 of the server, then a restart on the same data");
    host_.stop_now();
    // Answers that had left the server before it died are facts; the rest are lost.
    while (market_->open_requests > 0) {
        loop_.run_for(quiet_timeout);
        if (!failure_.empty()) return false;
        if (steady_clock::now() - stopped_at > quiet_timeout) {
            return fail("connections stay open after the server was killed");
        }
    }
    auto const alive = holds_alive(stopped_at);
    auto const released = holds_released();
    if (!restart()) return false;
    // The holds first: each has the grace of a restart, no more.
    add_check(check_holds_found(venue_, market_->ledger, read_holds(alive)), "mid-sale");
    add_check(check_releases_kept(market_->ledger, read_holds(released)), "mid-sale");
    add_check(check_orders_found(venue_, market_->ledger, read_orders()), "mid-sale");
    auto const state = read_state();
    if (!state) return false;
    add_check(check_sold_by_orders(venue_, market_->ledger, *state), "mid-sale");
    stopped_for_ += steady_clock::now() - stopped_at;
    market_->paused = false;
    market_->url = url_;
    loop_.post([this] {
        watcher_->resume();
        for (auto const& buyer : buyers_) buyer->resume();
    });
    return true;
}

}  // namespace holdfast::loadgen
