// Segments are deleted, and nothing is lost: whatever happens at whichever step.
#include "tests/engine/projector_world.hpp"

#include <holdfast/engine/compaction.hpp>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

namespace holdfast::engine::test {
namespace {

using journal::test::MemoryDisk;

constexpr std::uint32_t slots = 8;

std::map<EventId, std::uint32_t> places_of(World const& world) {
    return {{demo, world.find(demo)->layout.place_count()}};
}

Compaction compaction_of(World& world, journal::Disk& disk, std::uint64_t first) {
    return {"data", disk, journal::test::small_segment, first,
            [&world] { return places_of(world); }};
}

/// What a start from this disk knows; empty if there is none.
class Start final : public journal::RecordSink {
public:
    Start(World& world, journal::Disk& disk) : disk_(disk), replay_(places_of(world)) {
        auto const recovered = journal::recover("data", disk, {}, *this);
        if (!recovered) {
            why_not = recovered.error().message;
            return;
        }
        last = recovered->tail.last_lsn;
        first_segment = recovered->tail.first_segment;
        state = replay_.save();
    }
    bool begin(journal::SegmentStart const& start) override {
        auto const base = journal::read_base("data", disk_, start);
        return base && replay_.load(*base);
    }
    bool record(journal::RecordView const& record) override { return replay_.record(record); }
    std::string why_not;
    std::vector<std::byte> state;
    Lsn last{};
    std::uint64_t first_segment{};

private:
    journal::Disk& disk_;
    Replay replay_;
};

/// A shop that goes on until so many segments exist.
class Shop {
public:
    explicit Shop(World& world) : world_(world) {}

    /// Claims, ends, sells and cancels, one group a claim; slot 1 stays held and slot 2 sold.
    void fill_segments(std::uint64_t segments) {
        if (generation_ > 0) world_.end(held());
        std::string const number = std::to_string(segments);
        std::string const name = std::string(16 - number.size(), '0') + number + ".hfj";
        while (!world_.disk.has("data/journal/" + name)) {
            ++generation_;
            for (std::uint32_t slot = 3; slot <= slots; ++slot) claim_and_end(slot);
        }
        ++generation_;
        world_.claim(held(), {3});
        HoldKey const sold = hold(slots + ++sold_, generation_);
        world_.claim(sold, {slots + sold_});
        Lsn const last = world_.sell(order(++orders_), {sold});
        REQUIRE(world_.journal->wait_durable(last));
    }
    [[nodiscard]] HoldKey held() const { return hold(1, generation_); }

private:
    void claim_and_end(std::uint32_t slot) {
        HoldKey const key = hold(slot, generation_);
        REQUIRE(world_.journal->wait_durable(world_.claim(key, {slot - 3})));
        if (slot != slots) {
            world_.end(key);
            return;
        }
        world_.sell(order(++orders_), {key});
        world_.cancel(order(orders_), {key});
    }

