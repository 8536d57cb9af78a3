// Timestamps of answers: RFC 3339 with milliseconds and offset.
//
// Thread safety: pure functions on the caller's string. Cost: no allocation but the string's own.
#pragma once

#include <holdfast/base/clock.hpp>

#include <cstdint>
#include <string>

namespace holdfast::api {

/// "2027-05-01T18:00:00.000Z", or with `offset_minutes` "2027-05-01T20:00:00.000+02:00". Times
/// outside the years 0001 ... 9999 are written as the nearest end: RFC 3339 has no others.
void append_rfc3339(std::string& out, TimePoint at, std::int32_t offset_minutes = 0);

/// Whole seconds until `deadline`, rounded up so that "0" means over; 0 if it is past.
[[nodiscard]] std::int64_t seconds_left(TimePoint deadline, TimePoint now) noexcept;

}  // namespace holdfast::api
