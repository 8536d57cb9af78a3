// Suite: a few threads on a tiny event under the simulated memory model.
//
// Purpose: a list of suites that main() runs, each as often as it is told, with seeds 1, 2, 3, ...
// so that a run can be had again. Thread safety: one thread; the threads of a suite are fibers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::test {

struct SuiteOutcome {
    std::string fault;  // empty: none
    std::uint64_t executions{};
};

struct Suite {
    char const* name;
    /// `history`: the accesses of the faulty execution go to standard output.
    SuiteOutcome (*run)(unsigned executions, bool history);
};

[[nodiscard]] std::vector<Suite> claim_suites();
[[nodiscard]] std::vector<Suite> change_suites();
[[nodiscard]] std::vector<Suite> count_suites();
[[nodiscard]] std::vector<Suite> fit_suites();
[[nodiscard]] std::vector<Suite> note_suites();
[[nodiscard]] std::vector<Suite> upkeep_suites();

}  // namespace holdfast::test
