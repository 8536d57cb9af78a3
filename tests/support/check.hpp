// Check: Catch2, or, where a test is compiled against a planted bug (tests/planted), the few words
// of it that such a test uses; parsing Catch2 takes longer than all the rest of it.
#pragma once

#ifndef HOLDFAST_PLANTED
#include <catch2/catch.hpp>
#else
#include <chrono>
#include <cstdio>
#include <vector>

namespace holdfast::test {

struct PlantedCase {
    char const* name;
    void (*run)();
};
inline std::vector<PlantedCase> planted_cases;
inline bool planted_caught = false;
inline char const* planted_why = "";
inline int planted_round = 0;   // which value GENERATE gives
inline int planted_rounds = 1;  // how often the case runs: as often as its GENERATE has values

struct PlantedCaseAdder {
    PlantedCaseAdder(char const* name, void (*run)()) { planted_cases.push_back({name, run}); }
};
inline void planted_check(bool good, char const* what) {
    if (good || planted_caught) return;
    planted_caught = true;
    planted_why = what;
}

template <class First, class... More>
First planted_generate(First first, More... more) {
    First const values[]{first, static_cast<First>(more)...};
    planted_rounds = 1 + static_cast<int>(sizeof...(More));
    return values[planted_round];
}

/// main() of a program of model tests: runs them until one catches the planted bug. 1: caught; 0:
/// the bug has survived.
inline int planted_main() {
    auto const start = std::chrono::steady_clock::now();
    for (PlantedCase const& each : planted_cases) {
        std::printf("running: %s\n", each.name);
        std::fflush(stdout);  // the planted bug may end this process
        planted_rounds = 1;
        for (planted_round = 0; planted_round < planted_rounds; ++planted_round) each.run();
        if (!planted_caught) continue;
        auto const spent = std::chrono::duration_cast<std::chrono::milliseconds>(
            std::chrono::steady_clock::now() - start);
        std::printf("caught after %lld ms: %s\n", static_cast<long long>(spent.count()),
                    planted_why);
        return 1;
    }
    return 0;
}

}  // namespace holdfast::test

#define GENERATE(...) ::holdfast::test::planted_generate(__VA_ARGS__)
#define HOLDFAST_PLANTED_CASE(name, id)                                                         \
    static void planted_run_##id();                                                             \
    static ::holdfast::test::PlantedCaseAdder const planted_adder_##id(name, planted_run_##id); \
    static void planted_run_##id()
#define HOLDFAST_PLANTED_CASE_(name, id) HOLDFAST_PLANTED_CASE(name, id)
#define TEST_CASE(name, tags) HOLDFAST_PLANTED_CASE_(name, __COUNTER__)
#define CHECK(...) ::holdfast::test::planted_check(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__)
#define CHECK_FALSE(...) CHECK(!(__VA_ARGS__))
#define REQUIRE(...) CHECK(__VA_ARGS__)
#endif
