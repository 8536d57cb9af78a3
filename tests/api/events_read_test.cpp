#include "api/event_snapshots.hpp"
#include "tests/api/event_stage.hpp"

using namespace holdfast;
using namespace holdfast::api;
using api::test::EventStage;
namespace json = boost::json;

namespace {

std::string const house = R"({"id":"demo","name":"Demo \"night\"","venue":"Hall",
    "time_zone":"Europe/Berlin","starts_at":"2027-05-01T20:00:00+02:00",
    "categories":[{"key":"vip","name":"VIP","price":12000},{"key":"std","price":4500}],
    "sections":[{"id":"A","name":"Stalls","category":"vip","rows":[
        {"label":"1","seats":4},
        {"label":"2","seats":[{"label":"1","x":-5,"y":40,"accessible":true},
                              {"label":"2","x":7,"y":40,"category":"std"}]}]},
      {"id":"GA","name":"Floor","category":"std","capacity":5}]})";

std::string draft(std::string const& id) {
    return R"({"id":")" + id + R"(","name":"N","publish":false,
               "sections":[{"id":"A","capacity":1}]})";
}

std::string published(std::string const& id) {
    return R"({"id":")" + id + R"(","name":"N","sections":[{"id":"A","capacity":1}]})";
}

/// State of the seats, 0 ... 3, of an answer of …/state.
std::vector<unsigned> states(api::test::Answer const& answer, std::size_t seats) {
    auto const text = std::string{answer.json().as_object().at("seats").as_string()};
    std::string const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::vector<unsigned> bits;
    for (char const c : text) {
        if (c == '=') continue;
        auto const value = static_cast<unsigned>(alphabet.find(c));
        for (unsigned bit = 6; bit-- > 0;) bits.push_back(value >> bit & 1U);
    }
    std::vector<unsigned> found;
    for (std::size_t seat = 0; seat < seats; ++seat) {
        // Seat i is in bits 2(i mod 4) of byte i/4; `bits` has the highest bit of a byte first.
        auto const high = seat / 4 * 8 + 7 - 2 * (seat % 4) - 1;
        found.push_back(bits.at(high) << 1U | bits.at(high + 1));
    }
    return found;
}

std::vector<std::string> ids(json::value const& page) {
    std::vector<std::string> found;
    for (auto const& item : page.as_object().at("items").as_array()) {
        found.emplace_back(item.as_object().at("id").as_string());
    }
    return found;
}

std::string member(json::value const& object, char const* key) {
    auto const* const value = object.as_object().if_contains(key);
    return value == nullptr ? "" : std::string{value->as_string()};
}

}  // namespace

TEST_CASE("an event of an older store says that no payment of today is taken", "[events]") {
    EventStage stage;
    EventSpec spec = samples::full_event("old");
    spec.publish = true;
    spec.policy.payment_methods = {false, true, false};
    REQUIRE(stage.setup.create(std::move(spec)).has_value());
    stage.run_jobs();
    // Held against the schema, as every answer is.
    auto const event = stage.get("/v1/events/old").json().as_object();
    CHECK(event.at("policy").as_object().at("payment_methods") == json::array{});
}

