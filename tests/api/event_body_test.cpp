#include "tests/api/event_bodies.hpp"

#include <catch2/catch.hpp>
#include <string>

using namespace holdfast;
using namespace holdfast::api;
using namespace holdfast::api::test;

namespace {

std::string const vendors_plan =
    R"({"name":"P","categories":{"list":[{"key":1,"label":"One"}]},"subChart":{"rows":[
        {"label":"A","seats":[{"x":0.5,"y":1e1,"label":"1","categoryKey":1}]}]}})";

}  // namespace

TEST_CASE("the example of the interface is read as it stands there", "[event]") {
    auto const body = accepted(
        R"({"id":"demo","name":"Demo night","venue":"Town hall","time_zone":"Europe/Berlin",
 "starts_at":"2027-05-01T20:00:00+02:00","currency":"EUR",
 "sale":{"opens_at":null,"closes_at":null},"publish":true,
 "policy":{"hold_ttl_s":300,"hold_max_life_s":900,"max_extensions":1,"max_per_order":10,
           "max_per_user":null,"orphan_rule":"lenient","guest":true},
 "categories":[{"key":"vip","name":"VIP","price":12000},
               {"key":"std","name":"Standard","price":4500}],
 "sections":[{"id":"A","name":"Stalls","category":"vip","rows":[{"label":"1","seats":20},
                {"label":"2","seats":[{"label":"1","x":0,"y":40,"accessible":true}]}]},
             {"id":"GA","name":"Floor","category":"std","capacity":500}]})");
    auto const& spec = body.spec;
    CHECK(body.usable());
    CHECK(body.report.warning_count == 0);
    CHECK(spec.slug == "demo");
    CHECK(spec.name == "Demo night");
    CHECK(spec.venue == "Town hall");
    CHECK(spec.time_zone == "Europe/Berlin");
    CHECK(spec.starts_at->offset_minutes == 120);
    CHECK(!spec.opens_at.has_value());
    CHECK(spec.publish);
    CHECK(spec.policy == EventPolicy{});
    CHECK(spec.layout.labelled_count() == 21);
    CHECK(spec.layout.place_count() == 521);
    CHECK(spec.layout.find_seat("A-1-7") == SeatIndex{6});
    auto const seat = spec.layout.find_seat("A-2-1");
    REQUIRE(seat.has_value());
    CHECK(spec.layout.seats()[seat->value()].at == Point{0, 40});
    CHECK(has(spec.layout.seats()[seat->value()].flags, SeatFlag::accessible));
    CHECK(spec.layout.price_of(*seat) == 12'000);
    CHECK(spec.layout.sections()[1].name == "Floor");
    CHECK(body.report.seats == 21);
    CHECK(body.report.general_places == 500);
}

TEST_CASE("a name and sections are enough", "[event]") {
    auto const body = accepted(with(""));
    CHECK(body.usable());
    CHECK(body.spec.slug == "n");
    CHECK(body.spec.time_zone == "UTC");
    CHECK(body.spec.currency == "EUR");
    CHECK(body.spec.publish);
    CHECK(body.spec.policy == EventPolicy{});
    REQUIRE(body.spec.layout.categories().size() == 1);
    CHECK(body.spec.layout.categories()[0].key == "standard");
    CHECK(body.spec.layout.categories()[0].price == 0);
    REQUIRE(body.report.warnings.size() == 1);
    CHECK(body.report.warnings[0].code == "no-price");
}

TEST_CASE("an id is made from a name", "[event]") {
    CHECK(slug_from_name("Demo night") == "demo-night");
    CHECK(slug_from_name("  AC/DC -- Live! 2027 ") == "ac-dc-live-2027");
    CHECK(slug_from_name(std::string(80, 'A')) == std::string(64, 'a'));
    CHECK(slug_from_name(std::string(63, 'A') + " b") == std::string(63, 'a'));
    auto const made = slug_from_name("\xE6\x9D\xB1\xE4\xBA\xAC");
    CHECK(is_slug(made));
    CHECK(made == slug_from_name("\xE6\x9D\xB1\xE4\xBA\xAC"));
    CHECK(made != slug_from_name("\xE5\xA4\xA7\xE9\x98\xAA"));
}

TEST_CASE("unknown fields are refused and named, at every level", "[event]") {
    CHECK(refusal(with(R"("x":1)")) == "422 /x unknown-field");
    CHECK(refusal(with(R"("sale":{"x":1})")) == "422 /sale/x unknown-field");
    CHECK(refusal(with_policy(R"("x":1)")) == "422 /policy/x unknown-field");
    CHECK(refusal(with_sections(R"([{"id":"A","category":"a","capacity":1,"x":1}])")) ==
          "422 /sections/0/x unknown-field");
    CHECK(refusal(with_sections(
              R"([{"id":"A","category":"a","rows":[{"label":"1","seats":1,"x":1}]}])")) ==
          "422 /sections/0/rows/0/x unknown-field");
    CHECK(refusal(with_sections(
              R"([{"id":"A","category":"a","rows":[
                  {"label":"1","seats":[{"label":"1","x":1,"z":1}]}]}])")) ==
          "422 /sections/0/rows/0/seats/0/z unknown-field");
    CHECK(refusal(R"({"name":"N","categories":[{"key":"a","x":1}],"sections":[]})") ==
          "422 /categories/0/x unknown-field");
    CHECK(refusal(R"({"name":"N","import":{"format":"seatsio","plan":{},"x":1}})") ==
          "422 /import/x unknown-field");
    // Inside `plan` the vendor may write what it likes.
    CHECK(accepted(R"({"name":"N","import":{"format":"seatsio","plan":)" +
                   (vendors_plan.substr(0, vendors_plan.size() - 1) + R"(,"x":1}}})"))
              .usable());
}

