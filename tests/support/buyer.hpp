// Buyers who remember every answer.
//
// Purpose: what clients ask for in the loops that kill a server, cut its power or fail its disk.
//   Every request has an Idempotency-Key, so that one without an answer can be sent again.
// Thread safety: a Buyer belongs to one thread.
#pragma once

#include "loadgen/client.hpp"

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace holdfast::test {

inline constexpr int show_rows = 100;
inline constexpr int show_seats_per_row = 100;

inline constexpr char const* brief = "brief";  // the event whose holds expire

/// A claim, as it can be sent again.
struct KeyedClaim {
    std::string key;
    std::string body;
    std::string event{"show"};
    [[nodiscard]] loadgen::Query query() const;
};

/// A sold hold that nobody changes: a look at it tells the server's own time, and waits until all
/// that was appended before is durable. So no check of a deadline needs a clock of the test's.
struct ServerClock {
    std::string hold;
    std::string token;
    /// As it is written in answers; empty: there was none.
    [[nodiscard]] std::string now(loadgen::Session& session) const;
};

struct Known;

/// One request about a hold or its order, as it can be sent again.
struct Step {
    enum class Kind { extend, exchange, part, order, release, reseat, refund, cancel };
    Kind kind{Kind::order};
    std::string method;
    std::string target;
    std::string body;
    std::string key;
    std::string authorization;
    [[nodiscard]] loadgen::Query query() const;
};

/// Of the holder; keys are the holder's own, so that one of each kind will do.
[[nodiscard]] Step own_step(Known const& hold, Step::Kind kind, std::string method,
                            std::string const& what, std::string body);
/// Of staff, about the order; all of staff share their keys.
[[nodiscard]] Step staff_step(Known const& hold, Step::Kind kind, std::string const& what,
                              std::string body);
[[nodiscard]] Step order_step(Known const& hold);

/// How far the server has said yes to one hold, and which request is without an answer.
struct Known {
    enum class State { held, confirmed, released, cancelled, expired };
    State state{State::held};
    std::optional<Step> asked;  // sent and not answered: both outcomes are right
    KeyedClaim claim;
    std::string claimed;  // the seats, as the claim was answered
    std::string hold;
    std::string token;
    std::string seats;    // by now
    std::string expires;  // not before this, in the notation of the server
    std::string order;
    std::string tickets;

    /// Of the answer of a claim.
    Known(KeyedClaim const& claim, std::string const& body);
    [[nodiscard]] std::string authorization() const { return "Hold " + token; }
    /// Takes over what was answered to `asked`; false if no server may answer that.
    [[nodiscard]] bool take_in(loadgen::Reply const& reply);
    /// The server says that the hold has ended, and said its time then. False: none may say so, as
    /// the deadline had not passed (P7) or the hold is not held.
    [[nodiscard]] bool expire(std::string const& now);
    /// The names of the places that are held or sold.
    [[nodiscard]] std::vector<std::string> places() const;
};

/// What a buyer does with holds.
enum class Habits {
    plain,  // orders, releases or keeps them
    all     // extends, exchanges or gives back a part before; staff moves, refunds or cancels after
};

/// One buyer: claims, and what becomes of it; remembers every answer.
class Buyer {
public:
    Buyer(std::string const& url, std::uint64_t seed, Habits habits = Habits::plain);
    /// One of the event whose holds expire.
    Buyer(std::string const& url, std::uint64_t seed, ServerClock clock);

    /// One claim and what becomes of it. False: the server is gone, or its disk has failed.
    bool visit();
    /// Until then.
    void run();
    [[nodiscard]] std::vector<Known> const& known() const noexcept { return known_; }
    /// The claim that was sent and not answered, if there is one.
    [[nodiscard]] std::optional<KeyedClaim> const& pending() const noexcept { return pending_; }
    /// An answer that no server may give, in words; empty if there was none.
    [[nodiscard]] std::string const& surprise() const noexcept { return surprise_; }
    /// The server said that it can acknowledge nothing.
    [[nodiscard]] bool was_refused() const noexcept { return refused_; }

private:
    loadgen::Reply ask(loadgen::Query const& query);
    Known* claim();
    void change(Known& hold);
    void decide(Known& hold);
    void change_order(Known& hold);
    void take(Known& hold, Step step);
    void take_end(Known& hold);
    void unexpected(loadgen::Reply const& reply);
    [[nodiscard]] std::string some_seat();
    [[nodiscard]] std::string some_pair();

    loadgen::Session session_;
    std::mt19937_64 random_;
    Habits habits_;
    std::optional<ServerClock> clock_;
    std::vector<Known> known_;
    std::optional<KeyedClaim> pending_;
    std::string surprise_;
    bool alive_{true};
    bool refused_{};
};

}  // namespace holdfast::test
