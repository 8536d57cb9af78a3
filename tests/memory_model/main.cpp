// memory_model_tests: the product's protocol under the memory model of C++11.
//   memory_model_tests                      every suite
//   memory_model_tests --planted [NAME...]  weakens each order of planted_orders.hpp, or those
//                                           named; a suite must find a fault with it
//   memory_model_tests --survey             weakens every access there is, one at a time, and tells
//                                           which nobody misses; for whoever changes an order
// HOLDFAST_EXECUTIONS: of each suite, else a few thousand. HOLDFAST_HISTORY: also prints what
// happened in a faulty execution.
#include "tests/memory_model/planted_orders.hpp"
#include "tests/memory_model/suite.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>

namespace holdfast::test {
namespace {

std::vector<Suite> all_suites() {
    std::vector<Suite> suites = claim_suites();
    for (Suite const& suite : change_suites()) suites.push_back(suite);
    for (Suite const& suite : count_suites()) suites.push_back(suite);
    for (Suite const& suite : fit_suites()) suites.push_back(suite);
    for (Suite const& suite : note_suites()) suites.push_back(suite);
    for (Suite const& suite : upkeep_suites()) suites.push_back(suite);
    return suites;
}
unsigned executions(unsigned otherwise) {
    auto const* const given = std::getenv("HOLDFAST_EXECUTIONS");
    return given != nullptr ? static_cast<unsigned>(std::atoi(given)) : otherwise;
}

int run_all() {
    int faults = 0;
    for (Suite const& suite : all_suites()) {
        auto const start = std::clock();
        auto const outcome = suite.run(executions(4'000), false);
        std::cout << suite.name << ": " << outcome.executions << " executions in "
                  << (std::clock() - start) * 1'000 / CLOCKS_PER_SEC << " ms";
        if (!outcome.fault.empty()) {
            std::cout << ": " << outcome.fault;
            if (std::getenv("HOLDFAST_HISTORY") != nullptr)
                static_cast<void>(suite.run(executions(4'000), true));
            ++faults;
        }
        std::cout << std::endl;
    }
    return faults == 0 ? 0 : 1;
}

/// The suite that finds a fault, and how; nothing if the weak order survives. All suites get a few
/// executions first: most weak orders need only the right suite.
std::optional<std::string> catch_weak(WeakOrder const& weak, std::vector<Suite> const& suites,
                                      unsigned most) {
    weaken(weak);
    for (unsigned some = most / 100; some <= most; some *= 10) {
        for (Suite const& suite : suites) {
            auto const outcome = suite.run(some, false);
            if (outcome.fault.empty()) continue;
            return std::string(suite.name) + ": " + outcome.fault + " (" +
                   std::to_string(outcome.executions) + " executions)";
        }
    }
    return std::nullopt;
}

/// The line of a header on which the planted access begins; 0 if it is not there.
unsigned line_of(PlantedOrder const& planted) {
    std::ifstream in(std::string(HOLDFAST_SOURCE_DIR "/include/holdfast/") + planted.file);
    bool found = std::strlen(planted.after) == 0;
    std::string line;
    for (unsigned number = 1; std::getline(in, line); ++number) {
        found = found || line.find(planted.after) != std::string::npos;
        if (found && line.find(planted.code) != std::string::npos) return number;
    }
    return 0;
}

int run_planted(std::vector<std::string> const& names) {
    auto const suites = all_suites();
    int survived = 0;
    std::size_t run = 0;
    for (PlantedOrder const& planted : planted_orders) {
        if (!names.empty() && std::ranges::find(names, planted.name) == names.end()) continue;
        ++run;
        WeakOrder const weak{{planted.file, line_of(planted), planted.from}, planted.to};
        auto const caught =
            weak.access.line != 0 ? catch_weak(weak, suites, executions(50'000)) : std::nullopt;
        if (caught) {
            std::cout << "caught   " << planted.name << ": " << *caught << std::endl;
            continue;
        }
        ++survived;
        if (weak.access.line == 0)
            std::cout << "FAILED   " << planted.name << ": no such access" << std::endl;
        else
            std::cout << "SURVIVED " << planted.name << std::endl;
    }
    std::cout << run << " planted orders" << std::endl;
    return survived == 0 && run > 0 ? 0 : 1;
}

int survey() {
    auto const suites = all_suites();
    std::vector<std::vector<Access>> seen;
    std::vector<Access> all;
    for (Suite const& suite : suites) {
        weaken({});
        static_cast<void>(suite.run(500, false));
        seen.push_back(accesses_seen());
        all.insert(all.end(), seen.back().begin(), seen.back().end());
    }
    std::ranges::sort(all);
    auto const repeated = std::ranges::unique(all);
    all.erase(repeated.begin(), repeated.end());
    for (Access const& access : all) {
        std::vector<Suite> concerned;
        for (std::size_t i = 0; i < suites.size(); ++i)
            if (std::ranges::find(seen[i], access) != seen[i].end()) concerned.push_back(suites[i]);
        for (Order const to : weaker(access.order)) {
            auto const caught = catch_weak({access, to}, concerned, executions(5'000));
            std::cout << access.file << ':' << access.line << ' ' << name_of(access.order) << " -> "
                      << name_of(to) << ": " << caught.value_or("not missed") << std::endl;
        }
    }
    return 0;
}

}  // namespace
}  // namespace holdfast::test

int main(int count, char** words) {
    std::vector<std::string> const given(words + 1, words + count);
    if (given.empty()) return holdfast::test::run_all();
    if (given[0] == "--planted")
        return holdfast::test::run_planted({given.begin() + 1, given.end()});
    if (given[0] == "--survey") return holdfast::test::survey();
    std::cerr << "usage: memory_model_tests [--planted [NAME...] | --survey]\n";
    return 2;
}
