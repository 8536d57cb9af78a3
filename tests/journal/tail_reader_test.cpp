#include "tests/journal/forge.hpp"

#include <catch2/catch.hpp>
#include <thread>

namespace {

using namespace holdfast;
using namespace holdfast::journal;
using namespace holdfast::journal::test;

struct Running {
    explicit Running(Disk& the_disk, std::filesystem::path const& data) : disk(the_disk) {
        CollectingSink sink;
        auto const recovered = recover(data, disk, {}, sink);
        if (!recovered) throw std::runtime_error(recovered.error().message);
        auto opened = Journal::open(small_options(data), disk, clock, recovered->tail, listener);
        if (!opened) throw std::runtime_error(opened.error().message);
        journal = std::move(*opened);
    }
    Lsn append(std::size_t count) {
        Lsn last;
        for (std::size_t at = 0; at < count; ++at) {
            std::uint64_t const next = journal->appended_lsn().value() + 1;
            std::string text = "record " + std::to_string(next) + " ";
            text.resize(700, 't');
            last = append_record(*journal, text);
            if (last == no_lsn || !journal->wait_durable(last)) return no_lsn;
        }
        return last;
    }
    Disk& disk;
    CountingListener listener;
    StillClock clock;
    std::unique_ptr<Journal> journal;
};

bool are_dense(std::vector<Record> const& records, std::uint64_t after) {
    for (std::size_t at = 0; at < records.size(); ++at) {
        std::string const expected = "record " + std::to_string(after + at + 1) + " ";
        if (records[at].lsn != after + at + 1) return false;
        if (records[at].payload.compare(0, expected.size(), expected) != 0) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("a tail reader follows a running journal through many segments", "[journal][tail]") {
    TempFolder const folder;
    PosixDisk disk;
    Running running{disk, folder.path()};
    TailReader reader{folder.path(), disk, no_lsn};
    CollectingSink sink;
    auto const none = reader.read(no_lsn, 100, sink);
    REQUIRE(none.has_value());
    CHECK(none->last == no_lsn);
    for (int round = 0; round < 20; ++round) {
        Lsn const last = running.append(5);
        REQUIRE(last != no_lsn);
        auto const chunk = reader.read(last, 1'000, sink);
        if (!chunk) FAIL(chunk.error().message);
        REQUIRE(chunk->last == last);
        REQUIRE(sink.records.size() == last.value());
        REQUIRE(are_dense(sink.records, 0));
    }
    running.journal->close();
    CollectingSink whole;
    auto const recovered = recover(folder.path(), disk, {}, whole);
    REQUIRE(recovered.has_value());
    CHECK(whole.records == sink.records);
    CHECK(recovered->tail.last_segment > 5);
    auto const end = reader.read(running.journal->durable_lsn(), 10, sink);
    REQUIRE(end.has_value());
    CHECK(end->chain == recovered->tail.chain);
}

TEST_CASE("a tail reader begins anywhere, in small steps, in runs long past", "[journal][tail]") {
    MemoryDisk disk;
    std::uint64_t last = 0;
    for (int run = 0; run < 3; ++run) {
        Running running{disk, "data"};
        last = running.append(30).value();
        REQUIRE(last != 0);
        running.journal->close();
    }
    Running running{disk, "data"};
    for (std::uint64_t after = 0; after <= last; after += 7) {
        TailReader reader{"data", disk, Lsn{after}};
        CollectingSink sink;
        Lsn reached{after};
        while (reached.value() < last) {
            auto const chunk = reader.read(Lsn{last}, 3, sink);
            if (!chunk) FAIL(chunk.error().message);
            REQUIRE(chunk->last > reached);
            REQUIRE(chunk->last.value() <= reached.value() + 3);
            reached = chunk->last;
        }
        REQUIRE(sink.records.size() == last - after);
        REQUIRE(are_dense(sink.records, after));
    }
}

TEST_CASE("a tail reader gives nothing behind `until`, even inside a group", "[journal][tail]") {
    MemoryDisk disk;
    Running running{disk, "data"};
    // One reservation, no wait between: most of these end up in the same group.
    REQUIRE(running.journal->reserve(10'000));
    Lsn last;
    for (int at = 1; at <= 10; ++at) {
        last = running.journal->append(RecordType::claim, 1,
                                       bytes_of("record " + std::to_string(at) + " "));
    }
    REQUIRE(running.journal->wait_durable(last));
    TailReader reader{"data", disk, no_lsn};
    for (std::uint64_t until = 1; until <= 10; ++until) {
        CollectingSink sink;
        auto const chunk = reader.read(Lsn{until}, 100, sink);
        REQUIRE(chunk.has_value());
        CHECK(chunk->last == Lsn{until});
        REQUIRE(sink.records.size() == 1);
        CHECK(are_dense(sink.records, until - 1));
    }
}

TEST_CASE("a tail reader keeps up with producers on other threads", "[journal][tail][stress]") {
    MemoryDisk disk;
    Running running{disk, "data"};
    std::atomic<bool> ok{true};
    std::thread producer{[&] { ok.store(running.append(400) != no_lsn); }};
    TailReader reader{"data", disk, no_lsn};
    CollectingSink sink;
    std::string problem;
    while (sink.records.size() < 400 && problem.empty()) {
        auto const chunk = reader.read(running.journal->durable_lsn(), 50, sink);
        if (!chunk) problem = chunk.error().message;
        if (!ok.load()) problem = "the producer failed";
    }
    producer.join();
    CHECK(problem == "");
    CHECK(are_dense(sink.records, 0));
}

TEST_CASE("a tail reader says where the journal is damaged or lacks a segment", "[journal][tail]") {
    MemoryDisk disk;
    Running running{disk, "data"};
    Lsn const last = running.append(60);
    REQUIRE(last != no_lsn);
    running.journal->close();
    auto const copy = disk.copy();
    copy->bytes("data/journal/0000000000000002.hfj")[4'096 + 200] ^= std::byte{1};
    CollectingSink sink;
    TailReader damaged_reader{"data", *copy, no_lsn};
    auto const damaged = damaged_reader.read(last, 1'000, sink);
    REQUIRE_FALSE(damaged.has_value());
    CHECK(damaged.error().exit_code == 77);
    CHECK(are_dense(sink.records, 0));
    CHECK(sink.records.size() < last.value());

    CHECK_FALSE(disk.remove("data/journal/0000000000000001.hfj"));
    TailReader reader{"data", disk, no_lsn};
    CHECK_FALSE(reader.read(last, 1'000, sink).has_value());
}

TEST_CASE("a tail reader passes over a deleted segment only if it had no records",
          "[journal][tail]") {
    MemoryDisk disk;
    Lsn first;
    {
        Running running{disk, "data"};
        first = running.append(5);
        running.journal->close();
    }
    TailReader reader{"data", disk, no_lsn};
    CollectingSink sink;
    REQUIRE(reader.read(first, 100, sink).has_value());
    std::size_t const between = GENERATE(0U, 1U);
    {
        Running running{disk, "data"};
        static_cast<void>(running.append(between));
        running.journal->close();
    }
    Running running{disk, "data"};
    Lsn const last = running.append(3);
    REQUIRE(last == Lsn{8 + between});
    REQUIRE_FALSE(disk.remove("data/journal/0000000000000002.hfj"));
    auto const read = reader.read(last, 100, sink);
    CHECK(read.has_value() == (between == 0));
    CHECK(are_dense(sink.records, 0));
    CHECK(sink.records.size() == (between == 0 ? 8 : 5));
    if (!read) CHECK_THAT(read.error().message, Catch::Contains("0000000000000002.hfj is missing"));
}

TEST_CASE("a tail reader does not pass over a segment that was named and no more",
          "[journal][tail]") {
    Image image{10};
    TailReader reader{Image::data, *image.disk, no_lsn};
    CollectingSink sink;
    REQUIRE(reader.read(Lsn{4}, 100, sink).has_value());
    image.disk->put("data/journal/0000000000000003.hfj", Bytes(Image::segment_bytes));
    auto const refused = reader.read(Lsn{10}, 100, sink);
    REQUIRE_FALSE(refused.has_value());
    CHECK_THAT(refused.error().message,
               Catch::Contains("the header of 0000000000000003.hfj is bad"));
    CHECK(are_first(sink.records, image.records, 5));
}

TEST_CASE("P10: a tail reader stops at records that are malformed or refused", "[journal][tail]") {
    Image image{10};
    CollectingSink sink;
    sink.stop_at = 9;
    TailReader stopped{Image::data, *image.disk, Lsn{5}};
    CollectingSink three;
    three.stop_at = 3;
    auto const refused = stopped.read(Lsn{10}, 100, three);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().exit_code == 78);
    CHECK_THAT(refused.error().message, Catch::Contains("LSN 9 to 10"));
    misframe_last_group(image);
    TailReader malformed{Image::data, *image.disk, Lsn{5}};
    auto const damaged = malformed.read(Lsn{10}, 100, sink);
    REQUIRE_FALSE(damaged.has_value());
    CHECK(damaged.error().exit_code == 77);
    CHECK_THAT(damaged.error().message, Catch::Contains("malformed records"));
    CHECK(sink.records.size() == 3);
}
