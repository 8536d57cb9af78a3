// Benchmark of P7: how long after its deadline a hold has ended and its seats are free again.
//
// The engine, its journal on a disk and the thread that expires, as the server has them. Holds of
// one seat get deadlines spread evenly over some seconds; meanwhile as many threads as there are
// processors claim and release in another event without a pause. Lateness is from the deadline to
// the END in the journal, from which on the seat is free to everybody. Nothing may be early.
// Usage: bench_expiry [--smoke] [--json] [--data DIR]. Full: 100,000 holds over 10 s, 7 runs.

#include "app/background_work.hpp"
#include "bench/command_line.hpp"
#include "tests/support/temp_folder.hpp"

#include <holdfast/engine/engine.hpp>
#include <holdfast/engine/facts.hpp>
#include <holdfast/journal/recovery.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

using namespace holdfast;
using namespace std::chrono_literals;

struct Size {
    std::uint32_t holds;
    Milliseconds spread;
    int runs;
};
constexpr Size full{100'000, 10s, 7};
constexpr Size smoke{500, 100ms, 1};
constexpr std::uint32_t seats_a_row = 50;
constexpr std::uint32_t busy_rows = 200;

/// Remembers when each END was appended.
class EndWatch final : public journal::Journal {
public:
    EndWatch(journal::Journal& journal, Clock const& clock) : journal_(journal), clock_(clock) {}
    void watch(std::unordered_map<std::uint64_t, TimePoint> deadlines, EventId event) {
        deadlines_ = std::move(deadlines);
        event_ = event;
        late_.clear();
        late_.reserve(deadlines_.size());
    }
    [[nodiscard]] std::size_t ended() {
        std::lock_guard const lock(mutex_);
        return late_.size();
    }
    [[nodiscard]] std::vector<std::int64_t> late() {
        std::lock_guard const lock(mutex_);
        return late_;
    }

    [[nodiscard]] bool reserve(std::size_t bytes) noexcept override {
        return journal_.reserve(bytes);
    }
    void give_back(std::size_t bytes) noexcept override { journal_.give_back(bytes); }
    Lsn append(journal::RecordType type, std::uint8_t version,
               std::span<std::byte const> payload) noexcept override {
        Lsn const lsn = journal_.append(type, version, payload);
        if (type == journal::RecordType::end) note(payload);
        return lsn;
    }
    [[nodiscard]] Lsn durable_lsn() const noexcept override { return journal_.durable_lsn(); }
    [[nodiscard]] Lsn appended_lsn() const noexcept override { return journal_.appended_lsn(); }
    [[nodiscard]] journal::Mode mode() const noexcept override { return journal_.mode(); }
    [[nodiscard]] bool wait_durable(Lsn lsn) noexcept override {
        return journal_.wait_durable(lsn);
    }
    [[nodiscard]] bool keep_from(std::uint64_t segment) override {
        return journal_.keep_from(segment);
    }
    void end_keep_from() noexcept override { journal_.end_keep_from(); }
    void close() noexcept override { journal_.close(); }

private:
    void note(std::span<std::byte const> payload) {
        auto const end = engine::decode_end(payload);
        if (!end || end->hold.event != event_) return;
        auto const found = deadlines_.find(end->hold.ref.bits());
        if (found == deadlines_.end()) return;
        std::lock_guard const lock(mutex_);
        late_.push_back((clock_.now() - found->second).count());
    }

    journal::Journal& journal_;
    Clock const& clock_;
    std::unordered_map<std::uint64_t, TimePoint> deadlines_;  // const while holds end
    EventId event_{};
    std::mutex mutex_;
    std::vector<std::int64_t> late_;  // ms, of each hold that has ended
};

struct RefusingSink final : journal::RecordSink {
    bool begin(journal::SegmentStart const&) override { return false; }
    bool record(journal::RecordView const&) override { return false; }
};
struct NoListener final : journal::DurableListener {
    void durable_advanced() noexcept override {}
};

std::shared_ptr<EventSpec const> event_spec(std::uint32_t id, std::uint32_t rows) {
    LayoutBuilder builder;
    auto const category = builder.add_category({"std", "Standard", 4'500});
    Section section;
    section.id = "A";
    section.category = category;
    builder.add_section(section);
    for (std::uint32_t row = 1; row <= rows; ++row) {
        builder.add_row(std::to_string(row));
        for (std::uint32_t seat = 1; seat <= seats_a_row; ++seat) {
            std::string const label = std::to_string(seat);
            builder.add_seat({"A-" + std::to_string(row) + "-" + label,
                              label,
                              {{seat * 0.5, row * 1.0}, category, std::uint8_t{0}}});
        }
    }
    auto layout = std::move(builder).build();
    if (!layout) throw std::runtime_error("a layout cannot be built");
    auto spec = std::make_shared<EventSpec>();
    spec->id = EventId{id};
    spec->slug = "event-" + std::to_string(id);
    spec->publish = true;
    spec->layout = *std::move(layout);
    return spec;
}

engine::ClaimLine one_seat(std::uint32_t seat) {
    engine::ClaimLine line;
    line.kind = engine::ClaimLine::Kind::seats;
    line.seats = {SeatIndex{seat}};
    return line;
}

struct Run {
    std::vector<std::int64_t> late;  // ms, ascending
    std::uint64_t claims{};          // of the load, meanwhile
};

/// Claims and releases until it is told to stop.
void load(engine::Engine& engine, engine::LiveEvent& event, Clock const& clock, std::uint32_t from,
          std::atomic<bool> const& stop, std::atomic<std::uint64_t>& claims) {
    std::vector<SeatIndex> seats;
    std::uint64_t made = 0;
    while (!stop.load()) {
        std::array const lines{one_seat(from + static_cast<std::uint32_t>(made % seats_a_row))};
        auto const hold = engine.claim({.event = &event, .lines = lines, .ttl = {}, .staff = true},
                                       clock.now(), seats);
        if (!hold) {
            std::this_thread::yield();  // the journal's buffers are full
            continue;
        }
        while (!engine.release(hold->name, clock.now())) std::this_thread::yield();
        ++made;
    }
    claims.fetch_add(made);
}

/// One hold a seat, all made before the first deadline.
std::unordered_map<std::uint64_t, TimePoint> claim_all(engine::Engine& engine,
                                                       engine::LiveEvent& event, Clock const& clock,
                                                       Size const& size, TimePoint first) {
    std::unordered_map<std::uint64_t, TimePoint> deadlines;
    std::vector<SeatIndex> seats;
    for (std::uint32_t seat = 0; seat < size.holds;) {
        std::array const lines{one_seat(seat)};
        TimePoint const now = clock.now();
        Milliseconds const ttl = first - now + size.spread * seat / size.holds;
        auto const hold =
            engine.claim({.event = &event, .lines = lines, .ttl = ttl, .staff = true}, now, seats);
        if (!hold) {
            std::this_thread::yield();
            continue;
        }
        deadlines[hold->name.ref.bits()] = hold->expires_at;
        ++seat;
    }
    if (clock.now() >= first) throw std::runtime_error("the claims took too long");
    return deadlines;
}

/// Until all have ended, with a thread of claims on each processor.
std::uint64_t expire_all(engine::Engine& engine, engine::LiveEvent& busy, Clock const& clock,
                         EndWatch& watch, std::uint32_t holds, TimePoint until) {
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> claims{0};
    app::RepeatingThread const expiry("expiry", app::expiry_pause, app::expiry_work(engine, clock));
    std::vector<std::thread> threads;
    unsigned const count = std::max(1U, std::thread::hardware_concurrency());
    for (unsigned at = 0; at < count; ++at)
        threads.emplace_back(
            [&, at] { load(engine, busy, clock, at * seats_a_row, stop, claims); });
    while (watch.ended() < holds && clock.now() < until) std::this_thread::sleep_for(20ms);
    stop.store(true);
    for (auto& thread : threads) thread.join();
    return claims.load();
}

Run run_once(Size const& size, std::filesystem::path const& data) {
    journal::PosixDisk disk;
    RunningClock const clock{TimePoint{}};
    RefusingSink sink;
    NoListener listener;
    auto const fresh = journal::recover(data, disk, {}, sink);
    if (!fresh) throw std::runtime_error(fresh.error().message);
    journal::Options options;
    options.data = data;
    auto opened = journal::Journal::open(options, disk, clock, fresh->tail, listener);
    if (!opened) throw std::runtime_error(opened.error().message);
    EndWatch watch(**opened, clock);
    engine::Engine engine(watch, {.hold_ttl_min = 1s});
    auto* const event = engine.add(event_spec(1, size.holds / seats_a_row));
    auto* const busy = engine.add(event_spec(2, busy_rows));
    engine.build(*event, {});
    engine.build(*busy, {});
    TimePoint const first = clock.now() + (size.holds > smoke.holds ? 5s : 1s);
    watch.watch(claim_all(engine, *event, clock, size, first), EventId{1});
    Run run;
    run.claims = expire_all(engine, *busy, clock, watch, size.holds, first + size.spread + 30s);
    run.late = watch.late();
    (*opened)->close();
    if (run.late.size() != size.holds) throw std::runtime_error("holds did not end, or twice");
    std::sort(run.late.begin(), run.late.end());
    return run;
}

void run_all(Size const& size, bool json, std::filesystem::path const& below) {
    std::vector<std::int64_t> p99;
    std::vector<std::int64_t> all;
    std::int64_t longest = 0;
    std::int64_t earliest = 0;
    std::uint64_t claims = 0;
    for (int at = 0; at < size.runs; ++at) {
        test::TempFolder const data(below);
        Run const run = run_once(size, data.path());
        p99.push_back(run.late[run.late.size() * 99 / 100]);
        longest = std::max(longest, run.late.back());
        earliest = std::min(earliest, run.late.front());
        all.insert(all.end(), run.late.begin(), run.late.end());
        claims += run.claims;
    }
    std::sort(p99.begin(), p99.end());
    auto const middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    std::printf(json
                    ? "{\"holds\":%u,\"runs\":%d,\"late_p50_ms\":%lld,\"late_p99_ms\":%lld,"
                      "\"late_p99_worst_ms\":%lld,\"late_max_ms\":%lld,\"claims_meanwhile\":%llu}\n"
                    : "%u holds, %d runs: late p50 %lld ms, p99 %lld ms (worst run %lld), max %lld "
                      "ms; %llu claims and releases meanwhile\n",
                size.holds, size.runs, static_cast<long long>(*middle),
                static_cast<long long>(p99[p99.size() / 2]), static_cast<long long>(p99.back()),
                static_cast<long long>(longest), static_cast<unsigned long long>(claims));
    if (earliest < 0) throw std::runtime_error("a hold ended before its deadline");
}

}  // namespace

int main(int argc, char** argv) {
    Size size = full;
    bool json = false;
    std::filesystem::path below = std::filesystem::temp_directory_path();
    CLI::App app("How long after its deadline a hold has ended.", "bench_expiry");
    app.add_flag_callback("--smoke", [&] { size = smoke; }, "Small, and no word on times");
    app.add_flag("--json", json, "JSON lines");
    app.add_option("--data", below, "Where the scratch folder is made");
    if (auto const code = bench::ending_of_parse(app, argc, argv)) return *code;
    // On purpose: the expiring thread has to get its time beside claims on every processor.
    std::fprintf(stderr, "more threads than processors: one of claims on each, expiry, journal\n");
#ifndef __OPTIMIZE__
    std::fprintf(stderr, "warning: not an optimized build, the figures mean nothing\n");
#endif
    try {
        run_all(size, json, below);
    } catch (std::exception const& error) {
        std::fprintf(stderr, "bench_expiry: %s\n", error.what());
        return 1;
    }
    return 0;
}
