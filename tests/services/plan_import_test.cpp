// The importers on our own plans: geometry, names, flags, prices.
#include "tests/services/plan_samples.hpp"

#include <holdfast/domain/limits.hpp>

using namespace holdfast;
using namespace holdfast::services;
using samples::count_of;
using samples::seat_of;

namespace {

Layout imported(ImportedPlan plan) {
    for (auto const& error : plan.report.errors) UNSCOPED_INFO(error.code << " " << error.where);
    REQUIRE(plan.layout.has_value());
    return std::move(*plan.layout);
}

}  // namespace

TEST_CASE("format names", "[plan]") {
    CHECK(parse_plan_format("pretix") == PlanFormat::pretix);
    CHECK(parse_plan_format("seatsio") == PlanFormat::seatsio);
    CHECK(!parse_plan_format("Pretix").has_value());
    CHECK(!parse_plan_format("").has_value());
}

TEST_CASE("pretix: places add up, wide gaps and changes of direction are aisles", "[plan]") {
    auto const plan = samples::import_as(PlanFormat::pretix, samples::plan("pretix_small.json"));
    auto const layout = imported(plan);
    CHECK(plan.name == "Club");
    CHECK(seat_of(layout, "h-1-2").at == Point{130, 70});
    CHECK(seat_of(layout, "h-2-4").at == Point{160, 90});
    CHECK(layout.rows()[0].label == "1");
    // The gaps of row 1 are 20, 20, 30.5 and 29.5, its median gap is 24.75.
    auto const aisle = [&layout](char const* name) {
        return has(seat_of(layout, name).flags, SeatFlag::aisle_before);
    };
    for (auto const* const name : {"h-1-1", "h-1-2", "h-1-3", "h-1-4", "h-1-5"})
        CHECK(!aisle(name));
    CHECK(!aisle("u-21"));
    CHECK(!aisle("h-2-2"));
    CHECK(aisle("h-2-3"));
    CHECK(!aisle("h-2-4"));
}

TEST_CASE("pretix: a seat is its uuid if no other has it, else its guid", "[plan]") {
    auto const layout =
        imported(samples::import_as(PlanFormat::pretix, samples::plan("pretix_small.json")));
    CHECK(layout.name_of(SeatIndex{5}) == "u-21");
    CHECK(layout.label_of(SeatIndex{5}) == "1");
    CHECK(layout.name_of(SeatIndex{6}) == "h-2-2");
    CHECK(!layout.find_seat("twice").has_value());
}

TEST_CASE("pretix: the stage is the focal point, turned with its area", "[plan]") {
    auto const layout =
        imported(samples::import_as(PlanFormat::pretix, samples::plan("pretix_small.json")));
    REQUIRE(layout.focal().has_value());
    // Corner (110, 10), middle (40, 10) turned by 90 degrees clockwise: (-10, 40).
    CHECK(layout.focal()->x == Approx(100));
    CHECK(layout.focal()->y == Approx(50));
}

TEST_CASE("pretix: a stage of any shape is the focal point, the first of several", "[plan]") {
    auto const focal_of = [](std::string const& areas) {
        auto const plan = samples::import_as(
            PlanFormat::pretix,
            R"({"name":"P","categories":[{"name":"C"}],"size":{"width":60,"height":9},"zones":[
                {"name":"Z","position":{"x":100,"y":50},"areas":[)" +
                areas + R"(],"rows":[{"row_number":"1","seats":[{"seat_guid":"g","seat_number":"1",
                 "category":"C","position":{"x":0,"y":0}}]}]}]})");
        for (auto const& error : plan.report.errors)
            UNSCOPED_INFO(error.code << " " << error.where);
        return plan.layout ? plan.layout->focal() : std::nullopt;
    };
    std::string const polygon =
        R"({"shape":"polygon","position":{"x":10,"y":1},"text":{"text":"STAGE"},"polygon":{"points":
           [{"x":4,"y":0},{"x":-4,"y":8},{"x":40,"y":20}]}})";
    auto const [areas, x, y] = GENERATE_REF(table<std::string, double, double>({
        {polygon, 128, 61},
        {R"({"shape":"circle","position":{"x":7,"y":8},"text":{"text":"Bar"}},)" + polygon, 128,
         61},
        {polygon + R"(,{"shape":"circle","position":{"x":7,"y":8},"text":{"text":"court"}})", 128,
         61},
        {R"({"shape":"circle","position":{"x":7,"y":8},"text":{"text":"Court 1"}})", 107, 58},
        {R"({"shape":"text","text":{"text":"bühne","position":{"x":1,"y":2}}})", 101, 52},
        {R"({"shape":"text","position":{"x":7,"y":8},"text":"Screen"})", 107, 58},
        {R"({"shape":"rectangle","width":8,"height":2,"text":"Podium"})", 104, 51},
        {R"({"shape":"polygon","text":"pitch","polygon":{"points":[]}})", 100, 50},
        {R"({"shape":"polygon","text":"pitch"})", 100, 50},
        {R"({"shape":"rectangle","text":7},{"shape":"circle"})", 30, 0},  // none: above the middle
    }));
    CAPTURE(areas);
    auto const focal = focal_of(areas);
    REQUIRE(focal.has_value());
    CHECK(focal->x == Approx(x));
    CHECK(focal->y == Approx(y));
    for (std::string const wrong :
         {R"(7)", R"({"shape":"polygon","text":"stage","polygon":{"points":[[1,2]]}})",
          R"({"shape":"polygon","text":"stage","polygon":7})",
          R"({"shape":"rectangle","text":"stage","width":"8"})"})
        CHECK_FALSE(focal_of(wrong).has_value());
}

