// Checks: what must be true of a sale, judged from the ledger and from what the API says.
//
// Purpose: the verdict of `holdfast bench sale`. Thread safety: pure functions on values.
// Invariants: a check that looked at nothing fails, unless looking at nothing is right for it.
// Cost: linear in places and orders.
#pragma once

#include "loadgen/ledger.hpp"
#include "loadgen/wire.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::loadgen {

struct Check {
    std::string name;                  // kebab-case, part of --json
    std::string promise;               // the sentence that is checked
    std::uint64_t looked_at{};         // facts compared
    std::uint64_t broken{};            // how many were not as promised
    std::vector<std::string> first{};  // the first broken ones, for a person
    bool may_be_empty{};

    [[nodiscard]] bool holds() const noexcept {
        return broken == 0 && (may_be_empty || looked_at > 0);
    }
    void look(bool good) noexcept {
        ++looked_at;
        broken += !good;
    }
    /// As look(false), and says what is wrong.
    void fail(std::string what);
};

[[nodiscard]] Check check_no_seat_twice(Venue const& venue, Ledger const& ledger);
/// Each hold has exactly what was asked for (or, for a party, the whole of a larger table), each
/// order exactly the places and price of its hold.
[[nodiscard]] Check check_all_or_nothing(Venue const& venue, Ledger const& ledger);
/// Every place that is not blocked is sold, each by one order with one ticket of its own.
[[nodiscard]] Check check_sold_out(Venue const& venue, Ledger const& ledger, Snapshot const& state,
                                   std::uint64_t blocked_at_start);
/// What the state calls sold is sold by an acknowledged order, or by one whose answer was lost; and
/// every acknowledged order's places are sold.
[[nodiscard]] Check check_sold_by_orders(Venue const& venue, Ledger const& ledger,
                                         Snapshot const& state);

/// One more sample for free + held + sold + blocked = capacity.
[[nodiscard]] Check new_sums_check();
void add_sums(Check& check, Venue const& venue, EventReply const& event);
void add_sums(Check& check, Venue const& venue, Snapshot const& state);

/// What reading an acknowledged thing again gave.
struct ReadBack {
    std::size_t entry{};  // index into the ledger's orders or holds
    unsigned status{};    // 0: no answer
    std::string body;
};
[[nodiscard]] Check check_orders_found(Venue const& venue, Ledger const& ledger,
                                       std::vector<ReadBack> const& read);
/// Holds that were alive at an abrupt stop are alive after it, with the same places.
[[nodiscard]] Check check_holds_found(Venue const& venue, Ledger const& ledger,
                                      std::vector<ReadBack> const& read);
/// Holds whose release was acknowledged stay ended.
[[nodiscard]] Check check_releases_kept(Ledger const& ledger, std::vector<ReadBack> const& read);

}  // namespace holdfast::loadgen
