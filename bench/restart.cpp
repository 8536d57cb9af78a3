// Benchmark of a restart after a great sale, and of the store that follows the journal.
//
// A folder is filled by the engine itself: 20 events of 60,000 seats, of which 500,000 orders buy
// 1,000,000 seats and 100,000 holds keep 200,000 more (with --smoke a thousandth). Then:
//   projector  orders/s from an empty store until every record is applied, each order with its
//              hold, two tickets and its history row;
//   replay     records/s of a recovery and the engine's replay, as a start does them;
//   restart    `holdfast serve` on that folder, from the start of the process to its `ready` line,
//              after a kill -9 of the one before; with the store up to date, and without.
// Usage: bench_restart [--smoke] [--json] [--data DIR]. 5 restarts of each kind, median and worst.

#include "bench/command_line.hpp"
#include "loadgen/child_server.hpp"
#include "tests/support/temp_folder.hpp"

#include <holdfast/engine/engine.hpp>
#include <holdfast/engine/projector.hpp>
#include <holdfast/engine/replay.hpp>
#include <holdfast/journal/recovery.hpp>
#include <holdfast/store/store.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace holdfast;
using namespace std::chrono_literals;
using Seconds = std::chrono::duration<double>;

struct Size {
    std::uint32_t events;
    std::uint32_t rows;  // of an event; each of 50 seats
    std::uint32_t sold;  // seats of an event
    std::uint32_t held;
    int restarts;
};
constexpr Size full{20, 1'200, 50'000, 10'000, 5};
constexpr Size smoke{2, 12, 500, 50, 1};
constexpr std::uint32_t seats_a_row = 50;
constexpr std::uint32_t seats_a_hold = 2;

template <class T>
auto value_of(T result, char const* what) {
    if (!result) throw std::runtime_error(std::string(what) + " failed");
    return *std::move(result);
}

class Listener final : public journal::DurableListener {
public:
    void durable_advanced() noexcept override {
        if (auto* const projector = projector_.load()) projector->notify();
    }
    void attach(engine::Projector* projector) { projector_.store(projector); }

private:
    std::atomic<engine::Projector*> projector_{};
};

struct RefusingSink final : journal::RecordSink {
    bool begin(journal::SegmentStart const&) override { return false; }
    bool record(journal::RecordView const&) override { return false; }
};

EventSpec event_spec(std::uint32_t number, std::uint32_t rows) {
    constexpr std::uint32_t rows_a_section = 24;
    LayoutBuilder builder;
    auto const category = builder.add_category({"std", "Standard", 4'500});
    for (std::uint32_t row = 0; row < rows; ++row) {
        std::string const section = "S" + std::to_string(row / rows_a_section + 1);
        if (row % rows_a_section == 0) {
            Section made;
            made.id = section;
            made.category = category;
            builder.add_section(made);
        }
        std::string const label = std::to_string(row % rows_a_section + 1);
        builder.add_row(label);
        for (std::uint32_t seat = 1; seat <= seats_a_row; ++seat) {
            std::string const name = std::to_string(seat);
            builder.add_seat({section + "-" + label + "-" + name,
                              name,
                              {{seat * 0.5, row * 1.0}, category, std::uint8_t{0}}});
        }
    }
    EventSpec spec;
    spec.slug = "event-" + std::to_string(number);
    spec.name = "Event " + std::to_string(number);
    spec.publish = true;
    spec.policy.hold_ttl = 600s;
    spec.policy.hold_max_life = 900s;
    spec.layout = value_of(std::move(builder).build(), "building a layout");
    return spec;
}

/// What serves in one process: the folder's parts, without threads of their own.
class Sale {
public:
    Sale(std::filesystem::path const& data, Size const& size) : size_(size) {
        RefusingSink sink;
        auto const fresh = value_of(journal::recover(data, disk_, {}, sink), "recovery");
        key_.emplace(engine::ServerKey::load_or_make(data / "server.key", fresh.tail.store_id));
        journal::Options options;
        options.data = data;
        journal_ = value_of(journal::Journal::open(options, disk_, clock_, fresh.tail, listener_),
                            "opening the journal");
        store_ = value_of(store::Store::open(data / "store.db", fresh.tail.store_id), "the store");
        engine_.emplace(*journal_, engine::EngineOptions{});
        for (std::uint32_t number = 1; number <= size.events; ++number) {
            EventSpec spec = event_spec(number, size.rows);
            spec.created_at = clock_.now();
            spec.id = *value_of(store_->insert_event(spec), "inserting an event");
            auto* const event = engine_->add(std::make_shared<EventSpec const>(std::move(spec)));
            engine_->build(*event, {});
            events_.push_back(event);
        }
        if (!store_->checkpoint()) throw std::runtime_error("the checkpoint failed");
    }

    /// Sells and holds, as durable as over HTTP.
    void fill() {
        for (std::uint32_t event = 0; event < size_.events; ++event) {
            for (std::uint32_t seat = 0; seat < size_.sold + size_.held; seat += seats_a_hold) {
                auto const hold = claim(*events_[event], SeatIndex{seat});
                if (seat < size_.sold) confirm(hold);
            }
        }
        if (!journal_->wait_durable(journal_->appended_lsn()))
            throw std::runtime_error("the journal failed");
    }

    /// How long the store took to follow.
    Seconds project(std::filesystem::path const& data) {
        engine::Projector projector(*store_, *journal_, disk_, data, *engine_, *key_);
        listener_.attach(&projector);
        auto const began = std::chrono::steady_clock::now();
        std::thread thread([&] { projector.run(); });
        bool const done = projector.wait_applied(journal_->durable_lsn(), 10min);
        Seconds const took = std::chrono::steady_clock::now() - began;
        listener_.attach(nullptr);
        projector.stop();
        thread.join();
        if (!done) throw std::runtime_error("the store did not follow");
        return took;
    }

    [[nodiscard]] std::uint64_t orders() const noexcept { return orders_; }
    [[nodiscard]] std::uint64_t holds() const noexcept { return holds_ - orders_; }
    void close() { journal_->close(); }

private:
    engine::HoldName claim(engine::LiveEvent& event, SeatIndex first) {
        lines_[0].kind = engine::ClaimLine::Kind::seats;
        lines_[0].seats = {first, SeatIndex{first.value() + 1}};
        for (;;) {
            auto const hold =
                engine_->claim({.event = &event, .lines = lines_, .ttl = {}}, clock_.now(), seats_);
            if (hold) {
                ++holds_;
                return hold->name;
            }
            wait_or_throw(hold.error().code);
        }
    }
    void confirm(engine::HoldName const& hold) {
        std::array const holds{hold};
        OrderId const order = engine::make_order_id();
        for (;;) {
            auto const placed = engine_->confirm({order, holds}, clock_.now());
            if (placed) {
                ++orders_;
                return;
            }
            wait_or_throw(placed.error().code);
        }
    }
    void wait_or_throw(RefusalCode kind) {
        if (kind != RefusalCode::overloaded) throw std::runtime_error("a claim was refused");
        std::this_thread::yield();  // the journal's buffers are full
    }

    Size size_;
    journal::PosixDisk disk_;
    RunningClock clock_{TimePoint{}};
    std::optional<engine::ServerKey> key_;
    Listener listener_;
    std::unique_ptr<journal::Journal> journal_;
    std::unique_ptr<store::Store> store_;
    std::optional<engine::Engine> engine_;
    std::vector<engine::LiveEvent*> events_;
    std::array<engine::ClaimLine, 1> lines_;
    std::vector<SeatIndex> seats_;
    std::uint64_t holds_{};
    std::uint64_t orders_{};
};

std::uint64_t bytes_below(std::filesystem::path const& folder, std::string const& extension) {
    std::uint64_t bytes = 0;
    for (auto const& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == extension) bytes += entry.file_size();
    return bytes;
}

/// Seconds from starting the process to `ready`, each after a kill -9 of the one before.
std::vector<double> restarts(std::filesystem::path const& data, int count,
                             std::filesystem::path const& log) {
    std::vector<double> took;
    for (int at = 0; at < count; ++at) {
        loadgen::ChildServer server({.executable = HOLDFAST_EXECUTABLE,
                                     .data = data,
                                     .log = log,
                                     .environment = {"HOLDFAST_LOG_LEVEL=warn"}});
        auto const began = std::chrono::steady_clock::now();
        if (auto const started = server.start(); !started)
            throw std::runtime_error("a restart failed; see " + log.string());
        took.push_back(Seconds(std::chrono::steady_clock::now() - began).count());
        server.kill_now();
    }
    std::sort(took.begin(), took.end());
    return took;
}

class ReplaySink final : public journal::RecordSink {
public:
    explicit ReplaySink(Size const& size) : replay_(places_of(size)) {}
    bool begin(journal::SegmentStart const&) override { return true; }
    bool record(journal::RecordView const& view) override { return replay_.record(view); }

private:
    static std::map<EventId, std::uint32_t> places_of(Size const& size) {
        std::map<EventId, std::uint32_t> places;
        for (std::uint32_t event = 1; event <= size.events; ++event)
            places[EventId{event}] = size.rows * seats_a_row;
        return places;
    }
    engine::Replay replay_;
};

/// Records a second of reading the journal back, median of `count`.
double replay_rate(std::filesystem::path const& data, Size const& size, int count) {
    std::vector<double> rates;
    for (int at = 0; at < count; ++at) {
        journal::PosixDisk disk;
        ReplaySink sink(size);
        auto const began = std::chrono::steady_clock::now();
        auto const read = value_of(journal::recover(data, disk, {}, sink), "recovery");
        Seconds const took = std::chrono::steady_clock::now() - began;
        rates.push_back(static_cast<double>(read.records) / took.count());
    }
    std::sort(rates.begin(), rates.end());
    return rates[rates.size() / 2];
}

void print(bool json, char const* name, char const* unit, double value, double worst) {
    std::printf(json ? ",\"%s_%s\":{\"median\":%.3f,\"worst\":%.3f}"
                     : "%-40s %s   median %.3f   worst %.3f\n",
                name, unit, value, worst);
}

void run(Size const& size, bool json, std::filesystem::path const& below) {
    test::TempFolder const folder(below);
    auto const data = folder.path() / "data";
    auto const behind = folder.path() / "behind";  // the same journal, whose store knows no order
    std::filesystem::create_directory(data);
    double orders_a_second = 0;
    {
        Sale sale(data, size);
        sale.fill();
        std::filesystem::create_directory(behind);
        std::filesystem::copy(data / "store.db", behind / "store.db");
        Seconds const took = sale.project(data);
        orders_a_second = static_cast<double>(sale.orders()) / took.count();
        sale.close();
        std::printf(json ? "{\"orders\":%llu,\"holds\":%llu,\"journal_bytes\":%llu"
                         : "%llu orders of two seats, %llu live holds of two, journal %llu bytes\n",
                    static_cast<unsigned long long>(sale.orders()),
                    static_cast<unsigned long long>(sale.holds()),
                    static_cast<unsigned long long>(bytes_below(data / "journal", ".hfj")));
    }
    for (char const* const part : {"META.a", "META.b", "server.key"})
        std::filesystem::copy(data / part, behind / part);
    std::filesystem::copy(data / "journal", behind / "journal");
    print(json, "projector", "orders_a_second", orders_a_second, orders_a_second);
    double const replayed = replay_rate(data, size, size.restarts);
    print(json, "replay", "records_a_second", replayed, replayed);
    for (auto const& [name, at] :
         {std::pair{"restart", &data}, {"restart_store_behind", &behind}}) {
        auto const took = restarts(*at, size.restarts, folder.path() / "log");
        print(json, name, "seconds", took[took.size() / 2], took.back());
    }
    if (json) std::printf("}\n");
}

}  // namespace

int main(int argc, char** argv) {
    Size size = full;
    bool json = false;
    std::filesystem::path below = std::filesystem::temp_directory_path();
    CLI::App app("Restarts after a great sale, and the store that follows.", "bench_restart");
    app.add_flag_callback("--smoke", [&] { size = smoke; }, "A thousandth");
    app.add_flag("--json", json, "JSON lines");
    app.add_option("--data", below, "Where the scratch folder is made");
    if (auto const code = bench::ending_of_parse(app, argc, argv)) return *code;
#ifndef __OPTIMIZE__
    std::fprintf(stderr, "warning: not an optimized build, the figures mean nothing\n");
#endif
    try {
        run(size, json, below);
    } catch (std::exception const& error) {
        std::fprintf(stderr, "bench_restart: %s\n", error.what());
        return 1;
    }
    return 0;
}
