// The upkeep without a thread of its own: its answers when the journal stops, failed or is full.
#include "journal/upkeep.hpp"

#include "tests/journal/fixture.hpp"
#include "tests/support/nth_call_disk.hpp"

#include <catch2/catch.hpp>

namespace holdfast::journal::test {
namespace {

struct KeptUp {
    explicit KeptUp(Disk* other = nullptr) : disk(other == nullptr ? files : *other) {
        MetaPage page;
        page.boot_epoch = 1;
        REQUIRE_FALSE(meta.store_both(page));
        shared.live_segment = 5;
        shared.live_bytes_left = options.segment_bytes;
        upkeep.emplace(options, disk, clock, meta, shared, [this] { ++failures; });
    }
    [[nodiscard]] std::uint64_t first_in(char const* page) {
        auto const found = decode_meta_page(files.bytes(std::filesystem::path{"data"} / page));
        return found ? found->first_segment : 0;
    }

    MemoryDisk files;
    Disk& disk;
    StillClock clock;
    Options options = small_options("data");
    Meta meta{"data", files};
    SharedState shared;
    int failures{};
    std::optional<Upkeep> upkeep;
};

}  // namespace

TEST_CASE("an upkeep that was stopped waits for nothing and refuses nothing", "[journal][upkeep]") {
    KeptUp kept;
    kept.upkeep->stop();
    kept.upkeep->settle_next();
    CHECK(kept.shared.mode.load() == Mode::running);
    CHECK_FALSE(kept.upkeep->take_spare().has_value());
    CHECK_FALSE(kept.upkeep->keep_from(2));
    kept.upkeep->look();
    CHECK_FALSE(kept.files.has(spare_path("data", 1)));
}

TEST_CASE("P15: a spare is not finished for a stop", "[journal][upkeep]") {
    constexpr std::uint64_t pieces = 64;
    for (std::uint64_t const piece : {std::uint64_t{1}, std::uint64_t{5}, pieces}) {
        CAPTURE(piece);
        KeptUp kept;
        kept.options.segment_bytes = pieces * synced_piece_bytes;
        auto const spare = spare_path("data", 1);
        std::uint64_t most = 0;
        kept.files.on_change([&] {
            if (!kept.files.has(spare)) return;
            most = std::max<std::uint64_t>(most, kept.files.bytes(spare).size());
            if (most >= piece * synced_piece_bytes) kept.upkeep->stop();
        });
        kept.upkeep->look();
        kept.files.on_change({});
        CHECK(most == piece * synced_piece_bytes);
        // Half a file is removed, and that is no want of space.
        CHECK(kept.files.has(spare) == (piece == pieces));
        CHECK_FALSE(kept.files.has(spare_path("data", 2)));
        CHECK(kept.shared.mode.load() == Mode::running);
        CHECK(kept.failures == 0);
    }
}

TEST_CASE("a journal that closes is not turned read-only for want of a segment",
          "[journal][upkeep]") {
    KeptUp kept;
    kept.files.change_faults([](auto& faults) { faults.no_space_for_spares = true; });
    kept.upkeep->look();
    kept.upkeep->finish();
    kept.upkeep->settle_next();
    CHECK(kept.shared.mode.load() == Mode::running);
    // Its last records find no room: that is known at once.
    CHECK_FALSE(kept.upkeep->take_spare().has_value());
    CHECK_FALSE(kept.upkeep->keep_from(2));
    // While it is closing a spare may still come.
    KeptUp with_space;
    with_space.upkeep->finish();
    with_space.upkeep->settle_next();
    CHECK(with_space.shared.mode.load() == Mode::running);
    CHECK(with_space.upkeep->take_spare().has_value());
}

TEST_CASE("a spare that becomes a segment keeps its name until that has another",
          "[journal][upkeep]") {
    KeptUp kept;
    kept.upkeep->look();
    auto const spare = kept.upkeep->take_spare();
    REQUIRE(spare.has_value());
    REQUIRE(spare->path == spare_path("data", 1));
    // No other is made in its place meanwhile: the segment has its bytes.
    Bytes const marked(5, std::byte{7});
    kept.files.put(spare->path, marked);
    kept.upkeep->look();
    CHECK((kept.files.bytes(spare->path) == marked));
    REQUIRE_FALSE(kept.files.rename(spare->path, "data/journal/0000000000000006.hfj"));
    kept.upkeep->spare_used();
    kept.upkeep->look();
    CHECK(kept.files.has(spare_path("data", 1)));
}

TEST_CASE("P9: a second spare is no reason to be read-only", "[journal][upkeep]") {
    KeptUp kept;
    constexpr std::uint64_t least = 100'000;
    kept.options.free_bytes_min = least;
    kept.upkeep.emplace(kept.options, kept.disk, kept.clock, kept.meta, kept.shared, [] {});
    auto const have_free = [&](std::uint64_t bytes) {
        kept.files.change_faults([bytes](auto& faults) { faults.free_bytes = bytes; });
    };
    have_free(least + kept.options.segment_bytes - 1);
    kept.upkeep->look();
    CHECK(kept.files.has(spare_path("data", 1)));
    CHECK_FALSE(kept.files.has(spare_path("data", 2)));
    CHECK(kept.shared.mode.load() == Mode::running);
    have_free(least + kept.options.segment_bytes);
    kept.upkeep->look();
    CHECK(kept.files.has(spare_path("data", 2)));
    // The first one is made at any price: what was accepted must find room.
    have_free(0);
    REQUIRE(kept.upkeep->take_spare().has_value());
    REQUIRE(kept.upkeep->take_spare().has_value());
    kept.upkeep->spare_used();
    kept.upkeep->look();
    CHECK(kept.upkeep->take_spare().has_value());
    CHECK(kept.shared.mode.load() == Mode::read_only);
}

TEST_CASE("P9: a spare that could not be made is tried again after its time", "[journal][upkeep]") {
    KeptUp kept;
    kept.files.change_faults([](auto& faults) { faults.no_space_for_spares = true; });
    kept.upkeep->look();
    kept.files.change_faults([](auto& faults) { faults.no_space_for_spares = false; });
    kept.clock.ms += kept.options.space_retry.count() - 1;
    kept.upkeep->look();
    CHECK_FALSE(kept.files.has(spare_path("data", 1)));
    kept.clock.ms += 1;
    kept.upkeep->look();
    CHECK(kept.files.has(spare_path("data", 1)));
}

TEST_CASE("P9: a journal that failed gets no segment, deletes none and stays failed",
          "[journal][upkeep]") {
    KeptUp kept;
    kept.upkeep->look();
    REQUIRE(kept.files.has(spare_path("data", 2)));
    kept.shared.fail();
    CHECK_FALSE(kept.upkeep->take_spare().has_value());
    CHECK_FALSE(kept.upkeep->keep_from(2));
    kept.upkeep->look();
    CHECK(kept.first_in("META.a") == 1);
    CHECK(kept.first_in("META.b") == 1);

    KeptUp without_spares;
    without_spares.shared.fail();
    without_spares.upkeep->settle_next();
    without_spares.upkeep->look();
    CHECK_FALSE(without_spares.upkeep->take_spare().has_value());
    CHECK(without_spares.shared.mode.load() == Mode::failed);

    // What both pages say already is not asked for again.
    KeptUp kept_before;
    REQUIRE(kept_before.upkeep->keep_from(3));
    kept_before.shared.fail();
    CHECK_FALSE(kept_before.upkeep->keep_from(2));
}

TEST_CASE("P9: while only one page of META names the first segment nothing may be deleted",
          "[journal][upkeep]") {
    for (long const writes : {0, 1}) {
        CAPTURE(writes);
        KeptUp kept;
        kept.files.change_faults([&](auto& faults) { faults.writes_until_error = writes; });
        CHECK_FALSE(kept.upkeep->keep_from(2));
        CHECK(kept.shared.failed());
        CHECK(kept.failures == 1);
        CHECK((kept.first_in("META.a") == 1 || kept.first_in("META.b") == 1));
    }
    KeptUp whole;
    CHECK(whole.upkeep->keep_from(2));
    CHECK(whole.first_in("META.a") == 2);
    CHECK(whole.first_in("META.b") == 2);
}

TEST_CASE("P9: whichever call of a look fails, the journal goes on, is read-only or failed",
          "[journal][upkeep]") {
    int looks_without_space = 0;
    for (int nth = 0;; ++nth) {
        KeptUp whole;
        holdfast::test::NthCallDisk disk{whole.files, nth};
        KeptUp kept{&disk};
        kept.shared.durable = 9;
        kept.upkeep->look();
        CAPTURE(disk.failed_call());
        if (!disk.has_failed()) break;
        CHECK(kept.shared.mode.load() == Mode::running);
        // Nobody knows how much space there is: the next write will tell.
        if (disk.failed_call().starts_with("free bytes")) ++looks_without_space;
        kept.clock.ms += kept.options.space_retry.count();
        kept.upkeep->look();
        CHECK(kept.upkeep->take_spare().has_value());
    }
    CHECK(looks_without_space > 0);
}

}  // namespace holdfast::journal::test
