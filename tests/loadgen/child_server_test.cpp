#include "loadgen/child_server.hpp"

#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <fstream>
#include <stdlib.h>

using namespace holdfast::loadgen;
namespace fs = std::filesystem;

namespace {

/// A folder with a shell script in place of the server.
class Stage {
public:
    explicit Stage(std::string const& script) {
        std::ofstream(folder / "server") << "#!/bin/sh\n" << script << "\n";
        fs::permissions(folder / "server", fs::perms::owner_all);
    }

    [[nodiscard]] ChildServer::Options options() const {
        return {.executable = folder / "server",
                .data = folder / "data",
                .log = folder / "log",
                .environment = {"HOLDFAST_ADMIN_TOKEN=secret"},
                .ready_timeout = holdfast::Milliseconds{5'000}};
    }
    [[nodiscard]] std::string read(std::string const& file) const {
        std::ifstream in(folder / file);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    holdfast::test::TempFolder own;
    fs::path const& folder = own.path();
};

bool alive(pid_t pid) {
    return kill(pid, 0) == 0;
}

std::string const ready = "echo ready http://127.0.0.1:4711 admin http://127.0.0.1:4712\n";

}  // namespace

TEST_CASE("a child server is started, killed, reaped and started again", "[loadgen]") {
    setenv("HOLDFAST_LOG_LEVEL", "of somebody else", 1);
    Stage const stage(
        "echo $$ \"$@\" $HOLDFAST_ADMIN_TOKEN \"<$HOLDFAST_LOG_LEVEL>\" >\"$3.seen\"\n" + ready +
        "echo complaint >&2; exec sleep 60");
    pid_t last = 0;
    {
        ChildServer child(stage.options());
        for (int start = 0; start < 2; ++start) {
            auto const url = child.start();
            REQUIRE(url.has_value());
            CHECK(url->port == 4711);
            CHECK_FALSE(child.ended().has_value());
            auto const seen = stage.read("data.seen");
            last = static_cast<pid_t>(std::stol(seen));
            CHECK_THAT(seen, Catch::Contains("serve --data " + (stage.folder / "data").string()));
            CHECK_THAT(seen, Catch::Contains("--listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 "));
            CHECK_THAT(seen, Catch::Contains("secret <>"));
            if (start == 1) break;
            CHECK(alive(last));
            child.kill_now();
            CHECK_FALSE(alive(last));  // reaped too: a zombie would still answer
            CHECK(child.ended() == std::string("signal 9"));
        }
        CHECK(alive(last));
    }
    CHECK_FALSE(alive(last));
    unsetenv("HOLDFAST_LOG_LEVEL");
}

TEST_CASE("a child that does not become a server is an error", "[loadgen]") {
    auto const [script, expected] = GENERATE(table<std::string, std::string>({
        {"exit 78", "exit status 78"},
        {"kill -6 $$", "signal 6"},
        {"echo hello; exec sleep 60", "hello"},
        {"echo ready nowhere admin x; exec sleep 60", "ready nowhere"},
    }));
    CAPTURE(script);
    Stage const stage(script);
    ChildServer child(stage.options());
    auto const url = child.start();
    REQUIRE_FALSE(url.has_value());
    CHECK_THAT(url.error().text, Catch::Contains(expected));
    CHECK(child.ended().has_value());
}

TEST_CASE("a child that is never ready is given up", "[loadgen]") {
    Stage const stage("echo $$ >\"$3.seen\"; exec sleep 60");
    auto options = stage.options();
    options.ready_timeout = holdfast::Milliseconds{300};
    ChildServer child(options);
    auto const url = child.start();
    REQUIRE_FALSE(url.has_value());
    CHECK_THAT(url.error().text, Catch::Contains("not ready in time"));
    CHECK(child.ended().has_value());
}

TEST_CASE("an executable that does not exist is an error", "[loadgen]") {
    Stage const stage("true");
    auto options = stage.options();
    options.executable = stage.folder / "none";
    ChildServer child(options);
    auto const url = child.start();
    REQUIRE_FALSE(url.has_value());
    CHECK_THAT(url.error().text, Catch::Contains("exit status 127"));
}

TEST_CASE("a server that ends by itself is noticed", "[loadgen]") {
    Stage const stage(ready + "exit 75");
    ChildServer child(stage.options());
    REQUIRE(child.start().has_value());
    // Its end is near, but not promised for this instant.
    std::optional<std::string> how;
    auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    while (!how && std::chrono::steady_clock::now() < deadline) how = child.ended();
    REQUIRE(how.has_value());
    CHECK(*how == "exit status 75");
}
