#include "tests/journal/image.hpp"

#include <holdfast/base/crc32c.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace holdfast;
using namespace holdfast::journal;
using namespace holdfast::journal::test;

struct Outcome {
    int exit_code{};  // 0: recovered
    std::string message;
    Recovered recovered;
    std::vector<Record> records;
};

Outcome recover_image(Disk& disk, std::optional<StoreState> const& store = {}) {
    CollectingSink sink;
    auto const result = recover(Image::data, disk, store, sink);
    if (!result) return {result.error().exit_code, result.error().message, {}, sink.records};
    return {0, "", *result, sink.records};
}

bool says(Outcome const& outcome, std::string_view text) {
    return outcome.message.find(text) != std::string::npos;
}

std::optional<SegmentHeader> header_of(Image& image, std::filesystem::path const& path) {
    return decode_segment_header(std::span{image.disk->bytes(path)}.first(page_bytes));
}

void zero(Bytes& bytes, std::uint64_t from, std::uint64_t to) {
    std::fill(bytes.begin() + static_cast<long>(from), bytes.begin() + static_cast<long>(to),
              std::byte{0});
}

}  // namespace

TEST_CASE("R1: a whole journal is recovered, with or without a seal", "[journal][recovery]") {
    Image crashed{10};
    auto const outcome = recover_image(*crashed.disk);
    CAPTURE(outcome.message);
    REQUIRE(outcome.exit_code == 0);
    CHECK(are_first(outcome.records, crashed.records, 10));
    CHECK(outcome.recovered.records == 10);
    CHECK(outcome.recovered.cut_bytes == 0);
    CHECK_FALSE(outcome.recovered.tail.clean);
    CHECK(outcome.recovered.tail.last_lsn == Lsn{10});
    CHECK(outcome.recovered.tail.last_segment == 2);
    CHECK(outcome.recovered.tail.boot_epoch == 1);
    CHECK(outcome.recovered.tail.store_id == crashed.meta.store_id);
    CHECK(outcome.recovered.tail.last_wall == TimePoint{Milliseconds{1'700'000'000'000}});

    auto idle = Image::with_empty_group(0, 10);
    auto const after_idle = recover_image(*idle.disk);
    CHECK(after_idle.exit_code == 0);
    CHECK_FALSE(after_idle.recovered.tail.clean);
    CHECK(after_idle.recovered.tail.chain == outcome.recovered.tail.chain);

    auto sealed = Image::with_empty_group(flag_seal | flag_clean, 10);
    auto const clean = recover_image(*sealed.disk);
    CHECK(clean.exit_code == 0);
    CHECK(clean.recovered.tail.clean);
    CHECK(are_first(clean.records, sealed.records, 10));
}

TEST_CASE("P11: R2: a torn last group is cut at every 512 bytes and kept in quarantine",
          "[journal][recovery]") {
    Image const whole{5};
    std::string const quarantined =
        "data/quarantine/0000000000000002.hfj.from-" + std::to_string(whole.last_group);
    for (std::uint64_t cut = whole.last_group; cut < whole.end; cut += 512) {
        for (bool const later_sectors_first : {false, true}) {
            auto disk = whole.disk->copy();
            Bytes& segment = disk->bytes(Image::segment_2);
            Bytes const before = segment;
            if (later_sectors_first) {
                zero(segment, whole.last_group, cut + 512);
            } else {
                zero(segment, cut, whole.end);
            }
            Bytes const torn = segment;
            auto const outcome = recover_image(*disk);
            CAPTURE(cut, later_sectors_first, outcome.message);
            REQUIRE(outcome.exit_code == 0);
            if (torn == before) {  // Only padding was lost.
                REQUIRE(are_first(outcome.records, whole.records, 10));
                continue;
            }
            REQUIRE(are_first(outcome.records, whole.records, 8));
            REQUIRE(outcome.recovered.tail.last_lsn == Lsn{8});
            bool const all_lost =
                std::all_of(torn.begin() + static_cast<long>(whole.last_group), torn.end(),
                            [](std::byte each) { return each == std::byte{0}; });
            REQUIRE((outcome.recovered.cut_bytes == 0) == all_lost);
            REQUIRE(disk->bytes(Image::segment_2) == torn);
            if (all_lost) continue;
            Bytes const& kept = disk->bytes(quarantined);
            REQUIRE(kept.size() == outcome.recovered.cut_bytes);
            REQUIRE(outcome.recovered.cut_at == "0000000000000002.hfj, offset " +
                                                    std::to_string(whole.last_group) +
                                                    ", from LSN 9 on");
            REQUIRE(std::equal(kept.begin(), kept.end(),
                               torn.begin() + static_cast<long>(whole.last_group)));
        }
    }
}

