// Staff: the operator's requests of a soak, one after the other on one connection.
//
// Purpose: a queue of requests with what follows on each. Thread safety: the loop's thread.
// Invariants: what is asked while the server goes away is dropped.
#pragma once

#include "bench/soak/crowd.hpp"

namespace holdfast::soak {

class Staff {
public:
    explicit Staff(Crowd& crowd) : crowd_(crowd), connection_(crowd.loop_, crowd.url_) {}
    Staff(Staff const&) = delete;
    Staff& operator=(Staff const&) = delete;

    using Then = std::function<void(Reply const&)>;
    void ask(Query query, unsigned good, Then then);
    void ask_until_open(std::string const& event, std::function<void()> then);
    void move_to(loadgen::Url const& url);

private:
    struct Job {
        Query query;
        unsigned good{};
        Then then;
    };
    void next();
    void answered(loadgen::Outcome const& outcome, Job const& job);

    Crowd& crowd_;
    loadgen::Connection connection_;
    std::deque<Job> jobs_;
};

}  // namespace holdfast::soak
