#include "journal/journal_core.hpp"
#include "tests/journal/fixture.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

namespace {

using namespace holdfast;
using namespace holdfast::journal;
using namespace holdfast::journal::test;

using FaultMember = long MemoryDisk::Faults::*;

struct Setup {
    MemoryDisk disk;
    CountingListener listener;
    RunningClock clock{TimePoint{}};
    Options options = small_options("data");

    ResultOf<std::unique_ptr<Journal>, Failure> open() {
        CollectingSink sink;
        auto const recovered = recover("data", disk, {}, sink);
        if (!recovered) return recovered.error();
        return Journal::open(options, disk, clock, recovered->tail, listener);
    }
};

// Waits for what another thread is about to do; false if it does not within 30 s.
template <class Condition>
bool eventually(Condition const& condition) {
    auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds{30};
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::yield();
    }
    return true;
}

struct FailedRun {
    bool opened{};
    int open_exit_code{};
    bool failed{};
    std::uint64_t acknowledged{};  // by wait_durable before the failure
    std::uint64_t durable_at_end{};
    bool acknowledged_later{};
};

// Lets the n-th call of a kind fail, and all after it, while records go in one by one.
FailedRun run_with_fault(Setup& setup, FaultMember kind, long n, bool after_open) {
    FailedRun run;
    auto const arm = [&] {
        setup.disk.change_faults([&](MemoryDisk::Faults& faults) { faults.*kind = n; });
    };
    if (!after_open) arm();
    auto opened = setup.open();
    run.opened = opened.has_value();
    if (!run.opened) {
        run.open_exit_code = opened.error().exit_code;
        return run;
    }
    if (after_open) arm();
    Journal& journal = **opened;
    for (int at = 0; at < 200 && !run.failed; ++at) {
        Lsn const lsn = append_record(journal, std::string(1'000, 'r'));
        if (lsn == no_lsn || !journal.wait_durable(lsn)) {
            run.failed = journal.mode() == Mode::failed;
        } else {
            run.acknowledged = lsn.value();
        }
    }
    if (run.failed) {
        // The disk works again, and nothing changes: a failed sync is final.
        setup.disk.change_faults([&](MemoryDisk::Faults& faults) { faults.*kind = -1; });
        run.acknowledged_later = append_record(journal, "late") != no_lsn;
    }
    journal.close();
    run.durable_at_end = journal.durable_lsn().value();
    return run;
}

}  // namespace

TEST_CASE("P9: every n-th failing call ends in a refused start or a failed journal",
          "[journal][fault]") {
    std::mt19937_64 random{seed_of_run()};
    std::size_t refused_starts = 0;
    std::size_t failed_runs = 0;
    for (FaultMember const kind :
         {&MemoryDisk::Faults::writes_until_error, &MemoryDisk::Faults::syncs_until_error,
          &MemoryDisk::Faults::renames_until_error,
          &MemoryDisk::Faults::folder_syncs_until_error}) {
        for (long n = 0; n < 40; ++n) {
            Setup setup;
            auto const run = run_with_fault(setup, kind, n, false);
            CAPTURE(n);
            if (!run.opened) {
                ++refused_starts;
                REQUIRE(run.open_exit_code == 76);
            } else {
                failed_runs += run.failed ? 1 : 0;
                REQUIRE_FALSE(run.acknowledged_later);
                if (run.failed) REQUIRE(run.durable_at_end == run.acknowledged);
            }
            // A start on what a power cut would leave finds every acknowledged record.
            auto const left = setup.disk.crashed(random);
            CollectingSink sink;
            auto const recovered = recover("data", *left, {}, sink);
            if (!recovered) FAIL(recovered.error().message);
            REQUIRE(sink.records.size() >= run.acknowledged);
        }
    }
    CHECK(refused_starts > 5);
    CHECK(failed_runs > 30);
}

TEST_CASE("a failed sync wakes the waiters, tells the listener, and refuses all that follows",
          "[journal][fault]") {
    Setup setup;
    auto opened = setup.open();
    REQUIRE(opened.has_value());
    Journal& journal = **opened;
    Lsn const first = append_record(journal, "kept");
    REQUIRE(journal.wait_durable(first));
    REQUIRE(journal.reserve(100));
    setup.disk.change_faults([](auto& faults) { faults.syncs_until_error = 0; });
    std::uint64_t const calls = setup.listener.calls.load();
    Lsn lost = append_record(journal, "never acknowledged");
    // The idle group may have met the fault first; then the journal refuses at once.
    if (lost != no_lsn) CHECK_FALSE(journal.wait_durable(lost));
    CHECK(eventually([&] { return journal.mode() == Mode::failed; }));
    CHECK(eventually([&] { return setup.listener.calls.load() > calls; }));
    CHECK_FALSE(journal.reserve(1));
    // What was reserved before may still be appended: it waits for nothing and is never durable.
    Lsn const late = journal.append(RecordType::claim, 1, bytes_of("late"));
    CHECK(late != no_lsn);
    CHECK_FALSE(journal.wait_durable(late));
    journal.close();
    CHECK(journal.mode() == Mode::failed);
    CHECK(journal.durable_lsn() == first);
}

TEST_CASE("no space for the next segment makes the journal read-only until there is",
          "[journal][fault]") {
    Setup setup;
    setup.options.space_retry = Milliseconds{20};
    auto opened = setup.open();
    REQUIRE(opened.has_value());
    Journal& journal = **opened;
    setup.disk.change_faults([](auto& faults) { faults.no_space_for_spares = true; });
    std::uint64_t appended = 0;
    // The spares that were made before are used up first; then the last quarter is not begun.
    bool const stopped = eventually([&] {
        Lsn const lsn = append_record(journal, std::string(1'000, 's'));
        if (lsn != no_lsn) {
            ++appended;
            if (!journal.wait_durable(lsn)) return true;
        }
        return journal.mode() == Mode::read_only;
    });
    REQUIRE(stopped);
    REQUIRE(journal.mode() == Mode::read_only);
    CHECK_FALSE(journal.reserve(1));
    CHECK(journal.durable_lsn() == Lsn{appended});
    setup.disk.change_faults([](auto& faults) { faults.no_space_for_spares = false; });
    REQUIRE(eventually([&] { return journal.mode() == Mode::running; }));
    Lsn const lsn = append_record(journal, "healed");
    REQUIRE(lsn == Lsn{appended + 1});
    CHECK(journal.wait_durable(lsn));
    journal.close();
    CollectingSink sink;
    auto const recovered = recover("data", setup.disk, {}, sink);
    REQUIRE(recovered.has_value());
    CHECK(recovered->tail.clean);
    CHECK(sink.records.size() == appended + 1);
}

TEST_CASE("little free space makes the journal read-only at once and heals", "[journal][fault]") {
    Setup setup;
    setup.options.space_retry = Milliseconds{20};
    setup.options.free_bytes_min = 1'000'000;
    auto opened = setup.open();
    REQUIRE(opened.has_value());
    Journal& journal = **opened;
    REQUIRE(journal.wait_durable(append_record(journal, "before")));
    setup.disk.change_faults([](auto& faults) { faults.free_bytes = 999'999; });
    REQUIRE(eventually([&] { return journal.mode() == Mode::read_only; }));
    CHECK_FALSE(journal.reserve(10));
    setup.disk.change_faults([](auto& faults) { faults.free_bytes = 1'000'000; });
    REQUIRE(eventually([&] { return journal.mode() == Mode::running; }));
    CHECK(journal.wait_durable(append_record(journal, "after")));
}

TEST_CASE("a stop without space for the seal is an unclean stop, not a hang", "[journal][fault]") {
    Setup setup;
    setup.options.space_retry = Milliseconds{20};
    auto opened = setup.open();
    REQUIRE(opened.has_value());
    Journal& journal = **opened;
    REQUIRE(journal.reserve(30'000));
    setup.disk.change_faults([](auto& faults) { faults.no_space_for_spares = true; });
    REQUIRE(eventually([&] {
        if (append_record(journal, std::string(1'000, 's')) != no_lsn) return false;
        return journal.mode() == Mode::read_only;
    }));
    // The reservation made before is honoured even now, and fills the live segment.
    for (int at = 0; at < 25; ++at) {
        static_cast<void>(journal.append(RecordType::claim, 1, bytes_of(std::string(1'000, 't'))));
    }
    journal.close();
    std::uint64_t const acknowledged = journal.durable_lsn().value();
    CollectingSink sink;
    auto const recovered = recover("data", setup.disk, {}, sink);
    REQUIRE(recovered.has_value());
    CHECK(sink.records.size() >= acknowledged);
}

TEST_CASE("P9: a META that cannot be written ends acknowledging like a failed sync",
          "[journal][fault]") {
    for (FaultMember const kind :
         {&MemoryDisk::Faults::writes_until_error, &MemoryDisk::Faults::syncs_until_error}) {
        MemoryDisk disk;
        CollectingSink sink;
        CountingListener listener;
        StillClock clock;
        auto const fresh = recover("data", disk, {}, sink);
        REQUIRE(fresh.has_value());
        Options const options = small_options("data");
        bool told = false;
        JournalCore core{options, disk, clock, fresh->tail, listener, [&told] { told = true; }};
        REQUIRE_FALSE(core.prepare(fresh->tail));
        core.upkeep().look();  // makes the spares
        REQUIRE(core.reserve(record_header_bytes));
        core.append(RecordType::claim, 1, {});
        REQUIRE(core.write_next());
        disk.change_faults([&](auto& faults) {
            faults.*kind = 0;
            faults.error_once = true;
        });
        core.upkeep().look();  // would refresh the watermark
        CHECK(told);
        CHECK(core.mode() == Mode::failed);
        CHECK_FALSE(core.reserve(record_header_bytes));
        CHECK(core.durable_lsn() == Lsn{1});
    }
}
