#include "loadgen/report.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>

namespace holdfast::loadgen {

namespace json = boost::json;

namespace {

double rate(std::uint64_t count, double seconds) {
    return seconds > 0 ? static_cast<double>(count) / seconds : 0.0;
}

json::object latency(Histogram const& histogram) {
    return {{"count", histogram.count()},
            {"p50_us", histogram.percentile(0.5)},
            {"p99_us", histogram.percentile(0.99)},
            {"p999_us", histogram.percentile(0.999)},
            {"max_us", histogram.max()}};
}

std::string latency_line(std::string_view verb, Histogram const& histogram) {
    auto const ms = [&histogram](double share) {
        return static_cast<double>(histogram.percentile(share)) / 1'000.0;
    };
    return fmt::format(
        "  {:<8} {:>9} answers   p50 {:8.2f}   p99 {:8.2f}   p99.9 {:8.2f}   max {:8.2f} ms\n",
        verb, histogram.count(), ms(0.5), ms(0.99), ms(0.999),
        static_cast<double>(histogram.max()) / 1'000.0);
}

}  // namespace

bool Report::ok() const noexcept {
    return failure.empty() && !checks.empty() &&
           std::all_of(checks.begin(), checks.end(),
                       [](auto const& check) { return check.holds(); });
}

std::string text_report(Report const& report) {
    auto const& conduct = report.conduct;
    if (report.capacity == 0) {  // it broke before anything was on sale
        return "bench sale: " + report.failure + "\nverdict: FAILED\n";
    }
    std::string out = fmt::format(
        "bench sale: plan {}, {} clients, seed {}\n"
        "  {} of {} places sold in {} orders, {:.2f} s; {} abrupt stops, restart {:.0f} ms\n"
        "  until 90 % were sold: {:.2f} s, {:.0f} places/s, {:.0f} requests/s\n",
        report.plan, report.clients, report.seed, report.places_sold, report.capacity,
        report.orders, report.selling_s, report.stops, report.restart_ms, report.bulk_s,
        rate(report.places_in_bulk, report.bulk_s), rate(report.requests_in_bulk, report.bulk_s));
    out += latency_line("claim", conduct.claim_us);
    out += latency_line("order", conduct.confirm_us);
    out += latency_line("release", conduct.release_us);
    out +=
        fmt::format("  {} holds, {} released, {} late payments refused, {} answers lost\n",
                    conduct.claims, conduct.releases, conduct.late_payments, conduct.answers_lost);
    out += "  refusals:";
    for (auto const& [reason, count] : conduct.refusals) {
        out += fmt::format(" {} {},", reason, count);
    }
    if (conduct.refusals.empty()) out += " none";
    if (out.back() == ',') out.pop_back();
    out += "\nchecks:\n";
    for (auto const& check : report.checks) {
        out += fmt::format("  {} {}: {} ({} looked at, {} broken)\n",
                           check.holds() ? "ok    " : "BROKEN", check.name, check.promise,
                           check.looked_at, check.broken);
        for (auto const& what : check.first) out += "           " + what + "\n";
    }
    if (!report.url.empty()) {
        out += "  not checked with --url: what is left after an abrupt stop and restart\n";
    }
    if (!report.failure.empty()) out += "the run broke: " + report.failure + "\n";
    return out + (report.ok() ? "verdict: OK\n" : "verdict: FAILED\n");
}

std::string json_report(Report const& report) {
    auto const& conduct = report.conduct;
    json::object refusals;
    for (auto const& [reason, count] : conduct.refusals) refusals[reason] = count;
    json::array checks;
    for (auto const& check : report.checks) {
        checks.push_back(json::object{{"name", check.name},
                                      {"ok", check.holds()},
                                      {"looked_at", check.looked_at},
                                      {"broken", check.broken},
                                      {"first", json::value_from(check.first)}});
    }
    json::object const out{{"bench", "sale"},
                           {"plan", report.plan},
                           {"clients", report.clients},
                           {"seed", report.seed},
                           {"capacity", report.capacity},
                           {"places_sold", report.places_sold},
                           {"orders", report.orders},
                           {"selling_s", report.selling_s},
                           {"bulk_s", report.bulk_s},
                           {"bulk_places_per_s", rate(report.places_in_bulk, report.bulk_s)},
                           {"bulk_requests_per_s", rate(report.requests_in_bulk, report.bulk_s)},
                           {"abrupt_stops", report.stops},
                           {"restart_ms", report.restart_ms},
                           {"restart_checked", report.url.empty()},
                           {"requests", conduct.requests},
                           {"holds", conduct.claims},
                           {"releases", conduct.releases},
                           {"late_payments_refused", conduct.late_payments},
                           {"answers_lost", conduct.answers_lost},
                           {"claims_unanswered", report.claims_unanswered},
                           {"latency", json::object{{"claim", latency(conduct.claim_us)},
                                                    {"order", latency(conduct.confirm_us)},
                                                    {"release", latency(conduct.release_us)}}},
                           {"refusals", std::move(refusals)},
                           {"checks", std::move(checks)},
                           {"failure", report.failure},
                           {"ok", report.ok()}};
    return json::serialize(out) + "\n";
}

}  // namespace holdfast::loadgen
