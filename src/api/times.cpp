#include "api/times.hpp"

#include <holdfast/base/assert.hpp>

#include <date/tz.h>
#include <optional>
#include <stdexcept>
#include <string>

namespace holdfast::api {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t zone_bytes_max = 64;

date::time_zone const* find_zone(std::string_view name) {
    if (name.empty() || name.size() > zone_bytes_max) return nullptr;
    // The library says "no such zone", and "no zones on this machine", with an exception only.
    try {
        return date::locate_zone(std::string{name});
    } catch (std::runtime_error const&) {
        return nullptr;
    }
}

/// Takes fixed-width parts off a text; after the first that does not fit everything fails.
class Parts {
public:
    explicit Parts(std::string_view text) noexcept : rest_(text) {}
    int digits(std::size_t count) noexcept {
        int value = 0;
        if (rest_.size() < count) failed_ = true;
        for (std::size_t i = 0; !failed_ && i < count; ++i) {
            failed_ = rest_[i] < '0' || rest_[i] > '9';
            value = value * 10 + (rest_[i] - '0');
        }
        if (!failed_) rest_.remove_prefix(count);
        return failed_ ? 0 : value;
    }
    void literal(std::string_view any_of) noexcept {
        if (next_is(any_of)) {
            rest_.remove_prefix(1);
        } else {
            failed_ = true;
        }
    }
    [[nodiscard]] bool next_is(std::string_view any_of) const noexcept {
        return !rest_.empty() && any_of.find(rest_.front()) != std::string_view::npos;
    }
    [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }
    [[nodiscard]] bool failed() const noexcept { return failed_; }
    [[nodiscard]] char front() const noexcept { return rest_.front(); }

private:
    std::string_view rest_;
    bool failed_{};
};

struct Written {
    date::local_seconds at{};
    Milliseconds fraction{};
    std::optional<seconds> offset;  // none: not written
    bool universal{};               // Z: says the instant and nothing about the zone
};

Milliseconds parse_fraction(Parts& parts) noexcept {
    if (!parts.next_is(".")) return {};
    parts.literal(".");
    constexpr std::string_view digits = "0123456789";
    if (!parts.next_is(digits)) parts.literal(digits);
    int value = 0;
    int places = 0;
    for (; parts.next_is(digits); ++places) {
        auto const digit = parts.digits(1);
        if (places < 3) value = value * 10 + digit;
    }
    for (; places < 3; ++places) value *= 10;
    return Milliseconds{value};
}

void parse_offset(Parts& parts, Written& written) noexcept {
    if (parts.next_is("Zz")) {
        parts.literal("Zz");
        written.offset = seconds{0};
        written.universal = true;
    } else if (parts.next_is("+-")) {
        int const sign = parts.front() == '-' ? -1 : 1;
        parts.literal("+-");
        int const hours = parts.digits(2);
        parts.literal(":");
        int const minute = parts.digits(2);
        if (hours > 23 || minute > 59) parts.literal("");
        written.offset = sign * (std::chrono::hours{hours} + minutes{minute});
    }
}

std::optional<Written> parse_written(std::string_view text) noexcept {
    Parts parts(text);
    int const year = parts.digits(4);
    parts.literal("-");
    int const month = parts.digits(2);
    parts.literal("-");
    int const day = parts.digits(2);
    parts.literal("Tt");
    int const hour = parts.digits(2);
    parts.literal(":");
    int const minute = parts.digits(2);
    parts.literal(":");
    int const second = parts.digits(2);
    Written written;
    written.fraction = parse_fraction(parts);
    parse_offset(parts, written);
    if (parts.failed() || !parts.at_end()) return std::nullopt;
    date::year_month_day const ymd{date::year{year}, date::month{static_cast<unsigned>(month)},
                                   date::day{static_cast<unsigned>(day)}};
    // Answers can be written to the year 9999, and an offset may carry a time into the next.
    if (!ymd.ok() || year < 1970 || year > 9998) return std::nullopt;
    if (hour > 23 || minute > 59 || second > 59) return std::nullopt;
    written.at =
        date::local_days{ymd} + std::chrono::hours{hour} + minutes{minute} + seconds{second};
    return written;
}

ZonedTime zoned(date::local_seconds at, Milliseconds fraction, seconds offset) noexcept {
    ZonedTime time;
    time.at = TimePoint{at.time_since_epoch() - offset + fraction};
    time.offset_minutes =
        static_cast<std::int32_t>(std::chrono::duration_cast<minutes>(offset).count());
    return time;
}

}  // namespace

std::string_view to_string(TimeError error) noexcept {
    switch (error) {
        case TimeError::format:
            return "time";
        case TimeError::no_such_time:
            return "no-such-time";
        case TimeError::ambiguous:
            return "ambiguous-time";
        case TimeError::wrong_offset:
            return "wrong-offset";
    }
    return "time";
}

void throw_exception_from_error(TimeError error, boost::source_location const& where) {
    throw std::logic_error("value() of a refused time, " + std::string{to_string(error)} + ", in " +
                           where.file_name() + ":" + std::to_string(where.line()));
}

bool time_zone_exists(std::string_view name) {
    return name == "UTC" || find_zone(name) != nullptr;
}

ResultOf<ZonedTime, TimeError> parse_time(std::string_view text, std::string_view zone) {
    auto const written = parse_written(text);
    if (!written) return TimeError::format;
    auto const* const rules = find_zone(zone);
    if (rules == nullptr) {
        HOLDFAST_ASSERT(zone == "UTC");  // known even where no zones are installed
        if (written->offset.value_or(seconds{0}) != seconds{0}) return TimeError::wrong_offset;
        return zoned(written->at, written->fraction, seconds{0});
    }
    if (written->universal) {
        date::sys_seconds const instant{written->at.time_since_epoch()};
        auto const offset = rules->get_info(instant).offset;
        return zoned(date::local_seconds{instant.time_since_epoch() + offset}, written->fraction,
                     offset);
    }
    auto const info = rules->get_info(written->at);
    if (info.result == date::local_info::nonexistent) return TimeError::no_such_time;
    if (info.result == date::local_info::ambiguous) {
        if (!written->offset) return TimeError::ambiguous;
        bool const fits =
            *written->offset == info.first.offset || *written->offset == info.second.offset;
        if (!fits) return TimeError::wrong_offset;
        return zoned(written->at, written->fraction, *written->offset);
    }
    auto const offset = written->offset.value_or(info.first.offset);
    if (offset != info.first.offset) return TimeError::wrong_offset;
    return zoned(written->at, written->fraction, offset);
}

}  // namespace holdfast::api
