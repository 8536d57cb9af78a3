// A sale that a server keeps from selling says by what, and ends.
#include "loadgen/sale.hpp"

#include "tests/loadgen/fake_server.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <stdlib.h>

using namespace holdfast;
using namespace holdfast::loadgen;
using holdfast::test::TempFolder;
using loadgen::testing::FakeServer;

namespace {

std::string said(unsigned status, std::string const& body) {
    return "HTTP/1.1 " + std::to_string(status) +
           " X\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string const plan_of_one_seat = R"({"zones":[],"categories":[{"name":"VIP"}]})";
std::string const accepted = said(202, "{}");
std::string const on_sale = said(200, R"({"state":"open"})");
std::string const map_of_one_seat =
    said(200, R"({"sections":[{"id":"A","rows":[{"first":0,"seats":[{"name":"A-1-1"}]}]}]})");

std::string state_of_one_seat(std::string const& bits) {
    return said(200, R"({"seats":")" + bits + R"(","general":[]})");
}

struct Told {
    Report report;
    std::vector<std::string> requests;
};

/// The sale's own connection gets these answers, nobody else one.
Told sell_against(std::vector<std::string> answers) {
    FakeServer server({std::move(answers)});
    SaleOptions options;
    options.url = server.url();
    options.admin_token = "secret";
    options.demo_plan = plan_of_one_seat;
    options.clients = 1;
    Told told;
    {
        Sale sale(options);
        told.report = sale.run();
    }
    told.requests = server.join();
    return told;
}

Report sell_plan(std::filesystem::path const& plan, std::string const& url) {
    SaleOptions options;
    options.url = url;
    options.plan = plan;
    Sale sale(options);
    return sale.run();
}

}  // namespace

TEST_CASE("whatever a server answers before the sale, the report says why there was none",
          "[loadgen]") {
    auto const [answers, why] = GENERATE(table<std::vector<std::string>, std::string>({
        {{said(500, "oops")}, "the plan was not accepted: answer 500 oops"},
        {{said(401, "{}")}, "the plan was not accepted: answer 401"},
        {{"HTTP/1.0 200\r\n\r\n"}, "POST /v1/events: bad reply"},
        {{accepted, "hello\r\n\r\n"}, "GET /v1/events/bench-"},
        {{accepted, on_sale, said(200, "{}")}, "GET …/map: no list in the field sections"},
        {{accepted, on_sale, map_of_one_seat, said(404, "{}")}, "GET …/state: answer 404"},
        {{accepted, on_sale, map_of_one_seat, state_of_one_seat("AQ==")}, "places that are taken"},
        {{accepted, on_sale, map_of_one_seat, state_of_one_seat("Ag==")}, "places that are taken"},
        {{accepted, on_sale, map_of_one_seat, state_of_one_seat("Aw==")}, "no place for sale"},
    }));
    auto const told = sell_against(answers);
    CHECK_THAT(told.report.failure, Catch::Contains(why));
    CHECK_FALSE(told.report.ok());
    CHECK_THAT(text_report(told.report),
               Catch::Contains(why) && Catch::EndsWith("verdict: FAILED\n"));
    CHECK(told.requests.size() == answers.size());
    CHECK_THAT(told.requests.at(0), Catch::Contains("Authorization: Bearer secret\r\n"));
}

TEST_CASE("a sale waits for the event to open, whatever it is told meanwhile", "[loadgen]") {
    auto const told = sell_against({accepted, said(200, R"({"state":"preparing"})"),
                                    said(503, "{}"), on_sale, said(200, "{}")});
    CHECK_THAT(told.report.failure, Catch::Contains("GET …/map"));
    CHECK(told.requests.size() == 5);
}

TEST_CASE("a read that cannot be answered at the moment is made again", "[loadgen]") {
    auto const told = sell_against({accepted, said(429, R"({"code":"rate-limited"})"), on_sale,
                                    said(503, R"({"code":"busy"})"), map_of_one_seat,
                                    said(503, R"({"code":"timeout"})"), state_of_one_seat("Aw==")});
    CHECK_THAT(told.report.failure, Catch::Contains("no place for sale"));
    CHECK(told.requests.size() == 7);
}

TEST_CASE("where short holds are not allowed the sale asks for those of 30 s", "[loadgen]") {
    auto const too_short = said(422, R"({"errors":[{"pointer":"/policy/hold_ttl_s"}]})");
    auto const told = sell_against({too_short, accepted, on_sale, said(200, "{}")});
    REQUIRE(told.requests.size() == 4);
    CHECK_THAT(told.requests[0], Catch::Contains(R"("hold_ttl_s":2)"));
    CHECK_THAT(told.requests[1], Catch::Contains(R"("hold_ttl_s":30)"));
    // Another fault of the body is no reason to try again, and neither is the same one twice.
    CHECK(sell_against({said(422, "{}")}).requests.size() == 1);
    auto const never = sell_against({too_short, too_short});
    CHECK_THAT(never.report.failure, Catch::Contains("the plan was not accepted: answer 422"));
}

TEST_CASE("a plan that nobody can read, and a URL that is none, start nothing", "[loadgen]") {
    TempFolder const temp;
    std::string const nowhere = "http://127.0.0.1:1";
    CHECK_THAT(sell_plan("/nowhere.json", nowhere).failure,
               Catch::Contains("cannot read the plan /nowhere.json"));
    CHECK_THAT(sell_plan(temp.write("cut", "{"), nowhere).failure,
               Catch::Contains("the plan is no JSON"));
    for (auto const* const other : {"{}", "[]", R"({"data":[]})", R"({"zones":{}})", "7"}) {
        CAPTURE(other);
        CHECK_THAT(sell_plan(temp.write("other", other), nowhere).failure,
                   Catch::Contains("neither a pretix plan nor a seats.io drawing"));
    }
    auto const good = temp.write("good", plan_of_one_seat);
    CHECK_THAT(sell_plan(good, "ftp://127.0.0.1").failure, Catch::Contains("http://"));
    CHECK_THAT(sell_plan(good, nowhere).failure, Catch::Contains("cannot connect"));
}

TEST_CASE("a server of the sale's own that ends ends it, and its folder stays to be looked at",
          "[loadgen]") {
    TempFolder const temp;
    FakeServer server({{accepted, on_sale, map_of_one_seat, state_of_one_seat("AA==")}});
    SaleOptions options;
    options.executable = temp.write(
        "server", "#!/bin/sh\necho ready " + server.url() + " admin http://127.0.0.1:1\nexit 3\n");
    std::filesystem::permissions(options.executable, std::filesystem::perms::owner_all);
    options.demo_plan = plan_of_one_seat;
    options.clients = 1;
    auto const* const before = getenv("TMPDIR");
    std::string const usual = before == nullptr ? std::string{} : before;
    setenv("TMPDIR", temp.path().c_str(), 1);
    Report report;
    {
        Sale sale(options);
        report = sale.run();
    }
    if (before == nullptr) {
        unsetenv("TMPDIR");
    } else {
        setenv("TMPDIR", usual.c_str(), 1);
    }
    CHECK(report.failure == "the server ended by itself: exit status 3");
    CHECK(report.capacity == 1);
    CHECK_THAT(text_report(report), Catch::Contains("the run broke: the server ended by itself") &&
                                        Catch::Contains("0 of 1 places sold") &&
                                        Catch::EndsWith("verdict: FAILED\n"));
    CHECK_THAT(json_report(report), Catch::Contains(R"("ok":false)"));
    bool kept = false;
    for (auto const& entry : std::filesystem::directory_iterator(temp.path()))
        kept = kept || entry.path().filename().string().starts_with("holdfast-bench-");
    CHECK(kept);
}

TEST_CASE("a report tells what was refused, what was broken, and what was not checked",
          "[loadgen]") {
    Report report;
    report.plan = "hall.json";
    report.capacity = 2;
    report.url = "http://127.0.0.1:1";
    CHECK_FALSE(report.ok());  // of nothing that was checked nothing holds
    report.checks.push_back({.name = "sums", .promise = "they add up"});
    report.checks.back().look(true);
    CHECK(report.ok());
    CHECK_THAT(text_report(report), Catch::Contains("refusals: none\n") &&
                                        Catch::Contains("not checked with --url") &&
                                        Catch::EndsWith("verdict: OK\n"));
    report.conduct.refuse("claim", "sold-out");
    report.conduct.refuse("order", "hold-expired");
    report.checks.back().fail("A: 1 of 2");
    CHECK_FALSE(report.ok());
    CHECK_THAT(text_report(report),
               Catch::Contains("refusals: claim sold-out 1, order hold-expired 1\n") &&
                   Catch::Contains("BROKEN sums: they add up (2 looked at, 1 broken)\n") &&
                   Catch::Contains("A: 1 of 2\n") && Catch::EndsWith("verdict: FAILED\n"));
    CHECK_THAT(json_report(report), Catch::Contains(R"("claim sold-out":1)") &&
                                        Catch::Contains(R"("first":["A: 1 of 2"])") &&
                                        Catch::Contains(R"("restart_checked":false)"));
}
