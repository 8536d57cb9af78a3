#include "app/cli.hpp"

#include "app/exit_codes.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace holdfast;
using namespace holdfast::app;

namespace {

ResultOf<Command, NoCommand> parse(std::vector<char const*> words) {
    words.insert(words.begin(), "holdfast");
    return parse_command_line(static_cast<int>(words.size()), words.data());
}

template <class T>
T parsed_as(std::vector<char const*> const& words) {
    auto const command = parse(words);
    if (!command) throw std::runtime_error(command.error().text);
    return std::get<T>(*command);
}

}  // namespace

TEST_CASE("wrong usage is code 2 and says what is wrong", "[app][cli]") {
    auto const words = GENERATE(
        std::vector<char const*>{}, std::vector<char const*>{"frobnicate"},
        std::vector<char const*>{"serve", "--lisen", "127.0.0.1:1"},
        std::vector<char const*>{"serve", "extra"}, std::vector<char const*>{"serve", "--listen"},
        std::vector<char const*>{"check-config"}, std::vector<char const*>{"bench"},
        std::vector<char const*>{"bench", "sale", "--clients", "0"},
        std::vector<char const*>{"bench", "sale", "--clients", "many"},
        std::vector<char const*>{"import", "plan.json"},
        std::vector<char const*>{"import", "plan.json", "--format", "dwg"},
        std::vector<char const*>{"import", "p", "--format", "pretix", "--price", "vip"},
        std::vector<char const*>{"import", "p", "--format", "pretix", "--price", "vip=-1"},
        std::vector<char const*>{"import", "p", "--format", "pretix", "--price", "a=1", "--price",
                                 "a=2"},
        std::vector<char const*>{"verify"}, std::vector<char const*>{"audit", "data"},
        std::vector<char const*>{"rebuild", "--from", "b"},
        std::vector<char const*>{"salvage", "--to", "d"},
        std::vector<char const*>{"backup", "--data", "d"},
        std::vector<char const*>{"backup", "--to", "b"},
        std::vector<char const*>{"version", "--loud"});
    auto const command = parse(words);
    REQUIRE_FALSE(command.has_value());
    CHECK(command.error().exit_code == exit_wrong_usage);
    CHECK_FALSE(command.error().text.empty());
}

TEST_CASE("help is no error", "[app][cli]") {
    auto const words =
        GENERATE(std::vector<char const*>{"--help"}, std::vector<char const*>{"serve", "--help"},
                 std::vector<char const*>{"bench", "sale", "-h"});
    auto const command = parse(words);
    REQUIRE_FALSE(command.has_value());
    CHECK(command.error().exit_code == exit_ok);
    CHECK_FALSE(command.error().text.empty());
}

TEST_CASE("a word that is no command is named", "[app][cli]") {
    CHECK(parse({"serv"}).error().text.starts_with(
        "holdfast: \"serv\" is no command or argument here\n"));
    CHECK(parse({"verify", "data"})
              .error()
              .text.starts_with("holdfast: \"data\" is no command or argument here\n"));
    CHECK_THAT(parse({"verify"}).error().text,
               Catch::StartsWith("holdfast: ") && Catch::Contains("--data is required"));
    CHECK_THAT(parse({"import", "p", "--format", "pretix", "--price", "a=1.50"}).error().text,
               Catch::Contains("minor units"));
}

TEST_CASE("help says how to call the command, and the defaults of its flags", "[app][cli]") {
    CHECK_THAT(parse({"verify", "--help"}).error().text,
               Catch::Contains("Usage: holdfast verify --data TEXT"));
    CHECK_THAT(parse({"bench", "sale", "--help"}).error().text,
               Catch::Contains("Usage: holdfast bench sale [OPTIONS]"));
    CHECK_THAT(parse({"--help"}).error().text, Catch::Contains("Usage: holdfast [OPTIONS]"));
    auto const serve = parse({"serve", "--help"}).error().text;
    Config const usual;
    for (auto const& value : {usual.listen, usual.admin_listen, usual.data.string()})
        CHECK_THAT(serve, Catch::Contains("(" + value + ")"));
    CHECK_THAT(serve, Catch::Contains("HOLDFAST_SECTION_KEY"));
}

