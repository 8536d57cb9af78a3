// Shoppers: a crowd of buyers, until the server is gone.
//
// Purpose: the one driver of all loops that kill a server, cut its power or fail its disk. What was
//   acknowledged is in the ledger; after each restart the server must say the same.
// Thread safety: the test's own thread.
#pragma once

#include "tests/support/buyer.hpp"
#include "tests/support/ledger.hpp"
#include "tests/support/server_process.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <string>

namespace holdfast::test {

/// An open event of 100 rows of 100 seats, named "show".
void make_show(std::string const& url);

/// Beside it an event "brief" whose holds end after a second, and a hold that tells the time; the
/// server must be told HOLDFAST_HOLD_TTL_MIN_S=1. Every fourth shopper buys there from now on.
void make_brief(std::string const& url, Ledger& ledger);

/// The restart grace of the servers of a loop: mostly none, so that holds expire while none lives.
class Grace {
public:
    explicit Grace(ServerProcess::Options& options) : options_(options) {
        options_.variables["HOLDFAST_HOLD_TTL_MIN_S"] = "1";
    }
    /// For the server that starts next.
    [[nodiscard]] std::chrono::seconds of_cycle(long cycle) {
        std::chrono::seconds const grace(cycle % 10 == 1 ? 2 : 0);
        options_.variables["HOLDFAST_HOLD_RESTART_GRACE_S"] = std::to_string(grace.count());
        return grace;
    }

private:
    ServerProcess::Options& options_;
};

/// Buyers of all habits on threads of their own, until the server is gone; `end` is called after
/// `moment` and must end it. Their answers go into the ledger.
void shop_until(std::string const& url, int buyers, std::chrono::milliseconds moment,
                std::mt19937_64& random, Ledger& ledger, std::function<void()> const& end);

[[nodiscard]] long number_from_environment(char const* name, long otherwise);
/// HOLDFAST_SEED, or a random one; printed.
[[nodiscard]] std::uint64_t seed_of_run(char const* what);
/// `few` by default, `many` under HOLDFAST_CI in an optimized build without sanitizers; NAME says
/// otherwise.
[[nodiscard]] long cycles_of_run(char const* name, long few, long many);

}  // namespace holdfast::test
