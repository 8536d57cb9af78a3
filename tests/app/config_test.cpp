#include "app/option_table.hpp"
#include "tests/support/temp_folder.hpp"

#include <holdfast/app/config.hpp>

#include <catch2/catch.hpp>
#include <set>

using namespace holdfast;
using namespace holdfast::app;
using holdfast::test::TempFolder;

namespace {

std::string message_of(ConfigSources const& sources) {
    auto const config = load_config(sources);
    return config ? "accepted" : config.error().message;
}

std::string message_of_file(std::string_view text) {
    TempFolder const folder;
    return message_of({.file = folder.write("c.toml", text), .environment = {}, .flags = {}});
}

}  // namespace

TEST_CASE("config.toml at the root says exactly the built-in defaults", "[app][config]") {
    std::filesystem::path const file = HOLDFAST_SOURCE_DIR "/config.toml";
    auto const config = load_config({.file = file, .environment = {}, .flags = {}});
    REQUIRE(config.has_value());
    CHECK(*config == Config{});
}

TEST_CASE("config.toml documents every key of the table, each after its section", "[app][config]") {
    std::string const text = holdfast::test::read_file(HOLDFAST_SOURCE_DIR "/config.toml");
    for (Option const& option : option_table()) {
        CAPTURE(option.name());
        auto const section = text.find("\n[" + std::string(option.section) + "]\n");
        REQUIRE(section != std::string::npos);
        auto const section_end = text.find("\n[", section + 2);
        auto const key = text.find("\n" + std::string(option.key) + " = ", section);
        REQUIRE(key != std::string::npos);
        CHECK(key < section_end);
        // A comment stands right before the key.
        auto const line_before = text.rfind('\n', key - 1) + 1;
        CHECK(text[line_before] == '#');
        if (!option.flag.empty()) {
            auto const flag = text.find(option.flag, section);
            CHECK(flag < key);
        }
    }
}

TEST_CASE("the table names each key once and its defaults are in its own ranges", "[app][config]") {
    std::set<std::string> names;
    std::set<std::string_view> flags;
    for (Option const& option : option_table()) {
        CAPTURE(option.name());
        CHECK(names.insert(option.variable()).second);
        if (!option.flag.empty()) CHECK(flags.insert(option.flag).second);
        CHECK_FALSE(option.help.empty());
        CHECK(option.low <= option.high);
    }
    CHECK(flags ==
          std::set<std::string_view>{"--listen", "--admin-listen", "--io-threads", "--data"});
}

TEST_CASE("flags beat the environment, which beats the file, which beats defaults",
          "[app][config]") {
    TempFolder const folder;
    ConfigSources sources{.file = folder.write("c.toml",
                                               "[server]\nlisten = \"127.0.0.1:1\"\nadmin_listen = "
                                               "\"127.0.0.1:2\"\nworkers = 3\n"),
                          .environment = {{"HOLDFAST_SERVER_LISTEN", "127.0.0.1:11"},
                                          {"HOLDFAST_SERVER_ADMIN_LISTEN", "[::1]:12"},
                                          {"HOLDFAST_SEED", "7"},
                                          {"HOME", "/nowhere"}},
                          .flags = {{"--listen", "127.0.0.1:21"}}};
    auto const config = load_config(sources);
    REQUIRE(config.has_value());
    Config expected;
    expected.listen = "127.0.0.1:21";
    expected.admin_listen = "[::1]:12";
    expected.workers = 3;
    CHECK(*config == expected);
}