TEST_CASE("what is missing, of a wrong type or out of range is refused with its place", "[event]") {
    CHECK(refusal("[]") == "422  not-an-object");
    CHECK(refusal("{}") == "422 /name required");
    CHECK(refusal(R"({"name":"N"})") == "422 /sections required");
    CHECK(refusal(R"({"name":7})") == "422 /name type");
    CHECK(refusal(R"({"name":""})") == "422 /name range");
    CHECK(refusal(R"({"name":"a\u0001"})") == "422 /name control-character");
    CHECK(refusal(R"({"name":")" + std::string(256, 'x') + "\"}") == "422 /name range");
    CHECK(refusal(with(R"("id":"No Slug")")) == "422 /id id");
    CHECK(refusal(with(R"("id":null)")) == "422 /id type");
    CHECK(refusal(with(R"("venue":1)")) == "422 /venue type");
    CHECK(refusal(with(R"("publish":"yes")")) == "422 /publish type");
    CHECK(refusal(with(R"("currency":"euro")")) == "422 /currency value");
    CHECK(refusal(with(R"("currency":"eur")")) == "422 /currency value");
    CHECK(refusal(with(R"("sale":[])")) == "422 /sale not-an-object");
    CHECK(refusal(with(R"("policy":null)")) == "422 /policy not-an-object");
    CHECK(refusal(R"({"name":"N","name":"N"})").substr(0, 3) == "400");
    CHECK(refusal("{").substr(0, 3) == "400");
}

TEST_CASE("times must exist in the event's zone and be in order", "[event]") {
    CHECK(refusal(with(R"("time_zone":"Mars/Base")")) == "422 /time_zone unknown-time-zone");
    CHECK(refusal(with(R"("starts_at":"soon")")) == "422 /starts_at time");
    CHECK(refusal(with(R"("starts_at":17)")) == "422 /starts_at type");
    CHECK(refusal(with(R"("starts_at":"2027-05-01T20:00:00+02:00")")) ==
          "422 /starts_at wrong-offset");
    CHECK(refusal(with(
              R"("time_zone":"Europe/Berlin","sale":{"opens_at":"2027-03-28T02:30:00+01:00"})")) ==
          "422 /sale/opens_at no-such-time");
    auto const sale = [](std::string const& opens, std::string const& closes) {
        return with(R"("sale":{"opens_at":")" + opens + R"(","closes_at":")" + closes + "\"}");
    };
    CHECK(refusal(sale("2027-05-01T20:00:00Z", "2027-05-01T20:00:00Z")) ==
          "422 /sale/closes_at range");
    auto const spec = accepted(sale("2027-05-01T20:00:00Z", "2027-05-01T20:00:01Z")).spec;
    CHECK(spec.closes_at->at - spec.opens_at->at == std::chrono::seconds{1});
}

