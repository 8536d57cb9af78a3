#include "tests/journal/fixture.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace holdfast;
using namespace holdfast::journal;
using namespace holdfast::journal::test;

/// Recovers, opens, appends `payloads` and closes.
void run_once(Disk& disk, Options const& options, std::vector<std::string> const& payloads) {
    CollectingSink sink;
    CountingListener listener;
    StillClock clock;
    auto const recovered = recover(options.data, disk, {}, sink);
    REQUIRE(recovered.has_value());
    auto journal = Journal::open(options, disk, clock, recovered->tail, listener);
    REQUIRE(journal.has_value());
    for (auto const& payload : payloads) {
        Lsn const lsn = append_record(**journal, payload);
        REQUIRE(lsn != no_lsn);
        REQUIRE((*journal)->wait_durable(lsn));
    }
    (*journal)->close();
    REQUIRE((*journal)->mode() == Mode::running);
}

}  // namespace

TEST_CASE("records come back in order from real files over three runs", "[journal]") {
    TempFolder const folder;
    PosixDisk disk;
    auto const options = small_options(folder.path());
    std::vector<std::string> all;
    std::uint64_t last_segment = 0;
    for (std::uint32_t run = 0; run < 3; ++run) {
        CollectingSink sink;
        auto const before = recover(folder.path(), disk, {}, sink);
        REQUIRE(before.has_value());
        CHECK(before->tail.boot_epoch == run);
        CHECK(before->tail.last_segment == last_segment);
        CHECK(before->tail.clean == (run > 0));
        CHECK(before->records == all.size());
        REQUIRE(sink.records.size() == all.size());
        for (std::size_t at = 0; at < all.size(); ++at) {
            CHECK(sink.records[at] == Record{at + 1, RecordType::claim, 1, all[at]});
        }
        std::vector<std::string> more;
        for (int at = 0; at < 9; ++at) {
            more.push_back("run " + std::to_string(run) + " record " + std::to_string(at));
        }
        run_once(disk, options, more);
        all.insert(all.end(), more.begin(), more.end());
        ++last_segment;
    }
}

TEST_CASE("every record of a run that spans many segments is recovered", "[journal]") {
    MemoryDisk disk;
    auto const options = small_options("data");
    std::vector<std::string> payloads;
    for (int at = 0; at < 150; ++at) {
        payloads.push_back(std::string(static_cast<std::size_t>(at * 13 % 3'000), 'x') +
                           std::to_string(at));
    }
    run_once(disk, options, payloads);
    CollectingSink sink;
    auto const recovered = recover(options.data, disk, {}, sink);
    REQUIRE(recovered.has_value());
    CHECK(recovered->tail.last_segment >= 5);
    CHECK(recovered->tail.clean);
    REQUIRE(sink.records.size() == payloads.size());
    for (std::size_t at = 0; at < payloads.size(); ++at) {
        REQUIRE(sink.records[at].payload == payloads[at]);
    }
}

TEST_CASE("a new data folder gets a random store id", "[journal]") {
    MemoryDisk first;
    MemoryDisk second;
    CollectingSink sink;
    auto const one = recover("data", first, {}, sink);
    auto const two = recover("data", second, {}, sink);
    REQUIRE(one.has_value());
    REQUIRE(two.has_value());
    CHECK(one->tail.store_id != two->tail.store_id);
    CHECK(one->tail.last_segment == 0);
    CHECK(one->records == 0);
    CHECK(first.paths().empty());
}

TEST_CASE("reservations are bounded and what was not used comes back", "[journal]") {
    MemoryDisk disk;
    CollectingSink sink;
    CountingListener listener;
    StillClock clock;
    auto const recovered = recover("data", disk, {}, sink);
    REQUIRE(recovered.has_value());
    auto journal = Journal::open(small_options("data"), disk, clock, recovered->tail, listener);
    REQUIRE(journal.has_value());
    std::size_t granted = 0;
    while ((*journal)->reserve(1'000)) granted += 1'000;
    CHECK(granted > 20'000);
    CHECK(granted < 3 * small_segment);
    CHECK((*journal)->mode() == Mode::running);
    (*journal)->give_back(granted);
    CHECK((*journal)->reserve(granted));
    (*journal)->give_back(granted);
    CHECK_FALSE((*journal)->reserve(100'000'000));
    CHECK((*journal)->appended_lsn() == no_lsn);
    CHECK((*journal)->durable_lsn() == no_lsn);
}

TEST_CASE("impossible segment sizes are refused", "[journal]") {
    for (std::uint64_t const bytes : {std::uint64_t{0}, std::uint64_t{60} << 10,
                                      (std::uint64_t{64} << 10) + 1, std::uint64_t{2} << 30}) {
        MemoryDisk disk;
        CountingListener listener;
        StillClock clock;
        auto options = small_options("data");
        options.segment_bytes = bytes;
        auto const journal = Journal::open(options, disk, clock, Tail{}, listener);
        REQUIRE_FALSE(journal.has_value());
        CHECK(journal.error().exit_code == 1);
    }
}

TEST_CASE("LSNs go on across the wrap of their low 40 bits", "[journal]") {
    MemoryDisk disk;
    CountingListener listener;
    StillClock clock;
    Tail tail;
    tail.store_id[0] = 1;
    tail.last_lsn = Lsn{(std::uint64_t{1} << 40) - 3};
    auto journal = Journal::open(small_options("data"), disk, clock, tail, listener);
    REQUIRE(journal.has_value());
    for (std::uint64_t at = 1; at <= 6; ++at) {
        Lsn const lsn = append_record(**journal, "wrap");
        REQUIRE(lsn.value() == tail.last_lsn.value() + at);
        REQUIRE((*journal)->appended_lsn() == lsn);
        REQUIRE((*journal)->wait_durable(lsn));
        REQUIRE((*journal)->durable_lsn() == lsn);
    }
}

TEST_CASE("a block of very many small records is cut into groups", "[journal]") {
    MemoryDisk disk;
    CollectingSink sink;
    CountingListener listener;
    StillClock clock;
    auto options = small_options("data");
    options.segment_bytes = 4U << 20;
    auto const recovered = recover("data", disk, {}, sink);
    REQUIRE(recovered.has_value());
    auto journal = Journal::open(options, disk, clock, recovered->tail, listener);
    REQUIRE(journal.has_value());
    constexpr std::size_t count = 60'000;
    REQUIRE((*journal)->reserve(count * record_header_bytes));
    for (std::size_t at = 0; at < count; ++at) {
        static_cast<void>((*journal)->append(RecordType::end, static_cast<std::uint8_t>(at), {}));
    }
    REQUIRE((*journal)->wait_durable(Lsn{count}));
    (*journal)->close();
    auto const again = recover("data", disk, {}, sink);
    REQUIRE(again.has_value());
    REQUIRE(sink.records.size() == count);
    for (std::size_t at = 0; at < count; ++at) {
        REQUIRE(sink.records[at].version == static_cast<std::uint8_t>(at));
    }
}
