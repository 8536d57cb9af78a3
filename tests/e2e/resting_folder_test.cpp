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

TEST_CASE("P10: a bit flipped in the WAL of store.db loses no event unnoticed", "[e2e][offline]") {
    TempFolder const temp;
    auto const data = temp.path() / "data";
    {
        ServerProcess server({.data = data, .flags = {}, .variables = {}});
        make_show(server.url());
        auto const made = call(server.url(), "POST", "/v1/events",
                               R"({"id":"later","name":"Later",
                                   "sections":[{"id":"GA","name":"Floor","capacity":5}]})",
                               std::string("Bearer ") + admin_token);
        INFO(made.body);
        REQUIRE(made.status == 202);
        server.kill();
    }
    constexpr std::uintmax_t header_bytes = 32;
    constexpr std::uintmax_t frame_bytes = 24 + 4'096;
    auto const wal = data / "store.db-wal";
    auto const size = std::filesystem::file_size(wal);
    REQUIRE(size > header_bytes + frame_bytes);
    int found = 0;
    for (auto at = header_bytes + 100; at < size; at += frame_bytes) {
        CAPTURE(at);
        auto const copy = temp.path() / "copy";
        std::filesystem::copy(data, copy, std::filesystem::copy_options::recursive);
        {
            std::fstream file(copy / "store.db-wal",
                              std::ios::in | std::ios::out | std::ios::binary);
            file.seekg(static_cast<std::streamoff>(at));
            char const flipped = static_cast<char>(file.get() ^ 4);
            file.seekp(static_cast<std::streamoff>(at));
            file.put(flipped);
        }
        auto const verified = run({program, "verify", "--data", copy.string()});
        INFO(verified.errors << verified.output);
        if (verified.exit_code == 0) {
            CHECK_THAT(verified.output, Catch::Contains("\nverify: OK 2 events, "));
        } else {
            ++found;
            CHECK(verified.exit_code == 77);
            CHECK_THAT(verified.errors, Catch::Contains("was made as well") ||
                                            Catch::Contains("is missing or empty"));
        }
        std::filesystem::remove_all(copy);
    }
    CHECK(found > 0);
}

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
