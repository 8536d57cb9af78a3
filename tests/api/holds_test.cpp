#include "tests/api/stage.hpp"
#include "tests/support/mutate.hpp"

#include <catch2/catch.hpp>
#include <set>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using Catch::Contains;
using Catch::StartsWith;

}  // namespace

TEST_CASE("a claim answers 201 in the shape of API.md", "[holds]") {
    Stage stage;
    auto const hold =
        stage.claim(R"({"lines":[{"seats":["A-1-7","A-1-8"]},)"
                    R"({"section":"GA","quantity":2},{"section":"BAR","quantity":1}]})");
    REQUIRE(hold.status == 201);
    CHECK(hold.lsn == Lsn{1});
    CHECK(stage.journal.count(journal::RecordType::claim) == 1);
    CHECK_THAT(hold["hold"], StartsWith("h_"));
    CHECK(hold["hold"].size() == 28);
    CHECK(hold["token"].size() == 26);
    CHECK(hold.header("Location") == "/v1/holds/" + hold["hold"]);
    CHECK(hold["event"] == "demo");
    CHECK(hold["state"] == "held");
    CHECK(hold["seats"] == "A-1-7 A-1-8");
    CHECK(hold["general"] == "GA:2 BAR:1");
    CHECK(hold["total"] == std::to_string(2 * 12'000 + 2 * 2'000 + 4'500));
    CHECK(hold["currency"] == "EUR");
    CHECK(hold["server_time"] == "2027-05-01T12:00:00.000Z");
    CHECK(hold["expires_at"] == "2027-05-01T12:05:00.000Z");
    CHECK(hold["expires_in_s"] == "300");
    CHECK(hold["extensions_left"] == "1");
    CHECK_FALSE(stage.seat_is_free("A-1-7"));
}

TEST_CASE("each form of a claim takes what it asks for", "[holds]") {
    Stage stage;
    auto const best = stage.claim(R"({"best":{"quantity":2,"sections":["A"]}})");
    CHECK(best.status == 201);
    CHECK(best["together"] == "true");
    CHECK(best["total"] == "24000");
    auto const section = stage.claim(R"({"section":"B","quantity":3})");
    CHECK(section.status == 201);
    CHECK(section["total"] == "13500");
    CHECK_THAT(section["seats"], StartsWith("B-"));
    auto const candidates = stage.claim(R"({"candidates":["A-2-9","A-2-1","A-2-10"],"count":2})");
    CHECK(candidates.status == 201);
    CHECK(candidates["seats"] == "A-2-1 A-2-9");
    CHECK(candidates["together"] == "false");
    auto const general = stage.claim(R"({"section":"GA","quantity":10})");
    CHECK(general.status == 201);
    CHECK(general["seats"].empty());
    CHECK(general["general"] == "GA:10");
    auto const turned = stage.claim(R"({"best":{"quantity":5,"sections":["BAR"]}})");
    CHECK(turned["general"] == "BAR:5");
}

TEST_CASE("a preview holds nothing and proves nothing", "[holds]") {
    Stage stage;
    auto const preview = stage.claim(R"({"best":{"quantity":2,"preview":true}})");
    CHECK(preview.status == 200);
    CHECK(preview["hold"].empty());
    CHECK(preview["token"].empty());
    CHECK(preview["expires_at"].empty());
    CHECK(preview.lsn == no_lsn);
    CHECK(stage.journal.records().empty());
    auto const first = preview["seats"].substr(0, preview["seats"].find(' '));
    CHECK(stage.seat_is_free(first));
}

TEST_CASE("bad claims are 4xx, and nothing is taken", "[holds]") {
    Stage stage;
    auto const unknown = stage.claim(R"({"seats":["A-1-1","A-1-2","Z-1-1"]})");
    CHECK(unknown.status == 422);
    CHECK(unknown["code"] == "unknown-seat");
    CHECK(unknown["seats"] == "Z-1-1");
    auto const twice = stage.claim(R"({"seats":["A-1-1","A-1-1"]})");
    CHECK(twice["code"] == "duplicate-seat");
    CHECK(twice["seats"] == "A-1-1");
    auto const wrong = stage.claim(R"({"section":"GA","quantity":1.0})");
    CHECK(wrong.status == 422);
    CHECK(wrong["code"] == "validation");
    CHECK(wrong.error() == "/quantity type");
    auto const broken = stage.claim(R"({"section":"GA","quantity":1,"quantity":2})");
    CHECK(broken.status == 400);
    CHECK(broken["code"] == "malformed");
    CHECK(broken.error() == "/quantity duplicate-key");
    CHECK(stage.claim("").status == 400);
    CHECK(stage.claim("[]").error() == "not-an-object");
    CHECK(stage.journal.records().empty());
    CHECK(stage.seat_is_free("A-1-1"));
}

TEST_CASE("a refused claim lists every seat that is taken now", "[holds]") {
    Stage stage;
    auto const held = stage.claim(R"({"seats":["A-1-2","A-1-4"]})");
    REQUIRE(held.status == 201);
    auto const lost = stage.claim(R"({"seats":["A-1-1","A-1-2","A-1-3","A-1-4","B-1-10"]})");
    CHECK(lost.status == 409);
    CHECK(lost["code"] == "seats-unavailable");
    CHECK(lost["refused"] == "A-1-2:held A-1-4:held B-1-10:not-for-sale");
    auto const candidates = stage.claim(R"({"candidates":["A-1-4","A-1-1"],"count":2})");
    CHECK(candidates.status == 409);
    CHECK(candidates["refused"] == "A-1-4:held");
    CHECK(stage.seat_is_free("A-1-1"));
    CHECK(stage.journal.count(journal::RecordType::claim) == 1);
    CHECK(stage.journal.reserved() == 0);
}

TEST_CASE("a partial claim takes what is free and says what is not", "[holds]") {
    Stage stage;
    REQUIRE(stage.claim(R"({"seats":["A-1-2","A-1-4"]})").status == 201);
    auto const hold =
        stage.claim(R"({"seats":["A-1-4","A-1-1","A-1-2","A-1-3","B-1-10"],"partial":true})");
    CHECK(hold.status == 201);
    CHECK(hold["seats"] == "A-1-1 A-1-3");
    CHECK(hold["left_out"] == "A-1-4 A-1-2 B-1-10");
    CHECK(stage.get("/v1/holds/" + hold["hold"], hold_credentials(hold)).body.find("left_out") ==
          std::string::npos);
    auto const none = stage.claim(R"({"seats":["A-1-1","A-1-2"],"partial":true})");
    CHECK(none.status == 409);
    CHECK(none["code"] == "seats-unavailable");
    CHECK(none["refused"] == "A-1-1:held A-1-2:held");
    auto const all = stage.claim(R"({"seats":["A-2-1","A-2-2"],"partial":true})");
    CHECK(all.body.find(R"("left_out":[])") != std::string::npos);
    CHECK(stage.claim(R"({"seats":["A-2-3","A-2-4"]})").body.find("left_out") == std::string::npos);
    CHECK(stage.claim(R"({"best":{"quantity":1},"partial":true})").status == 422);
}

TEST_CASE("a partial claim takes groups whole", "[holds]") {
    Stage stage(sofa_event());
    REQUIRE(stage.claim(R"({"seats":["A-4","A-5","A-6"]})").status == 201);
    auto const hold = stage.claim(R"({"seats":["A-6","A-5","A-4","A-3","A-2"],"partial":true})");
    CHECK(hold.status == 201);
    CHECK(hold["seats"] == "A-2 A-3");
    CHECK(hold["left_out"] == "A-6 A-5 A-4");
}

TEST_CASE("sold out names the section and what is left", "[holds]") {
    Stage stage;
    REQUIRE(stage.claim(R"({"section":"BAR","quantity":3})").status == 201);
    auto const out = stage.claim(R"({"section":"BAR","quantity":3})");
    CHECK(out.status == 409);
    CHECK(out["code"] == "sold-out");
    CHECK(out["section"] == "BAR");
    CHECK(out["left"] == "2");
    auto const lines =
        stage.claim(R"({"lines":[{"section":"GA","quantity":2},{"section":"BAR","quantity":3}]})");
    CHECK(lines["code"] == "sold-out");
    CHECK(lines["section"] == "BAR");
    CHECK(lines["left"] == "2");
    for (std::string const row : {"1", "2"}) {
        std::string seats;
        for (int i = 2; i <= 9; i += 2) seats += ",\"A-" + row + "-" + std::to_string(i) + "\"";
        REQUIRE(stage.claim("{\"seats\":[" + seats.substr(1) + "]}").status == 201);
    }
    // Left are 1, 3, 5, 7 and the pair 9 and 10, in both rows.
    auto const none = stage.claim(R"({"best":{"quantity":3,"sections":["A"],"together":true}})");
    CHECK(none.status == 404);
    CHECK(none["code"] == "best-available-not-found");
    CHECK(none["largest_block"] == "2");
    auto const preview =
        stage.claim(R"({"best":{"quantity":4,"sections":["A"],"together":false,"preview":true}})");
    CHECK(preview.status == 200);
    CHECK(preview["seats"] == "A-1-9 A-1-10 A-2-9 A-2-10");
    auto const apart = stage.claim(R"({"best":{"quantity":4,"sections":["A"]}})");
    CHECK(apart.status == 201);
    CHECK(apart["seats"] == "A-1-9 A-1-10 A-2-9 A-2-10");
    CHECK(apart["together"] == "false");
    CHECK(apart["total"] == "48000");
    auto const many = stage.claim(R"({"best":{"quantity":9,"sections":["A"]}})");
    CHECK(many.status == 409);
    CHECK(many["code"] == "sold-out");
    CHECK(many["left"] == "8");
}

TEST_CASE("a party goes to one floor when the rows cannot take it", "[holds]") {
    Stage stage;
    for (std::string const section : {"A", "B"})
        for (std::string const row : {"1", "2"}) {
            std::string seats;
            for (int i = 1; i <= 9; ++i)
                seats += ",\"" + section + "-" + row + "-" + std::to_string(i) + "\"";
            REQUIRE(stage.claim("{\"seats\":[" + seats.substr(1) + "]}").status == 201);
        }
    // A-1-10 and A-2-10 are left. Two of one price, one behind the other; three: the floor.
    CHECK(stage.claim(R"({"best":{"quantity":2,"preview":true}})")["seats"] == "A-1-10 A-2-10");
    auto const floor = stage.claim(R"({"best":{"quantity":3}})");
    CHECK(floor.status == 201);
    CHECK(floor["seats"].empty());
    CHECK(floor["general"] == "GA:3");
    CHECK(floor["together"] == "true");
    auto const bar = stage.claim(R"({"best":{"quantity":5,"categories":["std"]}})");
    CHECK(bar["general"] == "BAR:5");
    auto const refused = stage.claim(R"({"best":{"quantity":3,"together":true}})");
    // Enough is free, but it is not together.
    CHECK(refused["code"] == "best-available-not-found");
    CHECK(refused["largest_block"] == "1");
    auto const floor_together =
        stage.claim(R"({"best":{"quantity":3,"sections":["GA"],"together":true}})");
    CHECK(floor_together.status == 404);
    CHECK(floor_together["largest_block"] == "0");
    for (int i = 0; i < 4; ++i)
        REQUIRE(stage.claim(R"({"section":"GA","quantity":10})").status == 201);
    // GA has 7 left and the rows 2.
    auto const nine = stage.claim(R"({"best":{"quantity":9}})");
    CHECK(nine.status == 404);
    CHECK(nine["largest_block"] == "7");
    CHECK(stage.claim(R"({"best":{"quantity":10}})")["left"] == "9");
    CHECK(stage.claim(R"({"best":{"quantity":7}})")["general"] == "GA:7");
}

TEST_CASE("events that are not there or not on sale say so", "[holds]") {
    Stage stage;
    auto const claim = [&stage](std::string const& slug) {
        return stage.post("/v1/events/" + slug + "/holds", R"({"section":"GA","quantity":1})");
    };
    CHECK(claim("absent")["code"] == "not-found");
    CHECK(claim("..").status == 404);
    CHECK(claim(std::string(500, 'a')).status == 404);
    EventSpec draft = sample_event("draft");
    draft.publish = false;
    stage.add_event(std::move(draft));
    CHECK(claim("draft").status == 404);
    EventSpec later = sample_event("later");
    later.opens_at = ZonedTime{stage.now + 90s, 120};
    stage.add_event(std::move(later));
    auto const early = claim("later");
    CHECK(early.status == 403);
    CHECK(early["code"] == "sale-not-open");
    CHECK(early["opens_at"] == "2027-05-01T14:01:30.000+02:00");
    CHECK(early["opens_in_s"] == "90");
    // Found first, then read, then judged.
    CHECK(stage.post("/v1/events/later/holds", "{}").status == 422);
    EventSpec over = sample_event("over");
    over.closes_at = ZonedTime{stage.now, 0};
    stage.add_event(std::move(over));
    auto const late = claim("over");
    CHECK(late["code"] == "sale-closed");
    CHECK(late["closed_at"] == "2027-05-01T12:00:00.000Z");
}

TEST_CASE("events that take no guests are for staff", "[holds]") {
    EventSpec spec = sample_event();
    SECTION("guest is false") {
        spec.policy.guest = false;
    }
    SECTION("it counts by account") {
        spec.policy.max_per_user = 4;
    }
    Stage stage(std::move(spec));
    std::string const body = R"({"section":"GA","quantity":1})";
    auto const guest = stage.claim(body);
    CHECK(guest.status == 401);
    CHECK(guest.header("WWW-Authenticate") == "Bearer");
    CHECK(guest["detail"] == "This event takes no guests: staff claims, for an account or nobody.");
    CHECK(stage.post("/v1/events/demo/holds", body, Stage::operator_credentials()).status == 201);
}

TEST_CASE("wrong credentials are refused even where none are needed", "[holds][C1]") {
    Stage stage;
    std::string const body = R"({"section":"GA","quantity":1})";
    auto const with = [&](std::string const& credentials) {
        return stage.post("/v1/events/demo/holds", body, credentials).status;
    };
    CHECK(with("Basic dXNlcjpwYXNz") == 401);
    CHECK(with("Bearer wrong") == 401);
    CHECK(with("Bearer") == 401);
    CHECK(with("Bearer a b") == 401);
    CHECK(with("Bearer " + std::string(Stage::admin_token) + "x") == 401);
    CHECK(stage.journal.records().empty());
    CHECK(with("bearer  " + std::string(Stage::admin_token)) == 201);
}

TEST_CASE("a journal that cannot be written refuses claims and lets reads go on", "[holds][D17]") {
    Stage stage;
    auto const hold = stage.claim(R"({"seats":["A-1-1"]})");
    stage.journal.set_mode(journal::Mode::read_only);
    auto const refused = stage.claim(R"({"seats":["A-1-2"]})");
    CHECK(refused.status == 503);
    CHECK(refused["code"] == "read-only");
    CHECK_FALSE(refused.header("Retry-After").empty());
    CHECK(stage.get("/v1/holds/" + hold["hold"], hold_credentials(hold)).status == 200);
    CHECK(stage.del("/v1/holds/" + hold["hold"], hold_credentials(hold)).status == 503);
    stage.journal.set_mode(journal::Mode::running);
    stage.journal.set_room(0);
    CHECK(stage.claim(R"({"seats":["A-1-2"]})")["code"] == "overloaded");
    CHECK(stage.seat_is_free("A-1-2"));
}

TEST_CASE("P9: a 503 of a journal that cannot be written says why", "[holds]") {
    Stage stage;
    auto const hold = stage.claim(R"({"seats":["A-1-1"]})");
    struct Case {
        journal::Mode mode;
        bool full;
        char const* detail;
    };
    for (auto const& [mode, full, detail] :
         {Case{journal::Mode::read_only, false, "The disk of the journal has no room for more"},
          Case{journal::Mode::read_only, true, "The journal is as large as it may be"},
          Case{journal::Mode::failed, false, "Writing the journal has failed"}}) {
        stage.journal.set_mode(mode);
        stage.journal.set_full(full);
        for (auto const& refused :
             {stage.claim(R"({"seats":["A-1-2"]})"), stage.claim(R"({"best":{"quantity":1}})"),
              stage.del("/v1/holds/" + hold["hold"], hold_credentials(hold))}) {
            CHECK(refused.status == 503);
            CHECK(refused["code"] == "read-only");
            CHECK_THAT(refused["detail"],
                       Catch::StartsWith(detail) && Catch::Contains("nothing happened"));
        }
    }
}

TEST_CASE("mutated claims never do more than they say", "[holds][fuzz]") {
    std::mt19937_64 random(seed_of_run());
    std::vector<std::string> const bodies{
        R"({"seats":["A-1-1","B-2-10"]})", R"({"candidates":["A-1-1","A-2-1"],"count":1})",
        R"({"best":{"quantity":2,"sections":["A","GA"],"accessible":0}})",
        R"({"lines":[{"seats":["A-1-3"]},{"section":"GA","quantity":3}]})"};
    std::string_view const alphabet = "{}[]\",:\\019-.eABG tn";
    Stage stage;
    std::set<unsigned> seen;
    for (int round = 0; round < 3'000; ++round) {
        std::string text = bodies[random() % bodies.size()];
        for (auto changes = random() % 3; changes > 0; --changes) mutate(text, alphabet, random);
        std::size_t const before = stage.journal.records().size();
        auto const answer = stage.claim(text);
        seen.insert(answer.status);
        std::size_t const appended = stage.journal.records().size() - before;
        if (appended != (answer.status == 201 ? 1U : 0U)) FAIL_CHECK(text);
        if (answer.status == 201) {
            std::string const path = "/v1/holds/" + answer["hold"];
            CHECK(stage.del(path, hold_credentials(answer)).status == 204);
        }
    }
    CHECK(seen.count(201) == 1);
    CHECK(seen.count(400) == 1);
    CHECK(seen.count(422) == 1);
    for (auto const& count : stage.event->availability(stage.now)) {
        CHECK(count.held == 0);
    }
    CHECK(stage.journal.reserved() == 0);
}

TEST_CASE("a single seat left over is refused, with what to ask instead", "[holds]") {
    EventSpec spec = sample_event();
    spec.policy.orphan_rule = OrphanRule::lenient;
    Stage stage(std::move(spec));
    auto const refused = stage.claim(R"({"seats":["A-1-2","A-1-3"]})");
    CHECK(refused.status == 409);
    CHECK(refused["code"] == "orphan-seat");
    CHECK(refused["retryable"] == "false");
    CHECK(refused["orphans"] == "A-1-1");
    CHECK(refused["alternatives"] == "A-1-3:A-1-4 A-1-1:A-1-2 A-1-4:A-1-5");
    CHECK(stage.journal.count(journal::RecordType::claim) == 0);
    // Staff may.
    CHECK(stage
              .post("/v1/events/demo/holds", R"({"seats":["A-1-2","A-1-3"]})",
                    Stage::operator_credentials())
              .status == 201);
    // What was single before is not the buyer's fault, and a release may leave singles.
    CHECK(stage.claim(R"({"seats":["A-1-4","A-1-5"]})").status == 201);
}

TEST_CASE("a group is claimed whole or not at all", "[holds]") {
    Stage stage(sofa_event());
    for (char const* const part : {R"({"seats":["A-2"]})", R"({"seats":["A-1","A-3"]})",
                                   R"({"lines":[{"seats":["A-4","A-5","A-6"]},{"seats":["A-2"]}]})",
                                   R"({"candidates":["A-1","A-2","A-3"],"count":1})"}) {
        CAPTURE(part);
        auto const refused = stage.claim(part);
        CHECK(refused.status == 422);
        CHECK(refused["code"] == "inseparable-group");
        CHECK(refused["seats"] == "A-2 A-3");
    }
    CHECK(stage.journal.records().empty());
    CHECK(stage.claim(R"({"best":{"quantity":1}})")["seats"] == "A-1");
    auto const sofa = stage.claim(R"({"lines":[{"seats":["A-3"]},{"seats":["A-2"]}]})");
    CHECK(sofa.status == 201);
    // Nor does a hold keep a part of one.
    auto const half = stage.post("/v1/holds/" + sofa["hold"] + "/release", R"({"seats":["A-2"]})",
                                 hold_credentials(sofa));
    CHECK(half["code"] == "inseparable-group");
    CHECK_FALSE(stage.seat_is_free("A-2"));
    CHECK(stage.claim(R"({"best":{"quantity":2,"together":true}})").status == 404);
    // Two get the sofa of three, if they may have three more.
    CHECK(stage.claim(R"({"lines":[{"best":{"quantity":2,"preview":true}}]})")["seats"] ==
          "A-4 A-5 A-6");
    CHECK(stage.claim(R"({"best":{"quantity":3}})")["seats"] == "A-4 A-5 A-6");
}

}  // namespace holdfast::test
