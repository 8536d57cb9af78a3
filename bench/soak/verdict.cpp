#include "bench/soak/verdict.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

namespace holdfast::soak {
namespace {

constexpr std::size_t samples_min = 6;  // fewer say nothing of a slope

std::string number(double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%.2f", value);
    return text;
}

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

Finding too_few(std::string what, std::size_t count) {
    return {std::move(what), std::to_string(count) + " samples after the warm-up",
            Verdict::not_judged};
}

Finding judge_slope(std::string what, std::vector<Point> const& points, double limit) {
    double const slope = shared_slope(points);
    return {std::move(what), number(slope) + " MiB/h, less than " + number(limit),
            met_if(slope < limit)};
}

Finding judge_rss(std::vector<Sample> const& samples, double limit, bool each_life) {
    std::vector<Point> points;
    for (Sample const& sample : samples)
        points.push_back(
            {sample.hours,
             (static_cast<double>(sample.rss_kib) - static_cast<double>(sample.cache_kib)) / 1'024,
             each_life ? sample.life : 0});
    return judge_slope(each_life ? "memory between restarts" : "memory over all", points, limit);
}

Finding judge_spread(std::string what, std::vector<Sample> const& samples,
                     std::int64_t Sample::* member, std::int64_t limit) {
    auto const [least, most] = std::minmax_element(
        samples.begin(), samples.end(),
        [member](auto const& a, auto const& b) { return a.*member < b.*member; });
    std::int64_t const from = (*least).*member;
    std::int64_t const to = (*most).*member;
    return {std::move(what),
            std::to_string(from) + " to " + std::to_string(to) + ", apart " +
                std::to_string(limit) + " at most",
            met_if(to - from <= limit)};
}

/// The last quarter against the first, of quiet minutes.
Finding judge_drift(std::vector<Sample> const& samples, Limits const& limits) {
    std::vector<double> p99;
    for (Sample const& sample : samples)
        if (!sample.disturbed && sample.claims > 0)
            p99.push_back(static_cast<double>(sample.p99_us));
    if (p99.size() < 2 * samples_min) return too_few("p99 of claims", p99.size());
    auto const quarter = static_cast<std::ptrdiff_t>(p99.size() / 4);
    double const first = median({p99.begin(), p99.begin() + quarter});
    double const last = median({p99.end() - quarter, p99.end()});
    double const drift = first > 0 ? last / first - 1 : 0;
    std::string figure = number(first / 1'000) + " ms at first, " + number(last / 1'000) +
                         " ms at last, " + number(100 * drift) + " %, less than " +
                         number(100 * limits.p99_drift);
    return {"p99 of claims", std::move(figure),
            limits.judges_times ? met_if(drift < limits.p99_drift) : Verdict::not_judged};
}

}  // namespace

Verdict verdict_of(std::vector<Finding> const& findings) {
    auto const any = [&findings](Verdict verdict) {
        return std::any_of(findings.begin(), findings.end(), [verdict](Finding const& finding) {
            return finding.verdict == verdict;
        });
    };
    if (any(Verdict::not_met)) return Verdict::not_met;
    return any(Verdict::not_judged) || findings.empty() ? Verdict::not_judged : Verdict::met;
}

double shared_slope(std::vector<Point> const& points) {
    struct Sum {
        double x{}, y{}, count{};
    };
    std::map<std::size_t, Sum> sums;
    for (Point const& point : points) {
        Sum& sum = sums[point.group];
        sum.x += point.x;
        sum.y += point.y;
        ++sum.count;
    }
    double above = 0;
    double below = 0;
    for (Point const& point : points) {
        Sum const& sum = sums[point.group];
        double const x = point.x - sum.x / sum.count;
        above += x * (point.y - sum.y / sum.count);
        below += x * x;
    }
    return below > 0 ? above / below : 0;
}

std::vector<Sample> counted(std::vector<Sample> const& samples, Limits const& limits) {
    std::vector<Sample> kept;
    std::copy_if(samples.begin(), samples.end(), std::back_inserter(kept), [&](auto const& sample) {
        return sample.hours >= limits.warm_up_hours && sample.life_hours >= limits.settle_hours;
    });
    return kept;
}

std::vector<Finding> judge(std::vector<Sample> const& samples, Limits const& limits) {
    auto const kept = counted(samples, limits);
    std::vector<Finding> findings;
    if (kept.size() < samples_min) {
        findings.push_back(too_few("memory, descriptors, threads", kept.size()));
    } else {
        findings.push_back(judge_rss(kept, limits.rss_mib_an_hour, true));
        findings.push_back(judge_rss(kept, limits.rss_mib_an_hour, false));
        findings.push_back(judge_spread("descriptors beyond connections", kept,
                                        &Sample::descriptors, limits.descriptors_spread));
        findings.push_back(judge_spread("threads", kept, &Sample::threads, 0));
    }
    findings.push_back(judge_drift(kept, limits));
    std::uint64_t most = 0;
    for (Sample const& sample : samples) most = std::max(most, sample.journal_bytes);
    findings.push_back(
        {"bytes of the journal",
         std::to_string(most) + " at most, limit " + std::to_string(limits.journal_bytes_max),
         samples.empty() ? Verdict::not_judged : met_if(most <= limits.journal_bytes_max)});
    return findings;
}

}  // namespace holdfast::soak
