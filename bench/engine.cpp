// Benchmark of the engine on one thread, without a disk: the journal below only counts, so these
// figures are the cost of the inventory and the verbs, not of durability.
//
// Cases: two-seat explicit claims, releases, best-available(2), cached sold-out refusals; beside
// them in the same run the two baselines: a mutex-guarded map that does the same bookkeeping, and
// the physical floor, two uncontended CAS a claim on the same amount of memory.
// Usage: bench_engine [--smoke] [--json]. Fixed work, 7 runs (1 with --smoke), median and best.

#include <holdfast/engine/engine.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

using namespace holdfast;

/// A journal that has room for everything and keeps nothing.
class CountingJournal final : public journal::Journal {
public:
    bool reserve(std::size_t) noexcept override { return true; }
    void give_back(std::size_t) noexcept override {}
    Lsn append(journal::RecordType, std::uint8_t, std::span<std::byte const>) noexcept override {
        return Lsn{lsn_.fetch_add(1, std::memory_order_relaxed) + 1};
    }
    Lsn durable_lsn() const noexcept override { return Lsn{lsn_.load()}; }
    Lsn appended_lsn() const noexcept override { return Lsn{lsn_.load()}; }
    journal::Mode mode() const noexcept override { return journal::Mode::running; }
    bool wait_durable(Lsn) noexcept override { return true; }
    void close() noexcept override {}

private:
    std::atomic<std::uint64_t> lsn_{0};
};

constexpr std::uint32_t rows = 500;
constexpr std::uint32_t seats_a_row = 100;
constexpr std::uint32_t seats = rows * seats_a_row;

std::shared_ptr<EventSpec const> venue() {
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 4'500});
    builder.set_focal({seats_a_row / 2.0, -10});
    Section section;
    section.id = "A";
    builder.add_section(section);
    for (std::uint32_t row = 1; row <= rows; ++row) {
        builder.add_row(std::to_string(row));
        for (std::uint32_t seat = 1; seat <= seats_a_row; ++seat) {
            std::string const label = std::to_string(seat);
            std::string const name = "A-" + std::to_string(row) + "-" + label;
            builder.add_seat({name, label, {{seat * 1.0, row * 1.0}, {}, 0}});
        }
    }
    auto layout = std::move(builder).build();
    auto spec = std::make_shared<EventSpec>();
    spec->id = EventId{1};
    spec->slug = "bench";
    spec->publish = true;
    spec->layout = std::move(*layout);
    return spec;
}

TimePoint const now{Milliseconds{1'000'000}};

struct Sale {
    CountingJournal journal;
    engine::Engine engine{journal, {}};
    engine::LiveEvent* event{engine.add(venue())};
    Sale() { engine.build(*event, {}); }
};

using Seconds = std::chrono::duration<double>;

/// Operations a second of `work`, which answers how many it did.
double rate(std::function<std::uint64_t()> const& work) {
    auto const start = std::chrono::steady_clock::now();
    std::uint64_t const done = work();
    return static_cast<double>(done) / Seconds(std::chrono::steady_clock::now() - start).count();
}

std::uint64_t checksum = 0;  // printed, so that no work can be left out

struct Rates {
    double claims{}, releases{}, best{}, refusals{}, map_claims{}, cas_claims{};
};

