// A disk that is full, or lets no file grow: read-only, visibly so, and back again where
// RELIABILITY 3.7 says so. Nothing acknowledged is lost.
#include "tests/e2e/audited.hpp"
#include "tests/e2e/faulty_server.hpp"
#include "tests/support/mounts.hpp"
#include "tests/support/shoppers.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <sys/resource.h>
#include <unistd.h>

using namespace std::chrono_literals;
using namespace holdfast;
using namespace holdfast::test;

namespace {

template <class Condition>
bool soon(Condition const& condition) {
    auto const deadline = std::chrono::steady_clock::now() + 20s;
    while (std::chrono::steady_clock::now() < deadline) {
        if (condition()) return true;
    }
    return false;
}

std::string mode_of(ServerProcess& server) {
    std::string const metrics = call(server.admin_url(), "GET", "/metrics").body;
    auto const at = metrics.find("\nholdfast_mode ");
    return at == std::string::npos ? "" : metrics.substr(at + 15, 1);
}

bool gives_reason(ServerProcess& server, std::string const& reason) {
    auto const ready = call(server.admin_url(), "GET", "/readyz");
    return ready.status == 503 && ready.body.find(reason) != std::string::npos;
}

/// A seat of its own for each question: the buyers take pairs, seldom the last seat of a row.
std::string claim_body(int number) {
    return "{\"seats\":[\"A-" + std::to_string(number) + "-100\"]}";
}

/// Read-only for want of space: mutations say so and reads go on.
void check_read_only(ServerProcess& server, int number) {
    CHECK(gives_reason(server, "journal-read-only"));
    CHECK(mode_of(server) == "2");
    auto const claim = call(server.url(), "POST", "/v1/events/show/holds", claim_body(number));
    CHECK(claim.status == 503);
    CHECK(json_text(claim.body, "code") == "read-only");
    CHECK(call(server.url(), "GET", "/v1/events/show").status == 200);
}

/// Buys until the server refuses for want of space; each time by a new buyer.
bool buys_until_refused(ServerProcess& server, Ledger& ledger, std::mt19937_64& random) {
    for (int buyers = 0; buyers < 500; ++buyers) {
        Buyer buyer(server.url(), random());
        for (int visit = 0; visit < 5 && buyer.visit(); ++visit) continue;
        ledger.add(buyer);
        if (buyer.was_refused()) return true;
    }
    return false;
}

void check_after_restart(std::filesystem::path const& data, Ledger& ledger) {
    ServerProcess server({.data = data, .flags = {}, .variables = small_variables()});
    ledger.check(server.url(), true);
    CHECK(server.stop() == 0);
}

}  // namespace

TEST_CASE("P9: without room for the next segment the server is read-only until there is",
          "[e2e][disk]") {
    std::mt19937_64 random(seed_of_run("no room for a segment"));
    TempFolder const folder;
    auto const data = folder.path() / "data";
    Ledger ledger;
    {
        // ENOSPC for every spare but the first three, as long as the mark is there.
        FaultyServer server(data, "create:4:while=28:next-", true);
        INFO(server.why_not());
        REQUIRE(server.started());
        make_show(server->url());
        REQUIRE(buys_until_refused(*server, ledger, random));
        check_read_only(*server, 1);
        server.end_of_fault();
        REQUIRE(soon([&] { return mode_of(*server) == "0"; }));
        CHECK(call(server->admin_url(), "GET", "/readyz").status == 200);
        Buyer buyer(server->url(), random());
        for (int visit = 0; visit < 30 && buyer.visit(); ++visit) continue;
        CHECK_FALSE(buyer.was_refused());
        ledger.add(buyer);
        server->kill();
    }
    check_after_restart(data, ledger);
}