TEST_CASE("pretix: keys from the wild are reported and kept safe", "[plan]") {
    auto const plan = samples::import_as(PlanFormat::pretix, samples::plan("pretix_small.json"));
    CHECK(count_of(plan.report.warnings, "unknown-key") == 2);
    CHECK(count_of(plan.report.warnings, "not-for-sale") == 1);
    REQUIRE(plan.layout.has_value());
    CHECK(has(seat_of(*plan.layout, "h-2-4").flags, SeatFlag::accessible));
    CHECK(has(seat_of(*plan.layout, "h-2-5").flags, SeatFlag::not_for_sale));
    CHECK(!has(seat_of(*plan.layout, "h-2-4").flags, SeatFlag::not_for_sale));
}

TEST_CASE("pretix: an aisle is a gap over one and a half times the median", "[plan]") {
    auto const row_of = [](double gap) {
        std::string seats;
        double x = 0;
        for (int i = 0; i < 6; ++i) {
            seats += (i == 0 ? "" : ",") + std::string{R"({"seat_guid":"g)"} + std::to_string(i) +
                     R"(","seat_number":"1","category":"C","position":{"y":0,"x":)" +
                     std::to_string(x) + "}}";
            x += i == 2 ? gap : 20;
        }
        return R"({"name":"P","categories":[{"name":"C"}],"zones":[)"
               R"({"name":"Z","position":{"x":0,"y":0},
                  "rows":[{"row_number":"1","seats":[)" +
               seats + "]}]}]}";
    };
    auto const narrow = imported(samples::import_as(PlanFormat::pretix, row_of(30)));
    CHECK(!has(seat_of(narrow, "g3").flags, SeatFlag::aisle_before));
    auto const wide = imported(samples::import_as(PlanFormat::pretix, row_of(30.5)));
    CHECK(has(seat_of(wide, "g3").flags, SeatFlag::aisle_before));
    CHECK(!has(seat_of(wide, "g4").flags, SeatFlag::aisle_before));
    CHECK(!wide.focal().has_value());
    CHECK(wide.sections()[0].id == "Z");
}

TEST_CASE("seats.io: rows, tables, booths and areas get the chart's own object ids", "[plan]") {
    auto const plan =
        samples::import_as(PlanFormat::seatsio, samples::plan("seatsio_objects.json"));
    auto const layout = imported(plan);
    for (auto const* const name : {"R-1", "R-2", "R-3", "T1-1", "T1-2", "B7", "S-A-1", "S-A-2"}) {
        CAPTURE(name);
        CHECK(layout.find_seat(name).has_value());
    }
    CHECK(layout.labelled_count() == 8);
    REQUIRE(layout.sections().size() == 4);
    CHECK(layout.sections()[0].id == "main");
    CHECK(layout.sections()[1].id == "S");
    CHECK(layout.sections()[2].id == "GA");
    CHECK(layout.sections()[2].capacity == 50);
    CHECK(layout.sections()[3].id == "S-Pit");
    CHECK(layout.categories()[layout.sections()[3].category.value()].name == "Gold");
    CHECK(seat_of(layout, "S-A-1").at == Point{1'001.5, 2'002.5});
    CHECK(seat_of(layout, "B7").at == Point{30, 31});
    CHECK(layout.label_of(*layout.find_seat("B7")) == "B7");
    CHECK(count_of(plan.report.warnings, "book-as-a-whole") == 2);
    CHECK(count_of(plan.report.warnings, "variable-occupancy") == 1);
    CHECK(count_of(plan.report.warnings, "booth") == 1);
    CHECK(count_of(plan.report.warnings, "empty-section") == 1);
}

TEST_CASE("seats.io: categories come by key, by label, or from the section", "[plan]") {
    auto const layout =
        imported(samples::import_as(PlanFormat::seatsio, samples::plan("seatsio_objects.json")));
    auto const key_of = [&layout](char const* name) {
        return layout.categories()[seat_of(layout, name).category.value()].key;
    };
    CHECK(key_of("R-1") == "1");
    CHECK(key_of("R-2") == "two");
    CHECK(key_of("R-3") == "3");
    CHECK(key_of("S-A-1") == "1");
    CHECK(key_of("S-A-2") == "two");
}

TEST_CASE("seats.io: flags of seats, and an accessible category", "[plan]") {
    auto const layout =
        imported(samples::import_as(PlanFormat::seatsio, samples::plan("seatsio_objects.json")));
    CHECK(seat_of(layout, "R-1").flags == static_cast<std::uint8_t>(SeatFlag::companion));
    CHECK(seat_of(layout, "R-2").flags == static_cast<std::uint8_t>(SeatFlag::restricted_view));
    CHECK(seat_of(layout, "R-3").flags == static_cast<std::uint8_t>(SeatFlag::accessible));
    CHECK(seat_of(layout, "T1-1").flags == 0);
    // The table is sold as a whole.
    CHECK(seat_of(layout, "T1-2").flags ==
          (static_cast<unsigned>(SeatFlag::accessible) | static_cast<unsigned>(SeatFlag::joined)));
    CHECK(layout.group_of(*layout.find_seat("T1-2")) == SeatGroup{*layout.find_seat("T1-1"), 2});
}

TEST_CASE("seats.io: focal points of chart, section and zone", "[plan]") {
    auto const layout =
        imported(samples::import_as(PlanFormat::seatsio, samples::plan("seatsio_objects.json")));
    CHECK(layout.focal() == Point{50, 0});
    REQUIRE(layout.zones().size() == 1);
    CHECK(layout.zones()[0].focal == Point{7, 8});
    CHECK(layout.sections()[1].zone == 0U);
    CHECK(layout.sections()[1].focal == Point{1'005, 2'006});
    CHECK(!layout.sections()[0].zone.has_value());
}

TEST_CASE("seats.io: labels that two floors share get the floor before them", "[plan]") {
    auto const plan = samples::import_as(PlanFormat::seatsio, samples::plan("seatsio_floors.json"));
    auto const layout = imported(plan);
    for (auto const* const name : {"G-A-1", "1-A-1", "G-S-A-1", "1-S-A-1", "Only-A-1"}) {
        CAPTURE(name);
        CHECK(layout.find_seat(name).has_value());
    }
    CHECK(layout.labelled_count() == 5);
    for (auto const* const id : {"G-main", "1-main", "G-S", "1-S", "Only", "G-Bar", "1-Bar"}) {
        CAPTURE(id);
        CHECK(layout.find_section(id).has_value());
    }
    CHECK(layout.sections().size() == 7);
    // People read on which floor a section is, whether its label needs it or not.
    auto const shown = [&layout](char const* id) {
        return layout.sections()[layout.find_section(id)->value()].name;
    };
    CHECK(shown("G-S") == "Ground, S");
    CHECK(shown("1-main") == "1, main");
    CHECK(shown("1-Bar") == "1, Bar");
    CHECK(count_of(plan.report.warnings, "floor-in-name") == 6);
    CHECK(layout.sections()[layout.find_section("G-S")->value()].focal == Point{1, 1});
    CHECK(!layout.sections()[layout.find_section("1-S")->value()].focal.has_value());
}

TEST_CASE("prices go by key, then by name in any case; missing ones are 0 and a warning",
          "[plan]") {
    ImportRequest request;
    request.format = PlanFormat::seatsio;
    auto const text = samples::plan("seatsio_objects.json");
    request.plan = text;
    SECTION("found") {
        request.prices = {{"1", 100}, {"gold", 999}, {"SILVER", 50}};
        auto const plan = import_plan(request);
        auto const layout = imported(plan);
        CHECK(layout.categories()[0].price == 100);
        CHECK(layout.categories()[1].price == 50);
        CHECK(layout.categories()[2].price == 0);
        REQUIRE(count_of(plan.report.warnings, "no-price") == 1);
        CHECK(samples::first_of(plan.report.warnings, "no-price")->where == "3");
    }
    SECTION("for a category that is not there") {
        request.prices = {{"platinum", 100}};
        auto const plan = import_plan(request);
        CHECK(!plan.layout.has_value());
        CHECK(plan.report.error_count == 1);
        CHECK(samples::first_of(plan.report.errors, "unknown-price")->where == "platinum");
    }
    SECTION("out of range") {
        request.prices = {{"1", -1}, {"two", limits::price_max + 1}, {"3", limits::price_max}};
        auto const plan = import_plan(request);
        CHECK(!plan.layout.has_value());
        CHECK(count_of(plan.report.errors, "price-range") == 2);
    }
}

TEST_CASE("seats.io: repeated ids are refused, or only they get longer names", "[plan]") {
    auto const text = R"({"name":"R","categories":{"list":[{"key":1,"label":"C"}]},"subChart":{
        "rows":[{"label":"A","seats":[{"x":0,"y":0,"label":"1","categoryKey":1},
                                      {"x":1,"y":0,"label":"2","categoryKey":1}]},
                {"label":"A","seats":[{"x":0,"y":9,"label":"1","categoryKey":1}]}]}})";
    auto const refused = samples::import_as(PlanFormat::seatsio, text);
    CHECK(!refused.layout.has_value());
    REQUIRE(refused.report.error_count == 1);
    CHECK(refused.report.errors[0].code == "repeated-seat-id");
    CHECK(refused.report.errors[0].where == "A-1");
    auto const layout = imported(samples::import_as(PlanFormat::seatsio, text, true));
    CHECK(layout.find_seat("main/0/A/1") == SeatIndex{0});
    CHECK(layout.find_seat("A-2") == SeatIndex{1});
    CHECK(layout.find_seat("main/1/A/1") == SeatIndex{2});
}