TEST_CASE("serve hands its flags to the configuration as they are", "[app][cli]") {
    auto const command = parsed_as<ServeCommand>({"serve", "--config", "c.toml", "--data", "/d",
                                                  "--listen", "127.0.0.1:0", "--admin-listen",
                                                  "[::1]:0", "--io-threads=3", "--demo"});
    CHECK(command.demo);
    CHECK(command.sources.file == std::filesystem::path("c.toml"));
    CHECK(command.sources.flags == std::map<std::string, std::string>{{"--data", "/d"},
                                                                      {"--listen", "127.0.0.1:0"},
                                                                      {"--admin-listen", "[::1]:0"},
                                                                      {"--io-threads", "3"}});
    CHECK_FALSE(parsed_as<ServeCommand>({"serve"}).sources.file.has_value());
}

TEST_CASE("import, bench and backup take their options", "[app][cli]") {
    auto const import = parsed_as<ImportCommand>(
        {"import", "plan.json", "--format", "seatsio", "--dry-run", "--price", "a=b=7", "--price",
         "Floor=0", "--url", "http://127.0.0.1:1", "--id", "x", "--publish"});
    CHECK(import.file == "plan.json");
    CHECK(import.format == services::PlanFormat::seatsio);
    CHECK(import.dry_run);
    CHECK(import.publish);
    CHECK(import.prices == std::map<std::string, std::int64_t>{{"a=b", 7}, {"Floor", 0}});
    CHECK(import.url == "http://127.0.0.1:1");
    auto const bench =
        parsed_as<BenchSaleCommand>({"bench", "sale", "--clients", "7", "--json", "--seed", "9"});
    CHECK(bench.options.clients == 7);
    CHECK(bench.options.seed == 9);
    CHECK(bench.options.json);
    auto const engine = parsed_as<BenchEngineCommand>({"bench", "engine", "--quick"});
    CHECK(engine.options.quick);
    CHECK_FALSE(engine.options.json);
    auto const backup = parsed_as<BackupCommand>(
        {"backup", "--data", "d", "--to", "b", "--url", "http://127.0.0.1:1", "--token", "t"});
    CHECK(backup.data == "d");
    CHECK(backup.target == "b");
    CHECK(backup.url == "http://127.0.0.1:1");
    CHECK(backup.token == "t");
    CHECK(parsed_as<CheckConfigCommand>({"check-config", "f"}).file == "f");
}

TEST_CASE("the commands on data folders take their folders", "[app][cli]") {
    CHECK(parsed_as<VerifyCommand>({"verify", "--data", "/d"}).data == "/d");
    CHECK(parsed_as<AuditCommand>({"audit", "--data", "/d"}).data == "/d");
    CHECK(parsed_as<RebuildCommand>({"rebuild", "--data", "/d"}).backup.empty());
    auto const rebuild = parsed_as<RebuildCommand>({"rebuild", "--data", "/d", "--from", "/b"});
    CHECK(rebuild.backup == "/b");
    CHECK_FALSE(rebuild.lose_events);
    CHECK(parsed_as<RebuildCommand>({"rebuild", "--data", "/d", "--from", "/b", "--lose-events"})
              .lose_events);
    CHECK(parsed_as<RebuildCommand>({"rebuild", "--data", "/d", "--lose-events"}).lose_events);
    CHECK(parsed_as<SalvageCommand>({"salvage", "--data", "/d"}).target.empty());
    CHECK(parsed_as<SalvageCommand>({"salvage", "--data", "/d", "--to", "/t"}).target == "/t");
}
