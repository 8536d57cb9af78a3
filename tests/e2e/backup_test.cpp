// Backups of a running server and of a folder at rest, and the drill that restores them.
#include "app/manifest.hpp"
#include "tests/e2e/program.hpp"
#include "tests/support/shoppers.hpp"
#include "tests/support/temp_folder.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <memory>

using namespace std::chrono_literals;
using namespace holdfast;
using namespace holdfast::test;

namespace {

std::string const staff_of_backups = std::string("Bearer ") + admin_token;

ServerProcess::Options options_of(std::filesystem::path const& data) {
    return {.data = data,
            .flags = {},
            .variables = {{"HOLDFAST_STORAGE_SEGMENT_BYTES", "131072"},
                          {"HOLDFAST_LOG_LEVEL", "warn"}}};
}

std::string to_body(std::filesystem::path const& target) {
    return "{\"to\":\"" + target.string() + "\"}";
}

/// Asks for a backup and waits for its end; the last answer.
loadgen::Reply back_up(ServerProcess& server, std::filesystem::path const& target) {
    auto reply =
        call(server.admin_url(), "POST", "/v1/admin/backup", to_body(target), staff_of_backups);
    INFO(reply.body);
    REQUIRE(reply.status == 202);
    auto const deadline = std::chrono::steady_clock::now() + 120s;
    while (json_text(reply.body, "state") == "running") {
        REQUIRE(std::chrono::steady_clock::now() < deadline);
        reply = call(server.admin_url(), "GET", "/v1/admin/backup", {}, staff_of_backups);
    }
    return reply;
}

/// Waits until the store has all that the journal has.
bool is_followed(ServerProcess& server) {
    auto const value = [](std::string const& metrics, std::string const& name) {
        std::size_t const at = metrics.find("\n" + name + " ");
        return at == std::string::npos ? std::string() : metrics.substr(at + name.size() + 2, 12);
    };
    auto const deadline = std::chrono::steady_clock::now() + 60s;
    while (std::chrono::steady_clock::now() < deadline) {
        std::string const metrics = call(server.admin_url(), "GET", "/metrics").body;
        std::string const appended = value(metrics, "holdfast_appended_lsn");
        std::string const applied = value(metrics, "holdfast_applied_lsn");
        if (!applied.empty() &&
            applied.substr(0, applied.find('\n')) == appended.substr(0, appended.find('\n')))
            return true;
    }
    return false;
}

/// Seats, by what a restored server says.
struct Found {
    long long held{};
    long long sold{};
};

/// `exact`: all of it was acknowledged before the backup was asked for. Else the server may know
/// less, because it was told later, but nothing else.
void check_restored(loadgen::Session& session, Known const& hold, bool exact, Found& found) {
    loadgen::Query query{
        .method = "GET", .target = "/v1/holds/" + hold.hold, .fields = {}, .body = {}};
    query.fields.emplace_back("Authorization", hold.authorization());
    auto const reply = session.call(query);
    CAPTURE(hold.hold, hold.seats, static_cast<int>(hold.state), hold.asked, exact);
    REQUIRE(reply.has_value());
    CAPTURE(reply->status, reply->body);
    if (reply->status != 200) {
        bool const ended = reply->status == 410 || reply->status == 409;
        bool const asked_to_end = hold.state == Known::State::released || hold.asked;
        // To a server that never had it, an id under its key is one of a hold that has ended.
        REQUIRE(ended);
        REQUIRE((asked_to_end || !exact));
        return;
    }
    std::string const state = json_text(reply->body, "state");
    REQUIRE(json_part(reply->body, "seats") == hold.seats);
    if (state == "held") {
        REQUIRE((!exact || hold.state == Known::State::held));
        found.held += 2;
        return;
    }
    REQUIRE(state == "confirmed");
    REQUIRE((hold.state == Known::State::confirmed || hold.asked));
    found.sold += 2;
    if (hold.state != Known::State::confirmed) return;
    query.target = "/v1/orders/" + hold.order;
    auto const order = session.call(query);
    REQUIRE(order.has_value());
    CAPTURE(order->status, order->body);
    REQUIRE(order->status == 200);
    REQUIRE(json_part(order->body, "tickets") == hold.tickets);
}

struct Acknowledged {
    std::vector<Known> before;  // the backup was asked for
    std::vector<Known> around;  // by the other buyers, some of it after
    long long buyers_around{};
};

void check_drill(ServerProcess& restored, Acknowledged const& known) {
    loadgen::Session session(*loadgen::parse_url(restored.url()), 15s);
    Found found;
    for (Known const& hold : known.before) check_restored(session, hold, true, found);
    for (Known const& hold : known.around) check_restored(session, hold, false, found);
    // Conservation: all seats are accounted for, and whatever is sold has a buyer.
    std::string const event = call(restored.url(), "GET", "/v1/events/show").body;
    CAPTURE(event, found.held, found.sold);
    long long const sold = json_number(event, "sold");
    long long const held = json_number(event, "held");
    CHECK(sold == found.sold);
    CHECK(held >= found.held);
    CHECK(held <= found.held + 2 * known.buyers_around);
    CHECK(json_number(event, "free") + held + sold == show_rows * show_seats_per_row);
}

/// Goes on selling, and everything said before stays true.
void sell_on(ServerProcess& restored, std::uint64_t seed) {
    Buyer buyer(restored.url(), seed);
    for (int visit = 0; visit < 20; ++visit) CHECK(buyer.visit());
    CHECK(buyer.surprise() == "");
}

/// Three buyers shop all the while; sixty visits of a fourth one are over before it is asked for.
Acknowledged back_up_under_load(ServerProcess& server, std::filesystem::path const& target,
                                std::mt19937_64& random) {
    Acknowledged known;
    std::deque<Buyer> crowd;
    std::vector<std::future<void>> shopping;
    for (int buyer = 0; buyer < 3; ++buyer) crowd.emplace_back(server.url(), random());
    for (Buyer& buyer : crowd)
        shopping.push_back(std::async(std::launch::async, [&buyer] { buyer.run(); }));
    Buyer early(server.url(), random());
    for (int visit = 0; visit < 60; ++visit) CHECK(early.visit());
    // A visit is about a new hold, so nothing changes these any more.
    known.before = early.known();
    auto const ended = back_up(server, target);
    INFO(ended.body);
    CHECK(json_text(ended.body, "state") == "done");
    for (int visit = 0; visit < 5; ++visit) CHECK(early.visit());
    server.kill();
    for (std::future<void>& one : shopping) one.get();
    CHECK(early.surprise() == "");
    auto const later = early.known().begin() + static_cast<std::ptrdiff_t>(known.before.size());
    known.around.assign(later, early.known().end());
    for (Buyer const& buyer : crowd) {
        CHECK(buyer.surprise() == "");
        known.around.insert(known.around.end(), buyer.known().begin(), buyer.known().end());
    }
    known.buyers_around = static_cast<long long>(crowd.size());
    return known;
}

Finished backup_command(std::filesystem::path const& data, std::filesystem::path const& target,
                        std::map<std::string, std::string> const& variables = {}) {
    return run({program, "backup", "--data", data.string(), "--to", target.string()}, variables);
}

}  // namespace

