// The ids and tokens that clients of a lost server still have, and the servers that come after it.
#include "tests/e2e/program.hpp"
#include "tests/support/shoppers.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>

using namespace holdfast::test;

namespace {

/// A token is a function of the id, so ids that differ are all that is to be looked for.
class HandedOut {
public:
    void add(Buyer const& buyer) {
        CHECK(buyer.surprise() == "");
        for (Known const& hold : buyer.known()) add(hold.hold);
    }
    void add(std::string const& id) {
        CAPTURE(id);
        CHECK_FALSE(id.empty());
        CHECK(ids_.insert(id).second);
    }
    [[nodiscard]] std::size_t size() const noexcept { return ids_.size(); }

private:
    std::set<std::string> ids_;
};

/// A new event, which gets the next number, and all holds of its only row.
void sell_another_event(std::string const& url, std::string const& name, HandedOut& ids) {
    std::string const body =
        R"({"id":")" + name + R"(","name":"Late","publish":true,"policy":{"orphan_rule":"off"},
        "categories":[{"key":"std","name":"Standard","price":4500}],
        "sections":[{"id":"A","name":"Stalls","category":"std",
        "rows":[{"label":"1","seats":20}]}]})";
    auto const made = call(url, "POST", "/v1/events", body, std::string("Bearer ") + admin_token);
    INFO(made.body);
    REQUIRE(made.status == 202);
    std::string const path = "/v1/events/" + name;
    auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (json_text(call(url, "GET", path).body, "state") != "open")
        REQUIRE(std::chrono::steady_clock::now() < deadline);
    for (int seat = 1; seat <= 20; ++seat) {
        auto const claimed = call(url, "POST", path + "/holds",
                                  R"({"seats":["A-1-)" + std::to_string(seat) + R"("]})");
        INFO(claimed.body);
        REQUIRE(claimed.status == 201);
        ids.add(json_text(claimed.body, "hold"));
    }
}

/// Some time of a server that is lost with all that it did in it.
void live_on(std::filesystem::path const& data, std::string const& event, std::uint64_t seed,
             HandedOut& ids) {
    ServerProcess server({.data = data, .flags = {}, .variables = {}});
    Buyer buyer(server.url(), seed);
    for (int visit = 0; visit < 60; ++visit) CHECK(buyer.visit());
    ids.add(buyer);
    sell_another_event(server.url(), event, ids);
    server.kill();
}

void restore(std::filesystem::path const& from, std::filesystem::path const& to) {
    std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
}

}  // namespace

TEST_CASE("a token of a lost server fits no hold of a restored one", "[e2e][backup][tokens]") {
    TempFolder const temp;
    std::uint64_t const seed = seed_of_run("restored tokens");
    HandedOut ids;
    {
        ServerProcess server({.data = temp.path() / "data", .flags = {}, .variables = {}});
        make_show(server.url());
        Buyer buyer(server.url(), seed);
        for (int visit = 0; visit < 60; ++visit) CHECK(buyer.visit());
        ids.add(buyer);
        CHECK(server.stop() == 0);
    }
    auto const backup = run({program, "backup", "--data", (temp.path() / "data").string(), "--to",
                             (temp.path() / "backup").string()});
    INFO(backup.errors);
    REQUIRE(backup.exit_code == 0);
    live_on(temp.path() / "data", "late", seed + 1, ids);
    // Twice from the same backup: the first restored server is lost, too.
    restore(temp.path() / "backup", temp.path() / "restored");
    live_on(temp.path() / "restored", "other", seed + 2, ids);
    restore(temp.path() / "backup", temp.path() / "again");
    live_on(temp.path() / "again", "third", seed + 3, ids);
    {
        std::fstream file(temp.path() / "again/journal/0000000000000001.hfj",
                          std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(30 * 4'096);  // Where a group begins, with records or without.
        file.put('\x5A').put('\x5A').put('\x5A');
    }
    auto const saved = run({program, "salvage", "--data", (temp.path() / "again").string(), "--to",
                            (temp.path() / "kept").string()});
    INFO(saved.errors << saved.output);
    REQUIRE(saved.exit_code == 0);
    CHECK_THAT(saved.output, Catch::Contains("which were acknowledged\n"));
    live_on(temp.path() / "kept", "fourth", seed + 4, ids);
    CHECK(ids.size() > 200);
}

TEST_CASE("a start holds a backup to its manifest, and removes that once it has succeeded",
          "[e2e][backup]") {
    TempFolder const temp;
    auto const data = temp.path() / "data";
    auto const backup = temp.path() / "backup";
    {
        ServerProcess server({.data = data, .flags = {}, .variables = {}});
        make_show(server.url());
        CHECK(server.stop() == 0);
    }
    auto const made = run({program, "backup", "--data", data.string(), "--to", backup.string()});
    INFO(made.errors);
    REQUIRE(made.exit_code == 0);
    auto const turn_bit = [&backup] {
        // In the last page, where SQLite's own check looks at nothing that a layout says.
        std::fstream file(backup / "store.db", std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(-100, std::ios::end);
        auto const at = file.tellg();
        int const byte = file.get();
        file.seekp(at);
        file.put(static_cast<char>(byte ^ 4));
    };
    turn_bit();
    auto const refused = run(serve_words(backup));
    CHECK(refused.exit_code == 77);
    CHECK_THAT(refused.errors, Catch::Contains("store.db has another content"));
    CHECK(std::filesystem::exists(backup / "MANIFEST.json"));
    turn_bit();
    ServerProcess server({.data = backup, .flags = {}, .variables = {}});
    CHECK_FALSE(std::filesystem::exists(backup / "MANIFEST.json"));
    CHECK_FALSE(std::filesystem::exists(backup / "MANIFEST.used"));
    CHECK(server.stop() == 0);
}
