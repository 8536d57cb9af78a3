// Every object of every body refuses a field that it does not know, and changes nothing.
#include "api/event_body.hpp"
#include "api/events.hpp"
#include "tests/api/stage.hpp"

#include <holdfast/api/routes.hpp>

#include <algorithm>
#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <set>

namespace holdfast::test {
namespace {

namespace json = boost::json;

/// A body that is accepted, and where it goes.
struct Sample {
    std::string pattern;  // of the route
    std::string target;
    std::string body;
    std::string who;
};

/// JSON pointers of all objects of a body.
void find_objects(json::value const& value, std::string const& at, std::vector<std::string>& all) {
    if (auto const* const object = value.if_object()) {
        all.push_back(at);
        for (auto const& [key, member] : *object)
            find_objects(member, at + "/" + std::string(key), all);
    } else if (auto const* const array = value.if_array()) {
        for (std::size_t i = 0; i < array->size(); ++i)
            find_objects((*array)[i], at + "/" + std::to_string(i), all);
    }
}

/// The body with a field too many in each of its objects: the pointer to it, and the text.
std::vector<std::pair<std::string, std::string>> with_surplus(std::string const& body) {
    json::value const root = json::parse(body);
    std::vector<std::string> objects;
    find_objects(root, "", objects);
    std::vector<std::pair<std::string, std::string>> made;
    for (std::string const& at : objects) {
        json::value copy = root;
        (at.empty() ? copy : copy.at_pointer(at)).as_object()["surplus"] = 1;
        made.emplace_back(at + "/surplus", json::serialize(copy));
    }
    return made;
}

http::Method method_of(Sample const& sample) {
    return sample.pattern.ends_with("/seats") ? http::Method::put : http::Method::post;
}

std::string text(json::value const& value) {
    return json::serialize(value);
}

}  // namespace

TEST_CASE("no body has a field that nobody reads", "[validation]") {
    Stage stage;
    auto const sold = stage.claim(R"({"seats":["B-1-1","B-1-2"]})");
    auto const bought = stage.post("/v1/orders", text({{"holds", {sold["hold"]}}}), staff);
    REQUIRE(bought.status == 201);
    stage.record_order(bought["order"], {sold["hold"]});
    std::string const ticket = bought["tickets"].substr(0, bought["tickets"].find(':'));
    auto const held = stage.claim(R"({"seats":["A-1-1","A-1-2"]})");
    std::string const hold = "/v1/holds/" + held["hold"];
    std::string const order = "/v1/orders/" + bought["order"];
    std::string const holds = "/v1/events/demo/holds";
    std::vector<Sample> const samples{
        {"/v1/events/{event}/holds", holds, R"({"seats":["A-2-1"],"partial":false})", ""},
        {"", holds, R"({"candidates":["A-2-2"],"count":1})", ""},
        {"", holds, R"({"best":{"quantity":1,"sections":["A"],"preview":true}})", ""},
        {"", holds, R"({"best":{"quantity":1,"sections":["A"],"together":true}})", ""},
        {"", holds, R"({"section":"GA","quantity":1})", ""},
        {"", holds,
         R"({"account":7,"lines":[{"seats":["A-2-3"]},{"section":"GA","quantity":1},)"
         R"({"best":{"quantity":1,"categories":["vip"]}},{"candidates":["A-2-9"],"count":1}]})",
         staff},
        {"/v1/events/{event}/blocks", "/v1/events/demo/blocks",
         R"({"seats":["B-2-1"],"section":"BAR","quantity":1,"kind":"blocked"})", staff},
        {"/v1/holds/{hold}/seats", hold + "/seats",
         R"({"lines":[{"seats":["A-1-1","A-1-2"]},{"section":"GA","quantity":2}]})", staff},
        {"/v1/holds/{hold}/release", hold + "/release", R"({"section":"GA","quantity":1})", staff},
        {"/v1/holds/{hold}/extend", hold + "/extend", R"({"seconds":400})", staff},
        {"/v1/orders", "/v1/orders",
         text({{"holds", {{{"hold", held["hold"]}, {"token", held["token"]}}}},
               {"payment", {{"method", "none"}}}}),
         ""},
        {"/v1/orders/{order}/reseat", order + "/reseat",
         text({{"seats", json::array{{{"ticket", ticket}, {"to", "B-1-3"}}}}}), staff},
        {"/v1/orders/{order}/refund", order + "/refund", "{}", staff},
        {"/v1/orders/{order}/cancel", order + "/cancel", "{}", staff},
        {"/v1/events/{event}/publish", "/v1/events/demo/publish", "{}", staff},
        {"/v1/events/{event}/pause", "/v1/events/demo/pause", "{}", staff},
        {"/v1/events/{event}/resume", "/v1/events/demo/resume", "{}", staff},
        {"/v1/events/{event}/close", "/v1/events/demo/close", "{}", staff},
        {"/v1/events/{event}/cancel", "/v1/events/demo/cancel", "{}", staff},
    };
    std::set<std::string> checked{"/v1/events"};  // in the next test
    for (Sample const& sample : samples) {
        CAPTURE(sample.target, sample.body);
        checked.insert(sample.pattern);
        auto const method = sample.pattern.empty() ? http::Method::post : method_of(sample);
        auto const records = stage.journal.records().size();
        for (auto const& [pointer, body] : with_surplus(sample.body)) {
            CAPTURE(body);
            auto const refused = stage.send(method, sample.target, body, sample.who);
            CHECK(refused.status == 422);
            CHECK(refused.error() == pointer + " unknown-field");
        }
        CHECK(stage.journal.records().size() == records);
        // Without it there is nothing wrong with the body. (An order ends once, a draft is
        // published once.)
        auto const good = stage.send(method, sample.target, sample.body, sample.who);
        bool const done_before = sample.pattern == "/v1/orders/{order}/cancel" ||
                                 sample.pattern == "/v1/events/{event}/publish";
        CHECK(good.status / 100 == (done_before ? 4 : 2));
    }
    for (http::Route const& route : api::public_routes(*stage.context)) {
        CAPTURE(route.pattern);
        CHECK((route.body_bytes_max == 0 || checked.contains(route.pattern)));
    }
}

TEST_CASE("no body of an event has a field that nobody reads", "[validation]") {
    std::string const body =
        R"({"name":"Night","venue":"Hall","time_zone":"UTC","starts_at":"2027-05-01T20:00:00Z",)"
        R"("sale":{"opens_at":null,"closes_at":null},"policy":{"hold_ttl_s":300,"guest":true},)"
        R"("categories":[{"key":"std","name":"Standard","price":4500}],)"
        R"("sections":[{"id":"A","name":"Stalls","category":"std","rows":[{"label":"1","seats":2},)"
        R"({"label":"2","seats":[{"label":"1","x":0,"y":40,"accessible":true}]}]},)"
        R"({"id":"GA","category":"std","capacity":5}]})";
    auto const decode = [](std::string const& text_of_it) {
        api::JsonReader reader;
        return api::decode_event_body(reader, text_of_it, {});
    };
    REQUIRE(decode(body).has_value());
    for (auto const& [pointer, bad] : with_surplus(body)) {
        CAPTURE(bad);
        auto const refused = decode(bad);
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().pointer == pointer);
        CHECK(refused.error().code == "unknown-field");
    }
}

}  // namespace holdfast::test