    World& world_;
    std::uint64_t generation_{};
    std::uint64_t orders_{};
    std::uint32_t sold_{};
};

std::size_t count_of(World& world, std::string const& ending) {
    auto const paths = world.disk.paths();
    return static_cast<std::size_t>(std::ranges::count_if(
        paths, [&](std::string const& path) { return path.ends_with(ending); }));
}

}  // namespace

TEST_CASE("a start after a deletion knows what all records said", "[compaction]") {
    World world;
    world.open_store();
    Shop shop(world);
    shop.fill_segments(9);
    Start const before(world, world.disk);
    Compaction compaction = compaction_of(world, world.disk, 1);
    auto const found = compaction.find(before.last);
    REQUIRE(found.has_value());
    REQUIRE(found->has_value());
    CHECK((*found)->segment == 9 + 1 - Compaction::segments_kept);
    CHECK_FALSE(compaction.prepare(**found).has_value());
    CHECK(Start(world, world.disk).state == before.state);
    CHECK_FALSE(compaction.commit(**found, *world.journal).has_value());
    CHECK(count_of(world, ".hfj") == Compaction::segments_kept);
    CHECK(count_of(world, ".hfb") == 1);
    Start const after(world, world.disk);
    CHECK(after.why_not == "");
    CHECK(after.last == before.last);
    CHECK(after.first_segment == (*found)->segment);
    CHECK(after.state == before.state);
    // And a second time, on top of the first base file.
    shop.fill_segments(9 + 4);
    Start const longer(world, world.disk);
    auto const next = compaction.find(longer.last);
    REQUIRE(next.has_value());
    REQUIRE(next->has_value());
    CHECK_FALSE(compaction.prepare(**next).has_value());
    CHECK_FALSE(compaction.commit(**next, *world.journal).has_value());
    CHECK(Start(world, world.disk).state == longer.state);
    CHECK(count_of(world, ".hfb") == 1);
}

TEST_CASE("nothing is deleted that the store has not, nor of the newest segments", "[compaction]") {
    World world;
    world.open_store();
    Shop shop(world);
    shop.fill_segments(9);
    Compaction const compaction = compaction_of(world, world.disk, 1);
    for (std::uint64_t segment = 2; segment <= 9; ++segment) {
        auto const start = journal::segment_start("data", world.disk, segment);
        REQUIRE(start.has_value());
        std::uint64_t const newest = 9 + 1 - Compaction::segments_kept;
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

TEST_CASE("a power cut at any step of a deletion loses nothing", "[compaction]") {
    World world;
    world.open_store();
    Shop shop(world);
    shop.fill_segments(8);
    Start const expected(world, world.disk);
    std::mt19937_64 random(journal::test::seed_of_run());
    std::vector<std::unique_ptr<MemoryDisk>> ends;
    Compaction compaction = compaction_of(world, world.disk, 1);
    auto const found = compaction.find(expected.last);
    REQUIRE(found.has_value());
    REQUIRE(found->has_value());
    world.disk.on_change([&] {
        for (int i = 0; i < 4; ++i) ends.push_back(world.disk.crashed(random));
        ends.push_back(world.disk.copy());
    });
    CHECK_FALSE(compaction.prepare(**found).has_value());
    CHECK_FALSE(compaction.commit(**found, *world.journal).has_value());
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

TEST_CASE("a damaged or missing base file stops the start", "[compaction]") {
    World world;
    world.open_store();
    Shop shop(world);
    shop.fill_segments(8);
    Compaction compaction = compaction_of(world, world.disk, 1);
    auto const found = compaction.find(world.journal->durable_lsn());
    REQUIRE(found.has_value());
    REQUIRE(found->has_value());
    CHECK_FALSE(compaction.prepare(**found).has_value());
    CHECK_FALSE(compaction.commit(**found, *world.journal).has_value());
    world.close_journal();
    auto const paths = world.disk.paths();
    auto const path = *std::ranges::find_if(
        paths, [](std::string const& name) { return name.ends_with(".hfb"); });
    auto const whole = world.disk.bytes(path);
    auto const why_not = [&] {
        auto const start = journal::segment_start("data", world.disk, (*found)->segment);
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
    world.projector().request_checkpoint();
    Compaction compaction = compaction_of(world, world.disk, 1);
    auto const found = compaction.find(last);
    REQUIRE(found.has_value());
    REQUIRE(found->has_value());
    CHECK_FALSE(compaction.prepare(**found).has_value());
    auto const deadline = std::chrono::steady_clock::now() + patience;
    bool deleted = false;
    while (!deleted && std::chrono::steady_clock::now() < deadline) {
        deleted = world.projector().when_stored((*found)->before, [&] {
            CHECK(world.projector().store_durable_lsn() >= (*found)->before);
            CHECK_FALSE(compaction.commit(**found, *world.journal).has_value());
        });
    }
    REQUIRE(deleted);
    world.stop();
    world.start();
    // The hold was claimed before the restart: its places stand in base file or journal.
    Lsn const sold = world.sell(order(99'000), {shop.held()});
    REQUIRE(world.projector().wait_applied(sold, patience));
    CHECK(read_order(world, order(99'000)).tickets.size() == 1);
    CHECK_FALSE(world.projector().degraded());
}

}  // namespace holdfast::engine::test
