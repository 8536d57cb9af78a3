#include "loadgen/watcher.hpp"

#include <algorithm>

namespace holdfast::loadgen {
namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr Milliseconds look_every = 100ms;
constexpr Milliseconds tell_every = 1'000ms;
/// Long enough for the last place to be abandoned several times in a row.
Milliseconds standstill_max(Milliseconds hold_ttl) {
    return 60'000ms + 5 * hold_ttl;
}

}  // namespace

Watcher::Watcher(Market& market, Picture& picture, std::function<void(std::string const&)> progress)
    : market_(market),
      picture_(picture),
      progress_(std::move(progress)),
      connection_(market.loop, market.url),
      sums_(new_sums_check()) {}

void Watcher::start() {
    sold_last_ = steady_clock::now();
    look();
}

void Watcher::resume() {
    sold_last_ = steady_clock::now();
    if (std::exchange(parked_, false)) look();
}

void Watcher::look() {
    if (market_.paused) {
        parked_ = true;
        return;
    }
    if (stops_seen_ != market_.stops) {
        stops_seen_ = market_.stops;
        connection_.move_to(market_.url);
    }
    look_began_ = steady_clock::now();
    if (look_began_ - sold_last_ > standstill_max(market_.hold_ttl)) {
        return market_.fail("nothing was sold for a long time: " + line());
    }
    read("/v1/events/" + market_.event + "/state", &Watcher::saw_state);
}

void Watcher::read(std::string target, void (Watcher::*answered)(Outcome const&)) {
    ++market_.open_requests;
    Query const query{.method = "GET", .target = std::move(target), .fields = {}, .body = {}};
    connection_.send(query, request_timeout, [this, answered](Outcome&& outcome) {
        --market_.open_requests;
        if (outcome.timed_out) return market_.fail("the server stalled at a read of the map");
        if (outcome.lost || read_again(outcome.reply)) {
            market_.loop.after(look_every, [this] { look(); });
        } else {
            (this->*answered)(outcome);
        }
        if (market_.paused) market_.changed();
    });
}

void Watcher::saw_state(Outcome const& outcome) {
    auto snapshot = read_snapshot(outcome.reply.body, market_.venue);
    if (!snapshot) {
        return market_.fail("GET …/state: answer " + std::to_string(outcome.reply.status) + ", " +
                            snapshot.error().text);
    }
    add_sums(sums_, market_.venue, *snapshot);
    picture_.show(std::move(*snapshot));
    if (market_.paused) {
        parked_ = true;
        return;
    }
    read("/v1/events/" + market_.event, &Watcher::saw_event);
}

void Watcher::saw_event(Outcome const& outcome) {
    auto const event = read_event(outcome.reply.body);
    if (!event) {
        return market_.fail("GET of the event: answer " + std::to_string(outcome.reply.status) +
                            ", " + event.error().text);
    }
    add_sums(sums_, market_.venue, *event);
    auto const now = steady_clock::now();
    watch_progress(now);
    market_.over = picture_.sold_out();
    market_.changed();
    if (market_.over) return;
    // A large map is read less often, so that watching stays a small part of the load.
    auto const took = std::chrono::duration_cast<Milliseconds>(now - look_began_);
    market_.loop.after(std::max(look_every, 5 * took), [this] { look(); });
}

void Watcher::watch_progress(Moment now) {
    if (now - told_ >= tell_every) {
        told_ = now;
        progress_(line() + ", " + std::to_string(market_.conduct.requests) + " requests");
    }
    auto const sold = picture_.total().sold;
    if (sold > sold_before_) sold_last_ = now;
    sold_before_ = sold;
}

std::string Watcher::line() const {
    auto const& total = picture_.total();
    return std::to_string(total.sold) + " of " + std::to_string(market_.venue.capacity()) +
           " places sold, " + std::to_string(total.held) + " held, " + std::to_string(total.free) +
           " free";
}

}  // namespace holdfast::loadgen
