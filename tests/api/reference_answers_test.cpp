// Every success of openapi.json is answered, and so are most refusals; the stages hold each answer
// of every test against the document.
#include "api/backup_routes.hpp"
#include "tests/api/answer_check.hpp"
#include "tests/api/answer_walk.hpp"
#include "tests/api/calm_backups.hpp"
#include "tests/api/event_stage.hpp"
#include "tests/api/openapi_document.hpp"
#include "tests/api/stage.hpp"

namespace holdfast::test {
namespace {

namespace json = boost::json;
using api::test::EventStage;

constexpr char const* to_claim = "/v1/events/{event}/holds";
constexpr char const* to_hold = "/v1/holds/{hold}";
constexpr char const* to_block = "/v1/events/{event}/blocks";

void walk_holds(Stage& stage, Caller& call) {
    using http::Method;
    auto const taken = call.post(201, to_claim, "demo", R"({"seats":["A-1-1","A-1-2"]})", "");
    std::string const id = taken["hold"];
    std::string const who = hold_credentials(taken);
    call.post(200, to_claim, "demo", R"({"best":{"quantity":2,"preview":true}})", "");
    call.post(409, to_claim, "demo", R"({"seats":["A-1-1"]})", "");
    call.post(409, to_claim, "demo", R"({"section":"BAR","quantity":6})", "");
    call.post(404, to_claim, "demo", R"({"best":{"quantity":2,"accessible":1}})", "");
    call.post(404, to_claim, "nothing", R"({"best":{"quantity":1}})", "");
    call.post(400, to_claim, "demo", "{", "");
    call.post(422, to_claim, "demo", R"({"seats":[7]})", "");
    call.post(422, to_claim, "demo", R"({"seats":["Z"]})", "");
    call.post(422, to_claim, "demo", R"({"seats":["A-1-9","A-1-9"]})", "");
    call.post(401, to_claim, "demo", "{}", "Basic x");
    call.post(403, to_claim, "demo", R"({"account":7,"seats":["A-1-9"]})", "");
    call.get(200, to_hold, id, who);
    call.get(401, to_hold, id, "");
    call.get(404, to_hold, id, "Hold wrong");
    call.post(200, "/v1/holds/{hold}/extend", id, R"({"seconds":400})", who);
    call.post(409, "/v1/holds/{hold}/extend", id, R"({"seconds":500})", who);
    call.post(422, "/v1/holds/{hold}/extend", id, R"({"seconds":0})", who);
    call(200, Method::put, "/v1/holds/{hold}/seats", id,
         R"({"lines":[{"seats":["A-1-3"]},{"section":"GA","quantity":2}]})", who);
    call(422, Method::put, "/v1/holds/{hold}/seats", id, R"({"best":{"quantity":1}})", who);
    call.post(200, "/v1/holds/{hold}/release", id, R"({"section":"GA","quantity":1})", who);
    call.post(422, "/v1/holds/{hold}/release", id, R"({"seats":["A-1-9"]})", who);
    call.post(204, "/v1/holds/{hold}/release", id,
              R"({"lines":[{"seats":["A-1-3"]},{"section":"GA","quantity":1}]})", who);
    call(204, Method::del, to_hold, id, "", who);
    call.get(409, to_hold, id, who);
    auto const late = call.post(201, to_claim, "demo", R"({"seats":["A-2-1"]})", "");
    stage.now += std::chrono::seconds{301};
    call.get(410, to_hold, late["hold"], hold_credentials(late));
}

void walk_blocks(Stage& stage, Caller& call) {
    using http::Method;
    std::string const blocks = to_block;
    auto const made =
        call.post(201, blocks, "demo", R"({"seats":["B-1-1"],"kind":"not-for-sale"})");
    call.post(201, blocks, "demo",
              R"({"section":"GA","quantity":3,"until":"2027-05-02T00:00:00"})");
    call.post(409, blocks, "demo", R"({"seats":["B-1-1"]})");
    call.post(409, blocks, "demo", R"({"section":"BAR","quantity":6})");
    call.post(403, blocks, "demo", "{}", "Hold x");
    stage.add_unbuilt(sample_event("unbuilt"));
    auto const early = call.post(403, blocks, "unbuilt", R"({"seats":["B-1-1"]})");
    CHECK(early["code"] == "sale-not-open");
    call.get(200, blocks, "demo");
    call.get(200, blocks + "?limit=1", "demo");
    call.get(400, blocks + "?after=x", "demo");
    call.get(422, blocks + "?limit=0", "demo");
    call.get(200, to_hold, made["hold"]);
    call.post(409, "/v1/holds/{hold}/extend", made["hold"], R"({"seconds":400})");
    call(204, Method::del, "/v1/blocks/{hold}", made["hold"]);
    call(404, Method::del, "/v1/blocks/{hold}", "h_x");
}

void walk_orders(Stage& stage, Caller& call) {
    auto const sold = call.post(201, to_claim, "demo",
                                R"({"lines":[{"seats":["B-2-1","B-2-2"]},)"
                                R"({"section":"GA","quantity":1}]})",
                                "");
    std::string const cart = json::serialize(json::object{{"holds", {sold["hold"]}}});
    std::string const who = hold_credentials(sold);
    auto const order = call.post(201, "/v1/orders", "", cart, who);
    call.post(409, "/v1/orders", "", cart, who);
    call.post(401, "/v1/orders", "", cart, "");
    call.post(422, "/v1/orders", "", R"({"holds":[],"payment":{"method":"wallet"}})", who);
    call.get(200, to_hold, sold["hold"], who);
    call(409, http::Method::del, to_hold, sold["hold"], "", who);
    stage.record_order(order["order"], {sold["hold"]});
    std::string const id = order["order"];
    call.get(200, "/v1/orders");
    call.get(400, "/v1/orders?after=x");
    call.get(401, "/v1/orders", "", "");
    call.get(200, "/v1/orders/{order}", id, who);
    call.get(404, "/v1/orders/{order}", "o_x", who);
    auto const ticket = [tickets = json::parse(order.body).at("tickets")](std::size_t i) {
        return tickets.at(i).at("ticket");
    };
    auto const move = json::object{{"seats", {{{"ticket", ticket(0)}, {"to", "B-2-5"}}}}};
    call.post(200, "/v1/orders/{order}/reseat", id, json::serialize(move));
    call.post(422, "/v1/orders/{order}/reseat", id, R"({"seats":[{"ticket":"t_x","to":"A"}]})");
    auto const one = json::object{{"tickets", {ticket(1)}}};
    call.post(200, "/v1/orders/{order}/refund", id, json::serialize(one));
    call.post(422, "/v1/orders/{order}/refund", id, R"({"tickets":[]})");
    call.post(200, "/v1/orders/{order}/cancel", id);
    call.post(409, "/v1/orders/{order}/cancel", id);
}

void walk_server(Stage& stage, Caller& call) {
    call.post(200, "/v1/events/{event}/pause", "demo");
    call.post(403, to_claim, "demo", R"({"section":"GA","quantity":1})", "");
    call.post(200, "/v1/events/{event}/resume", "demo");
    call.post(409, "/v1/events/{event}/publish", "demo");
    call.post(200, "/v1/events/{event}/close", "demo");
    call.post(403, to_claim, "demo", R"({"section":"GA","quantity":1})", "");
    call.post(201, to_block, "demo", R"({"seats":["A-2-9"]})");
    call.post(200, "/v1/events/{event}/cancel", "demo");
    auto const late = call.post(403, to_block, "demo", R"({"seats":["A-2-10"]})");
    CHECK(late["code"] == "sale-closed");
    CHECK(late["closed_at"] == "null");
    call.get(200, "/healthz", "", "");
    call.get(200, "/readyz", "", "");
    call.get(200, "/v1", "", "");
    call.get(200, "/metrics", "", "");
    call.get(200, "/openapi.json", "", "");
    call.get(200, "/docs", "", "");
    auto const explained = call.get(302, "/problems/{code}", "sold-out", "");
    CHECK(explained.header("Location") == "/docs#schema-problem-sold-out");
    call.get(404, "/problems/{code}", "nothing", "");
    stage.journal.set_mode(journal::Mode::read_only);
    call.get(503, "/readyz", "", "");
}

struct EventCaller {
    EventStage& stage;
    Answers& answers;

