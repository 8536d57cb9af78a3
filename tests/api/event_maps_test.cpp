// What of an event is ready for an io thread, and what a worker makes.
#include "api/conditional_reply.hpp"
#include "tests/api/event_stage.hpp"

#include <thread>

using namespace holdfast;
using namespace holdfast::api;
using api::test::Answer;
using api::test::EventStage;
using namespace std::chrono_literals;

namespace {

std::string const two_seats = R"({"id":"demo","name":"Demo","sections":[
    {"id":"A","rows":[{"label":"1","seats":2}]}]})";

/// Just too large for an io thread to look at all places.
std::string const large = R"({"id":"large","name":"Large","sections":[
    {"id":"A","rows":[{"label":"1","seats":2}]},{"id":"GA","capacity":99999}]})";

/// How the next reader of `target` is answered.
struct Read {
    bool by_worker{};
    std::string body;
};
Read read(EventStage& stage, std::string const& target) {
    Answer const answer = stage.get(target);
    CHECK(answer.status == 200);
    return {answer.by_worker, answer.body};
}

}  // namespace

TEST_CASE("the map is made by the job that makes the seats, before they are on sale", "[maps]") {
    EventStage stage;
    std::vector<std::pair<bool, std::thread::id>> made;
    std::vector<std::function<void()>> queue;
    services::EventSetup setup(
        stage.engine, stage.setup_projector->projector,
        [&queue](std::function<void()> job) {
            queue.push_back(std::move(job));
            return true;
        },
        [&](engine::LiveEvent const& event) {
            made.emplace_back(event.ready(), std::this_thread::get_id());
            stage.maps->make(event, stage.now);
        });
    auto const event = setup.create(samples::full_event("demo"));
    REQUIRE(event.has_value());
    CHECK(made.empty());
    CHECK(stage.maps->find(event->event->spec().id, stage.now) == nullptr);
    REQUIRE(queue.size() == 1);
    std::thread worker(queue.front());
    auto const worker_id = worker.get_id();
    worker.join();
    CHECK(event->event->ready());
    REQUIRE(made.size() == 1);
    CHECK_FALSE(made.front().first);
    CHECK(made.front().second == worker_id);
    CHECK(stage.maps->find(event->event->spec().id, stage.now) != nullptr);
}

TEST_CASE("a map that is there is handed out, and for who comes earlier a worker makes it",
          "[maps]") {
    EventStage stage;
    REQUIRE(stage.create(two_seats).status == 202);
    EventId const id = stage.engine.find("demo")->spec().id;
    auto const early = read(stage, "/v1/events/demo/map");
    CHECK(early.by_worker);
    auto const made = stage.maps->find(id, stage.now);
    REQUIRE(made != nullptr);
    CHECK(made->body == early.body);
    auto const second = read(stage, "/v1/events/demo/map");
    CHECK_FALSE(second.by_worker);
    CHECK(second.body == early.body);
    stage.run_jobs();
    CHECK(stage.maps->find(id, stage.now) == made);  // and not another
    CHECK(stage.maps->bytes() == early.body.size());
}

TEST_CASE("what is no event for who asks is no work for a worker", "[maps]") {
    EventStage stage;
    stage.open(R"({"id":"draft","name":"D","publish":false,"sections":[{"id":"A","capacity":1}]})");
    for (std::string const end : {"", "/map", "/state"}) {
        for (std::string const event : {"nothing", "draft", "no%20slug"}) {
            CAPTURE(end, event);
            auto const answer = stage.get("/v1/events/" + event + end);
            CHECK(answer.status == 404);
            CHECK_FALSE(answer.by_worker);
        }
    }
}

TEST_CASE("all who ask for a map at once get the one that is made", "[maps]") {
    EventStage stage;
    auto const event = stage.setup.create(samples::full_event("demo"));
    REQUIRE(event.has_value());
    std::vector<EventMaps::Bytes> got(8);
    std::vector<std::thread> readers;
    for (auto& bytes : got)
        readers.emplace_back([&] { bytes = stage.maps->make(*event->event, stage.now); });
    for (auto& reader : readers) reader.join();
    for (auto const& bytes : got) {
        REQUIRE(bytes != nullptr);
        CHECK(bytes == got.front());
    }
}

TEST_CASE("the map of an event that is over goes an hour after its last reader", "[maps]") {
    EventStage stage;
    stage.open(two_seats);
    stage.open(R"({"id":"goes-on","name":"G","sections":[{"id":"A","capacity":1}]})");
    auto const size = stage.maps->bytes();
    auto const first = read(stage, "/v1/events/demo/map");
    stage.now += 2h;
    stage.maps->drop_unread(stage.now);
    CHECK(stage.maps->bytes() == size);  // they are on sale
    REQUIRE(stage.send({http::Method::post, "/v1/events/demo/close", "", EventStage::staff(), {}})
                .status == 200);
    CHECK_FALSE(read(stage, "/v1/events/demo/map").by_worker);
    stage.now += 1h - 1ms;
    stage.maps->drop_unread(stage.now);
    CHECK(stage.maps->bytes() == size);
    stage.now += 1ms;
    stage.maps->drop_unread(stage.now);
    CHECK(stage.maps->bytes() == size - first.body.size());
    auto const again = read(stage, "/v1/events/demo/map");
    CHECK(again.by_worker);
    CHECK(again.body == first.body);
    CHECK_FALSE(read(stage, "/v1/events/demo/map").by_worker);
    CHECK_FALSE(read(stage, "/v1/events/goes-on/map").by_worker);
}

TEST_CASE("an io thread looks at the places of small events only", "[maps]") {
    EventStage stage;
    stage.open(two_seats);
    stage.open(large);
    for (std::string const end : {"", "/state"}) {
        CAPTURE(end);
        CHECK_FALSE(read(stage, "/v1/events/demo" + end).by_worker);
        auto const made = read(stage, "/v1/events/large" + end);
        CHECK(made.by_worker);
        auto const known = read(stage, "/v1/events/large" + end);
        CHECK_FALSE(known.by_worker);
        CHECK(known.body == made.body);
        stage.now += 4ms;  // 25,000 places a millisecond
        CHECK(read(stage, "/v1/events/large" + end).by_worker);
        stage.now += 1ms;
    }
    CHECK_FALSE(read(stage, "/v1/events/large/map").by_worker);
}
