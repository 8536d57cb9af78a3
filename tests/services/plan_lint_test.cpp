// What is wrong with a plan is told with its code and place; hostile plans cost little.
#include "services/plan_json.hpp"
#include "tests/services/plan_samples.hpp"

#include <cstdlib>
#include <random>

using namespace holdfast;
using namespace holdfast::services;
using samples::count_of;

namespace {

struct Wrong {
    char const* text;
    char const* code;
    char const* where;
};

void check_error(PlanFormat format, Wrong const& wrong) {
    CAPTURE(wrong.text);
    auto const plan = samples::import_as(format, wrong.text);
    CHECK(!plan.layout.has_value());
    CHECK(plan.report.error_count == plan.report.errors.size());
    auto const found = std::ranges::any_of(plan.report.errors, [&wrong](LintItem const& item) {
        return item.code == wrong.code && item.where == wrong.where && !item.detail.empty();
    });
    for (auto const& item : plan.report.errors) UNSCOPED_INFO(item.code << " at " << item.where);
    CHECK(found);
}

/// A seats.io chart around rows, sections and so on.
std::string chart(std::string const& contents) {
    return R"({"name":"C","categories":{"list":[{"key":1,"label":"One"}]},"subChart":{)" +
           contents + "}}";
}

std::string row(std::string const& seats) {
    return R"("rows":[{"label":"A","seats":[)" + seats + "]}]";
}

void check_chart(std::string const& contents, char const* code, char const* where) {
    auto const text = chart(contents);
    check_error(PlanFormat::seatsio, {text.c_str(), code, where});
}

}  // namespace

TEST_CASE("what is no JSON, or no plan, is refused", "[plan]") {
    auto const format = GENERATE(PlanFormat::pretix, PlanFormat::seatsio);
    for (auto const& wrong : {
             Wrong{"", "not-json", ""},
             Wrong{"{", "not-json", ""},
             Wrong{"nul", "not-json", ""},
             Wrong{"{} {}", "not-json", ""},
             Wrong{"{'a':1}", "not-json", ""},
             Wrong{"\xEF\xBB\xBF{}", "not-json", ""},
             Wrong{"{\"a\":\"\xFF\"}", "not-json", ""},
             Wrong{R"({"a":"\ud800"})", "not-json", ""},
             Wrong{"{/**/}", "not-json", ""},
             Wrong{"[]", "type", ""},
             Wrong{"null", "type", ""},
             Wrong{"7", "type", ""},
             Wrong{R"("plan")", "type", ""},
             Wrong{"{}", "missing", "/categories"},
             Wrong{R"({"a":1e400})", "number-range", "/a"},
             Wrong{R"({"a":[0,{"b":-1e999}]})", "number-range", "/a/1/b"},
             Wrong{R"({"a":1,"b":{"c":[1,{"x/y":1,"z":2,"x/y":3}]}})", "repeated-key",
                   "/b/c/1/x~1y"},
             Wrong{R"({"a":{"k":1},"a":2})", "repeated-key", "/a"},
             Wrong{R"({"ab":1,"\u0061b":2})", "repeated-key", "/ab"},
         }) {
        check_error(format, wrong);
    }
}

