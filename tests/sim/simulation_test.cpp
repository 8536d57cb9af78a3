// The simulation: many lives of a server on many seeds; one seed is one run.
//
// HOLDFAST_SIM_SEEDS and HOLDFAST_SIM_STEPS: how many, and how long; HOLDFAST_SEED: where to begin.
// A failure prints the command that repeats it.

#include "tests/sim/world.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>

namespace holdfast::sim {
namespace {

std::uint64_t number_of(char const* name, std::uint64_t otherwise) {
    char const* const given = std::getenv(name);
    return given != nullptr ? std::strtoull(given, nullptr, 10) : otherwise;
}

std::uint64_t seeds_of_run() {
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    return number_of("HOLDFAST_SIM_SEEDS", std::getenv("HOLDFAST_CI") != nullptr ? 2'000 : 60);
#else
    return number_of("HOLDFAST_SIM_SEEDS", 12);  // about as long
#endif
}

/// Lives that no stop ended.
std::uint64_t crashes_of(Marks const& marks) {
    std::uint64_t crashes = 0;
    for (Mark const mark : {Mark::power_cut, Mark::cut_in_start, Mark::process_killed})
        crashes += marks[static_cast<std::size_t>(mark)];
    return crashes;
}

struct Suite {
    std::mutex mutex;
    Marks marks{};
    std::uint64_t hash{};  // of all runs, in any order
    std::string failure;

    void run(std::uint64_t seed, std::uint64_t steps) {
        World world(seed);
        std::optional<Broken> broken;
        try {
            broken = world.run(steps);
        } catch (std::exception const& error) {
            broken = Broken{steps, std::string("it threw: ") + error.what()};
        }
        std::lock_guard const lock(mutex);
        for (std::size_t i = 0; i < marks.size(); ++i) marks[i] += world.marks()[i];
        hash += world.hash();
        if (!broken || !failure.empty()) return;
        failure = broken->what + " (after step " + std::to_string(broken->step) +
                  "); again: HOLDFAST_SEED=" + std::to_string(seed) +
                  " HOLDFAST_SIM_SEEDS=1 HOLDFAST_SIM_STEPS=" + std::to_string(broken->step) +
                  " sim_tests";
    }
};

TEST_CASE("one seed is one run", "[sim]") {
    std::uint64_t const seed = number_of("HOLDFAST_SEED", 1);
    World one(seed), two(seed), other(seed + 1);
    for (int part = 0; part < 5; ++part) {
        REQUIRE_FALSE(one.run(1'000));
        REQUIRE_FALSE(two.run(1'000));
        REQUIRE(one.hash() == two.hash());
    }
    REQUIRE_FALSE(other.run(5'000));
    CHECK(one.hash() != other.hash());
}

TEST_CASE("P1 P2 P3 P4 P7 P10 P11: nothing acknowledged is lost, whatever fails", "[sim]") {
    std::uint64_t const first = number_of("HOLDFAST_SEED", std::random_device{}());
    std::uint64_t const seeds = seeds_of_run();
    std::uint64_t const steps = number_of("HOLDFAST_SIM_STEPS", 10'000);
    std::printf("HOLDFAST_SEED=%llu, %llu seeds of %llu steps\n",
                static_cast<unsigned long long>(first), static_cast<unsigned long long>(seeds),
                static_cast<unsigned long long>(steps));
    Suite suite;
    std::atomic<std::uint64_t> next{0};
    auto const work = [&] {
        for (std::uint64_t i = next.fetch_add(1); i < seeds; i = next.fetch_add(1))
            suite.run(first + i, steps);
    };
    auto const began = std::chrono::steady_clock::now();
    std::thread second(work);
    work();
    second.join();
    auto const took = std::chrono::steady_clock::now() - began;
    std::printf("%.1f s;", std::chrono::duration<double>(took).count());
    for (std::size_t i = 0; i < suite.marks.size(); ++i)
        std::printf(" %s %llu;", name_of(static_cast<Mark>(i)),
                    static_cast<unsigned long long>(suite.marks[i]));
    std::printf(" crashes a seed %.1f; hash %016llx\n",
                static_cast<double>(crashes_of(suite.marks)) / static_cast<double>(seeds),
                static_cast<unsigned long long>(suite.hash));
    if (!suite.failure.empty()) FAIL(suite.failure);
    if (seeds * steps < 500'000) return;
    if (steps >= 10'000) CHECK(crashes_of(suite.marks) >= 20 * seeds);
    // What never happened was not proved.
    std::uint64_t const least = number_of("HOLDFAST_SIM_MARKS", 1);
    for (std::size_t i = 0; i < suite.marks.size(); ++i) {
        CAPTURE(name_of(static_cast<Mark>(i)));
        CHECK(suite.marks[i] >= least);
    }
}

}  // namespace
}  // namespace holdfast::sim
