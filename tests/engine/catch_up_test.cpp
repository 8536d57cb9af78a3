// Catch-up: the rows of a folder at rest are those that the running projector writes.
#include "tests/engine/resting_world.hpp"

#include <holdfast/engine/compaction.hpp>

#include <catch2/catch.hpp>

namespace holdfast::engine::test {
namespace {

/// Claims, sales and cancellations of general places until that segment exists.
Lsn fill_up_to(World& world, std::string const& segment) {
    Lsn last = no_lsn;
    for (std::uint64_t turn = 1; !world.disk.has("data/journal/" + segment); ++turn) {
        last = world.claim(hold(1, turn), {0});
        last = world.sell(order(2 * turn), {hold(1, turn)});
        last = world.cancel(order(2 * turn), {hold(1, turn)});
        REQUIRE(world.journal->wait_durable(last));
    }
    return last;
}

}  // namespace

TEST_CASE("a catch-up writes the rows that the projector writes", "[catch-up]") {
    World world;
    world.start();
    Lsn const first = fill_up_to(world, "0000000000000003.hfj");
    REQUIRE(world.projector().wait_applied(first, patience));
    world.claim(hold(2, 1), {1, 2});
    Lsn const last = world.sell(order(1), {hold(2, 1)});
    REQUIRE(world.projector().wait_applied(last, patience));
    world.stop();
    auto const rows = world.dump();
    world.close_journal();
    std::filesystem::remove(world.folder.file());
    std::filesystem::remove(world.folder.file("store.db-wal"));
    std::filesystem::remove(world.folder.file("store.db-shm"));
    world.open_store();
    // In two steps, the second of which knows the holds of the first.
    REQUIRE_FALSE(catch_up_to(world, Lsn{last.value() - 1}).has_value());
    REQUIRE_FALSE(catch_up_to(world, last).has_value());
    CHECK(world.store->identity().applied_lsn == last);
    CHECK(world.dump() == rows);
    CHECK_FALSE(catch_up_to(world, last).has_value());
}

TEST_CASE("a catch-up goes on from a base file, and not from before it", "[catch-up]") {
    World world;
    world.open_store();
    world.claim(hold(2, 1), {1, 2});
    Lsn const before = fill_up_to(world, "0000000000000009.hfj");
    REQUIRE_FALSE(catch_up_to(world, before).has_value());
    Compaction compaction("data", world.disk, journal::test::small_segment, 1, [&] {
        return std::map{std::pair{demo, world.find(demo)->layout.place_count()}};
    });
    auto const start = compaction.find(before);
    REQUIRE(start.has_value());
    REQUIRE(start->has_value());
    REQUIRE_FALSE(compaction.prepare(**start).has_value());
    REQUIRE_FALSE(compaction.begin_with(**start, *world.journal).has_value());
    REQUIRE_FALSE(compaction.delete_before(**start).has_value());
    Lsn const last = world.sell(order(1), {hold(2, 1)});
    REQUIRE(world.journal->wait_durable(last));
    world.close_journal();
    REQUIRE_FALSE(catch_up_to(world, last).has_value());
    world.stop();
    CHECK(read_order(world, order(1)).tickets.size() == 2);
}

TEST_CASE("a catch-up that meets a contradiction says where, with 78", "[catch-up]") {
    World world;
    world.open_store();
    world.claim(hold(1, 1), {0});
    Lsn const last = world.sell(order(1), {hold(9, 1)});
    world.close_journal();
    auto const failure = catch_up_to(world, last);
    REQUIRE(failure.has_value());
    CHECK(failure->exit_code == 78);
    CHECK_THAT(failure->message, Catch::Contains("LSN 2"));
    CHECK(world.store->identity().applied_lsn == no_lsn);
}

TEST_CASE("a catch-up of a journal with a hole is exit 77", "[catch-up]") {
    World world;
    world.open_store();
    Lsn const last = fill_up_to(world, "0000000000000003.hfj");
    world.close_journal();
    REQUIRE_FALSE(world.disk.remove("data/journal/0000000000000002.hfj"));
    auto const failure = catch_up_to(world, last);
    REQUIRE(failure.has_value());
    CHECK(failure->exit_code == 77);
}

TEST_CASE("a catch-up needs META, and the base file that META's first segment begins with",
          "[catch-up]") {
    World world;
    world.open_store();
    Lsn const last = fill_up_to(world, "0000000000000003.hfj");
    REQUIRE(world.journal->keep_from(2));
    world.close_journal();
    auto const without_base = catch_up_to(world, last);
    REQUIRE(without_base.has_value());
    CHECK(without_base->exit_code == 77);
    CHECK_THAT(without_base->message, Catch::Contains("0000000000000002.hfb is missing"));
    for (char const* const page : {"data/META.a", "data/META.b"})
        REQUIRE_FALSE(world.disk.remove(page));
    auto const without_meta = catch_up_to(world, last);
    REQUIRE(without_meta.has_value());
    CHECK_THAT(without_meta->message, Catch::Contains("neither META.a nor META.b is good"));
    CHECK(world.store->identity().applied_lsn == no_lsn);
}

}  // namespace holdfast::engine::test