TEST_CASE("P9: on a full disk the server is read-only until there is space", "[e2e][disk]") {
    if (auto const why = why_no_own_mounts(); !why.empty()) {
        std::cout << "full disk test: skipped, " << why << "\n";
        return;
    }
    std::mt19937_64 random(seed_of_run("full disk"));
    TempFolder const folder;
    Tmpfs const disk(folder.path() / "disk", 32U << 20);
    auto const data = folder.path() / "disk" / "data";
    auto const filler = folder.path() / "disk" / "filler";
    auto variables = small_variables();
    variables.emplace("HOLDFAST_STORAGE_FREE_BYTES_MIN", "4194304");
    Ledger ledger;
    {
        ServerProcess server({.data = data, .flags = {}, .variables = variables});
        make_show(server.url());
        Buyer before(server.url(), random());
        for (int visit = 0; visit < 10 && before.visit(); ++visit) continue;
        ledger.add(before);
        // All but 2 MiB; then the rest too, so that not a page can be written.
        auto const left = std::filesystem::space(data).available;
        int const fd = ::open(filler.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
        REQUIRE(::posix_fallocate(fd, 0, static_cast<off_t>(left) - (2 << 20)) == 0);
        ::close(fd);
        REQUIRE(soon([&] { return mode_of(server) == "2"; }));
        check_read_only(server, 2);
        std::filesystem::remove(filler);
        REQUIRE(soon([&] { return mode_of(server) == "0"; }));
        CHECK(call(server.admin_url(), "GET", "/readyz").status == 200);
        Buyer after(server.url(), random());
        for (int visit = 0; visit < 10 && after.visit(); ++visit) continue;
        CHECK_FALSE(after.was_refused());
        ledger.add(after);
        CHECK(server.stop() == 0);
    }
    {
        // What only looks at a folder needs no room beside it.
        std::ofstream rest(filler, std::ios::binary);
        while (rest << std::string(65'536, 'x') && rest.flush()) continue;
        for (char const* const look : {"verify", "audit", "salvage"}) {
            auto const told = run({program, look, "--data", data.string()});
            INFO(look << told.errors);
            CHECK(told.exit_code == 0);
        }
    }
    std::filesystem::remove(filler);
    check_after_restart(data, ledger);
}

TEST_CASE("P9: a file that may not grow ends acknowledging for good, and reads go on",
          "[e2e][disk]") {
    std::mt19937_64 random(seed_of_run("EFBIG"));
    TempFolder const folder;
    auto const data = folder.path() / "data";
    Ledger ledger;
    {
        ServerProcess server({.data = data, .flags = {}, .variables = small_variables()});
        make_show(server.url());
        // No file may be written behind its first 16 KiB, from now on: EFBIG, and SIGXFSZ.
        rlimit const limit{16U << 10, 16U << 10};
        REQUIRE(::prlimit(server.child().pid(), RLIMIT_FSIZE, &limit, nullptr) == 0);
        REQUIRE(buys_until_refused(server, ledger, random));
        REQUIRE(soon([&] { return mode_of(server) == "3"; }));
        CHECK(gives_reason(server, "journal-failed"));
        auto const claim = call(server.url(), "POST", "/v1/events/show/holds", claim_body(3));
        CHECK(claim.status == 503);
        CHECK(json_text(claim.body, "code") == "read-only");
        CHECK(call(server.url(), "GET", "/v1/events/show").status == 200);
        CHECK(server.stop() == 75);
    }
    check_after_restart(data, ledger);
}

TEST_CASE("P9: an exceeded quota of a real file system ends acknowledging, and reads go on",
          "[e2e][disk]") {
    if (auto const why = QuotaDisk::why_not(); !why.empty()) {
        std::cout << "quota test: skipped, " << why << "\n";
        return;
    }
    std::mt19937_64 random(seed_of_run("EDQUOT"));
    TempFolder const folder;
    QuotaDisk const disk(folder.path() / "image", folder.path() / "disk", std::uint64_t{1} << 30);
    auto const data = folder.path() / "disk" / "data";
    Ledger ledger;
    {
        ServerProcess server({.data = data, .flags = {}, .variables = small_variables()});
        make_show(server.url());
        Buyer before(server.url(), random());
        for (int visit = 0; visit < 10 && before.visit(); ++visit) continue;
        CHECK_FALSE(before.was_refused());
        ledger.add(before);
        disk.limit(4'096);
        REQUIRE(buys_until_refused(server, ledger, random));
        CHECK(call(server.admin_url(), "GET", "/readyz").status == 503);
        CHECK(mode_of(server) != "0");
        auto const claim = call(server.url(), "POST", "/v1/events/show/holds", claim_body(4));
        CHECK(claim.status == 503);
        CHECK(json_text(claim.body, "code") == "read-only");
        CHECK(call(server.url(), "GET", "/v1/events/show").status == 200);
        server.kill();
    }
    disk.lift();
    check_after_restart(data, ledger);
    check_audit(data);
}