TEST_CASE("wrong types everywhere are errors with their places", "[plan]") {
    for (auto const& wrong : {
             Wrong{R"({"categories":1})", "type", "/categories"},
             Wrong{R"({"categories":[7]})", "type", "/categories/0"},
             Wrong{R"({"categories":[{"name":{}}]})", "type", "/categories/0/name"},
             Wrong{R"({"categories":[{}]})", "missing-label", "/categories/0/name"},
             Wrong{R"({"categories":[{"name":"a"},{"name":"a"}]})", "repeated-category",
                   "/categories/1"},
             Wrong{R"({"zones":{}})", "type", "/zones"},
             Wrong{R"({"zones":[[]]})", "type", "/zones/0"},
             Wrong{R"({"zones":[{}]})", "missing-label", "/zones/0/name"},
             Wrong{R"({"zones":[{"name":"Z"}]})", "missing", "/zones/0/rows"},
             Wrong{R"({"zones":[{"name":"Z","rows":[3]}]})", "type", "/zones/0/rows/0"},
             Wrong{R"({"zones":[{"name":"Z","rows":[{"row_number":"1","seats":"x"}]}]})", "type",
                   "/zones/0/rows/0/seats"},
             Wrong{R"({"zones":[{"name":"Z","rows":[{"seats":[null]}]}]})", "type",
                   "/zones/0/rows/0/seats/0"},
             Wrong{R"({"zones":[{"name":"Z","rows":[)"
                   R"({"seats":[{"seat_guid":"g","seat_number":"1"}]}]}]})",
                   "missing", "/zones/0/rows/0/seats/0/position"},
             Wrong{R"({"zones":[{"name":"Z","rows":[{"seats":[{"position":{"x":true,"y":1}}]}]}]})",
                   "type", "/zones/0/rows/0/seats/0/position/x"},
             Wrong{R"({"zones":[{"name":"Z","position":{"x":1e10,"y":0},"rows":[]}]})", "range",
                   "/zones/0/position/x"},
             Wrong{R"({"categories":[],"zones":[{"name":"Z","rows":[{"seats":[{"seat_number":"1",
                   "seat_guid":"g","position":{"x":0,"y":0},"category":"no"}]}]}]})",
                   "unknown-category", "/zones/0/rows/0/seats/0"},
         }) {
        check_error(PlanFormat::pretix, wrong);
    }
}

TEST_CASE("each error of a seats.io chart has its code and place", "[plan]") {
    check_chart(row(R"({"x":0,"y":0,"label":"?","categoryKey":1})"), "placeholder-label",
                "/subChart/rows/0/seats/0/label");
    check_chart(row(R"({"x":0,"y":0,"label":"","categoryKey":1})"), "missing-label",
                "/subChart/rows/0/seats/0/label");
    check_chart(row(R"({"x":0,"y":0,"label":"a\u0007","categoryKey":1})"), "control-character",
                "/subChart/rows/0/seats/0/label");
    check_chart(row(R"({"x":0,"y":0,"label":1.5,"categoryKey":1})"), "type",
                "/subChart/rows/0/seats/0/label");
    check_chart(row(R"({"x":0,"label":"1","categoryKey":1})"), "missing",
                "/subChart/rows/0/seats/0/y");
    check_chart(row(R"({"x":0,"y":0,"label":"1"})"), "no-category", "A-1");
    check_chart(row(R"({"x":0,"y":0,"label":"1","categoryKey":2})"), "unknown-category",
                "/subChart/rows/0/seats/0");
    check_chart(row(R"({"x":0,"y":0,"label":"1","categoryKey":1,"accessible":1})"), "type",
                "/subChart/rows/0/seats/0/accessible");
    check_chart(row("7"), "type", "/subChart/rows/0/seats/0");
    check_chart(R"("rows":[{"label":"A"}])", "missing", "/subChart/rows/0/seats");
    check_chart(R"("rows":{"label":"A"})", "type", "/subChart/rows");
    check_chart(R"("tables":[4])", "type", "/subChart/tables/0");
    check_chart(R"("booths":[{"label":"B","center":4}])", "type", "/subChart/booths/0/center");
    check_chart(R"("generalAdmissionAreas":[{"label":"G","capacity":9}])", "no-category",
                "/subChart/generalAdmissionAreas/0");
    check_chart(R"("generalAdmissionAreas":[{"label":"G","categoryKey":1}])", "missing",
                "/subChart/generalAdmissionAreas/0/capacity");
    check_chart(R"("generalAdmissionAreas":[{"label":"G","categoryKey":1,"capacity":1.5}])", "type",
                "/subChart/generalAdmissionAreas/0/capacity");
    check_chart(R"("generalAdmissionAreas":[{"label":"G","categoryKey":1,"capacity":-1}])", "range",
                "/subChart/generalAdmissionAreas/0/capacity");
    check_chart(R"("sections":[{"label":"S"}])", "missing", "/subChart/sections/0/subChart");
    check_chart(R"("sections":[{"label":"S","zone":"z","subChart":{}}])", "unknown-zone",
                "/subChart/sections/0");
    check_chart(R"("sections":[{"label":"S","subChart":{"sections":[{}]}}])", "nested-section",
                "/subChart/sections/0/subChart/sections");
    check_error(PlanFormat::seatsio, {R"({"zones":{"list":[{"key":"a"},{"key":"a"}]}})",
                                      "repeated-zone", "/zones/list/1"});
    check_error(PlanFormat::seatsio, {R"({"categories":{"list":[{"key":1},{"key":"1"}]}})",
                                      "repeated-category", "/categories/list/1"});
    check_error(PlanFormat::seatsio, {R"({"subChartFloors":[5]})", "type", "/subChartFloors/0"});
    check_error(PlanFormat::seatsio, {"{}", "missing", "/subChart"});
}