TEST_CASE("P3: a backup under full load restores all that was acknowledged before it",
          "[e2e][backup]") {
    long const drills = cycles_of_run("HOLDFAST_BACKUP_DRILLS", 1, 10);
    std::mt19937_64 random(seed_of_run("backup drill"));
    std::size_t holds = 0;
    for (long drill = 0; drill < drills; ++drill) {
        CAPTURE(drill);
        TempFolder const folder;
        auto const backup = folder.path() / "backup";
        auto server = std::make_unique<ServerProcess>(options_of(folder.path() / "data"));
        make_show(server->url());
        Acknowledged const known = back_up_under_load(*server, backup, random);
        server.reset();
        holds += known.before.size();
        // The drill, as docs/operations.md has it: check, copy, start.
        auto const checked = app::check_manifest(backup);
        INFO((checked ? "" : checked.error().message));
        REQUIRE(checked.has_value());
        auto const restored_data = folder.path() / "restored";
        std::filesystem::copy(backup, restored_data, std::filesystem::copy_options::recursive);
        {
            ServerProcess restored(options_of(restored_data));
            check_drill(restored, known);
            sell_on(restored, random());
            restored.kill();
        }
        {
            ServerProcess again(options_of(restored_data));
            CHECK(again.stop() == 0);
        }
        // A start on the backup itself makes a data folder of it.
        ServerProcess direct(options_of(backup));
        check_drill(direct, known);
        CHECK_FALSE(std::filesystem::exists(backup / "MANIFEST.json"));
        CHECK(direct.stop() == 0);
    }
    std::cout << "backup drill: " << drills << " drills, " << holds
              << " holds acknowledged before their backup, nothing lost\n";
    CHECK(holds > 0);
}

