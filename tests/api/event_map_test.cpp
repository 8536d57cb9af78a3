// The map of an event: what its layout says, as JSON.
#include "api/event_documents.hpp"
#include "tests/domain/layout_samples.hpp"

#include <boost/json.hpp>
#include <catch2/catch.hpp>

using namespace holdfast;
using namespace holdfast::api;

TEST_CASE("a map names its zones, and each section the one that it is in", "[event]") {
    EventSpec spec;
    spec.slug = "show";
    spec.currency = "EUR";
    spec.layout = *samples::mixed().build();
    auto const map = boost::json::parse(map_document(spec));
    auto const& zones = map.at("zones").as_array();
    REQUIRE(zones.size() == 1);
    CHECK(zones[0].at("key") == "z");
    CHECK(zones[0].at("name") == "Zone");
    CHECK(zones[0].at("focal").at("x") == 1.5);
    auto const& sections = map.at("sections").as_array();
    REQUIRE(sections.size() == spec.layout.sections().size());
    for (std::size_t i = 0; i < sections.size(); ++i) {
        auto const* const zone = sections[i].as_object().if_contains("zone");
        CHECK((zone != nullptr) == spec.layout.sections()[i].zone.has_value());
        if (zone != nullptr) CHECK(*zone == "z");
    }
}
