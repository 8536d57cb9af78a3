// Every n-th allocation of a start fails, once or from then on: the start ends there, and the next
// one with memory finds the journal as it was.
#include "journal/journal_core.hpp"
#include "tests/engine/failing_memory.hpp"
#include "tests/journal/fixture.hpp"

#include <catch2/catch.hpp>
#include <cstdio>
#include <new>

namespace holdfast::engine::test {
namespace {

namespace files = journal::test;

constexpr std::size_t poor_records = 60;

struct PoorStart {
    explicit PoorStart(files::MemoryDisk& on) : disk(on) {}
    /// Recovery, and all that a start writes before anything may be appended.
    bool run() {
        auto const recovered = journal::recover("data", disk, {}, sink);
        if (!recovered) return false;
        core = std::make_unique<journal::JournalCore>(options, disk, clock, recovered->tail,
                                                      listener, [] {});
        return !core->prepare(recovered->tail);
    }

    files::MemoryDisk& disk;
    files::CollectingSink sink;
    files::CountingListener listener;
    files::StillClock clock;
    journal::Options options = files::small_options("data");
    std::unique_ptr<journal::JournalCore> core;
};

/// Two segments, and no stop.
std::unique_ptr<files::MemoryDisk> killed_journal() {
    files::MemoryDisk disk;
    PoorStart start(disk);
    REQUIRE(start.run());
    start.core->upkeep().look();
    std::string const text(2'000, 'r');
    for (std::size_t number = 0; number < poor_records; ++number) {
        REQUIRE(start.core->reserve(journal::record_header_bytes + text.size()));
        start.core->append(journal::RecordType::claim, 1, files::bytes_of(text));
        REQUIRE(start.core->write_next());
    }
    return disk.copy();
}

}  // namespace

TEST_CASE("P9: any allocation of a start may fail, and the next start finds everything",
          "[engine][memory]") {
    auto const killed = killed_journal();
    long failures = 0;
    for (bool const lasting : {false, true}) {
        for (long nth = 1;; ++nth) {
            CAPTURE(lasting, nth);
            auto const disk = killed->copy();
            bool started = false;
            {
                PoorStart poor(*disk);
                fail_allocation(nth, lasting);
                try {
                    started = poor.run();
                } catch (std::bad_alloc const&) {
                    started = false;
                }
            }
            bool const failed = allocation_failed();
            fail_allocation(0, false);
            if (failed)
                ++failures;
            else
                REQUIRE(started);
            PoorStart rich(*disk);
            REQUIRE(rich.run());
            REQUIRE(rich.sink.records.size() == poor_records);
            if (!failed) break;
        }
    }
    std::printf("failing allocations of a start: %ld\n", failures);
    CHECK(failures > 100);
}

}  // namespace holdfast::engine::test
