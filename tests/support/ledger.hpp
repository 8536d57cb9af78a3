// The ledger: all that a server has acknowledged, and the check that it still stands by that.
//
// Purpose: a request without an answer is sent again after the restart, and must then have happened
//   once; a claim with an answer is answered again; everything else must look as was said last.
// Thread safety: the test's own thread.
#pragma once

#include "tests/support/buyer.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::test {

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
    void check_hold(loadgen::Session& session, Known& hold) const;
    void check_sums(std::string const& event) const;

    std::vector<Known> holds_;
    std::size_t checked_{};               // so many of them stood before the last check
    std::size_t again_{};                 // the next of those to be looked at again
    std::vector<KeyedClaim> unanswered_;  // claims that may have been made all the same
};

}  // namespace holdfast::test