TEST_CASE("R2: a whole group behind a torn one is cut with it", "[journal][recovery]") {
    auto image = Image::with_empty_group(0, 0);
    // The idle group carries durable_lsn 10: with it on disk the torn group is acknowledged data.
    image.disk->bytes(Image::segment_2)[image.last_group + 5'000] ^= std::byte{1};
    auto const refused = recover_image(*image.disk);
    CHECK(refused.exit_code == 77);
    CHECK(says(refused, "LSN 9 to 10 were acknowledged"));
    CHECK(says(refused, "0000000000000002.hfj, offset " + std::to_string(image.last_group)));
    CHECK(says(refused, "docs/operations.md"));
    CHECK(says(refused, "holdfast salvage --help"));

    // A later group that carries less says nothing against cutting.
    Image torn{0};
    Bytes& segment = torn.disk->bytes(Image::segment_2);
    segment[page_bytes + 100] ^= std::byte{1};  // LSN 6-8; the group behind carries 8
    CHECK(recover_image(*torn.disk).exit_code == 77);
    zero(segment, torn.last_group, torn.last_group + group_header_bytes);
    auto const outcome = recover_image(*torn.disk);
    REQUIRE(outcome.exit_code == 0);
    CHECK(are_first(outcome.records, torn.records, 5));
    CHECK(outcome.recovered.cut_bytes > 2 * page_bytes);
}

TEST_CASE("P10: R3: a bad group that was acknowledged stops the start", "[journal][recovery]") {
    for (std::uint64_t const watermark : {9U, 10U}) {
        Image image{watermark};
        image.disk->bytes(Image::segment_2)[image.last_group + 80] ^= std::byte{4};
        auto const outcome = recover_image(*image.disk);
        CHECK(outcome.exit_code == 77);
        CHECK(says(outcome, "LSN 9 to " + std::to_string(watermark)));
        CHECK_FALSE(image.disk->has("data/quarantine"));
    }
    Image by_store{0};
    by_store.disk->bytes(Image::segment_2)[by_store.last_group + 80] ^= std::byte{4};
    CHECK(
        recover_image(*by_store.disk, StoreState{by_store.meta.store_id, Lsn{10}, {}}).exit_code ==
        77);
    CHECK(recover_image(*by_store.disk, StoreState{by_store.meta.store_id, Lsn{8}, {}}).exit_code ==
          0);
}

TEST_CASE("R3: acknowledged groups that turned to zeros are missed", "[journal][recovery]") {
    Image image{10};
    zero(image.disk->bytes(Image::segment_2), image.last_group, image.end);
    CHECK(recover_image(*image.disk).exit_code == 77);
}

TEST_CASE("R4: damage before a sealed end stops the start, bytes behind it are nothing",
          "[journal][recovery]") {
    Image image{0};
    image.disk->bytes(Image::segment_1)[page_bytes + 90] ^= std::byte{1};
    auto const outcome = recover_image(*image.disk);
    CHECK(outcome.exit_code == 77);
    CHECK(says(outcome, "0000000000000001.hfj, offset 4096: LSN 1 to 5 are missing"));

    Image behind{10};
    Bytes& segment = behind.disk->bytes(Image::segment_1);
    for (std::size_t at = 4 * page_bytes; at < segment.size(); ++at) segment[at] = std::byte{0x5A};
    auto const fine = recover_image(*behind.disk);
    CHECK(fine.exit_code == 0);
    CHECK(are_first(fine.records, behind.records, 10));
    CHECK(fine.recovered.cut_bytes == 0);
}

TEST_CASE("R5: missing, swapped and foreign segments stop the start", "[journal][recovery]") {
    Image first_missing{0};
    CHECK_FALSE(first_missing.disk->remove(Image::segment_1));
    auto const gap = recover_image(*first_missing.disk);
    CHECK(gap.exit_code == 77);
    CHECK(says(gap, "0000000000000001.hfj is missing"));

    Image last_missing{10};
    CHECK_FALSE(last_missing.disk->remove(Image::segment_2));
    CHECK(recover_image(*last_missing.disk).exit_code == 77);

    Image all_missing{10};
    CHECK_FALSE(all_missing.disk->remove(Image::segment_1));
    CHECK_FALSE(all_missing.disk->remove(Image::segment_2));
    CHECK(recover_image(*all_missing.disk).exit_code == 77);

    Image swapped{10};
    std::swap(swapped.disk->bytes(Image::segment_1), swapped.disk->bytes(Image::segment_2));
    auto const wrong = recover_image(*swapped.disk);
    CHECK(wrong.exit_code == 77);
    CHECK(says(wrong, "is segment 2 by its header"));

    Image of_a_later_start{0};
    of_a_later_start.store_meta(2, 0);
    auto const lost = recover_image(*of_a_later_start.disk);
    CHECK(lost.exit_code == 77);
    CHECK(says(lost, "META knows start 2"));

    for (std::size_t const size : {std::size_t{0}, page_bytes, page_bytes + 1, 3 * page_bytes}) {
        Image truncated{10};
        truncated.disk->bytes(Image::segment_2).resize(size);
        CAPTURE(size);
        CHECK(recover_image(*truncated.disk).exit_code == 77);
    }
}

TEST_CASE("R5: a segment that goes on from another end stops the start", "[journal][recovery]") {
    for (bool const change_chain : {true, false}) {
        Image image{0};
        auto header = header_of(image, Image::segment_2);
        REQUIRE(header.has_value());
        if (change_chain) {
            header->prev_chain ^= 1;
        } else {
            header->prev_last_lsn = 3;
            header->base_lsn = 4;
        }
        encode_segment_header(*header,
                              std::span{image.disk->bytes(Image::segment_2)}.first(page_bytes));
        auto const outcome = recover_image(*image.disk);
        CHECK(outcome.exit_code == 77);
        CHECK(says(outcome, "goes on from LSN"));
    }
}

TEST_CASE("P11: R2: a torn tail that cannot be copied to quarantine is not cut",
          "[journal][recovery]") {
    using Member = long MemoryDisk::Faults::*;
    for (Member const kind :
         {&MemoryDisk::Faults::writes_until_error, &MemoryDisk::Faults::syncs_until_error,
          &MemoryDisk::Faults::folder_syncs_until_error}) {
        Image image{5};
        image.disk->bytes(Image::segment_2)[image.last_group + 100] ^= std::byte{1};
        Bytes const before = image.disk->bytes(Image::segment_2);
        image.disk->change_faults([&](auto& faults) { faults.*kind = 0; });
        auto const refused = recover_image(*image.disk);
        CAPTURE(refused.message);
        REQUIRE(refused.exit_code == 76);
        CHECK(says(refused, "quarantine"));
        CHECK(image.disk->bytes(Image::segment_2) == before);
        image.disk->change_faults([&](auto& faults) { faults.*kind = -1; });
        auto const after = recover_image(*image.disk);
        CAPTURE(after.message);
        REQUIRE(after.exit_code == 0);
        CHECK(are_first(after.records, image.records, 8));
    }
}

TEST_CASE("R5: an only segment that is not the first one and has no header stops the start",
          "[journal][recovery]") {
    Image image{0};
    REQUIRE_FALSE(image.disk->remove(Image::segment_1));
    Bytes& segment = image.disk->bytes(Image::segment_2);
    zero(segment, 0, segment.size());
    auto const outcome = recover_image(*image.disk);
    CAPTURE(outcome.message);
    CHECK(outcome.exit_code == 77);
    CHECK(says(outcome, "0000000000000001.hfj is missing"));
}

TEST_CASE("R6: an interrupted rotation is undone", "[journal][recovery]") {
    for (bool const header_is_zero : {true, false}) {
        Image image{5};
        Bytes& segment = image.disk->bytes(Image::segment_2);
        zero(segment, page_bytes, segment.size());
        if (header_is_zero) {
            zero(segment, 0, page_bytes);
        } else {
            segment[30] ^= std::byte{1};
        }
        auto const outcome = recover_image(*image.disk);
        CAPTURE(outcome.message);
        REQUIRE(outcome.exit_code == 0);
        CHECK(are_first(outcome.records, image.records, 5));
        CHECK(outcome.recovered.tail.last_segment == 1);
        CHECK(image.disk->has("data/quarantine/0000000000000002.hfj.from-0"));
        // The same again after a crash in the start.
        CHECK(recover_image(*image.disk).exit_code == 0);
        CollectingSink sink;
        CountingListener listener;
        StillClock clock;
        auto const recovered = recover(Image::data, *image.disk, {}, sink);
        REQUIRE(recovered.has_value());
        Options options = small_options(Image::data);
        auto journal = Journal::open(options, *image.disk, clock, recovered->tail, listener);
        REQUIRE(journal.has_value());
        REQUIRE((*journal)->wait_durable(append_record(**journal, "the next one")));
        (*journal)->close();
        CHECK(recover_image(*image.disk).records.size() == 6);
    }
    Image acknowledged{6};
    zero(acknowledged.disk->bytes(Image::segment_2), 0, Image::segment_bytes);
    CHECK(recover_image(*acknowledged.disk).exit_code == 77);
    CHECK(acknowledged.disk->has(Image::segment_2));
    Image with_data{5};
    zero(with_data.disk->bytes(Image::segment_2), 0, page_bytes);
    CHECK(recover_image(*with_data.disk).exit_code == 77);
}

TEST_CASE("P10: R6: a last segment that META knows to have been whole is lost, not unborn",
          "[journal][recovery]") {
    // META hears of a start when the first segment of it is on disk, header and all.
    Image image{5};
    image.store_meta(2, 5);
    zero(image.disk->bytes(Image::segment_2), 0, Image::segment_bytes);
    auto const outcome = recover_image(*image.disk);
    CHECK(outcome.exit_code == 77);
    CHECK(says(outcome,
               "META knows start 2, whose segment 0000000000000002.hfj has lost its header"));
    CHECK(says(outcome, "acknowledged up to LSN 5 at least"));
    CHECK_FALSE(image.disk->has("data/quarantine/0000000000000002.hfj.from-0"));
}

TEST_CASE("R7: parts of different stores are refused", "[journal][recovery]") {
    StoreId const other{9};
    Image by_store{10};
    auto const foreign = recover_image(*by_store.disk, StoreState{other, Lsn{4}, {}});
    CHECK(foreign.exit_code == 78);
    CHECK(says(foreign, "the journal and store.db belong to different stores"));
    Image by_meta{0};
    by_meta.meta.store_id = other;
    by_meta.store_meta(1, 0);
    auto const mixed = recover_image(*by_meta.disk);
    CHECK(mixed.exit_code == 78);
    CHECK(says(mixed, "0000000000000001.hfj belongs to another store than META"));
}

TEST_CASE("R7: a store that followed another history of the same server is refused",
          "[journal][recovery]") {
    Image image{10};
    StoreId const id = image.meta.store_id;
    // A group without records, which the next segment may go on from, has the chain of the one
    // before it.
    CHECK(crc32c({}, 0xBEEF) == 0xBEEF);
    Image shortened{10};
    shortened.meta.first_segment = 2;
    shortened.store_meta(1, 10);
    for (std::uint64_t applied = 1; applied <= 10; ++applied) {
        CAPTURE(applied);
        CollectingSink sink;
        TailReader reader{Image::data, *image.disk, no_lsn};
        auto const read = reader.read(Lsn{applied}, 100, sink);
        REQUIRE(read.has_value());
        REQUIRE(read->last == Lsn{applied});
        StoreState const fits{id, Lsn{applied}, read->chain};
        StoreState const other{id, Lsn{applied}, read->chain ^ 0x8000};
        CHECK(recover_image(*image.disk, fits).exit_code == 0);
        auto const refused = recover_image(*image.disk, other);
        CHECK(refused.exit_code == 78);
        CHECK(says(refused, "another history of this server, its record of LSN " +
                                std::to_string(applied) + " is not the journal's"));
        if (applied < 5) continue;
        // Where the journal begins behind LSN 5.
        CHECK(recover_image(*shortened.disk, fits).exit_code == 0);
        CHECK(recover_image(*shortened.disk, other).exit_code == 78);
    }
    CHECK(recover_image(*image.disk, StoreState{id, no_lsn, 7}).exit_code == 0);
}

TEST_CASE("R8 and R9: the store must not be ahead of the journal nor end before it begins",
          "[journal][recovery]") {
    Image image{10};
    StoreId const id = image.meta.store_id;
    for (std::uint64_t applied = 0; applied <= 10; ++applied) {
        REQUIRE(recover_image(*image.disk, StoreState{id, Lsn{applied}, {}}).exit_code == 0);
    }
    auto const ahead = recover_image(*image.disk, StoreState{id, Lsn{11}, {}});
    CHECK(ahead.exit_code == 77);
    CHECK(says(ahead, "lost or rolled back"));

    MemoryDisk empty;
    CHECK(recover_image(empty, StoreState{id, Lsn{1}, {}}).exit_code == 77);
    auto const fresh = recover_image(empty, StoreState{id, no_lsn, {}});
    CHECK(fresh.exit_code == 0);
    CHECK(fresh.recovered.tail.store_id == id);

    Image shortened{10};
    shortened.meta.first_segment = 2;
    shortened.store_meta(1, 10);
    CHECK_FALSE(shortened.disk->remove(Image::segment_1));
    auto const gap = recover_image(*shortened.disk, StoreState{id, Lsn{4}, {}});
    CHECK(gap.exit_code == 77);
    CHECK(says(gap, "restore an older backup"));
    auto const fits = recover_image(*shortened.disk, StoreState{id, Lsn{5}, {}});
    REQUIRE(fits.exit_code == 0);
    CHECK(fits.records.size() == 5);
    CHECK(fits.records.front().lsn == 6);
    CHECK(fits.recovered.tail.first_segment == 2);
}

TEST_CASE("R10: a newer format is named and refused", "[journal][recovery]") {
    Image segment{10};
    auto header = header_of(segment, Image::segment_2);
    REQUIRE(header.has_value());
    header->version = 2;
    encode_segment_header(*header,
                          std::span{segment.disk->bytes(Image::segment_2)}.first(page_bytes));
    auto const outcome = recover_image(*segment.disk);
    CHECK(outcome.exit_code == 78);
    CHECK(says(outcome, "format version 2"));
    Image meta{10};
    meta.meta.version = 7;
    meta.store_meta(1, 10);
    auto const by_meta = recover_image(*meta.disk);
    CHECK(by_meta.exit_code == 78);
    CHECK(says(by_meta, "format version 7"));
}

TEST_CASE("R11: a read error is never the end of a file", "[journal][recovery]") {
    for (std::string const file :
         {"META.a", "META.b", "0000000000000001.hfj", "0000000000000002.hfj"}) {
        Image image{10};
        image.disk->change_faults([&](auto& faults) { faults.unreadable = file; });
        auto const outcome = recover_image(*image.disk);
        CAPTURE(file, outcome.message);
        CHECK(outcome.exit_code == 77);
    }
}

TEST_CASE("R12: a record that breaks an invariant stops the start", "[journal][recovery]") {
    Image image{10};
    CollectingSink sink;
    sink.stop_at = 6;
    auto const result = recover(Image::data, *image.disk, {}, sink);
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().exit_code == 78);
    CHECK(result.error().message.find("0000000000000002.hfj, offset 4096, LSN 6 to 8") !=
          std::string::npos);
    CHECK(are_first(sink.records, image.records, 6));
}

