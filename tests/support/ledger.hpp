// The ledger: all that a server has acknowledged, and the check that it still stands by that.
//
// Purpose: a request without an answer is sent again after the restart, and must then have happened
//   once; a claim with an answer is answered again; everything else must look as was said last.
// Thread safety: the test's own thread.
#pragma once

#include "tests/support/buyer.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

/// All that a server has acknowledged.
class Ledger {
public:
    /// Takes over what the buyer knows; a surprise of his fails the test.
    void add(Buyer const& buyer);
    void add(std::vector<Known> const& known, std::optional<KeyedClaim> const& pending);
    /// From now on there is a brief event, whose holds expire, and a hold that tells the time.
    void set_clock(ServerClock clock) { clock_ = std::move(clock); }
    [[nodiscard]] std::optional<ServerClock> const& clock() const noexcept { return clock_; }
    /// A server has started that gives live holds so much time from then on (P7).
    void note_start(std::chrono::seconds grace) {
        grace_ = grace;
        started_after_ = seen_;
        older_ = holds_.size();
    }
    /// Checks the holds that are new since the last check, some of the others and the sums; with
    /// `all` every hold.
    void check(std::string const& url, bool all = false);
    /// Once the deadlines of all brief holds have passed by the server's time: they are all free.
    void check_all_expired(std::string const& url);
    /// Holds that ended by their deadline.
    [[nodiscard]] std::size_t expired() const noexcept;
    [[nodiscard]] std::size_t size() const noexcept { return holds_.size(); }

private:
    void settle_claims(loadgen::Session& session);
    void check_hold(loadgen::Session& session, Known& hold, bool is_older) const;
    void check_ended(loadgen::Session& session, Known& hold) const;
    void check_deadline(Known& hold, std::string const& document, bool is_older) const;
    void check_sums(std::string const& event) const;
    void check_brief_sums(loadgen::Session& session);
    /// Places of claims that could not be asked for again, and may have been made.
    [[nodiscard]] long long unanswered(std::string const& event) const;

    std::vector<Known> holds_;
    std::size_t older_{};                 // so many of them were made before the last start
    std::size_t checked_{};               // so many of them stood before the last check
    std::size_t again_{};                 // the next of those to be looked at again
    std::vector<KeyedClaim> unanswered_;  // claims that may have been made all the same
    std::optional<ServerClock> clock_;
    std::chrono::seconds grace_{0};
    std::string seen_;           // the server's time at the end of the last check
    std::string started_after_;  // and at that before the start
};

}  // namespace holdfast::test
