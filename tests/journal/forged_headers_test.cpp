// Headers that are whole and impossible, in all that reads a journal.
#include "tests/journal/forge.hpp"
#include "tests/support/nth_call_disk.hpp"

#include <holdfast/journal/base_file.hpp>
#include <holdfast/journal/journal_copy.hpp>
#include <holdfast/journal/salvage.hpp>

#include <catch2/catch.hpp>
#include <functional>

namespace holdfast::journal::test {
namespace {

std::filesystem::path const third_segment{"data/journal/0000000000000003.hfj"};

/// Empty: it starts.
std::string start_refused(Disk& disk, int exit_code, std::optional<StoreState> const& store = {}) {
    CollectingSink sink;
    auto const recovered = recover(Image::data, disk, store, sink);
    if (recovered) return {};
    CHECK(recovered.error().exit_code == exit_code);
    return recovered.error().message;
}

std::string follower_refused(Disk& disk, std::uint64_t after) {
    TailReader reader{Image::data, disk, Lsn{after}};
    CollectingSink sink;
    auto const chunk = reader.read(Lsn{10}, 100, sink);
    if (chunk) return {};
    CHECK(chunk.error().exit_code == 77);
    return chunk.error().message;
}

std::string copy_refused(Disk& disk) {
    auto const copied =
        copy_journal(Image::data, disk, Lsn{10}, "out", [] { return std::optional<Failure>{}; });
    if (copied) return {};
    CHECK(copied.error().exit_code == 77);
    return copied.error().message;
}

WholePart whole_part_of(Disk& disk, Lsn stored = no_lsn) {
    auto const part = find_whole_part(Image::data, disk, stored);
    if (!part) throw std::runtime_error(part.error().message);
    return *part;
}

void zero_file(Bytes& bytes) {
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
}

}  // namespace

TEST_CASE("P10: R5: a segment header that is impossible stops the start, and ends a salvage",
          "[journal][recovery]") {
    std::vector<std::function<void(SegmentHeader&)>> const changes{
        [](SegmentHeader& header) { ++header.base_lsn; },
        [](SegmentHeader& header) { header.header_bytes = 512; },
        // The next start would have no number.
        [](SegmentHeader& header) { header.boot_epoch = ~0U; }};
    for (auto const& change : changes) {
        Image image{10};
        forge_segment(*image.disk, Image::segment_2, change);
        CHECK_THAT(start_refused(*image.disk, 77),
                   Catch::Contains("the header or size of 0000000000000002.hfj is impossible"));
        WholePart const part = whole_part_of(*image.disk);
        CHECK(part.last_lsn == Lsn{5});
        CHECK_THAT(part.damage, Catch::Contains("header of 0000000000000002.hfj is impossible"));
    }
    Image image{10};
    forge_segment(*image.disk, Image::segment_2, [](auto& header) { header.boot_epoch = 0; });
    CHECK_THAT(start_refused(*image.disk, 77), Catch::Contains("is impossible"));
}

TEST_CASE("P10: R5: the very first segment begins with the first LSN", "[journal][recovery]") {
    Image image{10};
    forge_segment(*image.disk, Image::segment_1, [](auto& header) {
        header.base_lsn = 8;
        header.prev_last_lsn = 7;
    });
    CHECK_THAT(start_refused(*image.disk, 77),
               Catch::Contains("the first segment begins at LSN 8"));
}

TEST_CASE("P10: R5: a segment that goes on from another LSN or another record is found by all",
          "[journal][recovery][tail][salvage]") {
    auto const from_a_later_lsn = [](SegmentHeader& header) {
        // The LSNs between are in no segment.
        header.prev_last_lsn = 7;
        header.base_lsn = 8;
    };
    Image gap{10};
    forge_segment(*gap.disk, Image::segment_2, from_a_later_lsn);
    CHECK_THAT(start_refused(*gap.disk, 77), Catch::Contains("LSN 6 to 7 are missing"));
    CHECK_THAT(follower_refused(*gap.disk, 0), Catch::Contains("LSN 6 is missing"));
    CHECK_THAT(copy_refused(*gap.disk), Catch::Contains("LSN 6 is missing"));
    CHECK(whole_part_of(*gap.disk).last_lsn == Lsn{5});

    // A group of the first segment begins before where the second one says that it goes on.
    Image overlap{10};
    forge_segment(*overlap.disk, Image::segment_2, [](SegmentHeader& header) {
        header.prev_last_lsn = 4;
        header.base_lsn = 5;
    });
    CHECK_THAT(start_refused(*overlap.disk, 77),
               Catch::Contains("goes on from LSN 4, but the segment before ends with another"));
    CHECK_THAT(follower_refused(*overlap.disk, 0), Catch::Contains("does not go on from LSN 5"));
    CHECK_THAT(whole_part_of(*overlap.disk).damage, Catch::Contains("goes on from LSN 4"));

    Image other{10};
    forge_segment(*other.disk, Image::segment_2, [](auto& header) { header.prev_chain ^= 1; });
    CHECK_THAT(start_refused(*other.disk, 77), Catch::Contains("ends with another record"));
    CHECK_THAT(follower_refused(*other.disk, 0), Catch::Contains("does not go on from LSN 5"));
    CHECK_THAT(whole_part_of(*other.disk).damage, Catch::Contains("with another record at LSN 5"));
}

TEST_CASE("P10: a segment under another one's name, or without a header, is found by all",
          "[journal][recovery][tail][copy]") {
    Image renamed{10};
    renamed.disk->put(third_segment, renamed.disk->bytes(Image::segment_2));
    CHECK_THAT(follower_refused(*renamed.disk, 8),
               Catch::Contains("header of 0000000000000003.hfj"));
    CHECK_FALSE(segment_start(Image::data, *renamed.disk, 3).has_value());
    // Its number is not that of its name: to a copy it is no next segment.
    CHECK(copy_refused(*renamed.disk) == "");
    CHECK_THAT(whole_part_of(*renamed.disk).damage,
               Catch::Contains("0000000000000003.hfj is segment 2 by its header"));

    Image bad{10};
    bad.disk->bytes(Image::segment_2)[3] ^= std::byte{1};
    CHECK_THAT(follower_refused(*bad.disk, 8),
               Catch::Contains("the header of 0000000000000002.hfj"));
    CHECK_THAT(follower_refused(*bad.disk, 0),
               Catch::Contains("the header of 0000000000000002.hfj"));
    auto const start = segment_start(Image::data, *bad.disk, 2);
    REQUIRE_FALSE(start.has_value());
    CHECK(start.error().exit_code == 77);
    Image headless{10};
    headless.disk->bytes(Image::segment_1)[3] ^= std::byte{1};
    auto const first = first_segment_start(Image::data, *headless.disk);
    CHECK_FALSE(first.has_value());
    CHECK_THAT(copy_refused(*headless.disk),
               Catch::Contains("header of 0000000000000001.hfj is bad"));
}

TEST_CASE("P10: R5: an LSN before all segments is in none, and none may lack at the end",
          "[journal][recovery][tail]") {
    Image begins_later{10};
    REQUIRE_FALSE(begins_later.disk->remove(Image::segment_1));
    CHECK_THAT(follower_refused(*begins_later.disk, 3), Catch::Contains("LSN 4 is in no segment"));
    begins_later.meta.first_segment = 3;
    begins_later.store_meta(1, 10);
    CHECK_THAT(start_refused(*begins_later.disk, 77),
               Catch::Contains("segment 0000000000000003.hfj is missing"));
    TailReader reader{Image::data, *begins_later.disk, Lsn{5}};
    CollectingSink sink;
    auto const beyond = reader.read(Lsn{12}, 100, sink);
    REQUIRE_FALSE(beyond.has_value());
    CHECK_THAT(beyond.error().message, Catch::Contains("segment 0000000000000003.hfj is missing"));
    CHECK(sink.records.size() == 5);
}

TEST_CASE("P10: groups whose header contradicts itself are not read, though their CRC is right",
          "[journal][recovery]") {
    std::vector<std::function<void(GroupHeader&)>> const changes{
        [](GroupHeader& header) { header.reserved = 1; },
        [](GroupHeader& header) { header.total_len += 512; },
        [](GroupHeader& header) { header.total_len = 0; },
        [](GroupHeader& header) { header.total_len = limits::group_bytes_max + page_bytes; },
        [](GroupHeader& header) { header.payload_len = header.total_len; },
        [](GroupHeader& header) {
            header.record_count = limits::group_records_max + 1;
            header.last_lsn = header.first_lsn + limits::group_records_max;
        },
        [](GroupHeader& header) { ++header.last_lsn; },
        [](GroupHeader& header) { header.payload_len = 0; }};
    for (std::size_t at = 0; at < changes.size(); ++at) {
        CAPTURE(at);
        Image promised_to_nobody{8};
        forge_last_group(promised_to_nobody, changes[at]);
        CollectingSink sink;
        auto const cut = recover(Image::data, *promised_to_nobody.disk, {}, sink);
        REQUIRE(cut.has_value());
        CHECK(are_first(sink.records, promised_to_nobody.records, 8));
        Image acknowledged{10};
        forge_last_group(acknowledged, changes[at]);
        CHECK_THAT(start_refused(*acknowledged.disk, 77),
                   Catch::Contains("LSN 9 to 10 were acknowledged and are missing"));
    }
}

TEST_CASE("R6: a rotation that was interrupted is told from the loss of a segment",
          "[journal][recovery]") {
    Image odd{5};
    zero_file(odd.disk->bytes(Image::segment_2));
    odd.disk->bytes(Image::segment_2).resize(3 * page_bytes + 7);
    CHECK_THAT(start_refused(*odd.disk, 77), Catch::Contains("and no good header"));
    Image only{5};
    zero_file(only.disk->bytes(Image::segment_2));
    REQUIRE_FALSE(only.disk->remove(Image::segment_1));
    only.meta.first_segment = 2;
    only.store_meta(1, 5);
    CHECK_THAT(start_refused(*only.disk, 77), Catch::Contains("the only segment, is bad"));
}

TEST_CASE("R6: the very first segment of all may be the one that was interrupted",
          "[journal][recovery]") {
    // A crash in the first start of all, before its META.
    auto const interrupted = [](std::uint64_t durable) {
        Image image{0};
        MemoryDisk disk;
        auto files = std::make_unique<MemoryDisk>();
        files->put(Image::segment_1, Bytes(Image::segment_bytes));
        image.disk = std::move(files);
        image.store_meta(0, durable);
        return std::move(image.disk);
    };
    auto const disk = interrupted(0);
    CollectingSink sink;
    auto const recovered = recover(Image::data, *disk, StoreState{{}, no_lsn, {}}, sink);
    REQUIRE(recovered.has_value());
    CHECK(recovered->tail.last_segment == 0);
    CHECK(recovered->tail.boot_epoch == 0);
    CHECK_FALSE(recovered->tail.clean);
    CHECK_THAT(start_refused(*interrupted(3), 77),
               Catch::Contains("0000000000000001.hfj: LSN 1 to 3 were acknowledged"));
}

TEST_CASE("R7: R8: without any segment META and the store must be as new as the journal",
          "[journal][recovery]") {
    StoreId const own{1, 2, 3};
    StoreId const other{9};
    auto const only_meta = [&](std::uint64_t durable) {
        auto disk = std::make_unique<MemoryDisk>();
        Meta meta{Image::data, *disk};
        MetaPage page;
        page.store_id = own;
        page.durable_lsn = durable;
        REQUIRE_FALSE(meta.store(page));
        return disk;
    };
    CHECK(start_refused(*only_meta(0), 0, StoreState{own, no_lsn, {}}) == "");
    CHECK(start_refused(*only_meta(0), 0, StoreState{{}, no_lsn, {}}) == "");
    CHECK_THAT(start_refused(*only_meta(0), 78, StoreState{other, no_lsn, {}}),
               Catch::Contains("META and store.db belong to different stores"));
    CHECK_THAT(start_refused(*only_meta(4), 77), Catch::Contains("acknowledged up to LSN 4"));
    // A store that never heard of a journal fits any.
    Image image{10};
    CHECK(start_refused(*image.disk, 0, StoreState{{}, no_lsn, {}}) == "");
}

TEST_CASE("R1: a clean seal before an interrupted rotation is no clean stop",
          "[journal][recovery]") {
    auto image = Image::with_empty_group(flag_seal | flag_clean, 0);
    CollectingSink sink;
    auto const clean = recover(Image::data, *image.disk, {}, sink);
    REQUIRE(clean.has_value());
    CHECK(clean->tail.clean);
    image.disk->put(third_segment, Bytes(Image::segment_bytes));
    auto const unclean = recover(Image::data, *image.disk, {}, sink);
    REQUIRE(unclean.has_value());
    CHECK_FALSE(unclean->tail.clean);
}

TEST_CASE("a file that cannot be read by us, or not now, is no damage", "[journal][recovery]") {
    struct Case {
        std::errc error;
        char const* remedy;
    };
    constexpr std::array cases{
        Case{std::errc::permission_denied, "the user that runs holdfast must own"},
        Case{std::errc::operation_not_permitted, "the user that runs holdfast must own"},
        Case{std::errc::too_many_files_open, "let the process have more"},
        Case{std::errc::too_many_files_open_in_system, "raise fs.file-max"},
        Case{std::errc::not_enough_memory, "let the process have more"},
    };
    for (auto const& [error, remedy] : cases) {
        for (int nth = 0;; ++nth) {
            Image image{10};
            holdfast::test::NthCallDisk disk{*image.disk, nth, error};
            std::string const message = start_refused(disk, 76);
            if (!disk.has_failed()) break;
            CAPTURE(disk.failed_call());
            CHECK_THAT(message, Catch::Contains(remedy));
        }
        // Nor does a salvage say what it cannot know.
        for (int nth = 0;; ++nth) {
            Image image{10};
            holdfast::test::NthCallDisk disk{*image.disk, nth, error};
            auto const part = find_whole_part(Image::data, disk, no_lsn);
            if (!disk.has_failed()) break;
            CAPTURE(disk.failed_call());
            REQUIRE_FALSE(part.has_value());
            CHECK(part.error().exit_code == 76);
            CHECK_THAT(part.error().message, Catch::Contains(remedy));
        }
    }
}

TEST_CASE("P10: R11: a page of META that cannot be read names the way out if the other is good",
          "[journal][recovery]") {
    for (auto const& [bad, good] : {std::pair{"META.a", "META.b"}, std::pair{"META.b", "META.a"}}) {
        Image image{10};
        bool told = false;
        for (int nth = 0; !told; ++nth) {
            REQUIRE(nth < 10);
            holdfast::test::NthCallDisk disk{*image.disk, nth};
            std::string const message = start_refused(disk, 77);
            REQUIRE(disk.has_failed());
            if (disk.failed_call() != std::string("read: data/") + bad) continue;
            told = true;
            CHECK_THAT(message,
                       Catch::StartsWith("cannot read " + std::string(bad) + " at offset 0: ") &&
                           Catch::Contains(std::string(good) + " is good") &&
                           Catch::Contains("move " + std::string(bad) + " out of") &&
                           Catch::Contains("nothing was changed"));
        }
        // And that way leads out.
        REQUIRE_FALSE(image.disk->remove(Image::data / std::filesystem::path(bad)));
        CHECK(start_refused(*image.disk, 77).empty());
    }
}

}  // namespace holdfast::journal::test
