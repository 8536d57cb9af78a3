// Every n-th allocation of the journal's two threads fails, once or from then on (RELIABILITY.md
// 4.6): nothing acknowledged is lost, nothing fails for good, and both go on.
#include "journal/upkeep.hpp"
#include "tests/engine/failing_memory.hpp"
#include "tests/journal/fixture.hpp"
#include "tests/support/disk_with_memory.hpp"
#include "tests/support/poor_steps.hpp"

#include <holdfast/domain/limits.hpp>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <latch>
#include <pthread.h>
#include <string_view>
#include <thread>
#include <utility>

namespace holdfast::engine::test {
namespace {

namespace files = journal::test;
using std::chrono::steady_clock;

constexpr std::size_t records_of_a_life = 100;  // more than five segments

/// A journal on its threads, as far as one of them has memory.
class PoorJournal {
public:
    PoorJournal(char const* thread, long nth, bool lasting) {
        options_.space_retry = Milliseconds{1};
        fail_allocation_of({thread}, nth, lasting);
        journal_ = files::opened(options_, disk_, clock_, listener_);
    }
    ~PoorJournal() { end_of_failing(); }

    /// Appends and waits; whether it is acknowledged. `patience`: for room.
    bool write(Milliseconds patience = Milliseconds{0}) {
        auto const until = steady_clock::now() + patience;
        std::string const text(3'000, 'r');
        Lsn lsn = files::append_record(*journal_, text);
        while (lsn == no_lsn && steady_clock::now() < until) {
            std::this_thread::yield();
            lsn = files::append_record(*journal_, text);
        }
        if (lsn == no_lsn) return false;
        if (!journal_->wait_durable(lsn)) return false;
        ++acknowledged_;
        return true;
    }
    [[nodiscard]] journal::Mode mode() const { return journal_->mode(); }
    [[nodiscard]] std::size_t acknowledged() const { return acknowledged_; }
    /// What a start after this moment finds.
    [[nodiscard]] std::size_t found(bool& clean) const {
        auto const left = memory_.copy();
        files::CollectingSink sink;
        auto const recovered = journal::recover("data", *left, {}, sink);
        if (!recovered) throw std::runtime_error(recovered.error().message);
        clean = recovered->tail.clean;
        return sink.records.size();
    }
    void close() { journal_->close(); }
    /// A block of so many records that it is written in pieces: they come while the disk is busy.
    bool write_many() {
        std::latch busy{1};
        std::latch free{1};
        bool waited = false;
        memory_.on_change([&] {
            std::array<char, 16> name{};
            ::pthread_getname_np(::pthread_self(), name.data(), name.size());
            if (std::string_view(name.data()) != "journal" || std::exchange(waited, true)) return;
            busy.count_down();
            free.wait();
        });
        Lsn last = files::append_record(*journal_, "before");
        busy.wait();
        journal_->begin_turn();
        for (std::uint32_t record = 0; record <= limits::group_records_max; ++record)
            last = files::append_record(*journal_, "");
        journal_->end_turn();
        acknowledged_ += limits::group_records_max + 2;
        free.count_down();
        bool const written = journal_->wait_durable(last);
        memory_.on_change({});
        return written;
    }

private:
    mutable files::MemoryDisk memory_;
    holdfast::test::DiskWithMemory disk_{memory_};
    RunningClock clock_{TimePoint{}};
    files::CountingListener listener_;
    journal::Options options_ = files::small_options("data");
    std::unique_ptr<journal::Journal> journal_;
    std::size_t acknowledged_{};
};

/// Whether it had so many allocations.
bool write_poorly(char const* thread, long nth, bool lasting) {
    PoorJournal poor(thread, nth, lasting);
    std::size_t written = 0;
    // Without a next segment it is read-only, while there is room for what was accepted.
    while (written < records_of_a_life && poor.write()) ++written;
    CHECK(poor.mode() != journal::Mode::failed);
    bool clean{};
    CHECK(poor.found(clean) >= poor.acknowledged());
    bool const met = end_of_failing();
    for (; written < records_of_a_life; ++written) REQUIRE(poor.write(Milliseconds{20'000}));
    CHECK(poor.mode() != journal::Mode::failed);
    poor.close();
    CHECK(poor.found(clean) == poor.acknowledged());
    CHECK(clean);
    return met;
}

}  // namespace

TEST_CASE("P9: the journal's own thread needs no memory", "[engine][memory][journal_thread]") {
    PoorJournal poor("journal", 1, true);
    for (std::size_t written = 0; written < records_of_a_life; ++written)
        REQUIRE(poor.write(Milliseconds{20'000}));
    REQUIRE(poor.write_many());
    poor.close();
    CHECK(allocations_of_named() == 0);
    CHECK_FALSE(end_of_failing());
    bool clean{};
    CHECK(poor.found(clean) == poor.acknowledged());
    CHECK(clean);
}

TEST_CASE("P9: any allocation of the thread that looks after the journal may fail",
          "[engine][memory][upkeep]") {
    // Spares are made all along, so that a life has more of them than this.
    constexpr long last_tried = 60;
    holdfast::test::PoorSteps steps(10, 0);
    long const step = steps.step(last_tried);
    long failures = 0;
    for (bool const lasting : {false, true}) {
        for (long nth = steps.first(step); nth <= last_tried; nth += step) {
            CAPTURE(lasting, nth);
            if (write_poorly("upkeep", nth, lasting)) ++failures;
        }
    }
    std::printf("failing allocations of the thread that looks after the journal: %ld\n", failures);
    CHECK(failures > 10);
}

TEST_CASE("P9: who waits for META is told that there is no memory to write it",
          "[engine][memory][upkeep]") {
    files::MemoryDisk memory;
    holdfast::test::DiskWithMemory disk{memory};
    files::StillClock clock;
    journal::Options options = files::small_options("data");
    options.space_retry = Milliseconds{0};
    journal::Meta meta{"data", disk};
    REQUIRE_FALSE(meta.store(journal::MetaPage{}));  // its other page has yet to be opened
    journal::SharedState shared;
    shared.live_segment = 5;
    shared.live_bytes_left = options.segment_bytes;
    journal::Upkeep upkeep(options, disk, clock, meta, shared, [] {});
    fail_allocation(1, true);
    bool const kept = upkeep.keep_from(2);
    fail_allocation(0, false);
    CHECK_FALSE(kept);
    CHECK(shared.mode.load() == journal::Mode::running);
    CHECK(upkeep.keep_from(2));
    CHECK(upkeep.take_spare().has_value());
}

}  // namespace holdfast::engine::test
