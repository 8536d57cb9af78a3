// The keeper on its thread, beside a projector on another.
#include "app/keeper.hpp"

#include "tests/engine/shop.hpp"
#include "tests/support/forwarding_disk.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

namespace holdfast::app::test {
namespace {

using namespace std::chrono_literals;
using engine::test::World;

/// Segments on it stay for as often as the test wants.
class StickyDisk final : public holdfast::test::ForwardingDisk {
public:
    using ForwardingDisk::ForwardingDisk;
    std::error_code remove(Path const& name) override {
        bool const refused = name.extension() == ".hfj" && refusals_left.fetch_sub(1) > 0;
        if (refused) return std::make_error_code(std::errc::operation_not_permitted);
        return ForwardingDisk::remove(name);
    }
    std::atomic<int> refusals_left{};
};

constexpr KeeperRests no_rests{Milliseconds{1}, Milliseconds{1}};

/// Whether the keeper leaves no more segments than it must.
bool leaves_only_the_newest(World& world) {
    auto const deadline = std::chrono::steady_clock::now() + 60s;
    while (engine::test::count_of(world, ".hfj") > engine::Compaction::segments_kept) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::yield();
    }
    return true;
}

}  // namespace

TEST_CASE("P12: segments that could not be deleted are deleted at a later look", "[app][keeper]") {
    for (int const refusals : {0, 1, 3}) {
        CAPTURE(refusals);
        World world;
        world.start();
        StickyDisk disk(world.disk);
        engine::test::Shop(world).fill_segments(8);
        disk.refusals_left = refusals;
        Keeper keeper(world.projector(), *world.journal,
                      engine::test::compaction_of(world, disk, 1),
                      journal::test::small_options("data"), no_rests);
        CHECK(leaves_only_the_newest(world));
        CHECK(disk.refusals_left.load() < 0);
    }
}

TEST_CASE("P12: segments that a start could not delete are deleted while it runs",
          "[app][keeper]") {
    World world;
    world.start();
    StickyDisk disk(world.disk);
    engine::test::Shop(world).fill_segments(8);
    // The store has it all, as the keeper would wait for.
    Lsn const last = world.journal->durable_lsn();
    REQUIRE(world.projector().wait_applied(last, engine::test::patience));
    auto compaction = engine::test::compaction_of(world, disk, 1);
    disk.refusals_left = 1;
    CHECK(engine::test::compact(compaction, engine::test::found_by(compaction, world), world) !=
          "");
    REQUIRE(compaction.undone().has_value());
    // As a start finds them.
    Keeper keeper(world.projector(), *world.journal,
                  engine::test::compaction_of(world, disk, compaction.first_segment()),
                  journal::test::small_options("data"), no_rests);
    CHECK(leaves_only_the_newest(world));
}

}  // namespace holdfast::app::test