    api::test::Answer operator()(unsigned status, std::string const& method,
                                 std::string const& pattern, api::test::Call call) {
        auto answer = stage.send(call);
        CAPTURE(call.target, call.body);
        CHECK(answer.status == status);
        answers.take(operation(method, pattern), answer.status);
        return answer;
    }
    api::test::Answer get(unsigned status, std::string const& pattern, std::string const& target,
                          std::string const& tag = {}, std::string const& who = {}) {
        return (*this)(status, "GET", pattern, {http::Method::get, target, {}, who, tag});
    }
};

void walk_events(Answers& answers) {
    EventStage stage;
    EventCaller call{stage, answers};
    auto const create = [&call](unsigned status, std::string const& body,
                                std::string const& query = {}) {
        return call(status, "POST", "/v1/events",
                    {http::Method::post, "/v1/events" + query, body, EventStage::staff(), {}});
    };
    auto const& examples = operation("POST", "/v1/events")
                               .described.at("requestBody")
                               .at("content")
                               .at("application/json")
                               .at("examples")
                               .as_object();
    for (auto const& [name, example] : examples) {
        std::string const body = json::serialize(example.at("value"));
        create(200, body, "?dry_run=true");
        create(202, body);
    }
    create(409, json::serialize(examples.at("small").at("value")));
    create(422, R"({"name":"X","import":{"format":"pretix","plan":{"zones":7}}})");
    create(422, R"({"name":"X"})");
    create(400, "{");
    call(401, "POST", "/v1/events", {http::Method::post, "/v1/events", "{}", "", ""});
    call(403, "POST", "/v1/events", {http::Method::post, "/v1/events", "{}", "Hold x", ""});
    stage.run_jobs();
    auto const all = call.get(200, "/v1/events", "/v1/events?limit=2");
    std::string const next(all.json().at("next").as_string());
    call.get(200, "/v1/events", "/v1/events?limit=2&after=" + next);
    call.get(304, "/v1/events", "/v1/events",
             call.get(200, "/v1/events", "/v1/events").header("ETag"));
    call.get(400, "/v1/events", "/v1/events?after=x");
    call.get(422, "/v1/events", "/v1/events?limit=1001");
    call.get(404, "/v1/events/{event}", "/v1/events/demo-night");  // a draft
    call(200, "POST", "/v1/events/{event}/publish",
         {http::Method::post, "/v1/events/demo-night/publish", "", EventStage::staff(), ""});
    std::string const to_watch = "/v1/events/{event}/stream";
    call.get(200, to_watch, "/v1/events/demo-night/stream");
    call.get(400, to_watch, "/v1/events/demo-night/stream?after=x");
    call.get(404, to_watch, "/v1/events/nothing/stream");
    call.get(422, to_watch, "/v1/events/demo-night/stream?limit=1");
    for (std::string const end : {"", "/map", "/state"}) {
        std::string const pattern = "/v1/events/{event}" + end;
        for (std::string const event : {"demo-night", "from-a-plan", "members-only"}) {
            auto const whole = call.get(200, pattern, "/v1/events/" + event + end);
            call.get(304, pattern, "/v1/events/" + event + end, whole.header("ETag"));
        }
    }
}

/// What needs If-None-Match on the reference itself.
void walk_reference(Answers& answers) {
    std::vector<http::Route> routes;
    api::add_reference_routes(routes);
    for (http::Route const& route : routes) {
        if (route.pattern == "/problems/{code}") continue;  // leads elsewhere
        std::vector<http::Field> const fields{{"If-None-Match", "\"other\", *"}};
        http::Request request;
        request.path = route.pattern;
        request.fields = fields;
        http::Reply reply;
        route.handler(request, reply);
        CHECK(reply.status == 304);
        check_answer("GET", route.pattern,
                     {reply.status, reply.content_type, reply.content(), reply.headers});
        answers.take(operation("GET", route.pattern), reply.status);
    }
}

/// The routes that the stages do not have.
void walk_backup(Answers& answers) {
    Stage stage;
    CalmBackups backups;
    stage.context->backups = &backups;
    std::vector<http::Route> routes;
    api::add_backup_routes(routes, *stage.context);
    std::array<http::Field, 1> const fields{http::Field{"Authorization", staff}};
    for (http::Route const& route : routes) {  // the one that begins it comes first
        http::Request request;
        request.method = route.method;
        request.path = route.pattern;
        request.fields = fields;
        if (route.method == http::Method::post) request.body = R"({"to":"/backups/monday"})";
        request.received_at = stage.now;
        http::Reply reply;
        route.handler(request, reply);
        CHECK(reply.status < 300);
        auto const method = http::to_string(route.method);
        check_answer(method, route.pattern,
                     {reply.status, reply.content_type, reply.body, reply.headers});
        answers.take(operation(method, route.pattern), reply.status);
    }
}

}  // namespace

TEST_CASE("what is answered is what the document says", "[reference]") {
    Answers answers;
    Stage stage;
    Caller call(stage, answers);
    walk_holds(stage, call);
    walk_blocks(stage, call);
    walk_orders(stage, call);
    walk_server(stage, call);
    walk_events(answers);
    walk_reference(answers);
    walk_backup(answers);
    answers.check_complete();
}

}  // namespace holdfast::test