void run_engine(Rates& rates, std::uint64_t refusals) {
    Sale sale;
    std::vector<engine::HoldName> held;
    held.reserve(seats / 2);
    std::vector<SeatIndex> places;
    std::vector<engine::ClaimLine> lines(1);
    lines[0].kind = engine::ClaimLine::Kind::seats;
    lines[0].seats.resize(2);
    engine::ClaimCommand command{sale.event, lines, 0, {}, false};
    rates.claims = rate([&] {
        for (std::uint32_t seat = 0; seat < seats; seat += 2) {
            lines[0].seats[0] = SeatIndex{seat};
            lines[0].seats[1] = SeatIndex{seat + 1};
            auto const hold = sale.engine.claim(command, now, places);
            if (!hold) std::abort();
            held.push_back(hold->name);
        }
        return held.size();
    });
    lines[0].kind = engine::ClaimLine::Kind::best;
    lines[0].best.quantity = 2;
    // The first refusal comes from a scan and keeps a verdict; the others are answered by it.
    if (sale.engine.claim(command, now, places)) std::abort();
    if (sale.engine.sold_out(command, now) != 0) std::abort();
    rates.refusals = rate([&] {
        for (std::uint64_t i = 0; i < refusals; ++i)
            checksum += sale.engine.sold_out(command, now) + 1;
        return refusals;
    });
    rates.releases = rate([&] {
        for (engine::HoldName const& hold : held)
            checksum += sale.engine.release(hold, now)->value() != 0 ? 1 : 0;
        return held.size();
    });
    rates.best = rate([&] {
        std::uint64_t done = 0;
        for (; done < seats / 2; ++done)
            if (!sale.engine.claim(command, now, places)) break;
        checksum += done;
        return done;
    });
}

double run_mutex_map() {
    std::mutex mutex;
    std::unordered_map<std::uint32_t, std::uint64_t> owners;
    owners.reserve(seats);
    return rate([&] {
        for (std::uint32_t seat = 0; seat < seats; seat += 2) {
            std::scoped_lock const lock(mutex);
            if (owners.contains(seat) || owners.contains(seat + 1)) std::abort();
            owners[seat] = owners[seat + 1] = seat;
        }
        checksum += owners.size();
        return std::uint64_t{seats / 2};
    });
}

double run_cas_floor() {
    std::vector<std::atomic<std::uint64_t>> owners(seats);
    return rate([&] {
        for (std::uint32_t seat = 0; seat < seats; ++seat) {
            std::uint64_t expected = 0;
            if (!owners[seat].compare_exchange_strong(expected, seat + 1)) std::abort();
        }
        checksum += owners[seats - 1].load();
        return std::uint64_t{seats / 2};
    });
}

struct Summary {
    double median, best;
};

Summary summarize(std::vector<Rates>& runs, double Rates::* figure) {
    std::ranges::sort(runs, {}, figure);
    return {runs[runs.size() / 2].*figure, runs.back().*figure};
}

}  // namespace

int main(int argc, char** argv) {
    bool smoke = false;
    bool json = false;
    for (int i = 1; i < argc; ++i) {
        smoke = smoke || std::strcmp(argv[i], "--smoke") == 0;
        json = json || std::strcmp(argv[i], "--json") == 0;
    }
#ifndef NDEBUG
    std::fprintf(stderr, "warning: not a Release build, the figures mean little\n");
#endif
    std::vector<Rates> runs(smoke ? 1 : 7);
    for (Rates& rates : runs) {
        run_engine(rates, smoke ? 1'000 : 20'000'000);
        rates.map_claims = run_mutex_map();
        rates.cas_claims = run_cas_floor();
    }
    struct Line {
        char const* name;
        double Rates::* figure;
    };
    Line const lines[] = {{"claims_two_seats", &Rates::claims},
                          {"releases", &Rates::releases},
                          {"best_available_two", &Rates::best},
                          {"sold_out_refusals", &Rates::refusals},
                          {"baseline_mutex_map_claims", &Rates::map_claims},
                          {"baseline_cas_floor_claims", &Rates::cas_claims}};
    if (json) std::printf("{\"seats\":%u,\"runs\":%zu", seats, runs.size());
    for (Line const& line : lines) {
        Summary const summary = summarize(runs, line.figure);
        std::printf(json ? ",\"%s\":{\"median\":%.0f,\"best\":%.0f}"
                         : "%-28s median %12.0f /s   best %12.0f /s\n",
                    line.name, summary.median, summary.best);
    }
    std::printf(json ? ",\"checksum\":%llu}\n" : "checksum %llu\n",
                static_cast<unsigned long long>(checksum));
    return 0;
}
