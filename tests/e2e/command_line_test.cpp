#include "tests/e2e/program.hpp"
#include "tests/support/server_process.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>

using namespace holdfast::test;

TEST_CASE("the exit codes of the command line", "[e2e][cli]") {
    TempFolder const folder;
    auto const good = folder.write("good.toml", "[server]\nworkers = 3\n").string();
    auto const bad = folder.write("bad.toml", "[server]\nworkers = 'x'\n").string();
    CHECK(run({program}).exit_code == 2);
    CHECK(run({program, "frobnicate"}).exit_code == 2);
    CHECK(run({program, "serve", "--no-such-flag"}).exit_code == 2);
    CHECK(run({program, "--help"}).exit_code == 0);
    auto const version = run({program, "version"});
    CHECK(version.exit_code == 0);
    CHECK(version.output == "holdfast " HOLDFAST_VERSION "\n");
    CHECK(run({program, "--version"}).exit_code == 0);
    CHECK(run({program, "--version"}).output == version.output);
    CHECK(run({program, "check-config", good}).exit_code == 0);
    auto const refused = run({program, "check-config", bad});
    CHECK(refused.exit_code == 1);
    CHECK(refused.output.empty());
    CHECK_THAT(refused.errors, Catch::Contains("bad.toml:2: [server].workers = \"x\""));
}

TEST_CASE("serve refuses a bad configuration before it touches anything", "[e2e][cli]") {
    TempFolder const folder;
    auto const bad = folder.write("bad.toml", "[sever]\n").string();
    auto const data = (folder.path() / "data").string();
    CHECK(run({program, "serve", "--config", bad, "--data", data}).exit_code == 1);
    CHECK(run({program, "serve", "--io-threads", "99", "--data", data}).exit_code == 1);
    CHECK(run({program, "serve", "--data", data}, {{"HOLDFAST_LOG_LEVEL", "loud"}}).exit_code == 1);
    CHECK_FALSE(std::filesystem::exists(data));
}

TEST_CASE("an import without a token says where a token comes from", "[e2e][cli]") {
    TempFolder const folder;
    ServerProcess server({.data = folder.path() / "data", .flags = {}, .variables = {}});
    auto const refused =
        run({program, "import", std::string(HOLDFAST_SOURCE_DIR) + "/src/services/demo_plan.json",
             "--format", "seatsio", "--url", server.url()});
    CHECK(refused.exit_code == 1);
    CHECK_THAT(refused.errors, Catch::Contains("401"));
    CHECK_THAT(refused.errors, Catch::Contains("--token"));
    CHECK_THAT(refused.errors, Catch::Contains("admin.token"));
    CHECK(server.stop() == 0);
}

TEST_CASE("import reports what is odd in a plan, and needs a server to send it to", "[e2e][cli]") {
    TempFolder const folder;
    auto const broken = folder.write("broken.json", "{\"zones\":").string();
    auto const refused = run({program, "import", broken, "--format", "pretix", "--dry-run"});
    CHECK(refused.exit_code == 1);
    CHECK_THAT(refused.output, Catch::Contains("error "));
    CHECK(run({program, "import", "/nowhere.json", "--format", "pretix"}).exit_code == 1);
}
