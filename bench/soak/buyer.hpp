// Buyer: one visit after the other, on a connection that is kept for a while.
//
// Purpose: a visit is a claim and what becomes of the hold. Thread safety: the loop's thread.
#pragma once

#include "bench/soak/crowd.hpp"

namespace holdfast::soak {

class Buyer {
public:
    Buyer(Crowd& crowd, std::uint64_t seed);
    Buyer(Buyer const&) = delete;
    Buyer& operator=(Buyer const&) = delete;

    /// Ends with this buyer idle again.
    void visit();
    void move_to(loadgen::Url const& url) { connection_.move_to(url); }

private:
    using Then = void (Buyer::*)(Reply const&);

    void ask(Query query, unsigned good, Then then);
    void answered(loadgen::Outcome const& outcome, unsigned good, Then then);
    void done();

    void look_around();
    void looked(Reply const& reply);
    void claim();
    void claimed(Reply const& reply);
    void change();
    void changed(Reply const& reply);
    void give_back();
    void gave_back(Reply const& reply);
    void order();
    void ordered(Reply const& reply);
    void with_key(Query& query);
    [[nodiscard]] std::string wish();
    [[nodiscard]] Query of_hold(char const* method, char const* verb, std::string body) const;

    Crowd& crowd_;
    loadgen::Connection connection_;
    loadgen::Dice dice_;
    std::string event_;
    std::string hold_;
    std::string token_;
    bool on_floor_{};  // two places of the floor
};

}  // namespace holdfast::soak
