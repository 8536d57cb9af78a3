#include "app/background_work.hpp"

#include "tests/app/poor_house.hpp"
#include "tests/engine/sale_fixture.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <string>
#include <thread>
#include <vector>

using namespace holdfast;
using namespace holdfast::app;

namespace {

struct ClockOfTheHouse final : Clock {
    [[nodiscard]] TimePoint now() const noexcept override { return time; }
    TimePoint time{engine::test::at(Milliseconds{0})};
};

/// Three events, of which the second is over.
struct ThreeEvents {
    ThreeEvents() {
        for (std::uint32_t id = 8; id <= 9; ++id) {
            auto spec = std::make_shared<EventSpec>(house.event->spec());
            spec->id = EventId{id};
            spec->slug = "house-" + std::to_string(id);
            house.engine.build(*house.engine.add(spec), {});
        }
        house.engine.restore_step(*house.engine.find(EventId{8}), LifeStep::closed);
    }
    void begin(std::size_t queue_max) {
        make_maps(house.engine.events(), maps, clock, [this, queue_max](std::function<void()> job) {
            if (queue.size() >= queue_max) return false;
            queue.push_back(std::move(job));
            return true;
        });
    }
    void run_one() {
        auto const job = std::move(queue.front());
        queue.pop_front();
        job();
    }
    [[nodiscard]] std::vector<std::uint32_t> made() {
        std::vector<std::uint32_t> ids;
        for (std::uint32_t id = 7; id <= 9; ++id)
            if (maps.find(EventId{id}, clock.now()) != nullptr) ids.push_back(id);
        return ids;
    }

    engine::test::SaleFixture house;
    ClockOfTheHouse clock;
    api::EventMaps maps;
    std::deque<std::function<void()>> queue;
};

}  // namespace

TEST_CASE("after a start each map is a job of its own, but for events that are over",
          "[app][maps]") {
    ThreeEvents events;
    events.begin(1);
    CHECK(events.made().empty());
    REQUIRE(events.queue.size() == 1);
    events.run_one();
    CHECK(events.made() == std::vector<std::uint32_t>{7});
    REQUIRE(events.queue.size() == 1);
    events.run_one();
    CHECK(events.made() == std::vector<std::uint32_t>{7, 9});
    CHECK(events.queue.empty());
}

TEST_CASE("where no worker has time the maps are left to who asks", "[app][maps]") {
    ThreeEvents events;
    events.begin(0);
    CHECK(events.queue.empty());
    CHECK(events.made().empty());
}

TEST_CASE("the thread of the streams drops maps of events that are over", "[app][maps]") {
    ThreeEvents events;
    api::SeatStreams streams(events.house.journal, api::Sequence{}, api::SeatStreams::Bounds{});
    auto const work = stream_work(streams, events.maps, events.clock);
    for (std::uint32_t id = 7; id <= 9; ++id)
        events.maps.make(*events.house.engine.find(EventId{id}), events.clock.now());
    static_cast<void>(work());
    CHECK(events.made() == std::vector<std::uint32_t>{7, 8, 9});
    events.clock.time += std::chrono::hours{1};
    static_cast<void>(work());
    CHECK(events.made() == std::vector<std::uint32_t>{7, 9});
}

TEST_CASE("a server that starts on events makes their maps without being asked", "[app][maps]") {
    app::test::PoorHouse house;
    house.begin();
    auto const deadline = std::chrono::steady_clock::now() + live::deadline;
    auto const has_maps = [&house] {
        auto const metrics = house.ask({"GET", "/metrics", {}, app::test::PoorHouse::staff()}).body;
        std::string const name = "\nholdfast_event_map_bytes ";
        auto const at = metrics.find(name);
        return at != std::string::npos && metrics.at(at + name.size()) != '0';
    };
    bool made = has_maps();
    while (!made && std::chrono::steady_clock::now() < deadline) made = has_maps();
    CHECK(made);
}
