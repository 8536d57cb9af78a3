#include "tests/api/stage.hpp"

#include <catch2/catch.hpp>
#include <cstdio>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using Catch::Contains;

/// One row of `seats` seats, at most 10,001 of them.
EventSpec long_row(std::uint32_t seats) {
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 100});
    Section section;
    section.id = "L";
    builder.add_section(section);
    builder.add_row("1");
    for (std::uint32_t seat = 1; seat <= seats; ++seat) {
        std::string const label = std::to_string(seat);
        builder.add_seat({"L-" + label, label, {{seat * 1.0, 0}, {}, 0}});
    }
    auto layout = std::move(builder).build();
    REQUIRE(layout.has_value());
    EventSpec spec;
    spec.slug = "demo";
    spec.name = "Long";
    spec.publish = true;
    spec.layout = std::move(*layout);
    return spec;
}

}  // namespace

TEST_CASE("a block answers 201 in the shape of a hold", "[blocks]") {
    Stage stage;
    auto const block = stage.post(demo_blocks, R"({"seats":["A-1-7","A-1-8"]})", staff);
    REQUIRE(block.status == 201);
    CHECK(block.lsn == Lsn{1});
    CHECK(block.header("Location") == "/v1/holds/" + block["hold"]);
    CHECK(block["event"] == "demo");
    CHECK(block["state"] == "blocked");
    CHECK(block["kind"] == "blocked");
    CHECK(block["seats"] == "A-1-7 A-1-8");
    CHECK(block["token"].empty());
    CHECK(block["expires_at"] == "null");
    CHECK(block["expires_in_s"] == "null");
    CHECK(block["extensions_left"] == "0");
    // Read by staff, days later, because it has no deadline.
    stage.now += 48h;
    auto const read = stage.get("/v1/holds/" + block["hold"], staff);
    CHECK(read.status == 200);
    CHECK(read["state"] == "blocked");
    CHECK(read["seats"] == "A-1-7 A-1-8");
    auto const ended = stage.del("/v1/blocks/" + block["hold"], staff);
    CHECK(ended.status == 204);
    CHECK(ended.lsn == Lsn{2});
    CHECK(stage.seat_is_free("A-1-7"));
    CHECK(stage.del("/v1/blocks/" + block["hold"], staff).status == 204);
    CHECK(stage.journal.count(journal::RecordType::end) == 1);
}

TEST_CASE("sections, categories and general places are blocked together", "[blocks]") {
    Stage stage;
    auto const block = stage.post(demo_blocks,
                                  R"({"seats":["A-1-1"],"sections":["B"],"categories":["VIP"],)"
                                  R"("section":"GA","quantity":20,"kind":"not-for-sale"})",
                                  staff);
    REQUIRE(block.status == 201);
    CHECK(block["kind"] == "not-for-sale");
    CHECK(block["general"] == "GA:20");
    // A whole, and B without the two that the plan keeps from sale.
    auto const counts = stage.event->availability(stage.now);
    CHECK(counts[0].blocked == 20);
    CHECK(counts[1].blocked == 20);
    CHECK(counts[2].blocked == 20);
    CHECK(counts[2].free == 30);
    auto const whole_floor = stage.post(demo_blocks, R"({"sections":["BAR"]})", staff);
    CHECK(whole_floor.status == 201);
    CHECK(whole_floor["general"] == "BAR:5");
}

