// Scrape: what a soak reads from /metrics.
//
// Purpose: numbers by name, and the part of a sample that the server tells. Thread safety: pure
//   functions.
#pragma once

#include "bench/soak/verdict.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace holdfast::soak {

[[nodiscard]] std::optional<std::int64_t> metric(std::string const& metrics,
                                                 std::string const& name);

/// Memory, descriptors, threads and journal; none if one of them is not told.
[[nodiscard]] std::optional<Sample> read_sample(std::string const& metrics);

}  // namespace holdfast::soak
