// Legal states that a power cut may leave of a traced run are recovered from. A whole run has
// millions of them; one in so many is looked at, spread evenly over the run.
//
// HOLDFAST_TRACE_OPERATIONS: how long the run is, 600; a release takes 2000. HOLDFAST_TRACE_STATES:
// of all states so many are looked at, evenly spread, 2000 or, with HOLDFAST_CI, 8000; a release
// takes 100000; 0: all.

#include "tests/sim/crash_states.hpp"
#include "tests/sim/traced_sale.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>

namespace holdfast::sim {
namespace {

std::uint64_t given(char const* name, std::uint64_t small, std::uint64_t in_ci) {
    if (char const* const value = std::getenv(name)) return std::strtoull(value, nullptr, 10);
    return std::getenv("HOLDFAST_CI") != nullptr ? in_ci : small;
}

/// One life of the server, and what it began with.
struct Life {
    Files files;
    Tape tape;  // as far as it came
    std::vector<DiskCall> calls;
    std::uint64_t acknowledged{};
};

/// Goes through a life's states; `visit` is given those that `wanted` agrees to.
template <class Wanted, class Visit>
std::uint64_t each_state(Life const& life, Wanted wanted, Visit visit) {
    CrashStates states(life.files);
    std::uint64_t count = 0;
    for (std::size_t at = 0; at < life.calls.size(); ++at) {
        states.apply(life.calls[at]);
        bool const last = at + 1 == life.calls.size();
        std::uint64_t const known = last ? life.acknowledged : life.calls[at + 1].acknowledged;
        std::uint64_t const before = count;
        states.each(
            [&](std::uint64_t number) {
                count = before + number + 1;
                return wanted(count - 1);
            },
            [&](Files const& files) { visit(files, known, at); });
    }
    CHECK_FALSE(states.is_incomplete());
    return count;
}

/// Ends a life at its last write, and gives one of the states that are left of it then.
Files cut(Life& life, Chance& chance) {
    while (life.calls.back().kind != DiskCall::Kind::write) {
        life.acknowledged = life.calls.back().acknowledged;
        life.calls.pop_back();
    }
    CrashStates states(life.files);
    for (DiskCall const& call : life.calls) states.apply(call);
    REQUIRE(states.count() > 0);
    std::uint64_t const chosen = chance() % states.count();
    Files left;
    states.each([&](std::uint64_t state) { return state == chosen; },
                [&](Files const& files) { left = files; });
    return left;
}

/// Two lives that end by a power cut, and between them one that is stopped.
std::vector<Life> live(std::uint64_t operations, Chance& chance, std::uint64_t& compactions) {
    constexpr std::uint64_t count = 3;
    std::vector<Life> lives;
    Files files;
    Tape tape;
    std::uint64_t acknowledged = 0;
    for (std::uint64_t number = 0; number < count; ++number) {
        Life life;
        life.files = files;
        TracedSale sale(files, tape, acknowledged, chance);
        REQUIRE(sale.start() == "");
        sale.run(operations / count);
        if (number == 1) sale.stop_well();
        life.tape = tape;
        life.calls = sale.calls();
        life.acknowledged = sale.acknowledged();
        compactions += sale.compactions();
        files = cut(life, chance);
        acknowledged = life.acknowledged;
        lives.push_back(std::move(life));
    }
    return lives;
}

TEST_CASE("P3 P11: legal states after a power cut, evenly spread, are recovered from",
          "[sim][trace]") {
    std::uint64_t const seed = given("HOLDFAST_SEED", 1, 1);
    std::uint64_t const operations = given("HOLDFAST_TRACE_OPERATIONS", 600, 600);
    std::uint64_t const asked = given("HOLDFAST_TRACE_STATES", 2'000, 8'000);
    Chance chance(seed);
    std::uint64_t compactions = 0;
    std::vector<Life> const lives = live(operations, chance, compactions);
    std::uint64_t calls = 0;
    std::uint64_t all = 0;
    for (Life const& life : lives) {
        calls += life.calls.size();
        all += each_state(life, [](std::uint64_t) { return false; }, [](auto const&...) {});
    }
    std::uint64_t const step = asked == 0 ? 1 : std::max<std::uint64_t>(all / asked, 1);
    std::uint64_t looked_at = 0;
    std::string wrong;
    for (Life const& life : lives) {
        std::uint64_t const first = chance() % step;
        each_state(
            life, [&](std::uint64_t number) { return wrong.empty() && number % step == first; },
            [&](Files const& files, std::uint64_t acknowledged, std::size_t call) {
                ++looked_at;
                wrong = TracedSale::judge(files, life.tape, acknowledged);
                if (!wrong.empty()) wrong += " (after call " + std::to_string(call) + ")";
            });
    }
    std::printf(
        "HOLDFAST_SEED=%llu: %llu operations, %llu calls, %llu compactions: %llu of %llu "
        "crash states\n",
        static_cast<unsigned long long>(seed), static_cast<unsigned long long>(operations),
        static_cast<unsigned long long>(calls), static_cast<unsigned long long>(compactions),
        static_cast<unsigned long long>(looked_at), static_cast<unsigned long long>(all));
    CHECK(wrong == "");
    CHECK(looked_at + 3 >= std::min(all, asked));
    if (operations >= 600) CHECK(compactions > 0);
}

}  // namespace
}  // namespace holdfast::sim
