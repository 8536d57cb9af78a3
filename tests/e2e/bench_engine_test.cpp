#include "tests/e2e/program.hpp"
#include "tests/support/child.hpp"

#include <boost/json.hpp>
#include <catch2/catch.hpp>

using namespace holdfast::test;

TEST_CASE("bench engine prints one object with every figure", "[e2e][bench]") {
    auto const finished = run({program, "bench", "engine", "--quick", "--json"});
    CAPTURE(finished.output, finished.errors);
    REQUIRE(finished.exit_code == 0);
    auto const report = boost::json::parse(finished.output).as_object();
    CHECK(report.at("bench") == "engine");
    CHECK(report.at("runs").to_number<int>() == 1);
    CHECK(report.at("seats").to_number<int>() == 1'000);
    CHECK(report.at("cores").to_number<int>() >= 1);
    // A seat's two owners, the pool, the decision, the hint, the wheel's two, the journal's count,
    // and the count of what is free.
    CHECK(report.at("cas_per_claim").to_number<int>() == 9);
    CHECK_FALSE(report.at("compiler").as_string().empty());
    auto const& figures = report.at("figures").as_object();
    std::vector<std::string> wanted{"claims_two_seats",
                                    "releases",
                                    "best_available_two",
                                    "sold_out_refusals",
                                    "expired_holds",
                                    "hot_section_one_thread",
                                    "hot_section_two_threads",
                                    "two_threads_to_one",
                                    "baseline_mutex_map_claims",
                                    "floor_two_cas_claims",
                                    "floor_same_cas_claims",
                                    "floor_to_claims"};
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    // The allocators of the sanitizers do not tell what is in use.
    for (char const* const bytes :
         {"bytes_per_seat", "bytes_per_hold_slot", "bytes_per_seat_of_plan"})
        wanted.emplace_back(bytes);
#endif
    for (auto const& name : wanted) {
        CAPTURE(name);
        REQUIRE(figures.contains(name));
        auto const& figure = figures.at(name).as_object();
        auto const median = figure.at("median").to_number<double>();
        CHECK(median > 0);
        CHECK(figure.at("min").to_number<double>() <= median);
        CHECK(figure.at("max").to_number<double>() >= median);
        CHECK_FALSE(figure.at("unit").as_string().empty());
    }
    CHECK(figures.size() == wanted.size());
    CHECK(figures.at("claims_two_seats").at("at_least").to_number<double>() == 10e6);
}

TEST_CASE("bench engine prints a table for people", "[e2e][bench]") {
    auto const finished = run({program, "bench", "engine", "--quick"});
    REQUIRE(finished.exit_code == 0);
    CHECK_THAT(finished.output, Catch::Contains("explicit claims of two seats"));
    CHECK_THAT(finished.output, Catch::Contains(">= 10000000"));
    CHECK(run({program, "bench", "engine", "--slow"}).exit_code == 2);
}