TEST_CASE("a plan without places, or with too many, is refused", "[plan]") {
    check_chart("", "no-places", "");
    check_chart(R"("generalAdmissionAreas":[{"label":"G","categoryKey":1,"capacity":0}])",
                "no-places", "");
    check_chart(R"("generalAdmissionAreas":[{"label":"G","categoryKey":1,"capacity":2147483648}])",
                "too-many-places", "");
    check_chart(R"("generalAdmissionAreas":[{"label":"G","categoryKey":1,)"
                R"("capacity":99999999999999999999}])",
                "type", "/subChart/generalAdmissionAreas/0/capacity");
    std::string const long_label(256, 'x');
    check_chart(row(R"({"x":0,"y":0,"categoryKey":1,"label":")" + long_label + "\"}"),
                "name-too-long", ("A-" + std::string(198, 'x') + "…").c_str());
    std::string categories;
    for (int i = 0; i < 1'025; ++i) {
        categories +=
            (i == 0 ? "" : ",") + std::string{"{\"name\":\"c"} + std::to_string(i) + "\"}";
    }
    auto const text = R"({"zones":[],"categories":[)" + categories + "]}";
    check_error(PlanFormat::pretix, {text.c_str(), "too-many-categories", "/categories/1024"});
}

TEST_CASE("seats at a table without a category of their own have the table's", "[plan]") {
    auto const plan = samples::import_as(
        PlanFormat::seatsio,
        chart(R"("tables":[{"label":"T","categoryKey":1,"bookAsAWhole":true,)"
              R"("seats":[{"x":0,"y":0,"label":"1"},{"x":1,"y":0,"label":"2"}]},)"
              R"({"label":"U","categoryKey":1,"bookAsAWhole":true,)"
              R"("seats":[{"x":5,"y":0,"label":"1"}]}])"));
    REQUIRE(plan.layout.has_value());
    CHECK(plan.report.error_count == 0);
    CHECK(plan.layout->largest_group() == 2);
    check_chart(R"("tables":[{"label":"T","categoryKey":9,"seats":[{"x":0,"y":0,"label":"1"}]}])",
                "unknown-category", "/subChart/tables/0");
}

TEST_CASE("an unknown key is one warning for each kind of object", "[plan]") {
    auto const plan = samples::import_as(
        PlanFormat::seatsio, chart(row(R"({"x":0,"y":0,"label":"1","categoryKey":1,"smell":"roses"},
                     {"x":1,"y":0,"label":"2","categoryKey":1,"smell":"tulips","taste":1})") +
                                   R"(,"smell":1)"));
    CHECK(plan.layout.has_value());
    REQUIRE(count_of(plan.report.warnings, "unknown-key") == 3);
    std::vector<std::string> places;
    for (auto const& item : plan.report.warnings) {
        if (item.code == "unknown-key") places.push_back(item.where);
    }
    CHECK(places == std::vector<std::string>{"/subChart/smell", "/subChart/rows/0/seats/0/smell",
                                             "/subChart/rows/0/seats/1/taste"});
}

TEST_CASE("an empty row is left out with a warning", "[plan]") {
    auto const plan =
        samples::import_as(PlanFormat::seatsio, chart(R"("rows":[{"label":"A","seats":[]},
                         {"label":"B","seats":[{"x":0,"y":0,"label":"1","categoryKey":1}]}])"));
    REQUIRE(plan.layout.has_value());
    CHECK(plan.layout->rows().size() == 1);
    REQUIRE(count_of(plan.report.warnings, "empty-row") == 1);
    CHECK(samples::first_of(plan.report.warnings, "empty-row")->where == "/subChart/rows/0");
}

