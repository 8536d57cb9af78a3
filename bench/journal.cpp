// Benchmark of the journal on real files: 64-byte records made durable a second, and replayed.
//
// Cases: an append alone (memory only); one and two producers through fdatasync, until the last
// record is durable; replay of what was written. Beside them the baseline without group commit: one
// pwrite and one fdatasync a record. Replay's checksum proves that every record came back.
// Usage: bench_journal [--smoke] [--json] [--data DIR]. 7 runs (1 with --smoke), median and best.
// DIR decides which disk is measured (default: the folder for temporary files); tmpfs has none.

#include "bench/command_line.hpp"
#include "journal/buffer.hpp"
#include "journal/format.hpp"
#include "tests/support/temp_folder.hpp"

#include <holdfast/base/crc32c.hpp>
#include <holdfast/journal/journal.hpp>
#include <holdfast/journal/recovery.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace holdfast;
using namespace holdfast::journal;

constexpr std::size_t record_bytes = 64;
using Payload = std::array<std::byte, record_bytes - record_header_bytes>;

struct Sizes {
    std::uint64_t records;        // of one run through the journal
    std::uint64_t single_writes;  // of the baseline
    std::uint64_t appends;        // in memory only
    int runs;
};
constexpr Sizes full{2'000'000, 2'000, 20'000'000, 7};
constexpr Sizes smoke{20'000, 20, 200'000, 1};

struct Silent final : DurableListener {
    void durable_advanced() noexcept override {}
};

struct CountingSink final : RecordSink {
    std::uint64_t records{};
    std::uint32_t checksum{};
    bool record(RecordView const& view) override {
        ++records;
        checksum = crc32c(view.payload, checksum);
        return true;
    }
};

void check(std::error_code error) {
    if (error) throw std::system_error(error);
}

double per_second(std::uint64_t count, std::function<void()> const& work) {
    auto const start = std::chrono::steady_clock::now();
    work();
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
    return static_cast<double>(count) / took.count();
}

Payload payload_of(std::uint64_t number) {
    Payload payload{};
    std::memcpy(payload.data(), &number, sizeof number);
    return payload;
}

double append_rate(std::uint64_t count) {
    Buffer buffer{limits::group_bytes_max, no_lsn};
    std::atomic<std::uint64_t> durable{0};
    Payload const payload = payload_of(1);
    return per_second(count, [&] {
        for (std::uint64_t at = 0; at < count; ++at) {
            while (!buffer.reserve(record_bytes)) {
                if (auto const filled = buffer.take()) buffer.release();
            }
            static_cast<void>(buffer.append(RecordType::claim, 1, payload, durable));
        }
    });
}

void produce(Journal& journal, std::uint64_t count) {
    for (std::uint64_t at = 0; at < count; ++at) {
        Payload const payload = payload_of(at);
        while (!journal.reserve(record_bytes)) {
            if (journal.mode() == Mode::failed) return;
            std::this_thread::yield();
        }
        static_cast<void>(journal.append(RecordType::claim, 1, payload));
    }
}

struct Written {
    double durable_rate{};
    double replay_rate{};
    std::uint32_t checksum{};
};

Written through_journal(std::filesystem::path const& below, std::uint64_t records,
                        unsigned producers) {
    test::TempFolder const folder{below};
    PosixDisk disk;
    RunningClock const clock{TimePoint{}};
    Silent listener;
    CountingSink sink;
    Options options;
    options.data = folder.path();
    auto const fresh = recover(folder.path(), disk, {}, sink);
    if (!fresh) throw std::runtime_error(fresh.error().message);
    auto opened = Journal::open(options, disk, clock, fresh->tail, listener);
    if (!opened) throw std::runtime_error(opened.error().message);
    Journal& journal = **opened;
    Written written;
    written.durable_rate = per_second(records, [&] {
        std::vector<std::thread> others;
        for (unsigned at = 1; at < producers; ++at) {
            others.emplace_back([&] { produce(journal, records / producers); });
        }
        produce(journal, records - records / producers * (producers - 1));
        for (auto& other : others) other.join();
        if (!journal.wait_durable(Lsn{records})) throw std::runtime_error("the journal failed");
    });
    journal.close();
    written.replay_rate = per_second(records, [&] {
        auto const again = recover(folder.path(), disk, {}, sink);
        if (!again) throw std::runtime_error(again.error().message);
    });
    if (sink.records != records) throw std::runtime_error("records are missing");
    written.checksum = sink.checksum;
    return written;
}

struct SingleSyncs {
    double rate{};
    std::vector<double> took_us;  // each write and sync
};

SingleSyncs one_sync_a_record(std::filesystem::path const& below, std::uint64_t records) {
    test::TempFolder const folder{below};
    PosixDisk disk;
    std::unique_ptr<File> file;
    check(disk.open(folder.path() / "log", OpenMode::create, file));
    std::vector<std::byte> const zeros(records * record_bytes);
    check(file->write_at(0, zeros));
    check(file->sync_data());
    SingleSyncs syncs;
    syncs.rate = per_second(records, [&] {
        for (std::uint64_t at = 0; at < records; ++at) {
            Payload const payload = payload_of(at);
            double const rate = per_second(1, [&] {
                check(file->write_at(at * record_bytes, payload));
                check(file->sync_data());
            });
            syncs.took_us.push_back(1e6 / rate);
        }
    });
    return syncs;
}

void print_latency(bool json, std::vector<double> took_us) {
    std::sort(took_us.begin(), took_us.end());
    std::printf(json ? ",\"fdatasync_us\":{\"p50\":%.0f,\"p99\":%.0f}"
                     : "one write and fdatasync               p50 %10.0f us    p99 %10.0f us\n",
                took_us[took_us.size() / 2], took_us[took_us.size() * 99 / 100]);
}

void print(bool json, char const* name, std::vector<double> rates) {
    std::sort(rates.begin(), rates.end());
    std::printf(json ? ",\"%s\":{\"median\":%.0f,\"best\":%.0f}"
                     : "%-34s median %12.0f/s   best %12.0f/s\n",
                name, rates[rates.size() / 2], rates.back());
}

void run(Sizes const& sizes, bool json, std::filesystem::path const& below) {
    std::vector<double> appends, one, two, replays, singles, latencies;
    std::uint32_t checksum = 0;
    for (int at = 0; at < sizes.runs; ++at) {
        appends.push_back(append_rate(sizes.appends));
        Written const by_one = through_journal(below, sizes.records, 1);
        Written const by_two = through_journal(below, sizes.records, 2);
        one.push_back(by_one.durable_rate);
        two.push_back(by_two.durable_rate);
        replays.push_back(by_one.replay_rate);
        SingleSyncs const syncs = one_sync_a_record(below, sizes.single_writes);
        singles.push_back(syncs.rate);
        latencies.insert(latencies.end(), syncs.took_us.begin(), syncs.took_us.end());
        checksum = by_one.checksum;
    }
    if (json) std::printf("{\"records\":%llu", static_cast<unsigned long long>(sizes.records));
    print(json, "append_in_memory", appends);
    print(json, "durable_one_producer", one);
    print(json, "durable_two_producers", two);
    print(json, "replay", replays);
    print(json, "baseline_one_fdatasync_a_record", singles);
    print_latency(json, std::move(latencies));
    std::printf(json ? ",\"checksum\":%u}\n" : "checksum %u\n", checksum);
}

}  // namespace

int main(int argc, char** argv) {
    Sizes sizes = full;
    bool json = false;
    std::filesystem::path below;
    CLI::App app("The journal on real files.", "bench_journal");
    app.add_flag_callback("--smoke", [&] { sizes = smoke; }, "Small, one run");
    app.add_flag("--json", json, "JSON lines");
    app.add_option("--data", below, "Where the scratch folder is made: which disk is measured");
    if (auto const code = bench::ending_of_parse(app, argc, argv)) return *code;
#ifndef __OPTIMIZE__
    std::fprintf(stderr, "warning: not an optimized build, the figures mean nothing\n");
#endif
    if (std::thread::hardware_concurrency() < 3) {
        std::fprintf(stderr, "note: producers, the journal thread and upkeep share the cores\n");
    }
    try {
        run(sizes, json, below.empty() ? std::filesystem::temp_directory_path() : below);
    } catch (std::exception const& error) {
        std::fprintf(stderr, "bench_journal: %s\n", error.what());
        return 1;
    }
    return 0;
}
