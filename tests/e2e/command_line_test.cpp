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

TEST_CASE("check-config tries what touches nothing", "[e2e][cli]") {
    TempFolder const folder;
    auto const check = [&folder](std::string const& text,
                                 std::map<std::string, std::string> const& variables = {}) {
        return run({program, "check-config", folder.write("c.toml", text).string()}, variables);
    };
    auto const same = check("[server]\nlisten = '127.0.0.1:9'\nadmin_listen = '127.0.0.1:9'\n");
    CHECK(same.exit_code == 1);
    CHECK_THAT(same.errors, Catch::Contains("nobody can listen at [server].listen"));
    CHECK(check("[server]\nlisten = '0.0.0.0:9'\nadmin_listen = '127.0.0.1:9'\n").exit_code == 1);
    CHECK(check("[server]\nlisten = '127.0.0.2:9'\nadmin_listen = '127.0.0.1:9'\n").exit_code == 0);
    CHECK(check("[server]\nlisten = '127.0.0.1:0'\nadmin_listen = '127.0.0.1:0'\n").exit_code == 0);
    auto const log = (folder.path() / "log").string();
    CHECK(check("[log]\nfile = '" + log + "'\n").exit_code == 0);
    CHECK_FALSE(std::filesystem::exists(log));
    auto const nowhere = check("[log]\nfile = '" + log + "/log'\n");
    CHECK(nowhere.exit_code == 1);
    CHECK_THAT(nowhere.errors, Catch::Contains("[log].file") && Catch::Contains("No such file"));
    auto const a_folder = check("[log]\nfile = '" + folder.path().string() + "'\n");
    CHECK(a_folder.exit_code == 1);
    CHECK_THAT(a_folder.errors, Catch::Contains("[log].file") && Catch::Contains("directory"));
    auto const environment = check("", {{"HOLDFAST_SERVER_WORKERS", "99"}});
    CHECK(environment.exit_code == 1);
    CHECK_THAT(environment.errors, Catch::Contains("HOLDFAST_SERVER_WORKERS"));
}

TEST_CASE("a HOLDFAST_ variable that names no key is refused by check-config, told by serve",
          "[e2e][cli]") {
    TempFolder const folder;
    auto const file = folder.write("c.toml", "").string();
    for (auto const* const name : {"HOLDFAST_SERVR_LISTEN", "HOLDFAST_SERVER_LISTN", "HOLDFAST_X"})
        CHECK(run({program, "check-config", file}, {{name, "127.0.0.1:1"}}).errors ==
              "holdfast: environment " + std::string(name) + " names no key of holdfast\n");
    auto const log = folder.path() / "log";
    ServerProcess server({.data = folder.path() / "data",
                          .flags = {},
                          .variables = {{"HOLDFAST_LOG_FILE", log.string()},
                                        {"HOLDFAST_SERVR_LISTEN", "127.0.0.1:1"}}});
    CHECK(server.stop() == 0);
    CHECK_THAT(read_file(log), Catch::Contains("names no key") &&
                                   Catch::Contains(R"("variable":"HOLDFAST_SERVR_LISTEN")"));
}

TEST_CASE("an address in use is told with its flag, also in the log", "[e2e][cli]") {
    TempFolder const folder;
    ServerProcess server({.data = folder.path() / "data", .flags = {}, .variables = {}});
    auto const address = server.url().substr(std::string_view("http://").size());
    auto const log = folder.path() / "log";
    auto const refused = run({program, "serve", "--data", (folder.path() / "other").string(),
                              "--listen", address, "--admin-listen", "127.0.0.1:0"},
                             {{"HOLDFAST_LOG_FILE", log.string()}});
    CHECK(refused.exit_code == 1);
    CHECK_THAT(refused.errors, Catch::Contains(address + " (--listen): Address already in use"));
    CHECK_THAT(read_file(log), Catch::Contains("start refused") && Catch::Contains("--listen"));
    CHECK(server.stop() == 0);
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

TEST_CASE("an import that is refused for repeated seats says what helps", "[e2e][cli]") {
    TempFolder const folder;
    std::string const seat = R"({"x":0,"y":0,"label":"1","categoryKey":1,"uuid":"u"})";
    std::string row = R"({"label":"A","seats":[)" + seat + "]}";
    for (int more = 1; more < 30; ++more) row += R"(,{"label":"A","seats":[)" + seat + "]}";
    auto const plan =
        folder.write(
            "plan.json", R"({"name":"R","categories":{"list":[{"key":1,"label":"C"}]},"subChart":{
        "rows":[)" + row + "]}}");
    auto const refused = run({program, "import", plan.string(), "--format", "seatsio"});
    CHECK(refused.exit_code == 1);
    CHECK_THAT(refused.errors,
               Catch::Contains("nothing was sent") && Catch::Contains("--disambiguate"));
    CHECK_THAT(refused.output, Catch::Contains("30 seats have the id"));
    auto const renamed = run(
        {program, "import", plan.string(), "--format", "seatsio", "--disambiguate", "--dry-run"});
    INFO(renamed.output);
    CHECK(renamed.exit_code == 0);
    CHECK_THAT(renamed.output, Catch::Contains("SECTION/ROW/LABEL/SEAT"));
}
