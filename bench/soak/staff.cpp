#include "bench/soak/staff.hpp"

#include <utility>

namespace holdfast::soak {
namespace {

constexpr Milliseconds answer_within{30'000};
constexpr Milliseconds look_again{20};

}  // namespace

void Staff::ask(Query query, unsigned good, Then then) {
    query.fields.emplace_back("Authorization", "Bearer " + crowd_.options_.admin_token);
    if (!query.body.empty()) query.fields.emplace_back("Content-Type", "application/json");
    jobs_.push_back({std::move(query), good, std::move(then)});
    if (!connection_.busy()) next();
}

void Staff::ask_until_open(std::string const& event, std::function<void()> then) {
    Query look{.method = "GET", .target = "/v1/events/" + event, .fields = {}, .body = {}};
    ask(std::move(look), 200, [this, event, then = std::move(then)](Reply const& reply) {
        if (text_of(reply.body, "state") == "open") return then();
        crowd_.loop_.after(look_again, [this, event, then] { ask_until_open(event, then); });
    });
}

void Staff::move_to(loadgen::Url const& url) {
    jobs_.clear();
    connection_.move_to(url);
}

void Staff::next() {
    if (jobs_.empty() || crowd_.away_) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    ++crowd_.in_flight_;
    Query const query = job.query;
    connection_.send(query, answer_within,
                     [this, job = std::move(job)](loadgen::Outcome&& outcome) {
                         --crowd_.in_flight_;
                         answered(outcome, job);
                         if (!connection_.busy()) next();
                     });
}

void Staff::answered(loadgen::Outcome const& outcome, Job const& job) {
    if (outcome.lost) {
        crowd_.note_lost(outcome, "the staff");
    } else if (outcome.reply.status == job.good) {
        job.then(outcome.reply);
    } else if (crowd_.may_refuse(outcome.reply)) {
        ++crowd_.tally_.refused;
    }
}

}  // namespace holdfast::soak
