// Salvage: the part before the damage, and a journal of it that a recovery takes.
#include "tests/journal/forge.hpp"
#include "tests/support/nth_call_disk.hpp"

#include <holdfast/journal/salvage.hpp>

#include <catch2/catch.hpp>
#include <map>

namespace holdfast::journal::test {
namespace {

std::filesystem::path const salvage_target{"out"};

struct Salvaged {
    std::optional<WholePart> part;  // none: nothing is whole
    std::string why_not;
    std::vector<Record> records;  // of the copy, by a recovery that took it
};

std::map<std::string, Bytes> files_of(MemoryDisk& disk) {
    std::map<std::string, Bytes> files;
    for (std::string const& path : disk.paths())
        if (path.starts_with("data")) files[path] = disk.bytes(path);
    return files;
}

/// Finds, copies and recovers; fails the test if the copy is refused or the source changed.
Salvaged salvage(MemoryDisk& disk, Lsn stored = no_lsn) {
    auto const before = files_of(disk);
    Salvaged salvaged;
    auto const part = find_whole_part(Image::data, disk, stored);
    if (!part) {
        salvaged.why_not = part.error().message;
        REQUIRE(part.error().exit_code == 77);
        return salvaged;
    }
    salvaged.part = *part;
    REQUIRE_FALSE(disk.make_folder(salvage_target));
    auto const failure = copy_whole_part(Image::data, disk, *part, salvage_target);
    INFO((failure ? failure->message : ""));
    REQUIRE_FALSE(failure.has_value());
    CollectingSink sink;
    auto const recovered = recover(salvage_target, disk, {}, sink);
    INFO((recovered ? "" : recovered.error().message));
    REQUIRE(recovered.has_value());
    REQUIRE(recovered->tail.last_lsn == part->last_lsn);
    REQUIRE(recovered->cut_bytes == 0);
    salvaged.records = sink.records;
    REQUIRE(files_of(disk) == before);
    return salvaged;
}

int recovery_of(MemoryDisk& disk) {
    CollectingSink sink;
    auto const recovered = recover(Image::data, disk, {}, sink);
    return recovered ? 0 : recovered.error().exit_code;
}

/// By the place of the damage in the image's second segment.
constexpr std::size_t whole_before_second_group = 8;

}  // namespace

TEST_CASE("salvage of a sound journal keeps everything and finds no damage", "[journal][salvage]") {
    Image image{10};
    auto const salvaged = salvage(*image.disk);
    CHECK(salvaged.part->damage == "");
    CHECK(salvaged.part->last_lsn == Lsn{10});
    CHECK(salvaged.part->groups_behind == 0);
    CHECK(are_first(salvaged.records, image.records, 10));
}

TEST_CASE("salvage after R3 keeps what is before, and says what is lost", "[journal][salvage]") {
    auto image = Image::with_empty_group(0, 10);
    image.disk->bytes(Image::segment_2)[page_bytes + 100] ^= std::byte{1};  // LSN 6 to 8
    auto const salvaged = salvage(*image.disk);
    CHECK_THAT(
        salvaged.part->damage,
        Catch::Contains("0000000000000002.hfj, offset 4096: is no group that follows LSN 5"));
    CHECK(salvaged.part->last_lsn == Lsn{5});
    CHECK(salvaged.part->acknowledged == Lsn{10});
    CHECK(salvaged.part->groups_behind == 1);
    CHECK(salvaged.part->records_behind == 2);
    CHECK(salvaged.part->first_behind == Lsn{9});
    CHECK(salvaged.part->last_behind == Lsn{10});
    CHECK(are_first(salvaged.records, image.records, 5));
}

TEST_CASE("salvage after R4 ends in the segment before the last", "[journal][salvage]") {
    Image image{10};
    image.disk->bytes(Image::segment_1)[page_bytes + 100] ^= std::byte{1};  // LSN 1 to 3
    auto const salvaged = salvage(*image.disk);
    CHECK(salvaged.part->last_segment == 1);
    CHECK(salvaged.part->last_lsn == no_lsn);
    CHECK(salvaged.part->groups_behind == 3);
    CHECK(salvaged.part->last_behind == Lsn{10});
    CHECK(salvaged.records.empty());
}

TEST_CASE("salvage after R5 ends before the gap", "[journal][salvage]") {
    Image image{10};
    SECTION("a bad header") {
        image.disk->bytes(Image::segment_2)[20] ^= std::byte{1};
        auto const salvaged = salvage(*image.disk);
        CHECK_THAT(salvaged.part->damage, Catch::Contains("the header of 0000000000000002.hfj"));
        CHECK(are_first(salvaged.records, image.records, 5));
    }
    SECTION("a missing segment in the middle") {
        auto const third = std::filesystem::path{"data/journal/0000000000000003.hfj"};
        REQUIRE_FALSE(image.disk->rename(Image::segment_2, third));
        auto const salvaged = salvage(*image.disk);
        CHECK_THAT(salvaged.part->damage,
                   Catch::Contains("segment 0000000000000002.hfj is missing"));
        CHECK(are_first(salvaged.records, image.records, 5));
    }
    SECTION("a last segment that META knows to have been whole is all zeros") {
        image.store_meta(2, 5);
        Bytes& last = image.disk->bytes(Image::segment_2);
        std::fill(last.begin(), last.end(), std::byte{0});
        REQUIRE(recovery_of(*image.disk) == 77);
        auto const salvaged = salvage(*image.disk);
        CHECK_THAT(salvaged.part->damage,
                   Catch::Contains("META knows start 2, of which no segment is whole"));
    }
    SECTION("the first segment is missing") {
        REQUIRE_FALSE(image.disk->remove(Image::segment_1));
        CHECK_THAT(salvage(*image.disk).why_not,
                   Catch::Contains("segment 0000000000000001.hfj is missing"));
    }
    SECTION("no segment at all") {
        REQUIRE_FALSE(image.disk->remove(Image::segment_1));
        REQUIRE_FALSE(image.disk->remove(Image::segment_2));
        CHECK_FALSE(salvage(*image.disk).part.has_value());
    }
}

TEST_CASE("salvage without META keeps all segments", "[journal][salvage]") {
    Image image{10};
    REQUIRE_FALSE(image.disk->remove("data/META.a"));
    REQUIRE_FALSE(image.disk->remove("data/META.b"));
    REQUIRE(recovery_of(*image.disk) == 77);
    auto const salvaged = salvage(*image.disk);
    CHECK_THAT(salvaged.part->damage, Catch::Contains("neither META.a nor META.b is good"));
    CHECK(are_first(salvaged.records, image.records, 10));
}

TEST_CASE("salvage without META begins where a segment can be understood", "[journal][salvage]") {
    Image image{10};
    // A deletion was interrupted: the base file is there, and what it stands for is, too.
    image.disk->put("data/journal/0000000000000002.hfb", Bytes(page_bytes));
    for (char const* const page : {"data/META.a", "data/META.b"})
        REQUIRE_FALSE(image.disk->remove(page));
    auto const first_of = [&image] { return salvage(*image.disk->copy()).part->first_segment; };
    CHECK(first_of() == 1);
    REQUIRE_FALSE(image.disk->remove(Image::segment_1));
    // It begins with the second one, and would need what that stands on.
    CHECK_THAT(salvage(*image.disk->copy()).why_not,
               Catch::Contains("0000000000000002.hfb has a bad header") &&
                   Catch::EndsWith("without it nothing can be kept, and nothing was changed: "
                                   "restore a backup"));
    REQUIRE_FALSE(image.disk->remove("data/journal/0000000000000002.hfb"));
    CHECK_THAT(salvage(*image.disk).why_not, Catch::Contains("without it nothing can be kept"));
}

TEST_CASE("R10: salvage does not touch what a newer holdfast made", "[journal][salvage]") {
    auto const refuses = [](MemoryDisk& disk, char const* file) {
        auto const part = find_whole_part(Image::data, disk, no_lsn);
        REQUIRE_FALSE(part.has_value());
        CHECK(part.error().exit_code == 78);
        CHECK_THAT(
            part.error().message,
            Catch::StartsWith(file) && Catch::Contains("needs the newer holdfast that made it"));
    };
    Image page{10};
    page.meta.version = meta_version_with_base + 1;
    page.store_meta(1, 10);
    refuses(*page.disk, "META");
    // One that is read for its own sake, and one for where the segment before it ends.
    for (auto const& segment : {Image::segment_1, Image::segment_2}) {
        Image image{10};
        forge_segment(*image.disk, segment, [](SegmentHeader& header) { header.version = 2; });
        refuses(*image.disk, segment.filename().c_str());
    }
}

TEST_CASE("salvage says all that is wrong, and keeps what is before the first of it",
          "[journal][salvage]") {
    Image foreign{10};
    forge_segment(*foreign.disk, Image::segment_2,
                  [](SegmentHeader& header) { header.store_id[0] ^= 1; });
    for (char const* const page : {"data/META.a", "data/META.b"})
        REQUIRE_FALSE(foreign.disk->remove(page));
    auto const kept = salvage(*foreign.disk);
    CHECK_THAT(kept.part->damage,
               Catch::Contains("neither META.a nor META.b is good; 0000000000000002.hfj belongs to "
                               "another store"));
    CHECK(are_first(kept.records, foreign.records, 5));
    Image malformed{10};
    misframe_last_group(malformed);
    auto const salvaged = salvage(*malformed.disk);
    CHECK_THAT(salvaged.part->damage, Catch::Contains("is no group that follows LSN 8"));
    CHECK(are_first(salvaged.records, malformed.records, 8));
}

TEST_CASE("salvage counts no group behind the damage that is in the whole part already",
          "[journal][salvage]") {
    Image image{10};
    image.disk->bytes(Image::segment_2)[page_bytes + 100] ^= std::byte{1};
    CHECK(salvage(*image.disk->copy()).part->groups_behind == 1);
    forge_last_group(image, [](GroupHeader& header) {
        header.first_lsn = 4;
        header.last_lsn = 5;
    });
    CHECK(salvage(*image.disk).part->groups_behind == 0);
}

TEST_CASE("salvage goes on whichever call to the disk fails", "[journal][salvage][fault]") {
    auto const damaged_group = [](Image& image) {
        image.disk->bytes(Image::segment_2)[page_bytes + 100] ^= std::byte{1};
    };
    auto const zero_segment = [](Image& image) {
        Bytes& bytes = image.disk->bytes(Image::segment_2);
        std::fill(bytes.begin(), bytes.end(), std::byte{0});
    };
    for (bool const unborn : {false, true}) {
        int nth = 0;
        for (;; ++nth) {
            Image image{unborn ? 5U : 10U};
            unborn ? zero_segment(image) : damaged_group(image);
            holdfast::test::NthCallDisk disk{*image.disk, nth};
            auto const part = find_whole_part(Image::data, disk, no_lsn);
            CAPTURE(unborn, disk.failed_call());
            if (part) CHECK(part->last_lsn <= Lsn{5});
            if (part && part->last_lsn < Lsn{5}) CHECK_FALSE(part->damage.empty());
            if (part && !unborn) CHECK_FALSE(part->damage.empty());
            if (!disk.has_failed()) break;
        }
        CHECK(nth > 15);
    }
}

TEST_CASE("salvage of a torn tail finds no damage", "[journal][salvage]") {
    Image image{8};
    image.disk->bytes(Image::segment_2)[image.last_group + 5'000] ^= std::byte{1};
    REQUIRE(recovery_of(*image.disk) == 0);
    auto const salvaged = salvage(*image.disk);
    CHECK(salvaged.part->damage == "");
    CHECK(are_first(salvaged.records, image.records, whole_before_second_group));
    // Unless the store has those records.
    Image stored{8};
    stored.disk->bytes(Image::segment_2)[stored.last_group + 5'000] ^= std::byte{1};
    auto const known = salvage(*stored.disk, Lsn{10});
    CHECK(known.part->acknowledged == Lsn{10});
    CHECK_THAT(known.part->damage, Catch::Contains("is no group that follows LSN 8"));
}

TEST_CASE("salvage goes on wherever a bit is flipped, with what is before it",
          "[journal][salvage]") {
    Image const whole = Image::with_empty_group(0, 10);
    for (auto const* const file : {&Image::segment_1, &Image::segment_2}) {
        auto const bytes = whole.disk->bytes(*file).size();
        std::uint64_t const step = 61;
        for (std::uint64_t at = 0; at < bytes; at += at < 200 ? 1 : step) {
            CAPTURE(file->string(), at);
            auto image = Image::with_empty_group(0, 10);
            image.disk->bytes(*file)[at] ^= std::byte{4};
            int const refused = recovery_of(*image.disk);
            auto const salvaged = salvage(*image.disk);
            if (!salvaged.part) {
                CHECK(*file == Image::segment_1);
                CHECK(at < page_bytes);
                continue;
            }
            CHECK(are_first(salvaged.records, image.records, salvaged.records.size()));
            CHECK(salvaged.part->damage.empty() == (refused == 0));
            CHECK(salvaged.part->last_lsn == Lsn{salvaged.records.size()});
            if (refused == 0) CHECK(salvaged.records.size() == 10);
            if (*file == Image::segment_2) CHECK(salvaged.records.size() >= 5);
        }
    }
}

}  // namespace holdfast::journal::test
