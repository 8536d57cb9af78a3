#include "api/event_body.hpp"
#include "tests/api/event_stage.hpp"
#include "tests/support/temp_folder.hpp"

#include <filesystem>
#include <fstream>
#include <thread>

using namespace holdfast;
using namespace holdfast::api;
using api::test::EventStage;

namespace {

std::string const small =
    R"({"id":"demo","name":"Demo","categories":[{"key":"std","price":4500}],
        "sections":[{"id":"A","rows":[{"label":"1","seats":5}]},{"id":"GA","capacity":3}]})";

std::string named(std::string const& id) {
    return R"({"id":")" + id + R"(","name":"N","sections":[{"id":"A","capacity":1}]})";
}

std::string text(boost::json::value const& object, char const* key) {
    return std::string{object.as_object().at(key).as_string()};
}

}  // namespace

TEST_CASE("only the operator creates events", "[events]") {
    EventStage stage;
    auto const as = [&stage](std::string const& authorization) {
        return stage.send({http::Method::post, "/v1/events", small, authorization, {}});
    };
    CHECK(as("").status == 401);
    CHECK(as("").code() == "unauthenticated");
    CHECK(as("Bearer wrong").status == 401);
    CHECK(as("Bearer wrong").code() == "unauthenticated");
    CHECK(as("Hold staff-token").status == 403);
    CHECK(as("Basic staff-token").status == 401);
    CHECK(stage.engine.events().empty());
    CHECK(as(EventStage::staff()).status == 202);
}

TEST_CASE("credentials are looked at before the body", "[events]") {
    EventStage stage;
    CHECK(stage.send({http::Method::post, "/v1/events", "no JSON", "Bearer wrong", {}}).status ==
          401);
    CHECK(stage.create("no JSON").status == 400);
}

TEST_CASE("an event is accepted, prepared in a job, and then open", "[events]") {
    EventStage stage;
    auto const answer = stage.create(small);
    CHECK(answer.status == 202);
    CHECK(answer.header("Location") == "/v1/events/demo");
    CHECK(text(answer.json(), "event") == "demo");
    CHECK(text(answer.json(), "state") == "preparing");
    CHECK(text(answer.json(), "job").starts_with("j_"));
    CHECK(text(stage.get("/v1/events/demo").json(), "state") == "preparing");
    REQUIRE(stage.jobs.size() == 1);
    stage.run_jobs();
    CHECK(text(stage.get("/v1/events/demo").json(), "state") == "open");
    stage.claim("demo", {SeatIndex{0}});
}

TEST_CASE("what was accepted is in the catalogue, with its layout", "[events]") {
    EventStage stage;
    stage.open(small);
    auto reopened = samples::open_store(stage.folder.file());
    auto const specs = reopened->load_events();
    REQUIRE(specs.has_value());
    REQUIRE(specs->size() == 1);
    CHECK(specs->front().slug == "demo");
    CHECK(specs->front().publish);
    CHECK(specs->front().created_at == stage.now);
    CHECK(specs->front().layout.find_seat("A-1-5") == SeatIndex{4});
    CHECK(specs->front().layout.place_count() == 8);
}

TEST_CASE("an id in use is 409 and changes nothing", "[events]") {
    EventStage stage;
    stage.open(small);
    auto const again = stage.create(named("demo"));
    CHECK(again.status == 409);
    CHECK(again.code() == "already-exists");
    CHECK(stage.engine.events().size() == 1);
    CHECK(stage.engine.find("demo")->spec().layout.place_count() == 8);
    CHECK(stage.jobs.empty());
}

TEST_CASE("of many who create one id at once exactly one succeeds", "[events]") {
    EventStage stage;
    constexpr int threads_count = 4;
    std::array<std::array<unsigned, 8>, threads_count> statuses{};
    std::mutex mutex;
    std::vector<std::function<void()>> jobs;
    services::EventSetup setup(stage.engine, stage.setup_projector->projector,
                               [&](std::function<void()> job) {
                                   std::lock_guard const lock(mutex);
                                   jobs.push_back(std::move(job));
                                   return true;
                               });
    std::vector<std::thread> threads;
    for (auto& results : statuses) {
        threads.emplace_back([&results, &setup] {
            for (std::size_t i = 0; i < results.size(); ++i) {
                EventSpec spec;
                spec.slug = "e" + std::to_string(i);
                LayoutBuilder builder;
                builder.add_category({"c", "C", 0});
                Section section;
                section.id = "A";
                section.capacity = 1;
                builder.add_general(section);
                spec.layout = std::move(*std::move(builder).build());
                auto const event = setup.create(std::move(spec));
                results[i] = event                                               ? 202U
                             : event.error().code == RefusalCode::already_exists ? 409U
                                                                                 : 503U;
            }
        });
    }
    for (auto& thread : threads) thread.join();
    for (std::size_t i = 0; i < 8; ++i) {
        int accepted = 0;
        int refused = 0;
        for (auto const& results : statuses) {
            if (results[i] == 202) ++accepted;
            if (results[i] == 409) ++refused;
        }
        CHECK(accepted == 1);
        CHECK(refused == threads_count - 1);
    }
    CHECK(stage.engine.events().size() == 8);
    CHECK(jobs.size() == 8);
}