TEST_CASE("an event says what it is and what is left of it", "[events]") {
    EventStage stage;
    stage.open(house);
    auto const event = stage.get("/v1/events/demo").json().as_object();
    CHECK(event.at("id") == "demo");
    CHECK(event.at("event") == "demo");
    CHECK(event.at("name") == "Demo \"night\"");
    CHECK(event.at("state") == "open");
    CHECK(event.at("starts_at") == "2027-05-01T20:00:00.000+02:00");
    CHECK(event.at("time_zone") == "Europe/Berlin");
    CHECK(event.at("sale").as_object().at("opens_at").is_null());
    CHECK(event.at("currency") == "EUR");
    CHECK(event.at("capacity") == 11);
    CHECK(event.at("policy").as_object().at("hold_ttl_s") == 300);
    CHECK(event.at("policy").as_object().at("payment_methods") == json::array{"none"});
    CHECK(event.at("categories").as_array().at(1) ==
          json::value{{"key", "std"}, {"name", "std"}, {"price", 4'500}});
    stage.claim("demo", {SeatIndex{1}, SeatIndex{2}});
    auto const counts =
        stage.get("/v1/events/demo").json().as_object().at("availability").as_array();
    CHECK(counts.at(0) == json::value{{"section", "A"},
                                      {"capacity", 6},
                                      {"free", 4},
                                      {"held", 2},
                                      {"sold", 0},
                                      {"blocked", 0}});
    CHECK(counts.at(1).as_object().at("free") == 5);
}

TEST_CASE("the map has every seat with its place and first index", "[events]") {
    EventStage stage;
    stage.open(house);
    auto const answer = stage.get("/v1/events/demo/map");
    CHECK(answer.header("Cache-Control") == "public, max-age=60");
    auto const map = answer.json().as_object();
    CHECK(map.at("event") == "demo");
    CHECK(map.at("version") == 1);
    auto const& sections = map.at("sections").as_array();
    auto const& rows = sections.at(0).as_object().at("rows").as_array();
    CHECK(rows.at(1).as_object().at("first") == 4);
    CHECK(
        rows.at(1).as_object().at("seats").as_array().at(0) ==
        json::value{{"name", "A-2-1"}, {"label", "1"}, {"x", -5}, {"y", 40}, {"accessible", true}});
    CHECK(rows.at(1).as_object().at("seats").as_array().at(1).as_object().at("category") == "std");
    CHECK(sections.at(1) ==
          json::value{
              {"id", "GA"}, {"name", "Floor"}, {"category", "std"}, {"first", 6}, {"capacity", 5}});
}

TEST_CASE("the map never changes; a reader that has it gets 304", "[events]") {
    EventStage stage;
    stage.open(house);
    auto const first = stage.get("/v1/events/demo/map");
    auto const tag = first.header("ETag");
    CHECK(tag.size() == 18);
    stage.claim("demo", {SeatIndex{0}});
    stage.now += std::chrono::hours{1};
    CHECK(stage.get("/v1/events/demo/map").body == first.body);
    for (auto const& given :
         {tag, "W/" + tag, std::string{"*"}, "\"other\" ,  " + tag + " ", "\"a\"," + tag}) {
        CAPTURE(given);
        auto const unchanged = stage.get_unless("/v1/events/demo/map", given);
        CHECK(unchanged.status == 304);
        CHECK(unchanged.body.empty());
        CHECK(unchanged.header("ETag") == tag);
    }
    for (auto const& given : {std::string{"\"other\""}, tag.substr(1), std::string{","}}) {
        CAPTURE(given);
        CHECK(stage.get_unless("/v1/events/demo/map", given).status == 200);
    }
}

TEST_CASE("the state has two bits a seat and the number of the newest fact", "[events]") {
    EventStage stage;
    stage.open(house);
    auto const before = stage.get("/v1/events/demo/state");
    CHECK(states(before, 6) == std::vector<unsigned>{0, 0, 0, 0, 0, 0});
    auto const hold = stage.claim("demo", {SeatIndex{1}, SeatIndex{5}, SeatIndex{7}});
    auto const after = stage.get("/v1/events/demo/state");
    CHECK(states(after, 6) == std::vector<unsigned>{0, 1, 0, 0, 0, 1});
    CHECK(after.json().as_object().at("seq") == hold.lsn.value());
    CHECK(after.json().as_object().at("general").as_array() ==
          json::array{json::value{
              {"section", "GA"}, {"free", 4}, {"held", 1}, {"sold", 0}, {"blocked", 0}}});
    CHECK(before.header("ETag") != after.header("ETag"));
    engine::HoldName const name = hold.name;
    engine::ConfirmCommand confirm;
    confirm.order = OrderId{1, 2};
    confirm.holds = {&name, 1};
    REQUIRE(stage.engine.confirm(confirm, stage.now).has_value());
    CHECK(states(stage.get("/v1/events/demo/state"), 6) == std::vector<unsigned>{0, 2, 0, 0, 0, 2});
}

TEST_CASE("a state that did not change is 304 though facts came elsewhere", "[events]") {
    EventStage stage;
    stage.open(house);
    stage.open(published("other"));
    auto const tag = stage.get("/v1/events/demo/state").header("ETag");
    CHECK(tag.starts_with("W/\""));
    stage.claim("other", {SeatIndex{0}});
    CHECK(stage.get_unless("/v1/events/demo/state", tag).status == 304);
    stage.claim("demo", {SeatIndex{0}});
    CHECK(stage.get_unless("/v1/events/demo/state", tag).status == 200);
}

TEST_CASE("a seat is free to readers at the instant its hold expires", "[events]") {
    EventStage stage;
    stage.open(house);
    auto const hold = stage.claim("demo", {SeatIndex{0}});
    stage.now = hold.expires_at - Milliseconds{1};
    CHECK(states(stage.get("/v1/events/demo/state"), 1) == std::vector<unsigned>{1});
    stage.now = hold.expires_at;
    CHECK(states(stage.get("/v1/events/demo/state"), 1) == std::vector<unsigned>{0});
}

TEST_CASE("only the documents of large events may be a little old", "[events]") {
    CHECK(EventSnapshots::max_age(24'999) == Milliseconds{0});
    CHECK(EventSnapshots::max_age(100'000) == Milliseconds{4});
    EventStage stage;
    stage.open(R"({"id":"large","name":"L","sections":[
        {"id":"A","rows":[{"label":"1","seats":2}]},{"id":"GA","capacity":50000}]})");
    auto const before = stage.get("/v1/events/large/state");
    stage.claim("large", {SeatIndex{0}});
    stage.now += Milliseconds{1};
    CHECK(stage.get("/v1/events/large/state").body == before.body);
    stage.now += Milliseconds{1};
    CHECK(states(stage.get("/v1/events/large/state"), 2) == std::vector<unsigned>{1, 0});
}

TEST_CASE("a draft does not exist for the public", "[events]") {
    EventStage stage;
    stage.open(draft("plan-b"));
    auto const missing = stage.get("/v1/events/nothing");
    for (auto const* const rest : {"", "/map", "/state"}) {
        CAPTURE(rest);
        auto const target = std::string{"/v1/events/plan-b"} + rest;
        CHECK(stage.get(target).status == 404);
        CHECK(stage.get(target).code() == missing.code());
        CHECK(stage.get(target, "Bearer wrong").status == 404);
        CHECK(stage.get(target, EventStage::staff()).status == 200);
    }
    CHECK(stage.get("/v1/events/plan-b/map", EventStage::staff()).header("Cache-Control") ==
          "private, no-cache");
    CHECK(member(stage.get("/v1/events/plan-b", EventStage::staff()).json(), "state") == "draft");
    CHECK(ids(stage.get("/v1/events").json()).empty());
    CHECK(ids(stage.get("/v1/events", EventStage::staff()).json()) ==
          std::vector<std::string>{"plan-b"});
}

TEST_CASE("what is no event is 404", "[events]") {
    EventStage stage;
    stage.open(house);
    for (auto const* const slug : {"demo2", "DEMO", "dem%6F", "..", "demo%00", "-"}) {
        CAPTURE(slug);
        CHECK(stage.get(std::string{"/v1/events/"} + slug).status == 404);
        CHECK(stage.get(std::string{"/v1/events/"} + slug + "/map").status == 404);
    }
}

TEST_CASE("an event that opens later is scheduled, and closed after its end", "[events]") {
    EventStage stage;
    stage.now = TimePoint{Milliseconds{1'800'000'000'000}};  // 2027-01-15T08:00:00Z
    stage.open(R"({"id":"later","name":"L","sale":{"opens_at":"2027-01-15T09:00:00Z",
        "closes_at":"2027-01-15T10:00:00Z"},"sections":[{"id":"A","capacity":1}]})");
    auto const state = [&stage] { return member(stage.get("/v1/events/later").json(), "state"); };
    CHECK(state() == "scheduled");
    stage.now += std::chrono::hours{1};
    CHECK(state() == "open");
    stage.now += std::chrono::hours{1};
    CHECK(state() == "closed");
}

TEST_CASE("events are listed in pages, forwards and back", "[events]") {
    EventStage stage;
    std::vector<std::string> all;
    for (int i = 1; i <= 5; ++i) {
        all.push_back("e" + std::to_string(i));
        stage.open(published(all.back()));
        stage.open(draft("d" + std::to_string(i)));
    }
    auto const page = [&stage](std::string const& query) {
        auto const answer = stage.get("/v1/events" + query);
        CHECK(answer.status == 200);
        return answer.json();
    };
    CHECK(ids(page("")) == all);
    CHECK(member(page(""), "next").empty());
    auto const first = page("?limit=2");
    CHECK(ids(first) == std::vector<std::string>{"e1", "e2"});
    CHECK(member(first, "prev").empty());
    auto const second = page("?limit=2&after=" + member(first, "next"));
    CHECK(ids(second) == std::vector<std::string>{"e3", "e4"});
    auto const third = page("?limit=2&after=" + member(second, "next"));
    CHECK(ids(third) == std::vector<std::string>{"e5"});
    CHECK(member(third, "next").empty());
    auto const back = page("?limit=2&after=" + member(third, "prev"));
    CHECK(ids(back) == std::vector<std::string>{"e3", "e4"});
    CHECK(ids(page("?limit=2&after=" + member(back, "next"))) == std::vector<std::string>{"e5"});
    auto const start = page("?limit=2&after=" + member(back, "prev"));
    CHECK(ids(start) == std::vector<std::string>{"e1", "e2"});
    CHECK(member(start, "prev").empty());
    CHECK(ids(page("?limit=1000")) == all);
}

TEST_CASE(
    "a list that did not change is 304: events, states, drafts for staff, each page by itself",
    "[events]") {
    EventStage stage;
    stage.open(published("e1"));
    stage.open(house);
    auto const tag = stage.get("/v1/events").header("ETag");
    CHECK(tag.size() == 18);
    CHECK(stage.get("/v1/events").header("Cache-Control") == "no-cache");
    stage.claim("demo", {SeatIndex{0}});
    stage.now += std::chrono::seconds{1};
    auto const unchanged = stage.get_unless("/v1/events", tag);
    CHECK(unchanged.status == 304);
    CHECK(unchanged.body.empty());
    CHECK(unchanged.header("ETag") == tag);
    CHECK(stage.get_unless("/v1/events?limit=1", tag).status == 200);
    CHECK(stage.get("/v1/events?limit=0").header("ETag").empty());
    stage.open(draft("d1"));
    CHECK(stage.get_unless("/v1/events", tag).status == 304);
    stage.open(published("e3"));
    CHECK(stage.get_unless("/v1/events", tag).status == 200);
    CHECK(stage.get("/v1/events").header("ETag") != tag);
}

TEST_CASE("several lines of If-None-Match are one list", "[events]") {
    EventStage stage;
    stage.open(house);
    auto const tag = stage.get("/v1/events/demo/map").header("ETag");
    auto const status_of = [&stage](std::vector<http::Field> fields) {
        api::test::Call call;
        call.target = "/v1/events/demo/map";
        call.more = std::move(fields);
        return stage.send(call).status;
    };
    CHECK(status_of({{"If-None-Match", "\"a\""}, {"If-None-Match", tag}}) == 304);
    CHECK(status_of({{"IF-NONE-MATCH", "\"a\""}, {"if-none-match", "\"b\", " + tag}}) == 304);
    CHECK(status_of({{"If-None-Match", tag}, {"If-None-Match", "\"a\""}}) == 304);
    CHECK(status_of({{"If-None-Match", "\"a\""}, {"If-Match", tag}}) == 200);
    CHECK(status_of({{"If-None-Match", "\"a\""}, {"If_None_Match", tag}}) == 200);
}

TEST_CASE("a cursor that is not ours, or of another list, is refused", "[events]") {
    EventStage stage;
    stage.open(published("a"));
    stage.open(published("b"));
    auto const next = member(stage.get("/v1/events?limit=1").json(), "next");
    REQUIRE(!next.empty());
    auto const hold = stage.claim("a", {SeatIndex{0}});
    auto damaged = next;
    damaged[5] = damaged[5] == 'a' ? 'b' : 'a';
    auto const hold_id = stage.key.hold_id(hold.name);
    for (auto const& cursor : {std::string{"1"}, std::string{"c_"}, damaged, next.substr(2),
                               hold_id, "c_" + hold_id.substr(2), next + "a"}) {
        CAPTURE(cursor);
        auto const answer = stage.get("/v1/events?after=" + cursor);
        CHECK(answer.status == 400);
        CHECK(answer.code() == "bad-cursor");
    }
    // With the drafts it is another list.
    CHECK(stage.get("/v1/events?after=" + next, EventStage::staff()).status == 400);
}

TEST_CASE("a limit is 1 to 1,000", "[events]") {
    EventStage stage;
    for (auto const* const limit : {"0", "1001", "-1", "x", "1x", "99999999999"}) {
        CAPTURE(limit);
        auto const answer = stage.get(std::string{"/v1/events?limit="} + limit);
        CHECK(answer.status == 422);
        CHECK(answer.json().as_object().at("errors").as_array().at(0).as_object().at("pointer") ==
              "/limit");
    }
}