TEST_CASE("a block that conflicts names every taken seat with its reason", "[blocks]") {
    Stage stage;
    REQUIRE(stage.claim(R"({"seats":["A-1-2","A-1-4"]})").status == 201);
    REQUIRE(stage.post(demo_blocks, R"({"seats":["A-1-5"],"kind":"not-for-sale"})", staff).status ==
            201);
    REQUIRE(stage.post(demo_blocks, R"({"seats":["A-1-6"]})", staff).status == 201);
    auto const refused = stage.post(demo_blocks, R"({"sections":["A"]})", staff);
    CHECK(refused.status == 409);
    CHECK(refused["code"] == "seats-unavailable");
    CHECK(refused["refused"] == "A-1-2:held A-1-4:held A-1-5:not-for-sale A-1-6:blocked");
    CHECK(refused["retryable"] == "false");
    CHECK(stage.seat_is_free("A-1-1"));
    auto const held = stage.post(demo_blocks, R"({"seats":["A-1-1","A-1-2"]})", staff);
    CHECK(held["retryable"] == "true");
    CHECK(stage.post(demo_blocks, R"({"seats":["B-1-10"]})", staff)["refused"] ==
          "B-1-10:not-for-sale");
    auto const rest = stage.post(demo_blocks, R"({"sections":["A"],"skip_taken":true})", staff);
    CHECK(rest.status == 201);
    CHECK(stage.event->availability(stage.now)[0].blocked == 18);
    auto const floor = stage.post(demo_blocks, R"({"section":"GA","quantity":51})", staff);
    CHECK(floor["code"] == "sold-out");
    CHECK(floor["left"] == "50");
    REQUIRE(stage.claim(R"({"section":"BAR","quantity":2})").status == 201);
    CHECK(stage.post(demo_blocks, R"({"sections":["BAR"]})", staff)["refused"] == "BAR:held");
}

TEST_CASE("a refused claim names each seat with its own reason, #86", "[blocks][holds]") {
    Stage stage;
    auto const sold = stage.claim(R"({"seats":["A-1-1"]})");
    std::string const order =
        R"({"holds":[{"hold":")" + sold["hold"] + R"(","token":")" + sold["token"] + R"("}]})";
    REQUIRE(stage.post("/v1/orders", order).status == 201);
    REQUIRE(stage.claim(R"({"seats":["A-1-2"]})").status == 201);
    REQUIRE(stage.post(demo_blocks, R"({"seats":["A-1-3"]})", staff).status == 201);
    REQUIRE(stage.post(demo_blocks, R"({"seats":["A-1-4"],"kind":"not-for-sale"})", staff).status ==
            201);
    auto const all = stage.claim(R"({"seats":["A-1-5","A-1-4","A-1-3","A-1-2","A-1-1","B-1-10"]})");
    CHECK(all.status == 409);
    CHECK(all["refused"] ==
          "A-1-4:not-for-sale A-1-3:blocked A-1-2:held A-1-1:sold B-1-10:not-for-sale");
    CHECK(all["retryable"] == "false");
    auto const held = stage.claim(R"({"seats":["A-1-2","A-1-5"]})");
    CHECK(held["refused"] == "A-1-2:held");
    CHECK(held["retryable"] == "true");
    // Of candidates one that comes back is enough.
    auto const candidates = stage.claim(R"({"candidates":["A-1-1","A-1-2"],"count":1})");
    CHECK(candidates["refused"] == "A-1-1:sold A-1-2:held");
    CHECK(candidates["retryable"] == "true");
    // A seat whose hold has just expired is no cause.
    stage.now += 300s;
    CHECK(stage.claim(R"({"seats":["A-1-2","A-1-1"]})")["refused"] == "A-1-1:sold");
}

