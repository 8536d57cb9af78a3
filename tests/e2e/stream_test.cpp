// The stream of seat changes as a shell sees it: curl, the real server, its restart.
#include "tests/support/server_process.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>

using namespace std::chrono_literals;
using namespace holdfast::test;

namespace {

std::string const demo = "/v1/events/demo";

/// curl on a stream; it ends with the object.
struct Curl {
    explicit Curl(std::string const& url, std::vector<std::string> more = {})
        : child([&] {
              std::vector<std::string> words{"/usr/bin/env", "curl", "--silent", "--show-error",
                                             "--no-buffer"};
              words.insert(words.end(), more.begin(), more.end());
              words.push_back(url);
              return words;
          }()) {}
    /// The next line that begins so; what came last if none came in time.
    std::string line(std::string_view start) {
        auto const deadline = std::chrono::steady_clock::now() + 20s;
        std::string found;
        while (std::chrono::steady_clock::now() < deadline) {
            found = child.read_line(20s);
            if (found.starts_with(start)) break;
        }
        return found;
    }
    Child child;
};

}  // namespace

TEST_CASE("curl watches a sale, goes on after a loss, and a restart is told", "[e2e][stream]") {
    TempFolder const folder;
    auto server = std::make_unique<ServerProcess>(
        ServerProcess::Options{.data = folder.path(), .flags = {"--demo"}, .variables = {}});
    std::string const stream = server->url() + demo + "/stream";
    Curl first(stream);
    CHECK(first.line("event: ") == "event: resync");
    auto const state = call(server->url(), "GET", demo + "/state");
    auto const hold = call(server->url(), "POST", demo + "/holds", R"({"best":{"quantity":2}})");
    REQUIRE(hold.status == 201);
    static_cast<void>(first.line("data: "));  // of the hint
    std::string const told = first.line("data: ");
    CHECK(told.find("\"held\":[") != std::string::npos);
    // From the number of the document on.
    Curl second(stream + "?after=" + std::to_string(json_number(state.body, "seq")));
    std::string const id = second.line("id: ");
    CHECK(second.line("data: ") == told);
    auto const gone = call(server->url(), "DELETE", "/v1/holds/" + json_text(hold.body, "hold"), {},
                           "Hold " + json_text(hold.body, "token"));
    CHECK(gone.status == 204);
    CHECK(second.line("data: ").find("\"free\":[") != std::string::npos);
    // As a browser comes back: the field goes before the query.
    std::string const last = "Last-Event-ID: " + id.substr(4);
    Curl again(stream + "?after=1", {"--header", last});
    CHECK(again.line("data: ").find("\"free\":[") != std::string::npos);
    CHECK(call(server->admin_url(), "GET", "/metrics").body.find("holdfast_streams_open ") !=
          std::string::npos);
    auto const begin = std::chrono::steady_clock::now();
    CHECK(server->stop() == 0);
    CHECK(std::chrono::steady_clock::now() - begin < 8s);
    CHECK(first.child.wait(5s) == 0);
    CHECK(again.child.wait(5s) == 0);
    server = std::make_unique<ServerProcess>(
        ServerProcess::Options{.data = folder.path(), .flags = {}, .variables = {}});
    Curl later(server->url() + demo + "/stream", {"--header", last});
    CHECK(later.line("event: ") == "event: resync");
}
