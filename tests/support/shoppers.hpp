// Shoppers: buyers who remember every answer, and the check that a server still stands by them.
//
// Purpose: the one driver of all loops that kill a server, cut its power or fail its disk. What was
//   acknowledged is in the ledger; after each restart the server must say the same. Every request
//   has an Idempotency-Key: one without an answer is sent again after the restart, and must then
//   have happened once; one with an answer is answered again.
// Thread safety: a Buyer belongs to one thread; the rest to the test's own.
#pragma once

#include "loadgen/client.hpp"
#include "tests/support/server_process.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace holdfast::test {

inline constexpr int show_rows = 100;
inline constexpr int show_seats_per_row = 100;

/// A claim, as it can be sent again.
struct KeyedClaim {
    std::string key;
    std::string body;
};

/// How far the server has said yes to one hold, and whether a request is without an answer.
struct Known {
    enum class State { held, confirmed, released };
    State state{State::held};
    bool asked{};        // a confirm or release was sent and not answered: both outcomes are right
    bool asked_order{};  // it was a confirm
    KeyedClaim claim;
    std::string hold;
    std::string token;
    std::string seats;
    std::string order;
    std::string tickets;
    [[nodiscard]] std::string authorization() const { return "Hold " + token; }
    [[nodiscard]] std::string order_body() const {
        return "{\"holds\":[\"" + hold + "\"],\"payment\":{\"method\":\"none\"}}";
    }
};

/// One buyer: claims, then orders, releases or keeps; remembers every answer.
class Buyer {
public:
    Buyer(std::string const& url, std::uint64_t seed);

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
    loadgen::Reply ask(std::string const& method, std::string const& target,
                       std::string const& body, std::string const& key,
                       std::string const& authorization);
    Known* claim();
    void decide(Known& hold);
    void order(Known& hold);
    void release(Known& hold);
    void unexpected(loadgen::Reply const& reply);

    loadgen::Session session_;
    std::mt19937_64 random_;
    std::vector<Known> known_;
    std::optional<KeyedClaim> pending_;
    std::string surprise_;
    bool alive_{true};
    bool refused_{};
};

/// An open event of 100 rows of 100 seats, named "show".
void make_show(std::string const& url);

/// All that a server has acknowledged.
class Ledger {
public:
    /// Takes over what the buyer knows; a surprise of his fails the test.
    void add(Buyer const& buyer);
    /// Checks the holds that are new since the last check, some of the others and the sums; with
    /// `all` every hold.
    void check(std::string const& url, bool all = false);
    [[nodiscard]] std::size_t size() const noexcept { return holds_.size(); }

private:
    void settle_claims(loadgen::Session& session);
    void settle(loadgen::Session& session, Known& hold) const;
    void check_again(loadgen::Session& session, Known const& hold) const;
    void check_hold(loadgen::Session& session, Known& hold) const;
    void check_sums(std::string const& event) const;

    std::vector<Known> holds_;
    std::size_t checked_{};               // so many of them stood before the last check
    std::size_t again_{};                 // the next of those to be looked at again
    std::vector<KeyedClaim> unanswered_;  // claims that may have been made all the same
};

/// Buyers on threads of their own, until the server is gone; `end` is called after `moment` and
/// must end it. Their answers go into the ledger.
void shop_until(std::string const& url, int buyers, std::chrono::milliseconds moment,
                std::mt19937_64& random, Ledger& ledger, std::function<void()> const& end);

[[nodiscard]] long number_from_environment(char const* name, long otherwise);
/// HOLDFAST_SEED, or a random one; printed.
[[nodiscard]] std::uint64_t seed_of_run(char const* what);
/// `few` by default, `many` under HOLDFAST_CI in an optimized build without sanitizers; NAME says
/// otherwise.
[[nodiscard]] long cycles_of_run(char const* name, long few, long many);

}  // namespace holdfast::test
