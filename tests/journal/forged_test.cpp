// What no crash leaves behind, but a misdirected write or a bug of the writer might: groups that
// are whole and do not belong where they stand; and single calls of the disk that fail once.
#include "journal/journal_core.hpp"
#include "tests/journal/image.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace holdfast;
using namespace holdfast::journal;
using namespace holdfast::journal::test;

/// The image with another header before its last group, whose CRCs are right.
template <class Change>
Image forged(std::uint64_t watermark, Change const& change) {
    Image image{watermark};
    auto const group = std::span{image.disk->bytes(Image::segment_2)}.subspan(image.last_group);
    auto header = decode_group_header(image.place(image.last_group), group);
    REQUIRE(header.has_value());
    change(*header);
    encode_group_header(*header, image.place(image.last_group), group.first(header->total_len));
    return image;
}

/// It is no group that may follow: cut if nobody was promised it, else the start is refused.
template <class Change>
void check_not_read(Change const& change) {
    Image promised_to_nobody = forged(5, change);
    CollectingSink sink;
    auto const cut = recover(Image::data, *promised_to_nobody.disk, {}, sink);
    if (!cut) FAIL(cut.error().message);
    CHECK(are_first(sink.records, promised_to_nobody.records, 8));
    CHECK(cut->cut_bytes > 0);
    Image acknowledged = forged(10, change);
    CollectingSink none;
    auto const refused = recover(Image::data, *acknowledged.disk, {}, none);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().exit_code == 77);
}

}  // namespace

TEST_CASE("P10: a group of another start is not read", "[journal][recovery]") {
    check_not_read([](GroupHeader& header) { header.boot_epoch = 2; });
    check_not_read([](GroupHeader& header) { header.boot_epoch = 0; });
}

TEST_CASE("P10: a group that follows on another one is not read", "[journal][recovery]") {
    check_not_read([](GroupHeader& header) { header.prev_chain ^= 1; });
}

TEST_CASE("P10: a group with LSNs that do not follow is not read", "[journal][recovery]") {
    check_not_read([](GroupHeader& header) {
        ++header.first_lsn;
        ++header.last_lsn;
    });
}

TEST_CASE("P11: a whole group behind a sealed end is the torn tail of an earlier start",
          "[journal][recovery]") {
    Image image{10};
    Bytes& bytes = image.disk->bytes(Image::segment_1);
    auto const segment = decode_segment_header(std::span{bytes}.first(page_bytes));
    REQUIRE(segment.has_value());
    constexpr std::uint64_t end = 4 * page_bytes;
    GroupPlace const place{image.meta.store_id, 1, end, segment->salt};
    GroupPlace const last{image.meta.store_id, 1, 2 * page_bytes, segment->salt};
    auto header = decode_group_header(last, std::span{bytes}.subspan(2 * page_bytes));
    REQUIRE(header.has_value());
    // As it may be read when a part that was torn at the start before has come back.
    std::span<std::byte> const group = std::span{bytes}.subspan(end, page_bytes);
    encode_record_header(5, RecordType::claim, 1, group.subspan(group_header_bytes));
    header->prev_chain = header->body_crc;
    header->total_len = page_bytes;
    header->payload_len = record_header_bytes + 5;
    header->record_count = 1;
    header->first_lsn = 6;
    header->last_lsn = 6;
    header->durable_lsn = 20;
    encode_group_header(*header, place, group);
    CollectingSink sink;
    auto const recovered = recover(Image::data, *image.disk, {}, sink);
    if (!recovered) FAIL(recovered.error().message);
    CHECK(are_first(sink.records, image.records, 10));
}

