// The importers on real public plans, with the counts that the plans' README gives.
#include "tests/services/plan_samples.hpp"

#include <chrono>

using namespace holdfast;
using namespace holdfast::services;
using samples::count_of;

namespace {

struct Counts {
    std::uint32_t sections{}, rows{}, seats{}, general{};
};

void check_counts(ImportedPlan const& plan, Counts const& wanted) {
    for (auto const& error : plan.report.errors) UNSCOPED_INFO(error.code << " " << error.where);
    CHECK(plan.report.error_count == 0);
    CHECK(plan.report.sections == wanted.sections);
    CHECK(plan.report.rows == wanted.rows);
    CHECK(plan.report.seats == wanted.seats);
    CHECK(plan.report.general_places == wanted.general);
    CHECK(count_of(plan.report.warnings, "unknown-key") == 0);
    REQUIRE(plan.layout.has_value());
    CHECK(plan.layout->labelled_count() == wanted.seats);
    CHECK(plan.layout->place_count() == wanted.seats + wanted.general);
}

}  // namespace

TEST_CASE("the sample chart has 32 seats in 4 rows and two areas of 100", "[plan]") {
    auto const text = samples::real_plan("seatsio_sampleChart.json");
    if (!text) return;
    auto const plan = samples::import_as(PlanFormat::seatsio, *text);
    check_counts(plan, {3, 4, 32, 200});
    CHECK(plan.name == "Sample chart");
    CHECK(plan.report.categories == 3);
    CHECK(plan.layout->sections()[0].id == "main");
    CHECK(plan.layout->sections()[1].id == "GA1");
    CHECK(has(samples::seat_of(*plan.layout, "A-7").flags, SeatFlag::accessible));
    CHECK(!has(samples::seat_of(*plan.layout, "A-6").flags, SeatFlag::accessible));
    CHECK(samples::seat_of(*plan.layout, "A-1").at == Point{151.94, 99.56});
    CHECK(plan.layout->focal().has_value());
    CHECK(plan.layout->find_category("cat2") == plan.layout->find_category("10"));
    CHECK(count_of(plan.report.warnings, "no-price") == 3);
}

TEST_CASE("the bad sample chart is refused for each of its three faults", "[plan]") {
    auto const text = samples::real_plan("seatsio_sampleChartWithErrors.json");
    if (!text) return;
    auto const plan = samples::import_as(PlanFormat::seatsio, *text);
    CHECK(!plan.layout.has_value());
    CHECK(plan.report.error_count == 3);
    CHECK(plan.report.seats == 32);
    auto const* const repeated = samples::first_of(plan.report.errors, "repeated-seat-id");
    REQUIRE(repeated != nullptr);
    CHECK(repeated->where == "A-1");
    auto const* const placeholder = samples::first_of(plan.report.errors, "placeholder-label");
    REQUIRE(placeholder != nullptr);
    CHECK(placeholder->where == "/subChart/rows/0/seats/2/label");
    auto const* const bare = samples::first_of(plan.report.errors, "no-category");
    REQUIRE(bare != nullptr);
    CHECK(bare->where == "A-4");
}

TEST_CASE("the chart with sections has 71 seats that inherit their categories", "[plan]") {
    auto const text = samples::real_plan("seatsio_sampleChartWithSections.json");
    if (!text) return;
    auto const plan = samples::import_as(PlanFormat::seatsio, *text);
    check_counts(plan, {2, 13, 71, 0});
    CHECK(plan.layout->sections()[0].id == "Section A");
    auto const seat = samples::seat_of(*plan.layout, "Section B-A-1");
    CHECK(seat.at.x == Approx(16.25 + 189.94));
    CHECK(plan.layout->categories()[seat.category.value()].key == "4");
}