TEST_CASE("malformed records in a group with a good CRC are damage", "[journal][recovery]") {
    Image image{0};
    Bytes& segment = image.disk->bytes(Image::segment_2);
    std::span<std::byte> const group = std::span{segment}.subspan(page_bytes, page_bytes);
    auto header = decode_group_header(image.place(page_bytes), group);
    REQUIRE(header.has_value());
    group[group_header_bytes] = std::byte{0xFF};  // the first record's length
    encode_group_header(*header, image.place(page_bytes), group);
    auto const outcome = recover_image(*image.disk);
    CHECK(outcome.exit_code == 77);
    CHECK(says(outcome, "malformed records"));
    CHECK(outcome.records.size() == 5);
}

TEST_CASE("without a good META an existing journal is refused, one good page is enough",
          "[journal][recovery]") {
    Image both{10};
    both.disk->bytes("data/META.a")[9] ^= std::byte{1};
    CHECK(recover_image(*both.disk).exit_code == 0);
    both.disk->bytes("data/META.b")[9] ^= std::byte{1};
    CHECK(recover_image(*both.disk).exit_code == 77);
    CHECK_FALSE(both.disk->remove("data/META.a"));
    CHECK_FALSE(both.disk->remove("data/META.b"));
    CHECK(recover_image(*both.disk).exit_code == 77);
}
