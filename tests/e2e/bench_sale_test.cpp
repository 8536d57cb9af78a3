// `holdfast bench sale` against a server that was there before. With one of its own: sources.cmake.
#include "tests/e2e/program.hpp"
#include "tests/support/server_process.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>

using namespace holdfast::test;

namespace {

/// Two rows of ten seats, a table of twelve that is sold as a whole, and a floor of ten places, in
/// the seats.io format.
std::string hall_of_forty_two() {
    std::string rows;
    for (int row = 1; row <= 2; ++row) {
        std::string seats;
        for (int seat = 1; seat <= 10; ++seat) {
            seats += (seat == 1 ? "" : ",") + std::string(R"({"x":)") + std::to_string(20 * seat) +
                     R"(,"y":)" + std::to_string(30 * row) + R"(,"label":")" +
                     std::to_string(seat) + R"(","categoryKey":1})";
        }
        rows += (row == 1 ? "" : ",") + std::string(R"({"label":")") + std::to_string(row) +
                R"(","seats":[)" + seats + "]}";
    }
    std::string table;
    for (int seat = 1; seat <= 12; ++seat) {
        table += (seat == 1 ? "" : ",") + std::string(R"({"x":)") + std::to_string(20 * seat) +
                 R"(,"y":90,"label":")" + std::to_string(seat) + R"(","categoryKey":1})";
    }
    return R"({"name":"Hall","categories":{"list":[{"key":1,"label":"All"}]},)"
           R"("subChart":{"rows":[)" +
           rows + R"(],"tables":[{"label":"T","bookAsAWhole":true,"seats":[)" + table +
           R"(]}],"generalAdmissionAreas":[{"label":"Floor","capacity":10,"categoryKey":1}]}})";
}

Finished bench_sale(std::vector<std::string> const& options,
                    std::string const& token = admin_token) {
    std::vector<std::string> words{program, "bench", "sale"};
    words.insert(words.end(), options.begin(), options.end());
    return run(words, {{"HOLDFAST_ADMIN_TOKEN", token}});
}

}  // namespace

TEST_CASE("bench sale sells out an event of a running server, as often as one likes",
          "[e2e][bench]") {
    TempFolder const folder;
    auto const plan = folder.write("hall.json", hall_of_forty_two());
    ServerProcess server({.data = folder.path() / "data",
                          .flags = {},
                          .variables = {{"HOLDFAST_HOLD_TTL_MIN_S", "1"}}});
    for (auto const* const seed : {"1", "1", "2"}) {
        auto const sold = bench_sale(
            {"--url", server.url(), "--plan", plan.string(), "--clients", "6", "--seed", seed});
        INFO(sold.errors << sold.output);
        CHECK(sold.exit_code == 0);
        CHECK_THAT(sold.output, Catch::Contains("plan hall.json, 6 clients") &&
                                    Catch::Contains("42 of 42 places sold") &&
                                    Catch::Contains("not checked with --url") &&
                                    Catch::EndsWith("verdict: OK\n"));
    }
    auto const stranger = bench_sale({"--url", server.url(), "--json"}, "wrong");
    CHECK(stranger.exit_code == 1);
    CHECK_THAT(stranger.output, Catch::Contains("answer 401") && Catch::Contains(R"("ok":false)"));
    CHECK(server.stop() == 0);
}

TEST_CASE("a bench sale that cannot begin says why", "[e2e][bench]") {
    auto const nowhere = bench_sale({"--url", "http://127.0.0.1:1"});
    CHECK(nowhere.exit_code == 1);
    CHECK_THAT(nowhere.output, Catch::Contains("cannot connect"));
    auto const unread = bench_sale({"--plan", "/nowhere.json"});
    CHECK(unread.exit_code == 1);
    CHECK_THAT(unread.output, Catch::Contains("cannot read the plan /nowhere.json"));
    auto const poor = run({"/bin/sh", "-c", "ulimit -n 64 && exec \"$@\"", "sh", program, "bench",
                           "sale", "--clients", "1000"});
    CHECK(poor.exit_code == 1);
    CHECK_THAT(poor.errors, Catch::Contains("limit of open files is too low for 1000 clients"));
    auto const homeless = run({program, "bench", "sale"}, {{"TMPDIR", "/nowhere"}});
    CHECK(homeless.exit_code == 1);
    CHECK_THAT(homeless.errors, Catch::Contains("holdfast: "));
}