TEST_CASE("P10: R11: one read that fails, whichever it is, stops the start",
          "[journal][recovery]") {
    long reads = 0;
    for (;; ++reads) {
        REQUIRE(reads < 1'000);
        // Nothing but the groups says what was acknowledged.
        Image image{0};
        image.disk->change_faults([&](auto& faults) {
            faults.reads_until_error = reads;
            faults.error_once = true;
        });
        CollectingSink sink;
        auto const result = recover(Image::data, *image.disk, {}, sink);
        bool met = false;
        image.disk->change_faults([&](auto& faults) { met = faults.reads_until_error < 0; });
        if (!met) break;
        CAPTURE(reads);
        REQUIRE_FALSE(result.has_value());
        REQUIRE(result.error().exit_code == 77);
        REQUIRE(result.error().message.find("cannot read") != std::string::npos);
        REQUIRE(result.error().message.find("offset") != std::string::npos);
    }
    CHECK(reads > 15);
}

TEST_CASE("P3: a sync or write that fails once is final, though the next one would work",
          "[journal][fault]") {
    for (auto const kind :
         {&MemoryDisk::Faults::syncs_until_error, &MemoryDisk::Faults::writes_until_error}) {
        for (long n = 0; n < 5; ++n) {
            MemoryDisk disk;
            CollectingSink sink;
            CountingListener listener;
            StillClock clock;
            auto const fresh = recover("data", disk, {}, sink);
            REQUIRE(fresh.has_value());
            Options options = small_options("data");
            options.space_retry = Milliseconds{1};
            auto opened = Journal::open(options, disk, clock, fresh->tail, listener);
            REQUIRE(opened.has_value());
            Journal& journal = **opened;
            // A spare that could not be made is made again: it may meet an error or two.
            Lsn acknowledged = no_lsn;
            for (int errors = 0; errors < 5 && journal.mode() != Mode::failed; ++errors) {
                disk.change_faults([&](auto& faults) {
                    faults.*kind = n;
                    faults.error_once = true;
                });
                for (int groups = 0; groups < 20 && journal.mode() != Mode::failed;) {
                    clock.ms.fetch_add(10);
                    Lsn const lsn = append_record(journal, "one group");
                    if (lsn == no_lsn || !journal.wait_durable(lsn)) continue;
                    acknowledged = lsn;
                    ++groups;
                }
            }
            CAPTURE(n);
            REQUIRE(journal.mode() == Mode::failed);
            CHECK(append_record(journal, "late") == no_lsn);
            journal.close();
            CHECK(journal.durable_lsn() == acknowledged);
        }
    }
}

TEST_CASE("P3: what a new segment seals is on disk before it, though groups are written in a row",
          "[journal][crash]") {
    std::mt19937_64 random{seed_of_run()};
    MemoryDisk disk;
    CollectingSink none;
    CountingListener listener;
    StillClock clock;
    auto const fresh = recover("data", disk, {}, none);
    REQUIRE(fresh.has_value());
    Options const options = small_options("data");
    JournalCore core{options, disk, clock, fresh->tail, listener, [] {}};
    REQUIRE_FALSE(core.prepare(fresh->tail));
    auto const append = [&core](std::size_t records) {
        REQUIRE(core.reserve(records * record_header_bytes));
        for (std::size_t at = 0; at < records; ++at) core.append(RecordType::claim, 1, {});
    };
    for (int groups = 0; groups < 6; ++groups) {
        append(1);
        REQUIRE(core.write_next());
    }
    // One block of too many records for one group: the first part fills the segment to its end.
    append(limits::group_records_max + 100);
    std::vector<std::pair<std::uint64_t, std::unique_ptr<MemoryDisk>>> cuts;
    disk.on_change([&] {
        for (int same = 0; same < 4; ++same)
            cuts.emplace_back(core.durable_lsn().value(), disk.crashed(random));
    });
    REQUIRE(core.write_next());
    disk.on_change({});
    REQUIRE(disk.has("data/journal/0000000000000002.hfj"));
    for (auto const& [acknowledged, left] : cuts) {
        CollectingSink found;
        auto const recovered = recover("data", *left, {}, found);
        if (!recovered) FAIL(recovered.error().message);
        REQUIRE(found.records.size() >= acknowledged);
    }
}
