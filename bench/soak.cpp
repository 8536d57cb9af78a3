// A soak: the server under steady load for as long as you like, with restarts and power cuts.
//
//   bench_soak [--hours H] [--rate CLAIMS_A_SECOND] [--orders ORDERS_A_SECOND]
//              [--restart-every MINUTES] [--power-cut-every MINUTES] [--warm-up MINUTES]
//              [--event-every MINUTES] [--sample-every SECONDS] [--segment-bytes N] [--disk-gib N]
//              [--data DIR] [--seed N] [--no-times] [--smoke] [--holdfast PROGRAM]
//
// By default 72 hours at half of the peak that is measured first, a restart an hour (a stop and a
// kill -9 in turn), a power cut a day. A power cut needs root, loop devices and mkfs.ext4: the data
// is on an ext4 in an image then; elsewhere they are left out, and that is said. The folder is
// audited at each restart and at the end, and orders that were acknowledged last are asked for.
//
// One JSON line a sample: memory, descriptors, threads, times of claims, the journal and how far
// the store is behind. At the end one line a criterion: met, not met (exit 1) or not judged (exit
// 2, if all others are met); unless all are met, or after an error, the folder is kept. Memory,
// without SQLite's cache (64 MiB at most), grows by less than 1 MiB/h after the warm-up (4 hours,
// or a quarter of a shorter soak), both between restarts and over all; descriptors and threads
// stay; p99 of claims drifts by less than 10 % (--no-times: it is only told, for a machine that
// does other things as well); segments are deleted and the journal stays within 28 of them; no
// audit finds anything; nothing wrong is answered, and at a stop all that was asked on accepted
// connections.
// --smoke: until there were a stop, a kill -9, a power cut and a deletion; no word on slopes and
// times.

#include "bench/soak/arguments.hpp"
#include "bench/soak/crowd.hpp"
#include "bench/soak/house.hpp"
#include "bench/soak/lingerers.hpp"
#include "bench/soak/schedule.hpp"
#include "bench/soak/scrape.hpp"
#include "bench/soak/verdict.hpp"
#include "loadgen/wire.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace holdfast;
using namespace holdfast::soak;
using loadgen::Moment;
using std::chrono::duration;
using std::chrono::steady_clock;