TEST_CASE("blocks are for staff only", "[blocks]") {
    Stage stage;
    std::string const body = R"({"seats":["A-1-1"]})";
    auto const nobody = stage.post(demo_blocks, body);
    CHECK(nobody.status == 401);
    CHECK(nobody.header("WWW-Authenticate") == "Bearer");
    CHECK(stage.post(demo_blocks, body, "Bearer wrong").status == 401);
    CHECK(stage.post(demo_blocks, body, "Hold abc").status == 403);
    CHECK(stage.get(demo_blocks).status == 401);
    auto const block = stage.post(demo_blocks, body, staff);
    std::string const path = "/v1/blocks/" + block["hold"];
    CHECK(stage.del(path).status == 401);
    CHECK(stage.del(path, "Hold abc").status == 403);
    CHECK_FALSE(stage.seat_is_free("A-1-1"));
    CHECK(stage.post("/v1/events/none/blocks", body, staff).status == 404);
    CHECK(stage.get("/v1/events/none/blocks", staff).status == 404);
    CHECK(stage.del("/v1/blocks/h_none", staff).status == 404);
    // A buyer's hold is no block.
    auto const hold = stage.claim(R"({"seats":["A-1-2"]})");
    CHECK(stage.del("/v1/blocks/" + hold["hold"], staff).status == 404);
    CHECK_FALSE(stage.seat_is_free("A-1-2"));
}

TEST_CASE("bad bodies of blocks are named and change nothing", "[blocks]") {
    Stage stage;
    struct Bad {
        char const* body;
        unsigned status;
        char const* error;
    };
    for (Bad const& bad : std::initializer_list<Bad>{
             {"", 400, ""},
             {"[]", 422, "not-an-object"},
             {"{}", 422, "one-of-seats-sections-categories-section"},
             {R"({"kind":"blocked"})", 422, "one-of-seats-sections-categories-section"},
             {R"({"seats":[]})", 422, "/seats range"},
             {R"({"seats":"A-1-1"})", 422, "/seats type"},
             {R"({"seats":[7]})", 422, "/seats/0 type"},
             {R"({"seats":null})", 422, "/seats type"},
             {R"({"sections":[]})", 422, "/sections range"},
             {R"({"sections":["A","Z"]})", 422, "/sections/1 unknown-section"},
             {R"({"sections":[1]})", 422, "/sections/0 type"},
             {R"({"categories":["gold"]})", 422, "/categories/0 unknown-category"},
             {R"({"categories":{}})", 422, "/categories type"},
             {R"({"section":"GA"})", 422, "/quantity required"},
             {R"({"section":"GA","quantity":0})", 422, "/quantity range"},
             {R"({"section":"GA","quantity":10001})", 422, "/quantity range"},
             {R"({"section":"GA","quantity":1.5})", 422, "/quantity type"},
             {R"({"section":"A","quantity":1})", 422, "/section not-general"},
             {R"({"section":"Z","quantity":1})", 422, "/section unknown-section"},
             {R"({"quantity":1})", 422, "/quantity unknown-field"},
             {R"({"seats":["A-1-1"],"kind":"closed"})", 422, "/kind value"},
             {R"({"seats":["A-1-1"],"kind":1})", 422, "/kind type"},
             {R"({"seats":["A-1-1"],"until":"2027-05-01T12:00:00Z"})", 422, "/until range"},
             {R"({"seats":["A-1-1"],"until":"2027-05-01T12:00:29.999Z"})", 422, "/until range"},
             {R"({"seats":["A-1-1"],"until":"tomorrow"})", 422, "/until time"},
             {R"({"seats":["A-1-1"],"until":7})", 422, "/until type"},
             {R"({"seats":["A-1-1"],"skip_taken":1})", 422, "/skip_taken type"},
             {R"({"seats":["A-1-1"],"reason":"x"})", 422, "/reason unknown-field"}}) {
        CAPTURE(bad.body);
        auto const answer = stage.post(demo_blocks, bad.body, staff);
        CHECK(answer.status == bad.status);
        if (bad.status == 422) CHECK(answer.error() == bad.error);
    }
    auto const unknown = stage.post(demo_blocks, R"({"seats":["A-1-1","FAKE-99"]})", staff);
    CHECK(unknown["code"] == "unknown-seat");
    CHECK(unknown["seats"] == "FAKE-99");
    auto const twice =
        stage.post(demo_blocks, R"({"seats":["A-1-2","A-1-1","A-1-2","A-1-2"]})", staff);
    CHECK(twice["code"] == "duplicate-seat");
    CHECK(twice["seats"] == "A-1-2");
    CHECK(stage.journal.records().empty());
}

