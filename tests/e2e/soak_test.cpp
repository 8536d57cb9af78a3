// The verdict of a soak (bench/soak/verdict.hpp) sees what it is for, and what is not well stays to
// be looked at. The soak itself is run small by ctest, as every bench is.
#include "bench/soak/house.hpp"
#include "bench/soak/scrape.hpp"
#include "bench/soak/verdict.hpp"
#include "tests/support/temp_folder.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

using namespace holdfast::soak;

namespace {

/// Eight hours, a sample a minute, a restart every hour; memory falls back at each, as it does.
std::vector<Sample> calm_soak() {
    std::vector<Sample> samples;
    for (std::size_t minute = 1; minute <= 480; ++minute) {
        Sample sample;
        sample.hours = static_cast<double>(minute) / 60;
        sample.life = minute / 60;
        sample.life_hours = static_cast<double>(minute % 60) / 60;
        sample.disturbed = minute % 60 == 0;
        // It settles for some minutes, and is never quite still.
        sample.rss_kib = 40'000 + 500 * std::min<std::size_t>(minute % 60, 8) + minute * 7 % 50;
        sample.descriptors = 30 + static_cast<std::int64_t>(minute % 4);
        sample.threads = 13;
        sample.claims = 60'000;
        sample.p50_us = 500;
        sample.p99_us = sample.disturbed ? 50'000 : 1'000 + minute % 30;
        sample.journal_bytes = 50 << 20;
        samples.push_back(sample);
    }
    return samples;
}

Limits limits_of_test() {
    Limits limits;
    limits.journal_bytes_max = 100 << 20;
    return limits;
}

/// What is not met, in one line.
std::string failures(std::vector<Sample> const& samples, Limits const& limits = limits_of_test()) {
    std::string all;
    for (Finding const& finding : judge(samples, limits))
        if (finding.verdict == Verdict::not_met) all += finding.what + ": " + finding.figure + "\n";
    return all;
}

}  // namespace