TEST_CASE("the command backs up a running server and a folder at rest", "[e2e][backup]") {
    TempFolder const folder;
    auto const data = folder.path() / "data";
    auto const running = folder.path() / "running";
    auto const resting = folder.path() / "resting";
    ServerProcess server(options_of(data));
    make_show(server.url());
    Buyer buyer(server.url(), 7);
    for (int visit = 0; visit < 20; ++visit) CHECK(buyer.visit());
    // The server's token came by its environment, so there is none in the folder.
    auto const stranger = backup_command(data, running);
    CHECK(stranger.exit_code == 1);
    CHECK_THAT(stranger.errors, Catch::Contains("admin.token") && Catch::Contains("--token"));
    auto const wrong = backup_command(data, running, {{"HOLDFAST_ADMIN_TOKEN", "wrong"}});
    CHECK(wrong.exit_code == 1);
    CHECK_THAT(wrong.errors, Catch::Contains("--token or in HOLDFAST_ADMIN_TOKEN (401 ") &&
                                 !Catch::Contains("{"));
    CHECK_FALSE(std::filesystem::exists(running));
    auto const asked = backup_command(data, running, {{"HOLDFAST_ADMIN_TOKEN", admin_token}});
    INFO(asked.errors);
    CHECK(asked.exit_code == 0);
    CHECK_THAT(asked.output, Catch::Contains("backup " + running.string() + ": records up to LSN"));
    CHECK(app::check_manifest(running).has_value());
    // Again into the same one.
    auto const twice = backup_command(data, running, {{"HOLDFAST_ADMIN_TOKEN", admin_token}});
    CHECK(twice.exit_code == 1);
    CHECK(twice.errors == "holdfast: " + running.string() + ": is not empty\n");
    CHECK(app::check_manifest(running).has_value());
    server.kill();
    auto const at_rest = backup_command(data, resting);
    INFO(at_rest.errors);
    CHECK(at_rest.exit_code == 0);
    Acknowledged const known{{buyer.known().begin(), buyer.known().end()}, {}, 0};
    for (auto const& backup : {running, resting}) {
        CHECK(app::check_manifest(backup).has_value());
        ServerProcess restored(options_of(backup));
        check_drill(restored, known);
        CHECK(restored.stop() == 0);
    }
}

TEST_CASE("P10: the command tells damage in a finished segment of a running server",
          "[e2e][backup]") {
    TempFolder const folder;
    auto const data = folder.path() / "data";
    auto const target = folder.path() / "backup";
    ServerProcess server(options_of(data));
    make_show(server.url());
    Buyer buyer(server.url(), 8);
    std::vector<std::filesystem::path> segments;
    while (segments.size() < 3) {
        CHECK(buyer.visit());
        segments.clear();
        for (auto const& entry : std::filesystem::directory_iterator(data / "journal"))
            if (entry.path().extension() == ".hfj") segments.push_back(entry.path());
    }
    REQUIRE(is_followed(server));  // or the store itself would meet the damage
    std::sort(segments.begin(), segments.end());
    std::fstream file(*(segments.end() - 2), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4'096 + 20);
    file << "rot";
    file.close();
    auto const damaged = backup_command(data, target, {{"HOLDFAST_ADMIN_TOKEN", admin_token}});
    CHECK(damaged.exit_code == 77);
    CHECK_THAT(damaged.errors, Catch::Contains((segments.end() - 2)->filename().string()) &&
                                   Catch::Contains(": the backup has failed: ") &&
                                   !Catch::Contains("{"));
    CHECK_FALSE(std::filesystem::exists(target));
    // The sale has noticed nothing.
    CHECK(buyer.visit());
}

TEST_CASE("the command refuses what is no place for a backup, and what is none to back up",
          "[e2e][backup]") {
    TempFolder const folder;
    auto const data = folder.path() / "data";
    {
        ServerProcess server(options_of(data));
        CHECK(server.stop() == 0);
    }
    CHECK(backup_command(folder.path() / "none", folder.path() / "b").exit_code == 1);
    CHECK_FALSE(std::filesystem::exists(folder.path() / "none"));
    std::filesystem::create_directory(folder.path() / "empty");
    CHECK(backup_command(folder.path() / "empty", folder.path() / "b").exit_code == 1);
    CHECK(backup_command(data, data / "b").exit_code == 1);
    CHECK(backup_command(data, folder.path()).exit_code == 1);
    CHECK(backup_command(data, folder.path() / "none" / "b").exit_code == 1);
    // Damage is not copied; the message is recovery's.
    auto const meta = folder.path() / "data" / "META.a";
    std::filesystem::resize_file(meta, 0);
    std::filesystem::resize_file(folder.path() / "data" / "META.b", 0);
    auto const damaged = backup_command(data, folder.path() / "b");
    CHECK(damaged.exit_code == 77);
    CHECK_THAT(damaged.errors, Catch::Contains("neither META.a nor META.b is good"));
    CHECK_FALSE(std::filesystem::exists(folder.path() / "b"));
}
