// The commands on folders at rest, by the real program, on what a real server has left.
#include "tests/e2e/program.hpp"
#include "tests/support/server_process.hpp"
#include "tests/support/shoppers.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

using namespace std::chrono_literals;
using namespace holdfast::test;

namespace {

void shop_and_kill(std::filesystem::path const& data, std::uint64_t seed) {
    ServerProcess server({.data = data, .flags = {}, .variables = {}});
    make_show(server.url());
    Buyer buyer(server.url(), seed);
    for (int visit = 0; visit < 60; ++visit) REQUIRE(buyer.visit());
    REQUIRE(buyer.surprise().empty());
    auto const busy = run({program, "verify", "--data", data.string()});
    CHECK(busy.exit_code == 75);
    CHECK_THAT(busy.errors, Catch::Contains("in use by process "));
    server.kill();
}

}  // namespace

TEST_CASE("a killed server's folder is verified, audited, rebuilt, and salvaged when it is damaged",
          "[e2e][offline]") {
    TempFolder const temp;
    auto const data = temp.path() / "data";
    auto const kept = temp.path() / "kept";
    shop_and_kill(data, seed_of_run("resting folder"));
    auto const verified = run({program, "verify", "--data", data.string()});
    INFO(verified.errors);
    CHECK(verified.exit_code == 0);
    CHECK_THAT(verified.output, Catch::Contains("event show: 10000 places (") &&
                                    Catch::Contains("\nverify: OK 1 event, "));
    auto const audited = run({program, "audit", "--data", data.string()});
    INFO(audited.errors << audited.output);
    CHECK(audited.exit_code == 0);
    auto const rebuilt = run({program, "rebuild", "--data", data.string()});
    INFO(rebuilt.errors);
    CHECK(rebuilt.exit_code == 0);
    CHECK(run({program, "audit", "--data", data.string()}).output == audited.output);
    {
        std::fstream file(data / "journal/0000000000000001.hfj",
                          std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(30 * 4'096);  // Where a group begins, with records or without.
        file.put('\x5A').put('\x5A').put('\x5A');
    }
    auto const refused = run(serve_words(data));
    CHECK(refused.exit_code == 77);
    CHECK_THAT(refused.errors, Catch::Contains("`holdfast salvage --help`"));
    CHECK(run({program, "verify", "--data", data.string()}).exit_code == 77);
    CHECK(run({program, "salvage", "--help"}).exit_code == 0);
    auto const told = run({program, "salvage", "--data", data.string()});
    CHECK(told.exit_code == 0);
    CHECK_THAT(told.output, Catch::Contains("which were acknowledged\n"));
    auto const saved = run({program, "salvage", "--data", data.string(), "--to", kept.string()});
    INFO(saved.errors << saved.output);
    CHECK(saved.exit_code == 0);
    CHECK(run({program, "audit", "--data", kept.string()}).exit_code == 0);
    ServerProcess server({.data = kept, .flags = {}, .variables = {}});
    CHECK(call(server.url(), "GET", "/v1/events/show").status == 200);
    CHECK(server.stop() == 0);
}
