// A change whose worker took too long: the client does not know, and its key tells.
#include "tests/api/stage.hpp"
#include "tests/http/live.hpp"

#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>
#include <future>
#include <thread>

namespace holdfast::test {
namespace {

struct TimeOfStage final : Clock {
    explicit TimeOfStage(Stage const& owner) : stage(owner) {}
    [[nodiscard]] TimePoint now() const noexcept override { return stage.now; }
    Stage const& stage;
};

/// The routes of the stage; whoever makes a block stands still once it is made.
std::vector<http::Route> routes_with_slow_blocks(Stage& stage, std::shared_future<void> released) {
    std::vector<http::Route> routes = api::public_routes(*stage.context);
    for (http::Route& route : routes) {
        bool const makes_blocks =
            route.method == http::Method::post && route.pattern == "/v1/events/{event}/blocks";
        if (!makes_blocks) continue;
        REQUIRE(route.runs_on == http::RunsOn::worker);
        route.handler = [make = route.handler, released](http::Request const& request,
                                                         http::Reply& reply) {
            make(request, reply);
            released.wait();
        };
    }
    return routes;
}

}  // namespace

TEST_CASE("a change that was answered with timeout happened once, and its key tells",
          "[live][keyed][timeout]") {
    Stage stage;
    std::promise<void> release;
    live::FakeGate gate;
    gate.durable.set(Lsn{1'000'000});
    live::HeldWorkers workers;
    TimeOfStage const clock(stage);
    http::ServerOptions options;
    options.listen = "127.0.0.1:0";
    options.handler_timeout = Milliseconds{1};
    http::Server server(options,
                        http::Router(routes_with_slow_blocks(stage, release.get_future().share())),
                        gate, workers, clock);
    server.start();
    std::string const key = "the-key-of-a-late-block";
    std::string const body = R"({"seats":["A-1-1","A-1-2"]})";
    std::string const request = live::post(
        demo_blocks, body, "Authorization: " + staff + "\r\nIdempotency-Key: " + key + "\r\n");
    std::string code = "busy";
    std::thread worker;
    while (code == "busy") {  // until a worker has begun in time
        if (worker.joinable()) worker.join();
        CHECK(stage.seat_is_free("A-1-1"));
        live::Client client{server.address()};
        REQUIRE(client.send(request));
        worker = std::thread([&workers] { static_cast<void>(workers.run_one()); });
        live::Answer const answer = client.answer();
        REQUIRE(answer.status == 503);
        auto const problem = boost::json::parse(answer.body);
        code = problem.at("code").as_string();
        CHECK(problem.at("retryable").as_bool());
        CHECK(client.closed());
    }
    CHECK(code == "timeout");
    release.set_value();
    worker.join();
    CHECK_FALSE(stage.seat_is_free("A-1-1"));
    auto const again = stage.send_keyed(key, http::Method::post, demo_blocks, body, staff);
    CHECK(again.status == 201);
    CHECK(again.header("Idempotency-Replayed") == "true");
    CHECK(stage.event->availability(stage.now)[0].blocked == 2);
    // Without the key it is another, for which there is no place any more.
    CHECK(stage.post(demo_blocks, body, staff).status == 409);
    server.stop(Milliseconds{0});
}

}  // namespace holdfast::test
