// What a server has lost fits nothing that it makes afterwards.
#include "tests/engine/sale_fixture.hpp"

#include <catch2/catch.hpp>
#include <set>

namespace holdfast::engine::test {
namespace {

/// One run of a server from what some backup has: event 7, and event 8 if it is made later.
class LifeOfServer {
public:
    explicit LifeOfServer(TimePoint start, RestoredEvent const& restored = {})
        : now_(start), engine_(journal_, options(start)), house_(make(EventId{7}, restored)) {}

    [[nodiscard]] std::vector<HoldRef> use_house() { return use(*house_); }
    /// An event that the backup does not know; after the restore the next one gets its number.
    [[nodiscard]] std::vector<HoldRef> use_new_event() { return use(*make(EventId{8}, {})); }
    [[nodiscard]] RestoredEvent backup() const {
        Replay replay(
            std::map<EventId, std::uint32_t>{{EventId{7}, house_->spec().layout.place_count()}});
        for (auto const& record : journal_.records())
            REQUIRE(replay.record({record.lsn, record.type, record.version, record.payload}));
        return std::move(replay.take()[EventId{7}]);
    }
    [[nodiscard]] bool knows(HoldRef ref) {
        std::vector<SeatIndex> seats;
        return ok(engine_.read({EventId{7}, ref}, now_, seats));
    }

private:
    [[nodiscard]] static EngineOptions options(TimePoint start) {
        EngineOptions options;
        options.first_generation = first_generation(start);
        return options;
    }
    LiveEvent* make(EventId id, RestoredEvent const& restored) {
        auto spec = std::make_shared<EventSpec>();
        spec->id = id;
        spec->slug = "house" + std::to_string(id.value());
        spec->publish = true;
        spec->layout = small_house();
        LiveEvent* const event = engine_.add(std::move(spec));
        engine_.build(*event, restored);
        return event;
    }
    /// Some holds that stay, and one slot that is used as often as a thousand times a second.
    std::vector<HoldRef> use(LiveEvent& event) {
        std::vector<HoldRef> refs;
        for (int round = 0; round < 900; ++round) {
            ClaimLine line;
            line.kind = ClaimLine::Kind::general;
            line.count = 1;
            line.section = *event.spec().layout.find_section("GA");
            std::vector<SeatIndex> seats;
            auto const hold =
                engine_.claim({&event, std::span{&line, 1}, 0, {}, false}, now_, seats);
            REQUIRE(ok(hold));
            refs.push_back(hold->name.ref);
            if (round % 300 != 0) REQUIRE(ok(engine_.release(hold->name, now_)));
        }
        return refs;
    }

    TimePoint now_;
    holdfast::test::MemoryJournal journal_;
    Engine engine_;
    LiveEvent* house_;
};

TEST_CASE("ids and tokens that a restored server has lost fit no hold that it makes",
          "[engine][tokens]") {
    TimePoint const start = std::chrono::sys_days{std::chrono::November / 28 / 2026};
    std::set<HoldRef> given;        // of the event that all lives have
    std::set<HoldRef> given_later;  // of one that was made after the backup
    LifeOfServer first(start);
    auto const kept = first.use_house();
    RestoredEvent const backup = first.backup();
    given.insert(kept.begin(), kept.end());
    for (HoldRef const ref : first.use_house()) CHECK(given.insert(ref).second);
    for (HoldRef const ref : first.use_new_event()) CHECK(given_later.insert(ref).second);
    // The second life is lost, too, and the third begins with the same backup.
    for (int life = 1; life <= 3; ++life) {
        CAPTURE(life);
        LifeOfServer restored(start + life * 2s, backup);
        CHECK(restored.knows(kept.front()));
        std::size_t fitting = 0;
        for (HoldRef const ref : restored.use_house()) fitting += given.insert(ref).second ? 0 : 1;
        for (HoldRef const ref : restored.use_new_event())
            fitting += given_later.insert(ref).second ? 0 : 1;
        CHECK(fitting == 0);
        CHECK(restored.knows(kept.front()));
    }
}

TEST_CASE("generations begin with the clock and are not used up by a wrong one",
          "[engine][tokens]") {
    using namespace std::chrono;
    TimePoint const year = sys_days{January / 1 / 2026};
    CHECK(first_generation(TimePoint{}) == 1);
    CHECK(first_generation(year - 1ms) == 1);
    CHECK(first_generation(year) == 1);
    CHECK(first_generation(year + 5s) == 5'000);
    std::uint64_t const last = first_generation(TimePoint::max());
    CHECK(last == first_generation(sys_days{January / 1 / 2060}));
    CHECK(last > first_generation(sys_days{January / 1 / 2058}));
    CHECK(HoldRef::generation_max - last > 60'000'000'000);
}

}  // namespace
}  // namespace holdfast::engine::test
