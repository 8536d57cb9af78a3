#include "app/demo.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/services/plan_import.hpp>

#include <utility>

namespace holdfast::app {

EventSpec demo_event(TimePoint now) {
    auto imported = services::import_plan({.format = services::PlanFormat::seatsio,
                                           .plan = services::demo_plan(),
                                           .disambiguate = false,
                                           .prices = services::demo_prices()});
    HOLDFAST_ASSERT(imported.layout.has_value());
    EventSpec spec;
    spec.slug = demo_slug;
    spec.name = "Demo night";
    spec.venue = imported.name;
    spec.publish = true;
    spec.layout = std::move(*imported.layout);
    spec.created_at = now;
    return spec;
}

}  // namespace holdfast::app
