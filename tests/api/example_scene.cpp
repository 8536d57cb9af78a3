#include "tests/api/example_scene.hpp"

#include "api/event_body.hpp"
#include "api/reference_calls.hpp"

#include <holdfast/api/routes.hpp>
#include <holdfast/services/plan_import.hpp>

namespace holdfast::test {
namespace {

namespace json = boost::json;

void replace_all(std::string& text, std::string_view from, std::string const& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
}

/// What `holdfast serve --demo` sells.
EventSpec demo_event(bool publish) {
    auto imported = services::import_plan(
        {services::PlanFormat::seatsio, services::demo_plan(), false, services::demo_prices()});
    REQUIRE(imported.layout.has_value());
    EventSpec spec = sample_event();
    spec.policy = {};
    spec.publish = publish;
    spec.layout = std::move(*imported.layout);
    return spec;
}

json::value const& example_of(char const* schema) {
    return component("schemas", schema).at("examples").at(0);
}

}  // namespace

ExampleScene::ExampleScene(Operation const& operation)
    : stage(demo_event(operation.id() != "publishEvent")), operation_(operation) {
    stage.context->backups = &backups_;
    router_.emplace(api::admin_routes(*stage.context));
    if (operation.id() == "resumeSale") stage.post("/v1/events/demo/pause", "", staff);
    if (operation.path.starts_with("/v1/holds") || operation.path.starts_with("/v1/orders")) fill();
}

/// With the hold and the order of the examples.
void ExampleScene::fill() {
    auto const held =
        stage.claim(R"({"lines":[{"seats":["A-1-7","A-1-8"]},{"section":"Floor","quantity":2}]})");
    auto const sold = stage.claim(R"({"seats":["B-2-1","B-2-2"]})");
    auto const order =
        stage.post("/v1/orders", json::serialize(json::object{{"holds", {sold["hold"]}}}), staff);
    REQUIRE(order.status == 201);
    stage.record_order(order["order"], {sold["hold"]});
    auto const tickets = json::parse(order.body).at("tickets");
    auto const& told = example_of("Order");
    replace(example_of("Hold").at("hold"), held["hold"]);
    replace(example_of("Hold").at("token"), held["token"]);
    replace(told.at("order"), order["order"]);
    for (std::size_t i : {0U, 1U})
        replace(told.at("tickets").at(i).at("ticket"),
                std::string(tickets.at(i).at("ticket").as_string()));
    token_ = held["token"];
}

std::string ExampleScene::translated(std::string text) const {
    for (auto const& [told, real] : real_) replace_all(text, told, real);
    return text;
}

std::string ExampleScene::credentials_of(json::object const& example) const {
    std::string_view const scheme = api::call_credentials(operation_.described, &example);
    if (scheme.empty()) return "";
    if (scheme == "operator") return staff;
    REQUIRE(scheme == "hold");
    return "Hold " + token_;
}

Stage::Answer ExampleScene::send(std::string const& body, std::string const& credentials) {
    std::string target = operation_.path;
    for (auto const& [key, parameter] : openapi().at("components").at("parameters").as_object()) {
        if (!parameter.as_object().contains("example")) continue;
        std::string const example(parameter.at("example").as_string());
        replace_all(target, "{" + std::string(std::string_view(key)) + "}", example);
    }
    target = translated(target);
    std::string const text = translated(body);
    // Not by the stage, which does not have all of the routes.
    http::Request request;
    request.method = operation_.method == "PUT" ? http::Method::put : http::Method::post;
    request.path = target;
    std::vector<http::Field> fields;
    if (!credentials.empty()) fields.push_back({"Authorization", credentials});
    request.fields = fields;
    request.body = text;
    request.received_at = stage.now;
    request.request_id = "r-1";
    auto const match = router_->match(request);
    REQUIRE(match.route != nullptr);
    http::Reply reply;
    match.route->handler(request, reply);
    return {reply.status, reply.body, reply.headers, std::string(reply.content_type), reply.lsn};
}

std::string ExampleScene::error(std::string const& body, std::string const& credentials) {
    if (operation_.id() != "createEvent") return send(body, credentials).error();
    api::JsonReader reader;
    // By the least that the server can be set to.
    auto const decoded = api::decode_event_body(reader, body, {std::chrono::seconds{1}});
    if (decoded) return "";
    return decoded.error().pointer + " " + std::string(decoded.error().code);
}

}  // namespace holdfast::test
