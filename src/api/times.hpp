// Times of requests: RFC 3339, checked against the event's time zone.
//
// Purpose: an organizer's wall-clock time becomes an instant, or is refused if it names none or two
// (API.md 14). Thread safety: any thread. Cost: the first use of a zone reads its file.
#pragma once

#include <holdfast/base/result.hpp>
#include <holdfast/domain/event.hpp>

#include <string_view>

namespace holdfast::api {

/// Whether `name` is an IANA zone that this machine knows. "UTC" always is.
[[nodiscard]] bool time_zone_exists(std::string_view name);

enum class TimeError : unsigned char {
    format,        // not RFC 3339, or outside the years 1970 ... 9998
    no_such_time,  // the clocks jump over it
    ambiguous,     // the clocks show it twice and no offset says which
    wrong_offset,  // the zone has another offset then
};
/// Code for an `errors` entry.
[[nodiscard]] std::string_view to_string(TimeError error) noexcept;
[[noreturn]] void throw_exception_from_error(TimeError, boost::source_location const&);

/// `2027-05-01T20:00:00+02:00`, also with a fraction (to the millisecond), with Z, which fits every
/// zone, or without an offset where the zone makes it clear. `zone` must exist.
[[nodiscard]] ResultOf<ZonedTime, TimeError> parse_time(std::string_view text,
                                                        std::string_view zone);

}  // namespace holdfast::api
