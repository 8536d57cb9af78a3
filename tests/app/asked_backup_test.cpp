// `holdfast backup` of a running server, whatever that answers.
#include "app/commands.hpp"
#include "app/exit_codes.hpp"
#include "app/manifest.hpp"
#include "tests/loadgen/fake_server.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>

using namespace holdfast;
using namespace holdfast::app;
using holdfast::test::TempFolder;
using loadgen::testing::FakeServer;

namespace {

std::string in_words(unsigned status, std::string const& body) {
    return "HTTP/1.1 " + std::to_string(status) +
           " X\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string state_in_words(std::string const& state, std::string const& more = {}) {
    return in_words(200, R"({"began_at":"now","state":")" + state + "\"" + more + "}");
}

std::string const begun_now = in_words(202, R"({"began_at":"now","state":"running"})");
std::string const silence;  // then the connection ends

/// A folder that looks like one of a server, and what came of asking that for a backup: each
/// request gets one of these answers.
struct AskedServer {
    int ask(std::vector<std::string> const& answers) {
        temp.write("store.db", "");
        std::vector<std::vector<std::string>> connections;
        for (std::string const& answer : answers) connections.push_back({answer});
        FakeServer server(std::move(connections));
        int const code = back_up(
            {.data = temp.path(), .target = target, .url = server.url(), .token = "secret"});
        requests = server.join();
        return code;
    }
    TempFolder temp;
    TempFolder elsewhere;
    std::filesystem::path target{elsewhere.path() / "backup"};
    std::vector<std::string> requests;
};

}  // namespace

TEST_CASE("a backup that a server refuses is to be asked for again only if that may help",
          "[app][backup]") {
    auto const [status, body, code] = GENERATE(table<unsigned, std::string, int>({
        {503, R"({"code":"not-ready"})", exit_temporary},
        {503, R"({"code":"busy"})", exit_temporary},
        {503, R"({"code":"timeout"})", exit_temporary},
        {409, R"({"code":"backup-running"})", exit_temporary},
        {409, R"({"code":"backup-target","detail":"/b: is not empty"})", exit_failed},
        {409, R"({"code":"backup-target"})", exit_failed},
        {401, R"({"code":7})", exit_failed},
        {500, "no JSON", exit_failed},
        {500, "[]", exit_failed},
    }));
    CAPTURE(body);
    AskedServer server;
    CHECK(server.ask({in_words(status, body)}) == code);
    REQUIRE(server.requests.size() == 1);
    CHECK_THAT(server.requests[0],
               Catch::StartsWith("POST /v1/admin/backup ") &&
                   Catch::Contains("Authorization: Bearer secret\r\n") &&
                   Catch::EndsWith("{\"to\":\"" + server.target.string() + "\"}"));
}

TEST_CASE("a backup that was begun is waited for, and its end is the command's", "[app][backup]") {
    AskedServer server;
    SECTION("it fails") {
        CHECK(server.ask({begun_now, state_in_words("failed")}) == exit_failed);
    }
    SECTION("it fails for a reason of its own") {
        int const code = GENERATE(76, 77, 78);
        std::string const told = ",\"exit_code\":" + std::to_string(code);
        CHECK(server.ask({begun_now, state_in_words("running"), state_in_words("failed", told)}) ==
              code);
    }
    SECTION("the server has begun another one") {
        CHECK(server.ask({begun_now, in_words(200, R"({"began_at":"later","state":"done"})")}) ==
              exit_failed);
    }
    SECTION("it is done, but not here") {
        CHECK(server.ask({begun_now, state_in_words("done")}) == exit_failed);
    }
    SECTION("it is done, and not ours to read") {
        std::filesystem::create_directories(server.target / "MANIFEST.json");
        CHECK(server.ask({begun_now, state_in_words("done")}) == exit_ok);
    }
    SECTION("answers in between are lost, or others than wanted") {
        CHECK(server.ask({begun_now, silence, in_words(503, "{}"), state_in_words("failed")}) ==
              exit_failed);
        CHECK(server.requests.size() == 4);
    }
    SECTION("it does not answer at all") {
        CHECK(server.ask({silence}) == exit_failed);
        CHECK_FALSE(std::filesystem::exists(server.target));
    }
}
