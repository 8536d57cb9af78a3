// GET …/stream and the documents that go with it, over the routes.
#include "tests/api/event_stage.hpp"
#include "tests/api/stream_client.hpp"

namespace holdfast::test {

using namespace std::chrono_literals;

TEST_CASE("when much has changed the message is a state document", "[streams]") {
    api::test::EventStage stage;
    stage.open(R"({"id":"large","name":"N","sections":[
        {"id":"A","rows":[{"label":"1","seats":400}]},{"id":"GA","capacity":5}]})");
    auto* const event = stage.engine.find("large");
    StreamClient client(400);
    auto const stream = stage.context.streams->open(*event, {}, {}).stream;
    stage.context.streams->look(stage.now);
    client.read(*stream);
    client.take(stage.get("/v1/events/large/state").body);
    std::vector<SeatIndex> most;
    for (std::uint32_t seat = 0; seat < 399; ++seat) most.push_back(SeatIndex{seat});
    std::vector<SeatIndex> taken;
    auto const block = stage.engine.block({event, most}, stage.now, taken);
    REQUIRE(block.has_value());
    REQUIRE(stage.journal->wait_durable(block->lsn));
    stage.context.streams->look(stage.now + 1s);
    client.read(*stream);
    CHECK(client.wholes == 1);
    CHECK(client.seats()[398] == 3);
    CHECK(client.seats()[399] == 0);
}

TEST_CASE("the route answers a stream, or says what is wrong with the number", "[streams]") {
    api::test::EventStage stage;
    stage.open(R"({"id":"demo","name":"N","sections":[{"id":"A","capacity":3}]})");
    auto const answer = stage.get("/v1/events/demo/stream");
    CHECK(answer.status == 200);
    CHECK(answer.type == "text/event-stream");
    CHECK(answer.header("X-Accel-Buffering") == "no");
    CHECK(answer.body.starts_with("retry: "));
    CHECK(stage.get("/v1/events/demo/stream?after=12").status == 200);
    CHECK(stage.get("/v1/events/demo/stream?after=%312").status == 200);
    for (auto const* const number :
         {"x", "-1", "1x", "1.0", "99999999999999999999", "%311x", "1%", "%3"}) {
        CAPTURE(number);
        auto const bad = stage.get(std::string{"/v1/events/demo/stream?after="} + number);
        CHECK(bad.status == 400);
        CHECK(bad.code() == "bad-cursor");
    }
    CHECK(stage.get("/v1/events/nothing/stream").status == 404);
    CHECK(stage.get("/v1/events/demo/stream?from=1").status == 422);
}

TEST_CASE("Last-Event-ID goes before ?after=, which a browser that comes back still sends",
          "[streams]") {
    api::test::EventStage stage;
    stage.open(R"({"id":"demo","name":"N","sections":[{"id":"A","capacity":3}]})");
    auto const status_of = [&stage](char const* after, char const* last) {
        api::test::Call call;
        call.target = std::string{"/v1/events/demo/stream?after="} + after;
        call.more = {{"last-event-id", last}};
        return stage.send(call).status;
    };
    CHECK(status_of("12", "13") == 200);
    CHECK(status_of("x", "13") == 200);
    CHECK(status_of("12", "x") == 400);
    CHECK(status_of("12", "") == 200);
    CHECK(status_of("x", "") == 400);
}

TEST_CASE("a document made before the seats exist is nothing to go on from", "[streams]") {
    api::test::EventStage stage;
    REQUIRE(
        stage.create(R"({"id":"slow","name":"N","sections":[{"id":"A","capacity":3}]})").status ==
        202);
    auto const early = stage.get("/v1/events/slow/state").json();
    CHECK(early.as_object().at("seq") == 0);
    auto* const event = stage.engine.find("slow");
    auto const streams = std::make_shared<api::SeatStreams>(
        *stage.journal, api::Sequence{1'000, Lsn{0}}, api::SeatStreams::Bounds{});
    auto const stream = streams->open(*event, {}, 0).stream;
    streams->look(stage.now);
    CHECK(stream->next().bytes == nullptr);
    stage.run_jobs();
    streams->look(stage.now);
    auto const piece = stream->next();
    REQUIRE(piece.bytes != nullptr);
    CHECK(piece.bytes->starts_with("event: resync\n"));
}

}  // namespace holdfast::test
