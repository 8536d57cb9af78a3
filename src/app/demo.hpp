// Demo: the event that `serve --demo` opens.
//
// Purpose: the first claim a person tries works. Thread safety: pure. Cost: reads one plan.
#pragma once

#include <holdfast/domain/event.hpp>

namespace holdfast::app {

inline constexpr char const* demo_slug = "demo";

/// Published, open at once, guests allowed; made from the shipped plan.
[[nodiscard]] EventSpec demo_event(TimePoint now);

}  // namespace holdfast::app