TEST_CASE("nesting is refused at depth 33, however deep it goes on", "[plan]") {
    auto const nested = [](std::size_t depth) {
        return R"({"x":)" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
    };
    auto const deepest = samples::import_as(PlanFormat::pretix, nested(plan_depth_max));
    CHECK(count_of(deepest.report.errors, "too-deep") == 0);
    auto const deeper = samples::import_as(PlanFormat::pretix, nested(plan_depth_max + 1));
    CHECK(count_of(deeper.report.errors, "too-deep") == 1);
    auto const abyss = samples::import_as(PlanFormat::pretix, std::string(10'000'000, '['));
    CHECK(count_of(abyss.report.errors, "too-deep") == 1);
    CHECK(abyss.report.error_count == 1);
}

TEST_CASE("a plan of too many values is refused before it costs memory", "[plan]") {
    std::string text{R"({"x":[0)"};
    for (std::size_t i = 0; i < plan_values_max; ++i) text += ",0";
    text += "]}";
    auto const plan = samples::import_as(PlanFormat::pretix, text);
    REQUIRE(plan.report.error_count == 1);
    CHECK(plan.report.errors[0].code == "too-large");
}

TEST_CASE("lists of a report are cut at a thousand, its counts are exact", "[plan]") {
    std::string seats;
    for (int i = 0; i < 1'500; ++i) {
        seats += (i == 0 ? "" : ",") + std::string{R"({"x":0,"y":0,"label":")"} +
                 std::to_string(i) + "\"}";
    }
    auto const plan = samples::import_as(PlanFormat::seatsio, chart(row(seats)));
    CHECK(plan.report.errors.size() == 1'000);
    CHECK(plan.report.error_count == 1'500);
}

TEST_CASE("repeated ids are counted also where the list has no room for them", "[plan]") {
    std::string seats;
    for (int i = 0; i < 2'400; ++i) {
        seats += (i == 0 ? "" : ",") + std::string{R"({"x":)"} + std::to_string(i) +
                 R"(,"y":0,"label":")" + std::to_string(i / 2) + R"(","categoryKey":1})";
    }
    auto const repeats = samples::import_as(PlanFormat::seatsio, chart(row(seats)));
    CHECK(repeats.report.errors.size() == 1'000);
    CHECK(repeats.report.error_count == 1'200);
    CHECK(repeats.report.repeat_count == 1'200);
    // One that has no category stands among them, and no new name helps it.
    seats += R"(,{"x":2400,"y":0,"label":"last"})";
    auto const mixed = samples::import_as(PlanFormat::seatsio, chart(row(seats)));
    CHECK(mixed.report.error_count == 1'201);
    CHECK(mixed.report.repeat_count == 1'200);
}

TEST_CASE("a damaged plan gives a report, never a crash", "[plan][fuzz]") {
    auto const* const given = std::getenv("HOLDFAST_SEED");
    auto const seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::cout << "HOLDFAST_SEED=" << seed << '\n';
    std::mt19937_64 random(seed);
    std::string_view const spice[] = {"null",
                                      "[]",
                                      "{}",
                                      "-1",
                                      "1e308",
                                      "\"\"",
                                      "\"?\"",
                                      "true",
                                      "4294967296",
                                      "[[",
                                      "}",
                                      ",",
                                      "9223372036854775808"};
    struct Source {
        PlanFormat format;
        std::string text;
    };
    Source const sources[] = {{PlanFormat::pretix, samples::plan("pretix_small.json")},
                              {PlanFormat::seatsio, samples::plan("seatsio_objects.json")},
                              {PlanFormat::seatsio, samples::plan("seatsio_floors.json")}};
    std::size_t refused = 0;
    for (int round = 0; round < 3'000; ++round) {
        auto const& source = sources[random() % std::size(sources)];
        auto text = source.text;
        // Values after a colon are swapped for something else: mostly still JSON, no longer a plan.
        for (auto changes = 1 + random() % 3; changes > 0; --changes) {
            auto const colon = text.find(':', random() % text.size());
            if (colon == std::string::npos) continue;
            auto const end = text.find_first_of(",}]", colon);
            text.replace(colon + 1, end - colon - 1, spice[random() % std::size(spice)]);
        }
        auto const plan = samples::import_as(source.format, text, random() % 2 == 0);
        if (!plan.layout) ++refused;
        REQUIRE(plan.layout.has_value() == (plan.report.error_count == 0));
    }
    CHECK(refused > 0);
    CHECK(refused < 3'000);
}
