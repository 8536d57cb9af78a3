#include "tests/journal/fixture.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace holdfast;
using namespace holdfast::journal;
using namespace holdfast::journal::test;

struct Cost {
    std::uint64_t journal_bytes{};
    std::uint64_t bytes_read{};
    std::uint64_t records{};
};

/// A journal of so many groups of one small record, the dearest kind to read: a page for each.
Cost cost_of_start(std::uint64_t groups) {
    MemoryDisk disk;
    StillClock const clock;
    CountingListener listener;
    auto journal = opened(small_options("data"), disk, clock, listener);
    for (std::uint64_t at = 0; at < groups; ++at)
        REQUIRE(journal->wait_durable(append_record(*journal, "a claim of two seats")));
    journal->close();
    journal.reset();

    Cost cost;
    for (std::string const& path : disk.paths())
        if (path.ends_with(".hfj")) cost.journal_bytes += disk.bytes(path).size();
    CollectingSink sink;
    std::uint64_t const before = disk.bytes_read();
    auto const again = recover("data", disk, {}, sink);
    REQUIRE(again.has_value());
    cost.bytes_read = disk.bytes_read() - before;
    cost.records = again->records;
    return cost;
}

}  // namespace

// How long a start takes is measured by bench_restart; that it cannot grow faster than the journal
// is tested here.
TEST_CASE("P12: a start reads each byte of the journal at most twice", "[journal][recovery]") {
    for (std::uint64_t const groups : {10U, 100U, 1'000U}) {
        CAPTURE(groups);
        Cost const cost = cost_of_start(groups);
        CHECK(cost.records == groups);
        CHECK(cost.bytes_read >= groups * 4'096);
        // The header of a group is read before the group, and two pages of META are.
        CHECK(cost.bytes_read <= 2 * cost.journal_bytes + 4 * 4'096);
    }
}

TEST_CASE("P12: a start syncs the zeros of its first segment once, however many they are",
          "[journal][recovery]") {
    MemoryDisk disk;
    StillClock const clock;
    CountingListener listener;
    auto options = small_options("data");
    options.segment_bytes = 16 * synced_piece_bytes;
    // Behind those of a start come those of spares, in pieces; that they fail stops nothing.
    disk.change_faults([](MemoryDisk::Faults& faults) { faults.syncs_until_error = 10; });
    CHECK_NOTHROW(opened(options, disk, clock, listener));
}
