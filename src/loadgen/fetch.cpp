#include "loadgen/client.hpp"

#include <holdfast/loadgen/fetch.hpp>

#include <optional>

namespace holdfast::loadgen {

Session::Session(Url url, Milliseconds timeout)
    : connection_(loop_, std::move(url)), timeout_(timeout) {}

ResultOf<Reply, FetchError> Session::call(Query const& query) {
    std::optional<Outcome> outcome;
    connection_.send(query, timeout_, [this, &outcome](Outcome&& done) {
        outcome = std::move(done);
        loop_.stop();
    });
    // The connection's own timeout comes first and always calls back.
    while (!outcome) loop_.run_for(timeout_ + Milliseconds{1'000});
    if (outcome->lost) {
        return FetchError{query.method + " " + query.target + ": " + outcome->error};
    }
    return std::move(outcome->reply);
}

ResultOf<Reply, FetchError> fetch(std::string_view url, Query const& query, Milliseconds timeout) {
    auto const parsed = parse_url(url);
    if (!parsed) return parsed.error();
    Session session(*parsed, timeout);
    return session.call(query);
}

}  // namespace holdfast::loadgen
