// A deletion asks for space, can be stopped, trusts no disk, and never runs ahead of the store.
#include "tests/engine/shop.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

namespace holdfast::engine::test {
namespace {

std::string path_of_base(World& world) {
    for (std::string const& path : world.disk.paths())
        if (path.ends_with(".hfb")) return path;
    return "";
}

}  // namespace

TEST_CASE("a base file is written only if there is space for it", "[compaction]") {
    World world;
    world.open_store();
    Shop(world).fill_segments(8);
    Compaction compaction = compaction_of(world, world.disk, 1);
    auto const found = found_by(compaction, world);
    std::uint64_t const bytes = journal::base_bytes_for(Start(world, world.disk).state.size());
    // The state before the segment is not the one of now, but no larger.
    world.disk.change_faults([&](auto& faults) { faults.free_bytes = 4'096; });
    auto const refused = compaction.prepare(found);
    REQUIRE(refused.has_value());
    CHECK(refused->exit_code == 76);
    CHECK_THAT(refused->message, Catch::Contains("not enough space for the base file"));
    CHECK(count_of(world, ".hfb") + count_of(world, "base.tmp") == 0);  // spares come and go
    world.disk.change_faults([&](auto& faults) { faults.free_bytes = 1'000'000 + bytes; });
    CHECK(compaction.prepare(found, {1'000'001 + bytes, {}}).has_value());
    CHECK(count_of(world, ".hfb") + count_of(world, "base.tmp") == 0);  // spares come and go
    CHECK_FALSE(compaction.prepare(found, {1'000'000, {}}).has_value());
    CHECK(compaction.space_is_scarce(1'000'000));
    world.disk.change_faults([&](auto& faults) { faults.free_bytes = 1ULL << 40; });
    CHECK_FALSE(compaction.space_is_scarce(1'000'000));
}

TEST_CASE("a deletion can be stopped while it reads", "[compaction]") {
    World world;
    world.open_store();
    Shop(world).fill_segments(8);
    Compaction compaction = compaction_of(world, world.disk, 1);
    CHECK(compaction.prepare(found_by(compaction, world), {0, [] { return true; }}).has_value());
    CHECK(count_of(world, ".hfb") + count_of(world, "base.tmp") == 0);  // spares come and go
}

TEST_CASE("P15: a deletion can be stopped between any two pieces of its work", "[compaction]") {
    World world;
    world.open_store();
    Shop(world).fill_segments(8);
    Compaction compaction = compaction_of(world, world.disk, 1);
    auto const found = found_by(compaction, world);
    int stops = 0;
    for (;;) {
        int looks = 0;
        auto const stopped = [&] { return ++looks > stops; };
        auto const failure = compaction.prepare(found, {0, stopped});
        if (!failure) break;
        CHECK_THAT(failure->message, Catch::Contains("is being stopped"));
        CHECK(looks == stops + 1);
        CHECK(count_of(world, "base.tmp") == 0);
        ++stops;
    }
    // While it reads, before it saves, writes, reads back and loads what it has read.
    CHECK(stops >= 5);
}

TEST_CASE("a base file that the disk has otherwise is not used", "[compaction]") {
    World world;
    world.open_store();
    Shop(world).fill_segments(8);
    Compaction compaction = compaction_of(world, world.disk, 1);
    auto const found = found_by(compaction, world);
    world.close_journal();
    std::size_t byte = 0;
    world.disk.on_change([&] {
        auto const path = path_of_base(world);
        bool const now = byte != 0 && !path.empty();
        if (!now) return;
        world.disk.bytes(path)[byte] ^= std::byte{1};
        byte = 0;
    });
    REQUIRE_FALSE(compaction.prepare(found).has_value());
    std::size_t const last = world.disk.bytes(path_of_base(world)).size() - 1;
    for (std::size_t const at : {std::size_t{9}, std::size_t{4'100}, last}) {
        CAPTURE(at);
        REQUIRE_FALSE(world.disk.remove(path_of_base(world)));
        byte = at;
        CHECK(compaction.prepare(found).has_value());
    }
    world.disk.on_change({});
}

TEST_CASE("P10: a base file of another place in a journal is not read", "[compaction]") {
    World world;
    world.open_store();
    Shop(world).fill_segments(8);
    Compaction compaction = compaction_of(world, world.disk, 1);
    auto const found = found_by(compaction, world);
    CHECK(compact(compaction, found, world) == "");
    auto const path = path_of_base(world);
    auto const state = journal::read_base("data", world.disk, found);
    REQUIRE(state.has_value());
    auto const put = [&](journal::SegmentStart const& other) {
        REQUIRE_FALSE(journal::write_base("data", world.disk, other, *state).has_value());
        for (std::string const& name : world.disk.paths()) {
            bool const is_other = name.ends_with(".hfb") && name != path;
            if (is_other) REQUIRE_FALSE(world.disk.rename(name, path));
        }
    };
    journal::SegmentStart others[] = {found, found, found, found};
    others[0].chain ^= 1;
    others[1].segment += 1;
    others[2].before = Lsn{found.before.value() + 1};
    others[3].store_id[7] ^= 1;
    for (auto const& other : others) {
        put(other);
        auto const read = journal::read_base("data", world.disk, found);
        REQUIRE_FALSE(read.has_value());
        CHECK(read.error().exit_code == 77);
        CHECK_THAT(read.error().message, Catch::Contains("belongs to another journal"));
    }
    put(found);
    CHECK(journal::read_base("data", world.disk, found).has_value());
}

TEST_CASE("only files that have a base file's very name are deleted", "[compaction]") {
    World world;
    world.open_store();
    Shop(world).fill_segments(8);
    std::string const kept[] = {"data/journal/0000000000000002-copy.hfb", "data/journal/old.hfb",
                                "data/journal/notes"};
    std::string const leftover = "data/journal/0000000000000002.hfb";
    std::unique_ptr<journal::File> file;
    for (std::string const& name : kept)
        REQUIRE_FALSE(world.disk.open(name, journal::OpenMode::create, file));
    REQUIRE_FALSE(world.disk.open(leftover, journal::OpenMode::create, file));
    Compaction compaction = compaction_of(world, world.disk, 1);
    CHECK(compact(compaction, found_by(compaction, world), world) == "");
    for (std::string const& name : kept) CHECK(world.disk.has(name));
    CHECK_FALSE(world.disk.has(leftover));
}

TEST_CASE("store_durable_lsn is not ahead of a reader that reads everything again",
          "[compaction][projector]") {
    World world;
    world.start();
    // More than one batch, over many segments.
    Lsn last{};
    for (std::uint64_t generation = 1; generation <= 16'000; ++generation) {
        world.claim(hold(1, generation), {0});
        last = world.end(hold(1, generation));
        if (generation % 50 == 0) REQUIRE(world.journal->wait_durable(last));
    }
    REQUIRE(world.projector().wait_applied(last, patience));
    world.stop();
    world.open_store();
    REQUIRE(world.store->identity().applied_lsn == last);
    Projector projector(
        *world.store, *world.journal, world.disk, "data",
        [&](EventId id) { return world.find(id); }, world.key);
    projector.request_checkpoint();
    std::atomic<std::thread::id> reader{};
    std::atomic<bool> ahead{false};
    std::atomic<int> looks{0};
    // Whenever it opens a file it has not read the last record yet.
    world.disk.on_change([&] {
        if (std::this_thread::get_id() != reader.load()) return;
        ++looks;
        if (projector.store_durable_lsn() >= last) ahead.store(true);
    });
    std::thread thread([&] {
        reader.store(std::this_thread::get_id());
        projector.run();
    });
    bool const stored = projector.wait_stored(Lsn{1}, patience);
    projector.stop();
    thread.join();
    world.disk.on_change({});
    CHECK(stored);
    CHECK(looks.load() > 5);
    CHECK_FALSE(ahead.load());
    CHECK(projector.store_durable_lsn() == last);
}

TEST_CASE("events without holds cost a replay next to nothing", "[compaction]") {
    std::map<EventId, std::uint32_t> places;
    for (std::uint32_t id = 1; id <= limits::events_max; ++id)
        places[EventId{id}] = limits::places_per_event_max;
    Replay replay(places);
    auto const state = replay.save();
    CHECK(state.size() < 100 * limits::events_max);
    Replay again(places);
    CHECK(again.load(state));
    CHECK(again.save() == state);
}

}  // namespace holdfast::engine::test