constexpr Milliseconds stop_takes_at_most{20'000};
constexpr Milliseconds quiet_within{40'000};
constexpr char const* token = "token-of-the-soak-0123456789";

constexpr char const* word_of(Verdict verdict) {
    return verdict == Verdict::met       ? "met       "
           : verdict == Verdict::not_met ? "FAILED    "
                                         : "not judged";
}

constexpr int exit_code_of(Verdict verdict) {
    return verdict == Verdict::met ? 0 : verdict == Verdict::not_met ? 1 : 2;
}

class Soak {
public:
    Soak(Arguments const& arguments, bool cuts_power)
        : arguments_(arguments),
          house_({.executable = arguments.holdfast,
                  .below = arguments.data,
                  .admin_token = token,
                  .segment_bytes = arguments.segment_bytes,
                  .disk_bytes = cuts_power ? arguments.disk_gib << 30U : 0}),
          crowd_(loop_, crowd_options(arguments)),
          lingerers_(loop_,
                     {.stream_target = std::string("/v1/events/") + great_event + "/stream",
                      .wrong = [this](std::string what) { crowd_.note_wrong(std::move(what)); }},
                     arguments.seed),
          samples_due_(arguments.sample_every),
          restarts_due_(arguments.restart_every),
          cuts_due_(cuts_power && !arguments.smoke ? arguments.power_cut_every : Seconds{0}) {}

    [[nodiscard]] Verdict run();

private:
    static CrowdOptions crowd_options(Arguments const& arguments) {
        CrowdOptions options;
        options.seed = arguments.seed;
        options.admin_token = token;
        options.rate = arguments.rate;
        options.orders_a_second = arguments.orders;
        options.event_every = std::chrono::duration_cast<Milliseconds>(arguments.event_every);
        // Places enough that what is held until it expires leaves most of them free.
        double const rate = arguments.rate > 0 ? arguments.rate : 20'000;
        options.places = 2'000 + static_cast<std::uint32_t>(6 * rate);
        return options;
    }

    void begin();
    void measure_peak();
    [[nodiscard]] bool go_on();
    void take_sample();
    void check_sums();
    void print(Sample const& sample, Tally const& tally, std::string const& metrics) const;
    [[nodiscard]] End next_end() const;
    void restart(End how);
    void end_server(End how);
    void audit();
    [[nodiscard]] bool has_seen_all() const;
    [[nodiscard]] std::vector<Finding> findings() const;
    [[nodiscard]] Verdict tell_verdict();
    [[nodiscard]] std::uint64_t most_segments() const;
    [[nodiscard]] Seconds since_begin(Moment now) const { return now - began_; }

    Arguments arguments_;
    House house_;
    loadgen::Loop loop_;
    Crowd crowd_;
    Lingerers lingerers_;
    Every samples_due_, restarts_due_, cuts_due_;
    std::vector<Sample> samples_;
    Moment began_{}, life_began_{}, sampled_{};
    std::size_t starts_{}, stops_{}, kills_{}, cuts_{}, audits_{};
    std::size_t orders_asked_for_{};
    std::uint64_t wrong_{}, claims_{}, segments_deleted_{};
    double slowest_start_ms_{};
    bool disturbed_{};
    bool stopped_{};
    std::vector<std::string> audit_findings_;
};

void Soak::begin() {
    auto const url = house_.start();
    if (auto const why = crowd_.open_great_event(url); !why.empty()) throw std::runtime_error(why);
    life_began_ = steady_clock::now();
    crowd_.begin(url);
    if (arguments_.rate == 0) measure_peak();
    lingerers_.begin(url);
    loop_.on_stop_signal([this] {
        stopped_ = true;
        loop_.stop();
    });
    began_ = sampled_ = steady_clock::now();
    for (Every* const each : {&samples_due_, &restarts_due_, &cuts_due_}) each->begin(began_);
}

void Soak::measure_peak() {
    constexpr Milliseconds warming{1'000};
    constexpr Milliseconds measured{5'000};
    loop_.run_for(warming);
    static_cast<void>(crowd_.take_tally());
    loop_.run_for(measured);
    double const peak =
        static_cast<double>(crowd_.take_tally().claims) / duration<double>(measured).count();
    std::printf("{\"soak\":\"peak\",\"claims_a_second\":%.0f}\n", peak);
    crowd_.set_rate(std::max(peak / 2, 1.0));
}

Verdict Soak::run() {
    begin();
    while (go_on()) {
        Moment const now = steady_clock::now();
        if (samples_due_.is_due(now)) take_sample();
        // Of two that are due together the power cut is the harder one.
        bool const restarts = restarts_due_.is_due(now);
        if (cuts_due_.is_due(now))
            restart(End::power_cut);
        else if (restarts)
            restart(next_end());
    }
    bool const runs = !house_.server().ended();
    if (runs) {
        take_sample();
        end_server(End::stop);
    } else {
        audit_findings_.push_back("the server ended by itself: " + *house_.server().ended());
    }
    audit();
    return tell_verdict();
}

/// Until something is due; false at the end.
bool Soak::go_on() {
    Moment const end =
        began_ + std::chrono::duration_cast<steady_clock::duration>(arguments_.length);
    Moment const due = cuts_due_.next(restarts_due_.next(samples_due_.next(end)));
    Moment const now = steady_clock::now();
    if (stopped_ || now >= end || has_seen_all() || house_.server().ended()) return false;
    if (due > now) loop_.run_for(std::chrono::ceil<Milliseconds>(due - now));
    return !stopped_ && !house_.server().ended();
}

void Soak::take_sample() {
    std::string const metrics = house_.metrics();
    auto const read = read_sample(metrics);
    if (!read) return crowd_.note_wrong("no metrics");
    Moment const now = steady_clock::now();
    Tally const tally = crowd_.take_tally();
    Sample sample = *read;
    sample.hours = since_begin(now).count() / 3'600;
    sample.life_hours = Seconds(now - life_began_).count() / 3'600;
    sample.life = starts_;
    sample.disturbed = std::exchange(disturbed_, false);
    sample.claims = tally.claims;
    sample.p50_us = tally.claim_us.percentile(0.5);
    sample.p99_us = tally.claim_us.percentile(0.99);
    if (auto const first = house_.first_segment()) segments_deleted_ = *first - 1;
    wrong_ += tally.wrong;
    claims_ += tally.claims;
    for (char const* const name :
         {"holdfast_mode", "holdfast_http_handler_exceptions_total", "holdfast_store_degraded"})
        if (metric(metrics, name) != 0) crowd_.note_wrong(std::string(name) + " is not 0");
    check_sums();
    print(sample, tally, metrics);
    sampled_ = now;
    samples_.push_back(sample);
}

/// Every place is free, held, sold or blocked, and in one way only.
void Soak::check_sums() {
    loadgen::Url const& url = house_.server().admin();
    loadgen::Query const look{.method = "GET",
                              .target = std::string("/v1/events/") + great_event,
                              .fields = {},
                              .body = {}};
    auto const reply = loadgen::fetch(loadgen::to_text(url), look);
    auto const event = loadgen::read_event(reply ? reply->body : "");
    if (!event) return crowd_.note_wrong("the event cannot be read");
    for (auto const& [section, counts] : event->sections)
        if (counts.sum() != event->capacity.at(section))
            crowd_.note_wrong("places of " + section + " do not add up");
}

void Soak::print(Sample const& sample, Tally const& tally, std::string const& metrics) const {
    auto const told = [&](char const* name) {
        return static_cast<long long>(metric(metrics, name).value_or(-1));
    };
    double const seconds = std::max(Seconds(steady_clock::now() - sampled_).count(), 1e-3);
    auto const count = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    std::printf(
        "{\"soak\":\"sample\",\"minute\":%.1f,\"life\":%zu,\"rss_kib\":%llu,\"cache_kib\":%llu,"
        "\"fds\":%lld,"
        "\"connections\":%lld,\"streams\":%lld,\"threads\":%lld,\"claims_a_second\":%.0f,"
        "\"p50_us\":%llu,\"p99_us\":%llu,\"ends\":%llu,\"orders\":%llu,\"given_back\":%llu,"
        "\"other\":%llu,\"refused\":%llu,\"lost\":%llu,\"behind\":%llu,\"wrong\":%llu,"
        "\"journal_bytes\":%llu,\"segments_deleted\":%llu,\"store_behind\":%lld,"
        "\"store_bytes\":%llu,\"marks\":%lld,\"events\":%zu%s}\n",
        sample.hours * 60, sample.life, count(sample.rss_kib), count(sample.cache_kib),
        told("process_open_fds"), told("holdfast_http_connections_open"),
        told("holdfast_streams_open"), static_cast<long long>(sample.threads),
        static_cast<double>(sample.claims) / seconds, count(sample.p50_us), count(sample.p99_us),
        count(tally.ends), count(tally.orders), count(tally.cancels), count(tally.other),
        count(tally.refused), count(tally.lost), count(tally.behind), count(tally.wrong),
        count(sample.journal_bytes), count(segments_deleted_),
        told("holdfast_durable_lsn") - told("holdfast_applied_lsn"), count(house_.store_bytes()),
        told("holdfast_idempotency_marks"), crowd_.events_made(),
        sample.disturbed ? ",\"disturbed\":true" : "");
    std::fflush(stdout);
}

void Soak::end_server(End how) {
    crowd_.pause(how == End::stop);
    lingerers_.pause();
    Moment const began = steady_clock::now();
    if (how == End::power_cut) house_.cut_power();
    if (how == End::kill) house_.server().kill_now();
    if (how == End::stop) {
        house_.server().ask_to_stop();
        while (!house_.server().ended() && steady_clock::now() - began < stop_takes_at_most)
            loop_.run_for(Milliseconds{5});
        auto const ended = house_.server().ended();
        if (ended != "exit status 0") crowd_.note_wrong("a stop: " + ended.value_or("takes long"));
        if (!ended) crowd_.pause(false);  // told already
        house_.server().kill_now();
    }
    while (crowd_.in_flight() > 0 && steady_clock::now() - began < quiet_within)
        loop_.run_for(Milliseconds{5});
    if (crowd_.in_flight() > 0) crowd_.note_wrong("a connection outlives the server");
}

/// A stop and a kill in turn; the smoke's power cut comes when it has seen both.
End Soak::next_end() const {
    bool const cuts = arguments_.smoke && house_.has_disk() && kills_ > 0 && cuts_ == 0;
    if (cuts) return End::power_cut;
    return (stops_ + kills_) % 2 == 0 ? End::stop : End::kill;
}

/// Of the smoke, which ends then.
bool Soak::has_seen_all() const {
    return arguments_.smoke && stops_ > 0 && kills_ > 0 && (cuts_ > 0 || !house_.has_disk()) &&
           segments_deleted_ > 0;
}

void Soak::restart(End how) {
    end_server(how);
    audit();
    Moment const began = steady_clock::now();
    auto const url = house_.start();
    double const ms = Seconds(steady_clock::now() - began).count() * 1'000;
    slowest_start_ms_ = std::max(slowest_start_ms_, ms);
    std::size_t const asked = crowd_.check_kept(url);
    orders_asked_for_ += asked;
    ++starts_;
    ++(how == End::stop ? stops_ : how == End::kill ? kills_ : cuts_);
    disturbed_ = true;
    life_began_ = steady_clock::now();
    std::printf(
        "{\"soak\":\"restart\",\"minute\":%.1f,\"after\":\"%s\",\"ready_ms\":%.0f,"
        "\"orders_asked_for\":%zu}\n",
        since_begin(life_began_).count() / 60, name_of(how), ms, asked);
    std::fflush(stdout);
    crowd_.begin(url);
    lingerers_.begin(url);
}

void Soak::audit() {
    ++audits_;
    if (auto finding = house_.audit(); !finding.empty())
        audit_findings_.push_back(std::move(finding));
}

std::uint64_t Soak::most_segments() const {
    std::uint64_t most = 0;
    for (Sample const& sample : samples_) most = std::max(most, sample.journal_bytes);
    return most / arguments_.segment_bytes;
}

std::vector<Finding> Soak::findings() const {
    Limits limits;
    limits.judges_times = arguments_.judges_times;
    Seconds const warm_up =
        arguments_.warm_up.value_or(std::min(Seconds{4 * 3'600.0}, arguments_.length / 4));
    limits.warm_up_hours = warm_up.count() / 3'600;
    double const third_of_a_life = arguments_.restart_every.count() / 3 / 3'600;
    if (third_of_a_life > 0) limits.settle_hours = std::min(limits.settle_hours, third_of_a_life);
    // Sixteen are worth a deletion in a sale, four stay, and some more come meanwhile.
    limits.journal_bytes_max = 28 * arguments_.segment_bytes;
    std::vector<Finding> findings;
    if (!arguments_.smoke) findings = judge(samples_, limits);
    // Not before sixteen are worth it.
    bool const may_have_none = !arguments_.smoke && most_segments() < 20;
    findings.push_back({"segments deleted", std::to_string(segments_deleted_),
                        segments_deleted_ == 0 && may_have_none ? Verdict::not_judged
                                                                : met_if(segments_deleted_ > 0)});
    findings.push_back({"audit findings",
                        std::to_string(audit_findings_.size()) + " in " + std::to_string(audits_) +
                            (audit_findings_.empty() ? "" : ": " + audit_findings_.front()),
                        met_if(audit_findings_.empty())});
    findings.push_back({"wrong answers",
                        std::to_string(wrong_) + (wrong_ > 0 ? ": " + crowd_.first_wrong() : ""),
                        met_if(wrong_ == 0)});
    findings.push_back({"claims", std::to_string(claims_), met_if(claims_ > 0)});
    if (arguments_.smoke)
        findings.push_back({"each end", std::to_string(stops_ + kills_ + cuts_) + " in all",
                            met_if(has_seen_all())});
    return findings;
}

Verdict Soak::tell_verdict() {
    wrong_ += crowd_.take_tally().wrong;
    auto const all = findings();
    for (Finding const& finding : all)
        std::printf("%s  %s: %s\n", word_of(finding.verdict), finding.what.c_str(),
                    finding.figure.c_str());
    std::printf(
        "%zu stops, %zu kills, %zu power cuts; slowest start %.0f ms; %zu acknowledged "
        "orders asked for after starts; %zu events made; %llu connections came and went; "
        "streams were sent %llu bytes; seed %llu\n",
        stops_, kills_, cuts_, slowest_start_ms_, orders_asked_for_, crowd_.events_made(),
        static_cast<unsigned long long>(lingerers_.came()),
        static_cast<unsigned long long>(lingerers_.streamed_bytes()),
        static_cast<unsigned long long>(arguments_.seed));
    auto const verdict = verdict_of(all);
    if (verdict == Verdict::met) house_.is_needed_no_more();
    return verdict;
}

}  // namespace

int main(int count, char** words) {
    try {
        Arguments arguments;
        if (auto const code = parse(arguments, count, words)) return *code;
        std::string const why = arguments.power_cut_every.count() > 0 ? why_no_disk() : "not asked";
        if (!why.empty()) std::printf("no power cuts: %s\n", why.c_str());
        return exit_code_of(Soak(arguments, why.empty()).run());
    } catch (std::exception const& error) {
        std::fprintf(stderr, "bench_soak: %s\n", error.what());
        return 1;
    }
}