TEST_CASE("a block takes 10,000 seats and not one more", "[blocks]") {
    Stage stage(long_row(10'001));
    auto const by_section = stage.post(demo_blocks, R"({"sections":["L"]})", staff);
    CHECK(by_section.status == 422);
    CHECK(by_section.error() == "range");
    CHECK(stage.post(demo_blocks, R"({"categories":["std"]})", staff).status == 422);
    std::string names;
    for (int seat = 1; seat <= 10'000; ++seat) names += ",\"L-" + std::to_string(seat) + "\"";
    std::string const most = "{\"seats\":[" + names.substr(1) + "]}";
    std::string const over = "{\"seats\":[" + names.substr(1) + ",\"L-10001\"]}";
    REQUIRE(over.size() < limits::block_body_bytes_max);
    CHECK(stage.post(demo_blocks, over, staff).error() == "/seats range");
    CHECK(stage.journal.records().empty());
    CHECK(stage.post(demo_blocks, most, staff).status == 201);
    CHECK(stage.event->availability(stage.now)[0].free == 1);
    // The list of a refusal is cut, and says so.
    auto const refused = stage.post(demo_blocks, most, staff);
    CHECK(refused.status == 409);
    CHECK(refused["refused_count"] == "10000");
    CHECK_THAT(refused.body, !Contains("L-1001\""));
}

TEST_CASE("held-back places open at the set time, #82", "[blocks]") {
    Stage stage;
    auto const block = stage.post(
        demo_blocks, R"({"seats":["A-1-1","A-1-2"],"until":"2027-05-02T12:00:00Z"})", staff);
    REQUIRE(block.status == 201);
    CHECK(block["expires_at"] == "2027-05-02T12:00:00.000Z");
    CHECK(block["expires_in_s"] == "86400");
    CHECK_THAT(stage.get(demo_blocks, staff).body, Contains("2027-05-02T12:00:00.000Z"));
    stage.now += 24h - 1ms;
    CHECK(stage.claim(R"({"seats":["A-1-1"]})")["refused"] == "A-1-1:blocked");
    CHECK(stage.event->availability(stage.now)[0].blocked == 2);
    stage.now += 1ms;
    CHECK(stage.event->availability(stage.now)[0].free == 20);
    CHECK(stage.claim(R"({"seats":["A-1-1"]})").status == 201);
    CHECK(stage.get("/v1/holds/" + block["hold"], staff)["code"] == "hold-expired");
    CHECK(stage.seat_is_free("A-1-2"));
}

TEST_CASE("a block lasts as long as the shortest hold, and is listed while it does", "[blocks]") {
    Stage stage;
    auto const block =
        stage.post(demo_blocks, R"({"seats":["A-1-1"],"until":"2027-05-01T12:00:30Z"})", staff);
    REQUIRE(block.status == 201);
    stage.now += 30s - 1ms;
    CHECK_THAT(stage.get(demo_blocks, staff).body, Contains(block["hold"]));
    stage.now += 1ms;
    CHECK_THAT(stage.get(demo_blocks, staff).body, !Contains(block["hold"]));
}

TEST_CASE("categories are told once each, however often they are named", "[blocks]") {
    Stage stage;
    auto const blocked = [&](std::string const& categories) {
        auto const answer = stage.post(demo_blocks, R"({"categories":)" + categories + "}", staff);
        REQUIRE(answer.status == 201);
        std::uint32_t count = 0;
        for (auto const& section : stage.event->availability(stage.now)) count += section.blocked;
        REQUIRE(stage.del("/v1/blocks/" + answer["hold"], staff).status == 204);
        return count;
    };
    auto const once = blocked(R"(["VIP"])");
    CHECK(once > 0);
    CHECK(blocked(R"(["VIP","VIP","VIP"])") == once);
    // What has ended is gone, whatever it was.
    auto const hold = stage.claim(R"({"seats":["A-1-1"]})");
    REQUIRE(hold.status == 201);
    REQUIRE(stage.del("/v1/holds/" + hold["hold"], staff).status == 204);
    CHECK(stage.del("/v1/blocks/" + hold["hold"], staff).status == 204);
}

TEST_CASE("blocks can be found again", "[blocks]") {
    Stage stage;
    std::vector<std::string> made;
    for (char const* const body :
         {R"({"seats":["A-1-1","A-1-2"]})", R"({"seats":["A-1-4"],"kind":"not-for-sale"})",
          R"({"section":"GA","quantity":3})"}) {
        made.push_back(stage.post(demo_blocks, body, staff)["hold"]);
    }
    REQUIRE(stage.claim(R"({"seats":["A-2-1"]})").status == 201);
    auto const all = stage.get(demo_blocks, staff);
    CHECK(all.status == 200);
    CHECK(all["next"].empty());
    for (std::string const& hold : made) CHECK_THAT(all.body, Contains(hold));
    auto const first = stage.get(std::string(demo_blocks) + "?limit=2", staff);
    REQUIRE_FALSE(first["next"].empty());
    auto const rest =
        stage.get(std::string(demo_blocks) + "?limit=2&after=" + first["next"], staff);
    CHECK(rest["next"].empty());
    std::string const both = first.body + rest.body;
    for (std::string const& hold : made) CHECK_THAT(both, Contains(hold));
    CHECK(stage.get(std::string(demo_blocks) + "?limit=0", staff).error() == "/limit range");
    CHECK(stage.get(std::string(demo_blocks) + "?limit=x", staff).error() == "/limit range");
    CHECK(stage.get(std::string(demo_blocks) + "?after=zzz", staff)["code"] == "bad-cursor");
    // As a client that escapes all it can would send it.
    std::string escaped;
    for (char const c : std::string{first["next"]}) {
        char text[4]{};
        std::snprintf(text, sizeof text, "%%%02X", static_cast<unsigned>(c));
        escaped += text;
    }
    auto const same = stage.get(std::string(demo_blocks) + "?limit=%32&after=" + escaped, staff);
    CHECK(same.status == 200);
    CHECK(same.body == rest.body);
    CHECK(stage.get(std::string(demo_blocks) + "?limit=2%", staff).error() == "/limit range");
    CHECK(stage.get(std::string(demo_blocks) + "?limit=2%00", staff).error() == "/limit range");
    // The cursor of another event is not ours either.
    stage.add_event(sample_event("other"));
    auto const other = stage.get("/v1/events/other/blocks?after=" + first["next"], staff);
    CHECK(other["code"] == "bad-cursor");
}

TEST_CASE("a block is no hold to extend or to buy", "[blocks]") {
    Stage stage;
    auto const block = stage.post(demo_blocks, R"({"seats":["A-1-1"]})", staff);
    auto const extended =
        stage.post("/v1/holds/" + block["hold"] + "/extend", R"({"seconds":60})", staff);
    CHECK(extended.status == 409);
    CHECK(extended["code"] == "illegal-transition");
    CHECK(extended["from"] == "blocked");
    CHECK(extended["to"] == "held");
    auto const bought =
        stage.post("/v1/orders", R"({"holds":[")" + block["hold"] + R"("]})", staff);
    CHECK(bought.status == 409);
    CHECK(bought["code"] == "illegal-transition");
    CHECK(bought["to"] == "sold");
    CHECK(stage.get("/v1/holds/" + block["hold"], staff)["state"] == "blocked");
    // Given back like a hold, too.
    CHECK(stage.del("/v1/holds/" + block["hold"], staff).status == 204);
    CHECK(stage.seat_is_free("A-1-1"));
}

}  // namespace holdfast::test
