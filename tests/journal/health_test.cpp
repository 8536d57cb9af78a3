// A slow disk sheds, a large journal turns read-only; both heal by themselves.
#include "journal/journal_core.hpp"
#include "tests/journal/fixture.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace holdfast;
using namespace holdfast::journal;
using namespace holdfast::journal::test;

/// The journal without its threads.
struct Still {
    explicit Still(std::uint64_t bytes_max = 0) {
        options.journal_bytes_max = bytes_max;
        CollectingSink sink;
        auto const recovered = recover("data", disk, {}, sink);
        if (!recovered) throw std::runtime_error(recovered.error().message);
        core.emplace(options, disk, clock, recovered->tail, listener, [] {});
        if (core->prepare(recovered->tail)) throw std::runtime_error("no journal");
        core->upkeep().look();
    }
    /// False: it was refused.
    bool write(std::size_t bytes = 1'000) {
        if (!core->reserve(record_header_bytes + bytes)) return false;
        core->append(RecordType::claim, 1, bytes_of(std::string(bytes, 'r')));
        return core->write_next();
    }

    MemoryDisk disk;
    StillClock clock;
    CountingListener listener;
    Options options = small_options("data");
    std::optional<JournalCore> core;
};

}  // namespace

TEST_CASE("P14: while one sync takes longer than 10 s new mutations are refused",
          "[journal][health]") {
    Still still;
    JournalCore& core = *still.core;
    CHECK(still.write());
    CHECK(core.health().slow_syncs == 0);
    CHECK_FALSE(core.health().is_full());  // there is no limit
    struct Step {
        int ms;
        bool refused;
        std::uint64_t slow;
    };
    std::uint64_t slow = 0;
    for (Step const step : {Step{900, false, 0}, Step{1'001, false, 1}, Step{10'000, false, 1},
                            Step{10'001, true, 1}, Step{60'000, true, 1}}) {
        CAPTURE(step.ms);
        int calls = 0;
        std::optional<bool> refused;
        bool sheds = false;
        // The first change of a group is its write, the second its sync.
        still.disk.on_change([&] {
            if (++calls != 2) return;
            still.clock.ms += step.ms;
            refused = !core.reserve(100);
            if (!*refused) core.give_back(100);
            sheds = core.health().sheds;
        });
        CHECK(still.write());
        still.disk.on_change({});
        REQUIRE(refused.has_value());
        CHECK(*refused == step.refused);
        CHECK(sheds == step.refused);
        CHECK(core.mode() == Mode::running);
        slow += step.slow;
        CHECK(core.health().slow_syncs == slow);
        // The sync is over: it takes mutations again.
        CHECK_FALSE(core.health().sheds);
        CHECK(still.write());
    }
}

TEST_CASE("P14: while a change of segments takes longer than 10 s new mutations are refused",
          "[journal][health]") {
    Still still;
    JournalCore& core = *still.core;
    std::optional<bool> refused;
    // The second segment has its name, which is not synced yet.
    still.disk.on_change([&] {
        if (refused || !still.disk.has("data/journal/0000000000000002.hfj")) return;
        still.clock.ms += 10'001;
        refused = !core.reserve(100);
        if (!*refused) core.give_back(100);
    });
    for (int records = 0; !refused && records < 1'000; ++records) REQUIRE(still.write());
    still.disk.on_change({});
    CHECK(refused == true);
    CHECK_FALSE(core.health().sheds);
    CHECK(still.write());
    CHECK(core.mode() == Mode::running);
}

TEST_CASE("P12: a journal as large as it may be is read-only until segments are deleted",
          "[journal][health]") {
    constexpr std::uint64_t segments_max = 8;
    Still still(segments_max * small_segment);
    JournalCore& core = *still.core;
    std::uint64_t accepted = 0;
    while (core.mode() == Mode::running) {
        REQUIRE(accepted < 1'000);
        REQUIRE(still.write());
        ++accepted;
        core.upkeep().look();
    }
    CHECK(core.mode() == Mode::read_only);
    CHECK(core.health().is_full());
    CHECK(core.health().bytes == (segments_max + 1) * small_segment);
    CHECK_FALSE(still.write());
    core.upkeep().look();
    CHECK(core.mode() == Mode::read_only);
    CHECK(core.durable_lsn().value() == accepted);
    // Room by a deletion: the next look takes it back.
    REQUIRE(core.upkeep().keep_from(4));
    core.upkeep().look();
    CHECK(core.mode() == Mode::running);
    CHECK_FALSE(core.health().is_full());
    CHECK(still.write());
    CHECK(core.durable_lsn().value() == accepted + 1);
}

TEST_CASE("P9: little free space is told before the journal turns read-only", "[journal][health]") {
    Still still;
    still.options.free_bytes_min = 64U << 20;
    CollectingSink sink;
    auto const recovered = recover("data", still.disk, {}, sink);
    REQUIRE(recovered.has_value());
    JournalCore core(still.options, still.disk, still.clock, recovered->tail, still.listener,
                     [] {});
    REQUIRE_FALSE(core.prepare(recovered->tail));
    struct Look {
        std::uint64_t free;
        bool is_short;
        Mode mode;
    };
    constexpr std::uint64_t min = 64U << 20;
    for (Look const look : {Look{4 * min, false, Mode::running},
                            {4 * min - 1, true, Mode::running},
                            {min, true, Mode::running},
                            {min - 1, true, Mode::read_only},
                            {min, true, Mode::running},
                            {4 * min, false, Mode::running}}) {
        CAPTURE(look.free);
        still.disk.change_faults([&](auto& faults) { faults.free_bytes = look.free; });
        core.upkeep().look();
        CHECK(core.health().space_is_short == look.is_short);
        CHECK(core.mode() == look.mode);
    }
}
