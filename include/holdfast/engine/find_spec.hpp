// FindSpec: where those who follow the journal look an event of the catalogue up.
//
// Purpose: one name for it. Thread safety: that of what stands behind it. Invariants: the spec
//   stays. Cost: that of what stands behind it.
#pragma once

#include <holdfast/domain/event.hpp>

#include <functional>

namespace holdfast::engine {

/// An event of the catalogue, null if there is none.
using FindSpec = std::function<EventSpec const*(EventId)>;

}  // namespace holdfast::engine