TEST_CASE("a label that stands twice in one row cannot be disambiguated", "[plan]") {
    auto const text = R"({"name":"R","categories":{"list":[{"key":1,"label":"C"}]},"subChart":{
        "rows":[{"label":"A","seats":[{"x":0,"y":0,"label":"1","categoryKey":1},
                                      {"x":1,"y":0,"label":"1","categoryKey":1}]}]}})";
    auto const plan = samples::import_as(PlanFormat::seatsio, text, true);
    CHECK(!plan.layout.has_value());
    REQUIRE(plan.report.error_count == 1);
    CHECK(plan.report.errors[0].where == "main/0/A/1");
}

TEST_CASE("sections of one id are refused, or get a mark", "[plan]") {
    std::string const section =
        R"({"label":"S","categoryKey":1,"topLeft":{"x":0,"y":0},"subChart":{"rows":[
            {"label":"A","seats":[{"x":0,"y":0,"label":"1"}]}]}})";
    auto const text = R"({"name":"R","categories":{"list":[{"key":1,"label":"C"}]},
        "subChart":{"sections":[)" +
                      section + "," + section + "]}}";
    auto const refused = samples::import_as(PlanFormat::seatsio, text);
    CHECK(count_of(refused.report.errors, "repeated-section-id") == 1);
    CHECK(samples::first_of(refused.report.errors, "repeated-section-id")->where ==
          "/subChart/sections/1");
    auto const layout = imported(samples::import_as(PlanFormat::seatsio, text, true));
    CHECK(layout.sections()[1].id == "S~2");
    CHECK(layout.find_seat("S/0/A/1").has_value());
    CHECK(layout.find_seat("S~2/0/A/1").has_value());
}

TEST_CASE("the demo plan is clean, priced and has places of every kind", "[plan]") {
    ImportRequest request;
    request.format = PlanFormat::seatsio;
    request.plan = demo_plan();
    request.prices = demo_prices();
    auto const plan = import_plan(request);
    auto const layout = imported(plan);
    CHECK(plan.report.warning_count == 0);
    CHECK(layout.labelled_count() == 230);
    CHECK(layout.place_count() == 430);
    CHECK(layout.sections().size() == 4);
    CHECK(layout.find_seat("A-1-7").has_value());
    CHECK(layout.price_of(*layout.find_seat("A-1-7")) == 12'000);
    CHECK(layout.focal().has_value());
    CHECK(std::ranges::count_if(layout.seats(), [](Seat const& seat) {
              return has(seat.flags, SeatFlag::accessible);
          }) == 2);
}
