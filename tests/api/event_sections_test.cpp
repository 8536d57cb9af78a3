#include "tests/api/event_bodies.hpp"

#include <vector>

using namespace holdfast;
using namespace holdfast::api;
using namespace holdfast::api::test;

TEST_CASE("sections and categories are checked at their place", "[event]") {
    CHECK(refusal(with_sections("[]")) == "422 /sections range");
    CHECK(refusal(with_sections("{}")) == "422 /sections type");
    CHECK(refusal(with_sections("[1]")) == "422 /sections/0 not-an-object");
    CHECK(refusal(with_sections(R"([{"category":"a","capacity":1}])")) ==
          "422 /sections/0/id required");
    CHECK(refusal(with_sections(R"([{"id":"A","capacity":1}])")) ==
          "422 /sections/0/category required");
    CHECK(refusal(with_sections(R"([{"id":"A","category":"c","capacity":1}])")) ==
          "422 /sections/0/category unknown-category");
    CHECK(refusal(with_sections(R"([{"id":"A","category":"a"}])")) ==
          "422 /sections/0/rows required");
    CHECK(refusal(with_sections(R"([{"id":"A","category":"a","capacity":1,"rows":[]}])")) ==
          "422 /sections/0/capacity conflict");
    CHECK(refusal(with_sections(R"([{"id":"A","category":"a","capacity":0}])")) ==
          "422 /sections/0/capacity range");
    CHECK(refusal(with_sections(R"([{"id":"A","category":"a","rows":[]}])")) ==
          "422 /sections/0/rows range");
    CHECK(refusal(with_sections(R"([{"id":"A","category":"a","rows":[{"label":"1"}]}])")) ==
          "422 /sections/0/rows/0/seats required");
    CHECK(
        refusal(with_sections(R"([{"id":"A","category":"a","rows":[{"label":"1","seats":0}]}])")) ==
        "422 /sections/0/rows/0/seats range");
    CHECK(refusal(
              with_sections(R"([{"id":"A","category":"a","rows":[{"label":"1","seats":[]}]}])")) ==
          "422 /sections/0/rows/0/seats range");
    CHECK(refusal(with_sections(
              R"([{"id":"A","category":"a","capacity":1},
                  {"id":"A","category":"b","capacity":1}])")) == "422 /sections/1/id duplicate");
    CHECK(refusal(R"({"name":"N","categories":[{"key":"a"},{"key":"a"}],"sections":[]})") ==
          "422 /categories/1/key duplicate");
    CHECK(refusal(R"({"name":"N","categories":[{"key":"a","price":-1}],"sections":[]})") ==
          "422 /categories/0/price range");
    CHECK(refusal(R"({"name":"N","categories":[],"sections":[]})") == "422 /categories range");
    std::string const half(200, 'x');
    CHECK(refusal(with_sections(R"([{"id":")" + half + R"(","category":"a","rows":[{"label":")" +
                                half + R"(","seats":1}]}])")) == "422 /sections name-too-long");
}

TEST_CASE("places over the bound are refused where it is passed, at once", "[event]") {
    CHECK(refusal(with_sections(R"([{"id":"A","category":"a","capacity":4000000}])")) ==
          "accepted");
    CHECK(refusal(with_sections(R"([{"id":"A","category":"a","capacity":4000000},
                                    {"id":"B","category":"a","capacity":1}])")) ==
          "422 /sections/1 range");
    CHECK(refusal(with_sections(
              R"([{"id":"A","category":"a","rows":[{"label":"1","seats":2147483648}]}])")) ==
          "422 /sections/0/rows/0/seats range");
    CHECK(refusal(with_sections(R"([{"id":"G","category":"a","capacity":4000000},{"id":"A",
              "category":"a","rows":[{"label":"1","seats":4000000}]}])")) ==
          "422 /sections/1/rows/0/seats range");
}

TEST_CASE("seat names given twice are listed", "[event]") {
    auto const body = accepted(with_sections(
        R"([{"id":"A","category":"a","rows":[{"label":"1","seats":2},{"label":"1","seats":1}]}])"));
    CHECK(!body.usable());
    CHECK(body.repeated_seats == std::vector<std::string>{"A-1-1"});
}

TEST_CASE("rows sold whole and joined seats are drawn", "[event]") {
    auto const body = accepted(with_sections(
        R"([{"id":"A","category":"a","rows":[{"label":"T","seats":4,"whole":true},
            {"label":"2","seats":[{"label":"1"},{"label":"2","joined":true},{"label":"3"}]}]}])"));
    Layout const& layout = body.spec.layout;
    CHECK(layout.group_of(SeatIndex{3}) == SeatGroup{SeatIndex{0}, 4});
    CHECK(layout.group_of(SeatIndex{4}) == SeatGroup{SeatIndex{4}, 2});
    CHECK(layout.group_of(SeatIndex{6}) == SeatGroup{SeatIndex{6}, 1});
    CHECK(refusal(with_sections(
              R"([{"id":"A","category":"a","rows":[{"label":"1",
                  "seats":[{"label":"1","joined":true}]}]}])")) ==
          "422 /sections/0/rows/0/seats/0/joined first-of-row");
    CHECK(refusal(with_sections(
              R"([{"id":"A","category":"a","rows":[{"label":"1","seats":2,"whole":1}]}])")) ==
          "422 /sections/0/rows/0/whole type");
    // Nobody may claim more than 10 at once, so a table of 11 could never be sold.
    CHECK(refusal(with_sections(
              R"([{"id":"A","category":"a","rows":[{"label":"1","seats":11,"whole":true}]}])")) ==
          "422 /policy/max_per_order group-too-large");
    CHECK(refusal(with_sections(
              R"([{"id":"A","category":"a","rows":[{"label":"1","seats":10,"whole":true}]}])")) ==
          "accepted");
}

TEST_CASE("drawn rows without places are centred, one behind the other", "[event]") {
    auto const layout = accepted(with_sections(R"([{"id":"A","category":"a","rows":[
            {"label":"1","seats":2},{"label":"2","seats":[{"label":"x"},{"label":"y","y":7}]},
            {"label":"3","seats":4}]},
            {"id":"B","category":"b","rows":[{"label":"1","seats":1}]}])"))
                            .spec.layout;
    auto const at = [&layout](char const* name) {
        return layout.seats()[layout.find_seat(name)->value()].at;
    };
    CHECK(at("A-1-1") == Point{20, 0});
    CHECK(at("A-1-2") == Point{40, 0});
    CHECK(at("A-2-x") == Point{20, 40});
    CHECK(at("A-2-y") == Point{40, 7});
    CHECK(at("A-3-1") == Point{0, 80});
    CHECK(at("A-3-4") == Point{60, 80});
    CHECK(at("B-1-1") == Point{30, 160});
}

TEST_CASE("categories that nobody lists are those the sections name", "[event]") {
    auto const body = accepted(R"({"name":"N","sections":[{"id":"A","category":"x","capacity":1},
        {"id":"B","capacity":2},{"id":"C","category":"x","capacity":3}]})");
    REQUIRE(body.spec.layout.categories().size() == 2);
    CHECK(body.spec.layout.categories()[0].key == "x");
    CHECK(body.spec.layout.sections()[1].category == CategoryIndex{1});
    CHECK(body.report.warning_count == 2);
}