TEST_CASE("a calm soak meets every criterion, whatever its restarts and warm-up look like",
          "[soak]") {
    auto samples = calm_soak();
    CHECK(failures(samples) == "");
    // What is before the warm-up's end, or before a server has settled, says nothing.
    for (Sample& sample : samples)
        if (sample.hours < 4) sample.rss_kib += static_cast<std::uint64_t>(sample.hours * 100'000);
    CHECK(failures(samples) == "");
    CHECK(judge(samples, limits_of_test()).size() == 6);
    CHECK(verdict_of(judge(samples, limits_of_test())) == Verdict::met);
}

TEST_CASE("a soak whose server leaks, drifts or fills the disk fails by that", "[soak]") {
    auto samples = calm_soak();
    SECTION("memory, which a restart gives back") {
        for (Sample& sample : samples)
            sample.rss_kib += static_cast<std::uint64_t>(sample.life_hours * 1'200);
        CHECK_THAT(failures(samples), Catch::StartsWith("memory between restarts: 1.1"));
    }
    SECTION("memory, which comes back with the state") {
        for (Sample& sample : samples) sample.rss_kib += 1'200 * sample.life;
        CHECK_THAT(failures(samples), Catch::StartsWith("memory over all: 1.1"));
    }
    SECTION("memory of SQLite's cache is none of it") {
        for (Sample& sample : samples) {
            sample.cache_kib = static_cast<std::uint64_t>(sample.hours * 5'000);
            sample.rss_kib += sample.cache_kib;
        }
        CHECK(failures(samples) == "");
    }
    SECTION("descriptors") {
        for (Sample& sample : samples)
            sample.descriptors += static_cast<std::int64_t>(sample.hours * 2);
        CHECK_THAT(failures(samples),
                   Catch::StartsWith("descriptors beyond connections: 38 to 48"));
    }
    SECTION("threads") {
        samples[samples.size() - 2].threads = 14;
        CHECK_THAT(failures(samples), Catch::StartsWith("threads: 13 to 14"));
    }
    SECTION("times") {
        for (Sample& sample : samples)
            sample.p99_us += static_cast<std::uint64_t>(sample.hours * 60);
        CHECK_THAT(failures(samples), Catch::StartsWith("p99 of claims: 1."));
        Limits limits = limits_of_test();
        limits.judges_times = false;
        CHECK(failures(samples, limits) == "");
        CHECK(verdict_of(judge(samples, limits)) == Verdict::not_judged);
    }
    SECTION("the journal") {
        samples[3].journal_bytes = 101 << 20;
        CHECK_THAT(failures(samples), Catch::StartsWith("bytes of the journal: 105906176"));
    }
}

TEST_CASE("slopes of lives are one slope, whatever height each begins at", "[soak]") {
    CHECK(shared_slope({}) == 0);
    CHECK(shared_slope({{1, 5, 0}}) == 0);
    CHECK(shared_slope({{0, 1, 0}, {1, 3, 0}, {2, 5, 0}}) == Approx(2));
    CHECK(shared_slope({{0, 1, 0}, {1, 3, 0}, {2, 100, 1}, {3, 102, 1}}) == Approx(2));
    CHECK(shared_slope({{0, 0, 0}, {1, 0, 0}, {2, 1, 0}, {3, 1, 0}}) == Approx(0.4));
}

TEST_CASE("a criterion that too few samples are there for is neither met nor broken", "[soak]") {
    auto samples = calm_soak();
    samples.resize(5);
    auto const findings = judge(samples, limits_of_test());
    CHECK(verdict_of(findings) == Verdict::not_judged);
    CHECK(findings.front().verdict == Verdict::not_judged);
    CHECK(findings.back().verdict == Verdict::met);  // the journal's bytes
    CHECK(judge({}, limits_of_test()).back().verdict == Verdict::not_judged);
    CHECK(verdict_of({}) == Verdict::not_judged);
    CHECK(verdict_of({{"a", "", Verdict::not_judged}, {"b", "", Verdict::not_met}}) ==
          Verdict::not_met);
}

TEST_CASE("metrics that lack a number are no sample", "[soak]") {
    std::string const whole =
        "\nprocess_resident_memory_bytes 2048000\nholdfast_store_memory_bytes 1024000\n"
        "process_open_fds 50\nholdfast_http_connections_open 20\nholdfast_streams_open 10\n"
        "process_threads 13\nholdfast_journal_bytes 4096\n";
    auto const sample = read_sample(whole);
    REQUIRE(sample);
    CHECK(sample->rss_kib == 2'000);
    CHECK(sample->cache_kib == 1'000);
    CHECK(sample->descriptors == 20);
    CHECK(sample->threads == 13);
    CHECK(sample->journal_bytes == 4'096);
    CHECK_FALSE(read_sample(""));
    for (auto at = whole.find('\n'); at + 1 < whole.size(); at = whole.find('\n', at + 1)) {
        std::string less = whole;
        less.erase(at, whole.find('\n', at + 1) - at);
        CAPTURE(less);
        CHECK_FALSE(read_sample(less));
    }
}

TEST_CASE("the folder of a soak stays, also after a start that failed, until all is well",
          "[soak]") {
    holdfast::test::TempFolder const folder;
    House::Options const options{
        .executable = "/bin/false", .below = folder.path(), .admin_token = "none"};
    {
        House house(options);
        CHECK_THROWS(static_cast<void>(house.start()));
        CHECK_FALSE(house.first_segment());
    }
    REQUIRE_FALSE(std::filesystem::is_empty(folder.path()));
    auto const kept = std::filesystem::directory_iterator(folder.path())->path();
    CHECK(std::filesystem::exists(kept / "log"));
    std::filesystem::remove_all(kept);
    {
        House house(options);
        std::filesystem::create_directories(house.journal());
        for (char const* const name : {"12.hfj", "9.hfj", "1.spare"})
            std::ofstream(house.journal() / name) << "x";
        CHECK(house.first_segment() == 9);
        house.is_needed_no_more();
    }
    CHECK(std::filesystem::is_empty(folder.path()));
}
