// What waits for a slow disk, and for how long.
#include "journal/straggler_watch.hpp"
#include "tests/journal/fixture.hpp"
#include "tests/support/forwarding_disk.hpp"

#include <catch2/catch.hpp>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

namespace {

using namespace holdfast;
using namespace holdfast::journal;
using namespace holdfast::journal::test;
using namespace std::chrono_literals;

/// Who passes while it is shut waits in it.
class SlowGate {
public:
    void shut() {
        std::lock_guard const lock(mutex_);
        open_ = false;
    }
    void open() {
        {
            std::lock_guard const lock(mutex_);
            open_ = true;
        }
        changed_.notify_all();
    }
    void pass() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return open_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_{true};
};

/// Lets everybody out when a test ends, however it does: a journal waits for its threads.
struct OpensAtLast {
    explicit OpensAtLast(SlowGate& the_gate) : gate(the_gate) {}
    ~OpensAtLast() { gate.open(); }
    OpensAtLast(OpensAtLast const&) = delete;
    OpensAtLast& operator=(OpensAtLast const&) = delete;
    SlowGate& gate;
};

/// No spare is made while its gate is shut.
class DiskSlowWithSpares final : public holdfast::test::ForwardingDisk {
public:
    std::error_code open(Path const& name, OpenMode mode, std::unique_ptr<File>& file) override {
        if (mode == OpenMode::create && name.filename().string().starts_with("next-")) gate.pass();
        return ForwardingDisk::open(name, mode, file);
    }
    SlowGate gate;
};

bool becomes(Journal const& journal, Mode mode) {
    auto const deadline = std::chrono::steady_clock::now() + 20s;
    while (std::chrono::steady_clock::now() < deadline) {
        if (journal.mode() == mode) return true;
        std::this_thread::yield();
    }
    return false;
}

}  // namespace

TEST_CASE("P14: a spare that is slow to make turns the journal read-only, and delays nothing",
          "[journal][slow]") {
    TempFolder const folder;
    DiskSlowWithSpares disk;
    StillClock clock;
    CountingListener listener;
    auto const journal = opened(small_options(folder.path()), disk, clock, listener);
    OpensAtLast const at_last(disk.gate);
    disk.gate.shut();
    // Those that are ready or being made are used up; each record is acknowledged all the same.
    int accepted = 0;
    for (; accepted < 1'000; ++accepted) {
        auto const began = std::chrono::steady_clock::now();
        Lsn const lsn = append_record(*journal, std::string(1'000, 's'));
        if (lsn == no_lsn) break;
        REQUIRE(journal->wait_durable(lsn));
        REQUIRE(std::chrono::steady_clock::now() - began < 10s);
    }
    CHECK(accepted > 4);
    CHECK(accepted < 1'000);
    CHECK(journal->mode() == Mode::read_only);
    disk.gate.open();
    REQUIRE(becomes(*journal, Mode::running));
    CHECK(journal->wait_durable(append_record(*journal, "after")));
    journal->close();
}

TEST_CASE("P15: who waits until META names a segment can be let go while a spare is slow to make",
          "[journal][slow]") {
    TempFolder const folder;
    DiskSlowWithSpares disk;
    StillClock clock;
    CountingListener listener;
    auto const journal = opened(small_options(folder.path()), disk, clock, listener);
    OpensAtLast const at_last(disk.gate);
    disk.gate.shut();
    // Then the upkeep stands at the gate.
    for (Lsn lsn{1}; lsn != no_lsn;) {
        lsn = append_record(*journal, std::string(1'000, 's'));
        if (lsn != no_lsn) REQUIRE(journal->wait_durable(lsn));
    }
    auto kept = std::async(std::launch::async, [&journal] { return journal->keep_from(2); });
    journal->end_keep_from();
    bool const let_go = kept.wait_for(20s) == std::future_status::ready;
    CHECK(let_go);
    // It waits no longer from then on.
    auto again = std::async(std::launch::async, [&journal] { return journal->keep_from(2); });
    bool const waits_no_longer = again.wait_for(20s) == std::future_status::ready;
    CHECK(waits_no_longer);
    disk.gate.open();
    CHECK_FALSE(kept.get());
    CHECK_FALSE(again.get());
    journal->close();
}

TEST_CASE("P14: a bounded wait for the disk ends while a sync hangs", "[journal][slow]") {
    SlowGate gate;
    MemoryDisk disk;
    StillClock clock;
    CountingListener listener;
    auto const journal = opened(small_options("data"), disk, clock, listener);
    OpensAtLast const at_last(gate);
    Lsn const before = append_record(*journal, "before");
    REQUIRE(journal->wait_durable_for(before, 20s));
    gate.shut();
    disk.on_change([&gate] { gate.pass(); });
    Lsn const hung = append_record(*journal, "hung");
    CHECK_FALSE(journal->wait_durable_for(hung, 20ms));
    CHECK(journal->wait_durable_for(before, 20ms));
    gate.open();
    CHECK(journal->wait_durable_for(hung, 20s));
    journal->close();
    disk.on_change({});
}

TEST_CASE("P9: a journal that is full is opened with its first record", "[journal][slow]") {
    MemoryDisk disk;
    StillClock clock;
    CountingListener listener;
    Options options = small_options("data");
    options.journal_bytes_max = small_segment;  // the first segment and its spares are more
    for (int start = 1; start <= 3; ++start) {
        FirstRecord first{RecordType::clock, 1, {}};
        auto const text = bytes_of("the grace of a start");
        first.payload.assign(text.begin(), text.end());
        auto const journal = opened(options, disk, clock, listener, first);
        Lsn const grace{static_cast<std::uint64_t>(start)};
        CHECK(journal->durable_lsn() >= grace);
        REQUIRE(becomes(*journal, Mode::read_only));
        CHECK(append_record(*journal, "more") == no_lsn);
        journal->close();
        CollectingSink sink;
        REQUIRE(recover(options.data, disk, {}, sink).has_value());
        CHECK(sink.records.size() == grace.value());
    }
}

TEST_CASE("a process that was stopped does not take a producer for a stuck one",
          "[journal][slow]") {
    StragglerWatch::Time now{};
    StragglerWatch watch(now);
    // SIGSTOP, or a machine that was paused: one long step.
    for (auto const pause : {60s, 3'600s, 86'400s}) {
        now += pause;
        CHECK(watch.lasts(now));
    }
    // One that is stuck while this process runs.
    std::chrono::milliseconds ran = 3 * StragglerWatch::step_max;
    for (; ran < StragglerWatch::patience - 1ms; ran += 1ms) REQUIRE(watch.lasts(now += 1ms));
    CHECK_FALSE(watch.lasts(now += 1ms));
}