TEST_CASE("every type of value is read from the file and from the environment", "[app][config]") {
    TempFolder const folder;
    Config expected;
    expected.limit_loopback = true;
    expected.head_timeout = Milliseconds{7'000};
    expected.segment_bytes = 131'072;
    expected.data = "/srv/seats";
    expected.level = "debug";
    auto const from_file = load_config(
        {.file = folder.write("c.toml",
                              "[http]\nlimit_loopback = true\nhead_timeout_s = 7\n"
                              "[storage]\nsegment_bytes = 0x2_0000\ndata = '/srv/seats'\n"
                              "[log]\nlevel = 'debug'\n"),
         .environment = {},
         .flags = {}});
    REQUIRE(from_file.has_value());
    CHECK(*from_file == expected);
    auto const from_environment =
        load_config({.file = {},
                     .environment = {{"HOLDFAST_HTTP_LIMIT_LOOPBACK", "true"},
                                     {"HOLDFAST_HTTP_HEAD_TIMEOUT_S", "7"},
                                     {"HOLDFAST_STORAGE_SEGMENT_BYTES", "131072"},
                                     {"HOLDFAST_STORAGE_DATA", "/srv/seats"},
                                     {"HOLDFAST_LOG_LEVEL", "debug"}},
                     .flags = {}});
    REQUIRE(from_environment.has_value());
    CHECK(*from_environment == expected);
}

TEST_CASE("a bad file is refused with its line, its key, its value and what is allowed",
          "[app][config]") {
    auto const [text, expected] = GENERATE(table<std::string, std::string>({
        {"[server]\n\nlisten_addr = 'x'\n", "c.toml:3: unknown key \"listen_addr\" in [server]"},
        {"[sever]\nlisten = 'x'\n", "c.toml:1: \"sever\" is no section of holdfast"},
        {"listen = '127.0.0.1:1'\n", "c.toml:1: \"listen\" is no section of holdfast"},
        {"server = 3\n", "c.toml:1: \"server\" is no section of holdfast"},
        {"[[server]]\nworkers = 2\n", "\"server\" is no section of holdfast"},
        {"[server]\nworkers = 0\n", "c.toml:2: [server].workers = 0: must be an integer, 1 … 8"},
        {"[server]\nworkers = 9\n", "[server].workers = 9: must be an integer, 1 … 8"},
        {"[server]\nworkers = -1\n", "[server].workers = -1: must be an integer, 1 … 8"},
        {"[server]\nworkers = 4294967298\n", "[server].workers = 4294967298: must be"},
        {"[server]\nworkers = 2.0\n", "[server].workers = 2.0: must be an integer"},
        {"[server]\nworkers = '2'\n", "[server].workers = \"2\": must be an integer"},
        {"[server]\nworkers = true\n", "[server].workers = true: must be an integer"},
        {"[server]\nworkers = [2]\n", "[server].workers = "},
        {"[server]\nworkers = 2027-05-01\n", "[server].workers = 2027-05-01: must be"},
        {"[server.workers]\n", "[server].workers = "},
        {"[server]\nworkers = 99999999999999999999\n", "c.toml:2: "},
        {"[http]\nlimit_loopback = 1\n", "[http].limit_loopback = 1: must be true or false"},
        {"[http]\nhead_timeout_s = 0\n", "must be an integer, 1 … 3600 (seconds)"},
        {"[storage]\nsegment_bytes = 131073\n",
         "[storage].segment_bytes = 131073: must be an integer, 131072 … 1073741824, a multiple of "
         "4096"},
        {"[storage]\nsegment_bytes = 98304\n", "[storage].segment_bytes = 98304: must be an"},
        {"[storage]\njournal_bytes_max = 67108864\n",
         "storage.journal_bytes_max = 67108864: must be 0 (no limit) or 536870912 at least"},
        {"[storage]\ndata = ''\n", "[storage].data = \"\": must be a path"},
        {"[server]\nlisten = 'localhost:80'\n", "[server].listen = \"localhost:80\": must be"},
        {"[server]\nlisten = '127.0.0.1'\n", "port 0 … 65535"},
        {"[server]\nlisten = '127.0.0.1:65536'\n", "port 0 … 65535"},
        {"[server]\nlisten = '::1:80'\n", "port 0 … 65535"},
        {"[server]\nlisten = \"\\u001b[2J\"\n", "\"\\u001b[2J\": must be"},
        {"[log]\nlevel = 'loud'\n", "\"debug\", \"info\", \"warn\" or \"error\""},
        {"[admin]\ntoken = 'short'\n", "[admin].token = (not shown): must be \"\" or 16 … 256"},
        {"[proxies]\n\ntrusted = '10.1.2.3/8'\n",
         "c.toml:3: [proxies].trusted = \"10.1.2.3/8\": must be \"\" or at most 64 addresses"},
        {"[proxies]\nnamed_by = 'both'\n", "[proxies].named_by = \"both\": must be \"none\", \"x-"},
        {"[proxies]\nnamed_by = 'forwarded'\n", "[proxies].trusted = \"\": must name the proxies"},
        {"[proxies]\ntrusted = '::1'\n", "[proxies].named_by = \"none\": must say how"},
        {"[cors]\norigins = '*'\n", "c.toml:2: [cors].origins = \"*\": must be \"\" or at most 64"},
        {"[cors]\norigins = 'null'\n", "[cors].origins = \"null\": must be"},
        {"[http]\nhosts = 'shop.example:80'\n",
         "c.toml:2: [http].hosts = \"shop.example:80\": must be \"\" or at most 64 names"},
        {"[tls]\ncertificate = 'c.pem'\n", "[tls].key = \"\": must name a file"},
        {"[tls]\nkey = 'k.pem'\n", "[tls].certificate = \"\": must name a file"},
        {"[tls]\nhandshake_timeout_s = 0\n", "must be an integer, 1 … 3600 (seconds)"},
        {"[server]\nworkers = 2\nworkers = 2\n", "c.toml:3: "},
        {"[server]\nworkers = 2\n[http]\n[server]\nio_threads = 1\n", "c.toml:4: "},
        {"[server\n", "c.toml:1: "},
        {"[[[\n", "c.toml"},
        {"[server]\nlisten = \"\xff\"\n", "c.toml:2: "},
        {std::string("[server]\nlisten = \"\0\"\n", 22), "c.toml:2: "},
    }));
    CAPTURE(text);
    std::string const message = message_of_file(text);
    CHECK_THAT(message, Catch::Contains(expected));
    CHECK(message.find('\n') == std::string::npos);
}

TEST_CASE("a file that is no configuration is refused before it is parsed", "[app][config]") {
    CHECK_THAT(message_of_file(std::string(10 << 20, '#')), Catch::Contains("larger than 1 MiB"));
    TempFolder const folder;
    CHECK_THAT(message_of({.file = folder.path(), .environment = {}, .flags = {}}),
               Catch::Contains("not a regular file"));
    CHECK_THAT(message_of({.file = folder.path() / "none", .environment = {}, .flags = {}}),
               Catch::Contains("none: No such file"));
    CHECK_THAT(message_of_file(std::string(200'000, '[')), Catch::Contains("c.toml: is not TOML"));
    CHECK_THAT(message_of_file("[server]\nlisten = " + std::string(200'000, '[')),
               Catch::Contains("c.toml:2: "));
}

TEST_CASE("a file that everybody may read must not hold the operator's token", "[app][config]") {
    TempFolder const folder;
    auto const file =
        folder.write("c.toml", "[log]\nlevel = 'info'\n[admin]\ntoken = '0123456789abcdef'\n");
    ConfigSources const sources{.file = file, .environment = {}, .flags = {}};
    CHECK(message_of(sources) == "accepted");
    using std::filesystem::perms;
    std::filesystem::permissions(file, perms::owner_read | perms::others_read);
    CHECK_THAT(message_of(sources), Catch::Contains("c.toml:4: [admin].token is a secret"));
    CHECK_THAT(message_of(sources), !Catch::Contains("0123456789"));
    std::filesystem::permissions(file, perms::owner_read | perms::group_read);
    CHECK(message_of(sources) == "accepted");
}

TEST_CASE("bad variables and flags are refused by name", "[app][config]") {
    auto const with = [](std::string const& name, std::string const& value) {
        return message_of({.file = {}, .environment = {{name, value}}, .flags = {}});
    };
    CHECK(with("HOLDFAST_SERVER_WORKERS", "x") ==
          "environment HOLDFAST_SERVER_WORKERS = \"x\": must be an integer, 1 … 8");
    CHECK_THAT(with("HOLDFAST_SERVER_WORKERS", ""), Catch::Contains("must be an integer"));
    CHECK_THAT(with("HOLDFAST_SERVER_WORKERS", " 2"), Catch::Contains("must be an integer"));
    CHECK_THAT(with("HOLDFAST_HTTP_LIMIT_LOOPBACK", "yes"), Catch::Contains("true or false"));
    CHECK_THAT(with("HOLDFAST_ADMIN_TOKEN", "has spaces in it, long"),
               Catch::Contains("(not shown)"));
    CHECK_THAT(with("HOLDFAST_SERVER_LISTNE", "127.0.0.1:1"), Catch::Contains("names no key"));
    CHECK(with("HOLDFAST_KILL_CYCLES", "5") == "accepted");
    CHECK(unknown_variables({{"HOLDFAST_KILL_CYCLES", "5"},
                             {"HOLDFAST_SERVER_WORKERS", "5"},
                             {"HOLDFAST_SERVR_WORKERS", "5"},
                             {"HOLDFAST", ""},
                             {"HOME", "/"}}) ==
          std::vector<std::string>{"HOLDFAST_KILL_CYCLES", "HOLDFAST_SERVR_WORKERS"});
    CHECK(message_of({.file = {}, .environment = {}, .flags = {{"--io-threads", "49"}}}) ==
          "flag --io-threads = \"49\": must be an integer, 0 … 48");
}
