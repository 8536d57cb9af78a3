// Verdict: what the samples of a soak say about leaks, drift and the disk.
//
// Purpose: from one sample a minute to the criteria that a soak is judged by; pure, so that a test
//   can plant a leak. A life is the time between two starts of the server.
// Thread safety: pure functions. Cost: a few passes over the samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::soak {

/// What was seen in one interval.
struct Sample {
    double hours{};       // since the begin of the soak
    double life_hours{};  // since this start of the server
    std::size_t life{};   // how many starts there were before
    bool disturbed{};     // the server was down in it: its times say nothing
    std::uint64_t rss_kib{};
    std::uint64_t cache_kib{};   // of that, SQLite's: it grows with the file, to its bound
    std::int64_t descriptors{};  // beyond those of connections and streams
    std::int64_t threads{};
    std::uint64_t claims{};
    std::uint64_t p50_us{}, p99_us{};  // of claims
    std::uint64_t journal_bytes{};
};

struct Limits {
    double warm_up_hours{4};   // since the begin
    double settle_hours{0.3};  // since each start: the last of what fills is the ring of deltas
    double rss_mib_an_hour{1};
    std::int64_t descriptors_spread{8};
    double p99_drift{0.10};
    std::uint64_t journal_bytes_max{};
    bool judges_times{true};
};

enum class Verdict : std::uint8_t { met, not_met, not_judged };
[[nodiscard]] constexpr Verdict met_if(bool good) noexcept {
    return good ? Verdict::met : Verdict::not_met;
}

struct Finding {
    std::string what;
    std::string figure;  // in words, with unit and limit
    Verdict verdict{Verdict::not_judged};
};

/// Not met if one is not, and met only if all are.
[[nodiscard]] Verdict verdict_of(std::vector<Finding> const& findings);

struct Point {
    double x{}, y{};
    std::size_t group{};
};
/// Slope of the least-squares lines that have one slope and for each group a height of its own; 0
/// if there are too few points.
[[nodiscard]] double shared_slope(std::vector<Point> const& points);

/// Samples that count: after the warm-up, and each after its server has settled.
[[nodiscard]] std::vector<Sample> counted(std::vector<Sample> const& samples, Limits const& limits);

[[nodiscard]] std::vector<Finding> judge(std::vector<Sample> const& samples, Limits const& limits);

}  // namespace holdfast::soak
