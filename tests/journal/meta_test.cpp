// META and the first segment: both pages, in a version that older programs refuse.
#include "journal/journal_core.hpp"
#include "tests/journal/image.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace holdfast;
using namespace holdfast::journal;
using namespace holdfast::journal::test;

std::optional<MetaPage> page_of(MemoryDisk& disk, std::string const& name) {
    return decode_meta_page(disk.bytes("data/" + name));
}

/// Has thought of no base files.
struct OldSink final : RecordSink {
    bool record(RecordView const&) override { return true; }
};

}  // namespace

TEST_CASE("both pages of META name the first segment before anything may be deleted",
          "[journal][meta]") {
    Image image{10};
    CollectingSink sink;
    auto const recovered = recover(Image::data, *image.disk, {}, sink);
    REQUIRE(recovered.has_value());
    Options const options = small_options(Image::data);
    CountingListener listener;
    StillClock clock;
    JournalCore core{options, *image.disk, clock, recovered->tail, listener, [] {}};
    REQUIRE_FALSE(core.prepare(recovered->tail));
    core.upkeep().look();
    for (char const* const name : {"META.a", "META.b"}) {
        auto const page = page_of(*image.disk, name);
        REQUIRE(page.has_value());
        CHECK(page->version == 1);
        CHECK(page->first_segment == 1);
    }
    REQUIRE(core.upkeep().keep_from(2));
    for (char const* const name : {"META.a", "META.b"}) {
        CAPTURE(name);
        auto const page = page_of(*image.disk, name);
        REQUIRE(page.has_value());
        CHECK(page->first_segment == 2);
        CHECK(page->version == 2);
    }
    // And so it stays, whatever is stored later.
    core.write_clean_seal();
    core.store_clean_meta();
    auto const found = recover(Image::data, *image.disk, {}, sink);
    REQUIRE(found.has_value());
    CHECK(found->tail.first_segment == 2);
}

TEST_CASE("R10: a META newer than this program is refused, and one that deleted is known",
          "[journal][meta]") {
    Image image{10};
    image.meta.first_segment = 2;
    image.store_meta(1, 10);
    CollectingSink sink;
    CHECK(recover(Image::data, *image.disk, {}, sink).has_value());
    image.meta.version = meta_version_with_base + 1;
    image.store_meta(1, 10);
    auto const refused = recover(Image::data, *image.disk, {}, sink);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().exit_code == 78);
    CHECK_THAT(refused.error().message, Catch::Contains("META has format version 3"));
}

TEST_CASE("a sink that knows no base files does not begin in the middle", "[journal][meta]") {
    Image image{10};
    image.meta.first_segment = 2;
    image.store_meta(1, 10);
    OldSink sink;
    auto const refused = recover(Image::data, *image.disk, {}, sink);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().exit_code == 78);
    CHECK_THAT(refused.error().message, Catch::Contains("is not known"));
}
