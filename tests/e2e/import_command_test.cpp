// `holdfast import`: a plan goes to a running server, or says why it does not.
#include "tests/e2e/program.hpp"
#include "tests/support/server_process.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using namespace holdfast::test;

namespace {

/// A pretix plan of two categories, with one row of two seats and so many rows without.
std::string plan_with(std::string const& name, int empty_rows = 0) {
    std::string plan =
        R"({"name":")" + name + R"(","categories":[{"name":"VIP"},{"name":"Std"}],)" +
        R"("zones":[{"name":"Hall","zone_id":"h","rows":[{"row_number":"1","seats":[)" +
        R"({"seat_guid":"a","seat_number":"1","category":"VIP","position":{"x":0,"y":0}},)" +
        R"({"seat_guid":"b","seat_number":"2","category":"Std","position":{"x":9,"y":0}}]})";
    for (int row = 0; row < empty_rows; ++row) plan += R"(,{"row_number":"e","seats":[]})";
    return plan + "]}]}";
}

Finished import_with(std::filesystem::path const& plan, std::vector<std::string> const& options) {
    std::vector<std::string> words{program, "import", plan.string(), "--format", "pretix"};
    words.insert(words.end(), options.begin(), options.end());
    return run(words);
}

std::string state_of(ServerProcess const& server, std::string const& event) {
    return json_text(
        call(server.url(), "GET", "/v1/events/" + event, {}, std::string("Bearer ") + admin_token)
            .body,
        "state");
}

}  // namespace

TEST_CASE("an imported plan is the event that its options say", "[e2e][import]") {
    TempFolder const folder;
    ServerProcess server({.data = folder.path() / "data", .flags = {}, .variables = {}});
    auto const plan = folder.write("plan.json", plan_with("Two \\\"seats\\\""));
    auto const made =
        import_with(plan, {"--url", server.url(), "--token", admin_token, "--id", "duo", "--price",
                           "VIP=900", "--price", "Std=0", "--publish"});
    INFO(made.errors << made.output);
    REQUIRE(made.exit_code == 0);
    CHECK(made.errors.empty());
    CHECK_THAT(made.output, Catch::Contains(R"(plan "Two \"seats\"": 1 section, 1 row, 2 seats)") &&
                                Catch::Contains("\n202 {"));
    auto const deadline = std::chrono::steady_clock::now() + 10s;
    while (state_of(server, "duo") != "open" && std::chrono::steady_clock::now() < deadline) {
    }
    CHECK(state_of(server, "duo") == "open");
    auto const map = call(server.url(), "GET", "/v1/events/duo/map").body;
    CHECK_THAT(map, Catch::Contains(R"("price":900)") && Catch::Contains(R"("price":0)"));
    // Its id is used up now; the server's own words say so.
    auto const again =
        import_with(plan, {"--url", server.url(), "--token", admin_token, "--id", "duo"});
    CHECK(again.exit_code == 1);
    CHECK_THAT(again.errors, Catch::StartsWith("409 ") && Catch::Contains("already-exists"));
    CHECK_THAT(again.errors, !Catch::Contains("--token"));
    // A draft, by a name of its own.
    auto const draft = import_with(
        plan, {"--url", server.url(), "--token", admin_token, "--name", "Draft of two"});
    INFO(draft.errors);
    CHECK(draft.exit_code == 0);
    CHECK_THAT(draft.output, Catch::Contains(R"("event":"draft-of-two","state":"draft")"));
    CHECK(server.stop() == 0);
}

TEST_CASE("an import that cannot be says why, and sends nothing", "[e2e][import]") {
    TempFolder const folder;
    auto const refused = [](Finished const& ended, std::string const& why) {
        CAPTURE(why, ended.output);
        CHECK(ended.exit_code == 1);
        CHECK_THAT(ended.errors, Catch::Contains(why));
    };
    auto const good = folder.write("good.json", plan_with("Two"));
    refused(import_with(good, {"--url", "http://127.0.0.1:1"}), "cannot connect");
    refused(import_with(good, {"--url", "https://127.0.0.1:1"}), "plain HTTP only");
    refused(import_with(good, {"--price", "VIP=1", "--price", "Balcony=2"}), "nothing was sent");
    refused(import_with(folder.write("unnamed.json", plan_with("")), {}), "--name");
    refused(import_with(folder.path(), {}), folder.path().string());
    refused(import_with(folder.path() / "none", {}), "No such file");
    auto const huge = folder.write("huge.json", "{}");
    std::filesystem::resize_file(huge, std::uintmax_t{1} << 32U);
    refused(import_with(huge, {}), "is larger than a server takes");
    refused(import_with(folder.write("text.json", "no plan"), {}), "nothing was sent");
    refused(import_with(folder.write("list.json", "[]"), {}), "nothing was sent");
}

TEST_CASE("of many oddities of one kind an import shows twenty, and counts the rest",
          "[e2e][import]") {
    TempFolder const folder;
    auto const odd = import_with(folder.write("odd.json", plan_with("Odd", 30)),
                                 {"--dry-run", "--price", "VIP=1", "--price", "Std=1"});
    INFO(odd.errors);
    CHECK(odd.exit_code == 0);
    CHECK_THAT(odd.output, Catch::Contains("warning: 10 more\n") &&
                               Catch::Contains("; 0 errors, 30 warnings\n"));
}
