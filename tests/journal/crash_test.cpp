#include "tests/journal/fixture.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

namespace {

using namespace holdfast;
using namespace holdfast::journal;
using namespace holdfast::journal::test;

constexpr int producers = 2;

// Appends records "producer:run:number" until told to stop or refused for good.
void produce(Journal& journal, int producer, int run, std::atomic<bool> const& stop) {
    std::mt19937_64 random{static_cast<std::uint64_t>(producer * 1'000 + run)};
    for (std::uint64_t at = 0; !stop.load();) {
        std::string text =
            std::to_string(producer) + ":" + std::to_string(run) + ":" + std::to_string(at) + " ";
        text.resize(text.size() + random() % 400, 'p');
        if (append_record(journal, text) != no_lsn) {
            ++at;
        } else if (journal.mode() == Mode::failed) {
            return;
        } else {
            std::this_thread::yield();
        }
    }
}

// LSNs are dense, and the records of each producer and run stand in the order it appended them.
std::string what_is_wrong(std::vector<Record> const& records) {
    std::map<std::pair<int, int>, std::uint64_t> next;
    for (std::size_t at = 0; at < records.size(); ++at) {
        if (records[at].lsn != at + 1) return "LSN gap before " + std::to_string(records[at].lsn);
        int producer{};
        int run{};
        unsigned long long number{};
        if (std::sscanf(records[at].payload.c_str(), "%d:%d:%llu ", &producer, &run, &number) !=
            3) {
            return "unreadable record at LSN " + std::to_string(at + 1);
        }
        if (number != next[{producer, run}]++) {
            return "out of order at LSN " + std::to_string(at + 1);
        }
    }
    return "";
}

struct Crash {
    std::unique_ptr<MemoryDisk> left;
    std::uint64_t acknowledged{};
};

// Starts the journal, lets producers append, and cuts the power right after the n-th change of the
// disk: that may be within the start, a group, a rotation or a refresh of META.
Crash run_and_crash(MemoryDisk& disk, Tail const& tail, int run, std::uint64_t n,
                    std::mt19937_64& random) {
    CountingListener listener;
    StillClock clock;
    Crash crash;
    std::atomic<Journal*> running{nullptr};
    std::atomic<std::uint64_t> changes{0};
    std::atomic<bool> stop{false};
    disk.on_change([&] {
        if (changes.fetch_add(1) + 1 != n) return;
        Journal const* const journal = running.load();
        crash.acknowledged = (journal != nullptr ? journal->durable_lsn() : tail.last_lsn).value();
        crash.left = disk.crashed(random);
        stop.store(true);
    });
    {
        auto opened = Journal::open(small_options("data"), disk, clock, tail, listener);
        if (!opened) {
            disk.on_change(nullptr);
            return {};
        }
        running.store(opened->get());
        std::vector<std::thread> threads;
        for (int producer = 0; producer < producers; ++producer) {
            threads.emplace_back([&, producer] { produce(**opened, producer, run, stop); });
        }
        for (auto& thread : threads) thread.join();
        (*opened)->close();
    }
    disk.on_change(nullptr);
    return crash;
}

}  // namespace

TEST_CASE("P3: power cuts in mid-flight lose nothing acknowledged, over chains of runs",
          "[journal][crash]") {
    std::mt19937_64 random{seed_of_run()};
    std::size_t torn = 0;
    for (int chain = 0; chain < 60; ++chain) {
        auto disk = std::make_unique<MemoryDisk>();
        std::uint64_t acknowledged = 0;
        for (int run = 0; run < 4; ++run) {
            CollectingSink sink;
            auto const recovered = recover("data", *disk, {}, sink);
            if (!recovered) FAIL(recovered.error().message);
            CAPTURE(chain, run);
            REQUIRE(what_is_wrong(sink.records) == "");
            REQUIRE(sink.records.size() >= acknowledged);
            REQUIRE(recovered->tail.last_lsn.value() == sink.records.size());
            REQUIRE(recovered->tail.boot_epoch <= static_cast<std::uint32_t>(run));
            REQUIRE_FALSE(recovered->tail.clean);
            torn += recovered->cut_bytes != 0 ? 1 : 0;
            // Recovery may itself be cut short, any number of times: it says the same again.
            CollectingSink again;
            auto const second = recover("data", *disk, {}, again);
            REQUIRE(second.has_value());
            REQUIRE(again.records == sink.records);
            REQUIRE(second->tail.chain == recovered->tail.chain);
            Crash crash = run_and_crash(*disk, recovered->tail, run, 1 + random() % 150, random);
            REQUIRE(crash.left != nullptr);
            acknowledged = crash.acknowledged;
            disk = std::move(crash.left);
        }
    }
    std::printf("torn tails met: %zu\n", torn);
    CHECK(torn > 0);
}

TEST_CASE("kill -9 at any moment loses nothing acknowledged", "[journal][crash]") {
    std::mt19937_64 random{seed_of_run()};
    MemoryDisk disk;
    CollectingSink sink;
    CountingListener listener;
    StillClock clock;
    auto const fresh = recover("data", disk, {}, sink);
    REQUIRE(fresh.has_value());
    auto opened = Journal::open(small_options("data"), disk, clock, fresh->tail, listener);
    REQUIRE(opened.has_value());
    std::atomic<bool> stop{false};
    std::thread producer{[&] { produce(**opened, 0, 0, stop); }};
    std::vector<std::pair<std::uint64_t, std::unique_ptr<MemoryDisk>>> kills;
    for (std::uint64_t at = 0; at < 20; ++at) {
        static_cast<void>((*opened)->wait_durable(Lsn{at * 40}));
        std::uint64_t const acknowledged = (*opened)->durable_lsn().value();
        kills.emplace_back(acknowledged, disk.copy());
    }
    stop.store(true);
    producer.join();
    for (auto const& [acknowledged, left] : kills) {
        CollectingSink found;
        auto const recovered = recover("data", *left, {}, found);
        REQUIRE(recovered.has_value());
        REQUIRE(what_is_wrong(found.records) == "");
        REQUIRE(found.records.size() >= acknowledged);
    }
}

TEST_CASE("the tail of an earlier run is never written to again", "[journal][crash]") {
    std::mt19937_64 random{seed_of_run()};
    MemoryDisk disk;
    CollectingSink sink;
    auto recovered = recover("data", disk, {}, sink);
    REQUIRE(recovered.has_value());
    auto crash = run_and_crash(disk, recovered->tail, 0, 100, random);
    REQUIRE(crash.left != nullptr);
    MemoryDisk& left = *crash.left;
    auto const after = recover("data", left, {}, sink);
    REQUIRE(after.has_value());
    std::map<std::string, Bytes> before;
    for (auto const& path : left.paths()) {
        if (path.find(".hfj") != std::string::npos) before[path] = left.bytes(path);
    }
    REQUIRE_FALSE(before.empty());
    auto second = run_and_crash(left, after->tail, 1, 100, random);
    REQUIRE(second.left != nullptr);
    for (auto const& [path, bytes] : before) {
        CAPTURE(path);
        CHECK(left.bytes(path) == bytes);
    }
}

TEST_CASE("an idle journal closes its last group, so that damage to it is found",
          "[journal][crash]") {
    MemoryDisk disk;
    CollectingSink sink;
    CountingListener listener;
    StillClock clock;
    auto const fresh = recover("data", disk, {}, sink);
    REQUIRE(fresh.has_value());
    auto opened = Journal::open(small_options("data"), disk, clock, fresh->tail, listener);
    REQUIRE(opened.has_value());
    auto const before = disk.copy();
    Lsn const lsn = append_record(**opened, "the last one");
    REQUIRE((*opened)->wait_durable(lsn));
    auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds{30};
    bool found = false;
    while (!found && std::chrono::steady_clock::now() < deadline) {
        auto killed = disk.copy();
        // Damage the record in the first group. META as it was before it, so that only a later
        // group can prove that it was acknowledged.
        killed->bytes("data/journal/0000000000000001.hfj")[4'096 + 76] ^= std::byte{1};
        for (auto const* const meta : {"data/META.a", "data/META.b"}) {
            killed->bytes(meta) = before->bytes(meta);
        }
        CollectingSink none;
        auto const result = recover("data", *killed, {}, none);
        found = !result.has_value();
        if (!found) std::this_thread::yield();
    }
    CHECK(found);
}

TEST_CASE("P3: the name of the last segment is on disk before the next one has one",
          "[journal][crash]") {
    std::string const second = "data/journal/0000000000000002.hfj";
    std::string const third = "data/journal/0000000000000003.hfj";
    MemoryDisk disk;
    CountingListener listener;
    StillClock const clock;
    auto const start = [&] {
        CollectingSink sink;
        auto const recovered = recover("data", disk, {}, sink);
        REQUIRE(recovered.has_value());
        return Journal::open(small_options("data"), disk, clock, recovered->tail, listener);
    };
    REQUIRE(start().has_value());
    // A start that ends right after the second segment got its name, which is not synced.
    for (long syncs = 0; !disk.has(second); ++syncs) {
        REQUIRE(syncs < 8);
        disk.change_faults([&](auto& faults) { faults.folder_syncs_until_error = syncs; });
        REQUIRE_FALSE(start().has_value());
    }
    disk.change_faults([](auto& faults) { faults.folder_syncs_until_error = -1; });
    std::mt19937_64 random{seed_of_run()};
    std::atomic<bool> met{false};
    std::atomic<bool> lost{false};
    disk.on_change([&] {
        if (met || !disk.has(third)) return;
        // The power is cut now, and the new name is not kept.
        for (int tries = 0; !met && tries < 64; ++tries) {
            auto const left = disk.crashed(random);
            if (left->has(third)) continue;
            met = true;
            lost = !left->has(second);
        }
    });
    REQUIRE(start().has_value());
    disk.on_change({});
    CHECK(met);
    CHECK_FALSE(lost);
}