TEST_CASE("policies are read and bounded", "[event]") {
    auto const policy = accepted(with_policy(
                                     R"("hold_ttl_s":60,"hold_max_life_s":7200,"max_extensions":0,
        "max_per_order":500,"max_per_user":4,"orphan_rule":"off","honour_open_holds":false,
        "payment_methods":["none"])"))
                            .spec.policy;
    CHECK(policy.hold_ttl == std::chrono::seconds{60});
    CHECK(policy.hold_max_life == std::chrono::seconds{7'200});
    CHECK(policy.max_extensions == 0);
    CHECK(policy.max_per_order == 500);
    CHECK(policy.max_per_user == 4U);
    CHECK(policy.orphan_rule == OrphanRule::off);
    CHECK(!policy.guest);
    CHECK(!policy.honour_open_holds);
    CHECK(policy.payment_methods == PaymentMethods{true, false, false});

    CHECK(refusal(with_policy(R"("hold_ttl_s":29)")) == "422 /policy/hold_ttl_s range");
    CHECK(refusal(with_policy(R"("hold_ttl_s":30)")) == "accepted");
    CHECK(refusal(with_policy(R"("hold_ttl_s":1)"), {Milliseconds{1'000}}) == "accepted");
    CHECK(refusal(with_policy(R"("hold_ttl_s":3601)")) == "422 /policy/hold_ttl_s range");
    CHECK(refusal(with_policy(R"("hold_ttl_s":30.0)")) == "422 /policy/hold_ttl_s type");
    CHECK(refusal(with_policy(R"("hold_ttl_s":99999999999999999999)")) ==
          "422 /policy/hold_ttl_s range");
    CHECK(refusal(with_policy(R"("hold_ttl_s":600,"hold_max_life_s":599)")) ==
          "422 /policy/hold_max_life_s range");
    CHECK(refusal(with_policy(R"("hold_max_life_s":7201)")) == "422 /policy/hold_max_life_s range");
    CHECK(accepted(with_policy(R"("hold_ttl_s":3600)")).spec.policy.hold_max_life ==
          std::chrono::seconds{3'600});
    CHECK(refusal(with_policy(R"("max_extensions":101)")) == "422 /policy/max_extensions range");
    CHECK(refusal(with_policy(R"("max_per_order":0)")) == "422 /policy/max_per_order range");
    CHECK(refusal(with_policy(R"("max_per_user":0)")) == "422 /policy/max_per_user range");
    CHECK(refusal(with_policy(R"("max_per_user":4,"guest":true)")) == "422 /policy/guest conflict");
    auto const each = accepted(with_policy(R"("max_open_holds_per_user":2,
        "hold_seconds_budget":600,"rehold_cooldown_s":30)"))
                          .spec.policy;
    CHECK(each.max_open_holds_per_user == 2U);
    CHECK(each.hold_seconds_budget == 600U);
    CHECK(each.rehold_cooldown == std::chrono::seconds{30});
    CHECK(each.guest);
    CHECK(!accepted(with_policy(R"("hold_seconds_budget":null)")).spec.policy.hold_seconds_budget);
    CHECK(refusal(with_policy(R"("max_open_holds_per_user":0)")) ==
          "422 /policy/max_open_holds_per_user range");
    CHECK(refusal(with_policy(R"("hold_seconds_budget":1000000001)")) ==
          "422 /policy/hold_seconds_budget range");
    CHECK(refusal(with_policy(R"("rehold_cooldown_s":3601)")) ==
          "422 /policy/rehold_cooldown_s range");
    CHECK(refusal(with_policy(R"("rehold_cooldown_s":-1)")) ==
          "422 /policy/rehold_cooldown_s range");
    CHECK(refusal(with_policy(R"("orphan_rule":"harsh")")) == "422 /policy/orphan_rule value");
    CHECK(accepted(with_policy("")).spec.policy.orphan_endgame_pct == 10);
    CHECK(accepted(with_policy(R"("orphan_endgame_pct":0)")).spec.policy.orphan_endgame_pct == 0);
    CHECK(refusal(with_policy(R"("orphan_endgame_pct":101)")) ==
          "422 /policy/orphan_endgame_pct range");
    CHECK(refusal(with_policy(R"("payment_methods":[])")) == "422 /policy/payment_methods range");
    CHECK(refusal(with_policy(R"("payment_methods":["cash"])")) ==
          "422 /policy/payment_methods/0 value");
    CHECK(refusal(with_policy(R"("payment_methods":["none","wallet"])")) ==
          "422 /policy/payment_methods/1 unsupported");
    CHECK(refusal(with_policy(R"("payment_methods":["external"])")) ==
          "422 /policy/payment_methods/0 unsupported");
    CHECK(accepted(with_policy("")).spec.policy.payment_methods == PaymentMethods{});
    CHECK(refusal(with_policy(R"("payment_methods":["none","none"])")) ==
          "422 /policy/payment_methods/1 duplicate");
}

TEST_CASE("a plan is imported with its prices, and its errors are kept for the answer", "[event]") {
    auto const import = [](std::string const& rest) {
        return R"({"name":"N","import":{"format":"seatsio",)" + rest + "}}";
    };
    auto const good = accepted(import(R"("prices":{"one":700},"plan":)" + vendors_plan));
    CHECK(good.usable());
    CHECK(good.spec.layout.find_seat("A-1") == SeatIndex{0});
    CHECK(good.spec.layout.price_of(SeatIndex{0}) == 700);
    auto const bad = accepted(import(R"("plan":{"name":"P"})"));
    CHECK(!bad.usable());
    CHECK(bad.report.error_count > 0);
    CHECK(refusal(import(R"("plan":)" + vendors_plan)) == "accepted");
    CHECK(refusal(import(R"("disambiguate":true)")) == "422 /import/plan required");
    CHECK(refusal(import(R"("prices":{"one":-1},"plan":{})")) == "422 /import/prices/one range");
    CHECK(refusal(import(R"("prices":[],"plan":{})")) == "422 /import/prices not-an-object");
    CHECK(refusal(R"({"name":"N","import":{"format":"vista","plan":{}}})") ==
          "422 /import/format value");
    CHECK(refusal(R"({"name":"N","import":{"format":"pretix","plan":{}},"sections":[]})") ==
          "422 /sections conflict");
    CHECK(refusal(R"({"name":"N","import":7})") == "422 /import not-an-object");
}
