#include "tests/api/stage.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <sstream>

namespace holdfast::test {
namespace {

using Catch::Contains;

/// Samples by name with labels; checks the form of every line.
std::map<std::string, std::string> samples_of(std::string const& text) {
    std::map<std::string, std::string> samples;
    std::map<std::string, std::string> types;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string first, second, third, fourth;
        words >> first >> second >> third >> fourth;
        if (first == "#") {
            bool const known = second == "HELP" || second == "TYPE";
            CHECK(known);
            if (second == "TYPE") CHECK(types.emplace(third, fourth).second);
            continue;
        }
        std::string const family = first.substr(0, first.find('{'));
        CHECK(types.count(family) == 1);
        CHECK(samples.emplace(first, second).second);
        CHECK(third.empty());
        CHECK_NOTHROW(std::stod(second));
    }
    return samples;
}

}  // namespace

TEST_CASE("health says only ok", "[ops][D19]") {
    Stage stage;
    auto const health = stage.get("/healthz");
    CHECK(health.status == 200);
    CHECK(health.body == "ok");
    CHECK_THAT(health.content_type, Contains("text/plain"));
}

TEST_CASE("readiness follows the journal and the drain", "[ops][P9]") {
    Stage stage;
    CHECK(stage.get("/readyz").status == 200);
    CHECK(stage.get("/readyz")["status"] == "ready");
    stage.journal.set_mode(journal::Mode::read_only);
    auto const full = stage.get("/readyz");
    CHECK(full.status == 503);
    CHECK(full["reasons"] == "journal-read-only");
    stage.context->draining = [] { return true; };
    stage.journal.set_mode(journal::Mode::failed);
    CHECK(stage.get("/readyz")["reasons"] == "draining journal-failed");
    stage.journal.set_mode(journal::Mode::running);
    CHECK(stage.get("/readyz")["reasons"] == "draining");
}

TEST_CASE("metrics count what there is", "[ops]") {
    Stage stage;
    stage.context->public_counts = [] {
        http::ServerCounts counts;
        counts.requests = 7;
        counts.replies_4xx = 3;
        return counts;
    };
    REQUIRE(stage.claim(R"({"seats":["A-1-1","A-1-2"]})").status == 201);
    auto const metrics = stage.get("/metrics");
    CHECK(metrics.status == 200);
    CHECK_THAT(metrics.content_type, Contains("version=0.0.4"));
    auto samples = samples_of(metrics.body);
    CHECK(samples["holdfast_mode"] == "0");
    CHECK(samples["holdfast_appended_lsn"] == "1");
    CHECK(samples["holdfast_durable_lsn"] == "1");
    CHECK(samples["holdfast_store_degraded"] == "0");
    CHECK(samples["holdfast_http_requests_total"] == "7");
    CHECK(samples["holdfast_http_replies_total{class=\"4xx\"}"] == "3");
    CHECK(samples["holdfast_events{state=\"open\"}"] == "1");
    CHECK(samples["holdfast_events{state=\"draft\"}"] == "0");
    CHECK(samples["holdfast_places{event=\"demo\",state=\"held\"}"] == "2");
    CHECK(samples["holdfast_places{event=\"demo\",state=\"free\"}"] == "91");
    CHECK(samples["holdfast_places{event=\"demo\",state=\"sold\"}"] == "0");
    CHECK(samples["holdfast_places{event=\"demo\",state=\"blocked\"}"] == "2");
    CHECK(samples["holdfast_events_without_places"] == "0");
    CHECK(std::stod(samples["process_resident_memory_bytes"]) > 1e6);
    CHECK(std::stod(samples["process_open_fds"]) > 2);
    CHECK(std::stod(samples["process_start_time_seconds"]) > 1.6e9);
    CHECK(std::stod(samples["process_threads"]) >= 1);
    stage.journal.set_mode(journal::Mode::failed);
    CHECK(samples_of(stage.get("/metrics").body)["holdfast_mode"] == "3");
}

TEST_CASE("the index lists every route and itself", "[ops]") {
    Stage stage;
    auto const index = stage.get("/v1");
    CHECK(index.status == 200);
    CHECK(index["name"] == "holdfast");
    CHECK_THAT(index["routes"], Contains("POST:/v1/events/{event}/holds:") &&
                                    Contains("GET:/v1/orders/{order}:") &&
                                    Contains("GET:/v1:This list"));
    CHECK(stage.send(http::Method::put, "/v1/orders").status == 405);
    CHECK(stage.get("/v2").status == 404);
}

}  // namespace holdfast::test