TEST_CASE("a full queue makes the seats in place", "[events]") {
    EventStage stage;
    services::EventSetup setup(stage.engine, stage.setup_projector->projector,
                               [](std::function<void()> const&) { return false; });
    JsonReader reader;
    auto body = decode_event_body(reader, small, {});
    REQUIRE(body.has_value());
    auto const event = setup.create(std::move(body->spec));
    REQUIRE(event.has_value());
    CHECK(event->event->ready());
}

TEST_CASE("a catalogue that takes no more is read-only, and no event is known", "[events]") {
    EventStage stage;
    stage.setup_projector->projector.stop();
    auto const answer = stage.create(small);
    CHECK(answer.status == 503);
    CHECK(answer.code() == "read-only");
    CHECK(stage.engine.events().empty());
}

TEST_CASE("a dry run answers the report and creates nothing", "[events]") {
    EventStage stage;
    auto const answer = stage.create(small, "?dry_run=true");
    CHECK(answer.status == 200);
    auto const report = answer.json().as_object();
    CHECK(report.at("error_count") == 0);
    CHECK(report.at("counts").as_object().at("seats") == 5);
    CHECK(report.at("counts").as_object().at("general_places") == 3);
    CHECK(stage.engine.events().empty());
    auto const bad_plan = stage.create(
        R"({"name":"N","import":{"format":"seatsio","plan":{"name":"P"}}})", "?dry_run=true");
    CHECK(bad_plan.status == 200);
    CHECK(bad_plan.json().as_object().at("error_count") == 2);
    CHECK(stage.create(R"({"name":"N"})", "?dry_run=true").status == 422);
    CHECK(stage.create(small, "?dry_run=maybe").status == 422);
    CHECK(stage.create(small, "?dry_run=false").status == 202);
}

TEST_CASE("a plan with errors is 422 with their places and the report", "[events]") {
    EventStage stage;
    auto const answer = stage.create(R"({"name":"N","import":{"format":"seatsio","plan":
        {"categories":{"list":[{"key":1,"label":"C"}]},"subChart":{"rows":[{"label":"A","seats":[
         {"x":0,"y":0,"label":"?","categoryKey":1}]}]}}}})");
    CHECK(answer.status == 422);
    CHECK(answer.type == "application/problem+json");
    CHECK(answer.code() == "validation");
    auto const problem = answer.json().as_object();
    auto const& first = problem.at("errors").as_array().at(0).as_object();
    CHECK(first.at("pointer") == "/import/plan/subChart/rows/0/seats/0/label");
    CHECK(first.at("code") == "placeholder-label");
    CHECK(problem.at("report").as_object().at("error_count") == 1);
    CHECK(stage.engine.events().empty());
}

TEST_CASE("a wrong value is 422 with its pointer, a repeated key 400", "[events]") {
    EventStage stage;
    auto const wrong = stage.create(R"({"name":"N","sections":[{"id":"A","capacity":"x"}]})");
    CHECK(wrong.status == 422);
    auto const errors = wrong.json().as_object().at("errors").as_array();
    CHECK(errors.at(0).as_object().at("pointer") == "/sections/0/capacity");
    CHECK(errors.at(0).as_object().at("code") == "type");
    CHECK(stage.create(R"({"name":"N","name":"M"})").code() == "malformed");
    auto const twice = stage.create(R"({"name":"N","sections":[{"id":"A","rows":[
        {"label":"1","seats":[{"label":"1"},{"label":"1"}]}]}]})");
    CHECK(twice.status == 422);
    CHECK(twice.code() == "duplicate-seat");
    CHECK(twice.json().as_object().at("seats").as_array().at(0) == "A-1-1");
}

TEST_CASE("a real plan of 738 seats is created whole", "[events]") {
    auto const file = std::filesystem::path{HOLDFAST_SOURCE_DIR} /
                      "../shared/seatmaps/pretix_seatmapcanvas_stadium.json";
    if (!std::filesystem::exists(file)) {
        std::cout << "skipped: " << file.filename() << " is not here\n";
        return;
    }
    auto const plan = holdfast::test::read_file(file);
    EventStage stage;
    auto const body = [&plan](std::string const& more) {
        return R"({"id":"stadium","name":"Final","import":{"format":"pretix",)" + more +
               R"("plan":)" + plan + "}}";
    };
    auto const refused = stage.create(body(""));
    CHECK(refused.status == 422);
    CHECK(refused.json().as_object().at("report").as_object().at("error_count") == 126);
    stage.open(body(R"("disambiguate":true,"prices":{"category i":9900},)"));
    auto const event = stage.get("/v1/events/stadium").json();
    CHECK(event.as_object().at("capacity") == 738);
}
