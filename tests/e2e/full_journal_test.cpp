// A journal that is larger than it may be: a restart is what cures it.
#include "tests/e2e/journal_folder.hpp"
#include "tests/support/server_process.hpp"
#include "tests/support/shoppers.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <chrono>

using namespace std::chrono_literals;
using namespace holdfast;
using namespace holdfast::test;

namespace {

std::uint64_t last_segment(std::filesystem::path const& data) {
    std::uint64_t last = 0;
    for (auto const& entry : std::filesystem::directory_iterator(data / "journal")) {
        if (entry.path().extension() != ".hfj") continue;
        last = std::max<std::uint64_t>(last, std::stoull(entry.path().stem().string()));
    }
    return last;
}

bool accepts_soon(ServerProcess& server) {
    auto const deadline = std::chrono::steady_clock::now() + 30s;
    while (std::chrono::steady_clock::now() < deadline) {
        auto const metrics = call(server.admin_url(), "GET", "/metrics").body;
        if (metrics.find("\nholdfast_mode 0\n") != std::string::npos) return true;
    }
    return false;
}

}  // namespace

TEST_CASE("P9: a server whose journal is full starts, and deletes until it is not", "[e2e][disk]") {
    std::mt19937_64 random(seed_of_run("full journal"));
    TempFolder const folder;
    auto const data = folder.path() / "data";
    std::map<std::string, std::string> variables{
        {"HOLDFAST_STORAGE_SEGMENT_BYTES", "131072"},
        {"HOLDFAST_STORAGE_JOURNAL_BYTES_MAX", "0"},
        {"HOLDFAST_LOG_LEVEL", "error"},
    };
    constexpr std::uint64_t segments = 12;
    Ledger ledger;
    {
        ServerProcess server({.data = data, .flags = {}, .variables = variables});
        make_show(server.url());
        while (last_segment(data) - first_segment(data) < segments) {
            Buyer buyer(server.url(), random());
            for (int visit = 0; visit < 20 && buyer.visit(); ++visit) continue;
            REQUIRE_FALSE(buyer.was_refused());
            ledger.add(buyer);
        }
        server.kill();
    }
    // The least that may be said, which is less than there is; a grace that raises every deadline.
    variables["HOLDFAST_STORAGE_JOURNAL_BYTES_MAX"] = std::to_string(8 * 131'072);
    variables["HOLDFAST_HOLD_RESTART_GRACE_S"] = "600";
    for (int start = 1; start <= 2; ++start) {
        CAPTURE(start);
        ServerProcess server({.data = data, .flags = {}, .variables = variables});
        REQUIRE(accepts_soon(server));
        Buyer buyer(server.url(), random());
        CHECK(buyer.visit());
        ledger.add(buyer);
        ledger.check(server.url());
        server.kill();
    }
}
