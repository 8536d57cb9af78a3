// Segments are deleted, and nothing is lost: whatever happens at whichever step.
#include "tests/engine/shop.hpp"

#include <catch2/catch.hpp>
#include <random>

namespace holdfast::engine::test {

using journal::test::MemoryDisk;

TEST_CASE("P12: a start after a deletion knows what all records said", "[compaction]") {
    World world;
    world.open_store();
    Shop shop(world);
    shop.fill_segments(9);
    Start const before(world, world.disk);
    Compaction compaction = compaction_of(world, world.disk, 1);
    auto const found = compaction.find(before.last);
    REQUIRE(found.has_value());
    REQUIRE(found->has_value());
    CHECK((*found)->segment == count_of(world, ".hfj") + 1 - Compaction::segments_kept);
    CHECK_FALSE(compaction.prepare(**found).has_value());
    CHECK(Start(world, world.disk).state == before.state);
    CHECK_FALSE(compaction.begin_with(**found, *world.journal).has_value());
    CHECK(Start(world, world.disk).state == before.state);
    CHECK_FALSE(compaction.delete_before(**found).has_value());
    CHECK(count_of(world, ".hfj") == Compaction::segments_kept);
    CHECK(count_of(world, ".hfb") == 1);
    Start const after(world, world.disk);
    CHECK(after.why_not == "");
    CHECK(after.last == before.last);
    CHECK(after.first_segment == (*found)->segment);
    CHECK(after.state == before.state);
    // Ended holds are in no list, and yet their numbers may not be given again.
    CHECK(after.generations == before.generations);
    // And a second time, on top of the first base file.
    shop.fill_segments(9 + 4);
    Start const longer(world, world.disk);
    CHECK(compact(compaction, found_by(compaction, world), world) == "");
    CHECK(Start(world, world.disk).state == longer.state);
    CHECK(count_of(world, ".hfb") == 1);
}

TEST_CASE("nothing is deleted that the store has not, nor of the newest segments", "[compaction]") {
    World world;
    world.open_store();
    Shop shop(world);
    shop.fill_segments(9);
    Compaction const compaction = compaction_of(world, world.disk, 1);
    std::uint64_t const live = count_of(world, ".hfj");
    for (std::uint64_t segment = 2; segment <= live; ++segment) {
        auto const start = journal::segment_start("data", world.disk, segment);
        REQUIRE(start.has_value());
        std::uint64_t const newest = live + 1 - Compaction::segments_kept;
        // With all before the segment, and with one record less.
        auto const all = compaction.find(start->before);
        REQUIRE(all.has_value());
        REQUIRE(all->has_value());
        CHECK((*all)->segment == std::min(segment, newest));
        auto const less = compaction.find(Lsn{start->before.value() - 1});
        REQUIRE(less.has_value());
        CHECK((*less ? (*less)->segment : 1) == std::min(segment - 1, newest));
    }
    auto const none = compaction.find(no_lsn);
    REQUIRE(none.has_value());
    CHECK_FALSE(none->has_value());
}

TEST_CASE("P12: a power cut at any step of a deletion loses nothing", "[compaction]") {
    World world;
    world.open_store();
    Shop shop(world);
    shop.fill_segments(8);
    Start const expected(world, world.disk);
    std::mt19937_64 random(journal::test::seed_of_run());
    std::vector<std::unique_ptr<MemoryDisk>> ends;
    Compaction compaction = compaction_of(world, world.disk, 1);
    auto const found = found_by(compaction, world);
    world.disk.on_change([&] {
        for (int i = 0; i < 4; ++i) ends.push_back(world.disk.crashed(random));
        ends.push_back(world.disk.copy());
    });
    CHECK(compact(compaction, found, world) == "");
    world.close_journal();
    world.disk.on_change({});
    CHECK(ends.size() > 50);
    std::size_t from_base = 0;
    for (auto const& disk : ends) {
        Start const start(world, *disk);
        REQUIRE(start.why_not == "");
        REQUIRE(start.last == expected.last);
        REQUIRE(start.state == expected.state);
        if (start.first_segment > 1) ++from_base;
    }
    CHECK(from_base > 0);
    CHECK(from_base < ends.size());
}

TEST_CASE("P10: a damaged or missing base file stops the start", "[compaction]") {
    World world;
    world.open_store();
    Shop shop(world);
    shop.fill_segments(8);
    Compaction compaction = compaction_of(world, world.disk, 1);
    auto const found = found_by(compaction, world);
    CHECK(compact(compaction, found, world) == "");
    world.close_journal();
    auto const paths = world.disk.paths();
    auto const path = *std::ranges::find_if(
        paths, [](std::string const& name) { return name.ends_with(".hfb"); });
    auto const whole = world.disk.bytes(path);
    auto const why_not = [&] {
        auto const start = journal::segment_start("data", world.disk, found.segment);
        auto const base = journal::read_base("data", world.disk, *start);
        return base ? journal::Failure{} : base.error();
    };
    REQUIRE(why_not().exit_code == 0);
    for (std::size_t byte = 0; byte < whole.size(); ++byte) {
        if (byte == 60) byte = 4'096;  // the rest of the page carries nothing
        world.disk.bytes(path)[byte] ^= std::byte{0x10};
        REQUIRE(why_not().exit_code == 77);
        world.disk.bytes(path)[byte] = whole[byte];
    }
    world.disk.bytes(path).pop_back();
    CHECK(why_not().exit_code == 77);
    REQUIRE_FALSE(world.disk.remove(path));
    CHECK_THAT(why_not().message, Catch::Contains("is missing"));
    CHECK(Start(world, world.disk).state.empty());
}

TEST_CASE("the projector goes on from a base file", "[compaction][projector]") {
    World world;
    world.start();
    Shop shop(world);
    shop.fill_segments(8);
    Lsn const last = world.journal->durable_lsn();
    REQUIRE(world.projector().wait_applied(last, patience));
    CHECK(world.projector().store_durable_lsn() == no_lsn);
    Compaction compaction = compaction_of(world, world.disk, 1);
    auto const found = found_by(compaction, world);
    // Applied is not durable: a power cut may still take it back.
    CHECK_FALSE(world.projector().wait_stored(found.before, Milliseconds{0}));
    CHECK_FALSE(world.projector().when_stored(found.before, [] {}));
    world.projector().request_checkpoint();
    REQUIRE(world.projector().wait_stored(found.before, patience));
    bool right = false;
    CHECK(world.projector().when_stored(found.before, [&] {
        right = world.projector().store_durable_lsn() >= found.before &&
                compact(compaction, found, world).empty();
    }));
    CHECK(right);
    world.stop();
    world.start();
    // The hold was claimed before the restart: its places stand in base file or journal.
    Lsn const sold = world.sell(order(99'000), {shop.held()});
    REQUIRE(world.projector().wait_applied(sold, patience));
    CHECK(read_order(world, order(99'000)).tickets.size() == 1);
    CHECK_FALSE(world.projector().degraded());
}

}  // namespace holdfast::engine::test