TEST_CASE("the chart with tables has 12 seats; one table is sold whole", "[plan]") {
    auto const text = samples::real_plan("seatsio_sampleChartWithTables.json");
    if (!text) return;
    auto const plan = samples::import_as(PlanFormat::seatsio, *text);
    check_counts(plan, {1, 2, 12, 0});
    CHECK(plan.layout->find_seat("T1-1").has_value());
    auto const* const whole = samples::first_of(plan.report.warnings, "book-as-a-whole");
    REQUIRE(whole != nullptr);
    CHECK(whole->where == "/subChart/tables/1");
    CHECK(plan.layout->largest_group() == 6);
    CHECK(plan.layout->group_of(*plan.layout->find_seat("T1-3")).count == 1);
    SeatIndex const first = *plan.layout->find_seat("T2-1");
    CHECK(plan.layout->group_of(*plan.layout->find_seat("T2-6")) == SeatGroup{first, 6});
}

TEST_CASE("the chart with floors has 4 seats in a section a floor", "[plan]") {
    auto const text = samples::real_plan("seatsio_sampleChartWithFloors.json");
    if (!text) return;
    auto const plan = samples::import_as(PlanFormat::seatsio, *text);
    check_counts(plan, {2, 2, 4, 0});
    CHECK(plan.layout->find_seat("S1-A-1").has_value());
    CHECK(plan.layout->find_seat("S2-B-1").has_value());
    CHECK(plan.layout->sections()[0].name == "Floor 1, S1");
    CHECK(plan.layout->sections()[1].name == "Floor 2, S2");
}

TEST_CASE("the race track has 8,897 seats in 131 rows and imports quickly", "[plan]") {
    auto const text = samples::real_plan("seatsio_sampleChartWithZones.json");
    if (!text) return;
    auto const start = std::chrono::steady_clock::now();
    auto const plan = samples::import_as(PlanFormat::seatsio, *text);
    auto const took = std::chrono::steady_clock::now() - start;
    std::cout << "imported 8,897 seats in "
              << std::chrono::duration_cast<std::chrono::milliseconds>(took).count() << " ms\n";
    CHECK(took < std::chrono::seconds(10));  // generous: debug builds under sanitizers
    check_counts(plan, {4, 131, 8'897, 0});
    REQUIRE(plan.layout->zones().size() == 2);
    CHECK(plan.layout->zones()[1].focal == Point{43'627.27, 18'681.82});
    auto const seat = plan.layout->find_seat("MT3-A-138");
    REQUIRE(seat.has_value());
    CHECK(plan.layout->sections()[plan.layout->section_of(*seat).value()].zone == 1U);
}

TEST_CASE("the stadium repeats 126 ids; with disambiguate all 738 seats come", "[plan]") {
    auto const text = samples::real_plan("pretix_seatmapcanvas_stadium.json");
    if (!text) return;
    auto const refused = samples::import_as(PlanFormat::pretix, *text);
    CHECK(!refused.layout.has_value());
    CHECK(refused.report.error_count == 126);
    CHECK(count_of(refused.report.errors, "repeated-seat-id") == 126);
    CHECK(samples::first_of(refused.report.errors, "repeated-seat-id")->where == "FirstFloor-A-1");

    auto const plan = samples::import_as(PlanFormat::pretix, *text, true);
    check_counts(plan, {2, 90, 738, 0});
    CHECK(plan.report.categories == 5);
    CHECK(count_of(plan.report.warnings, "repeated-seat-id") == 126);
    CHECK(plan.layout->name_of(SeatIndex{0}) == "Groundfloor/0/A/1");
    CHECK(plan.layout->label_of(SeatIndex{0}) == "1");
    CHECK(plan.layout->sections()[0].id == "Groundfloor");
    CHECK(plan.layout->sections()[0].name == "Ground floor");
    CHECK(plan.layout->focal() == Point{1'000, 0});
    CHECK(samples::seat_of(*plan.layout, "Groundfloor/0/A/2").at ==
          Point{1'261.05673144212 + 25, 478.85213751448657});
}
