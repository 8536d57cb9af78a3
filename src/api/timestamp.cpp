#include "api/timestamp.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace holdfast::api {
namespace {

using std::chrono::sys_days;
using std::chrono::year;

constexpr TimePoint first_time = sys_days{year{1} / 1 / 1};
constexpr TimePoint last_time = sys_days{year{9999} / 12 / 31} + std::chrono::hours{23};

void append_digits(std::string& out, std::int64_t value, int width) {
    std::size_t const start = out.size();
    out.append(static_cast<std::size_t>(width), '0');
    for (std::size_t at = out.size(); at > start && value > 0; value /= 10) {
        out[--at] = static_cast<char>('0' + value % 10);
    }
}

}  // namespace

void append_rfc3339(std::string& out, TimePoint at, std::int32_t offset_minutes) {
    // Clamped before the offset is added: no_deadline must not overflow.
    TimePoint const local =
        std::clamp(at, first_time + std::chrono::hours{24}, last_time - std::chrono::hours{24}) +
        std::chrono::minutes{offset_minutes};
    auto const day = std::chrono::floor<std::chrono::days>(local);
    std::chrono::year_month_day const date{day};
    std::int64_t const ms = (local - day).count();
    append_digits(out, static_cast<int>(date.year()), 4);
    out += '-';
    append_digits(out, static_cast<unsigned>(date.month()), 2);
    out += '-';
    append_digits(out, static_cast<unsigned>(date.day()), 2);
    out += 'T';
    append_digits(out, ms / 3'600'000, 2);
    out += ':';
    append_digits(out, ms / 60'000 % 60, 2);
    out += ':';
    append_digits(out, ms / 1'000 % 60, 2);
    out += '.';
    append_digits(out, ms % 1'000, 3);
    if (offset_minutes == 0) {
        out += 'Z';
        return;
    }
    out += offset_minutes < 0 ? '-' : '+';
    std::int32_t const offset = std::abs(offset_minutes);
    append_digits(out, offset / 60, 2);
    out += ':';
    append_digits(out, offset % 60, 2);
}

std::int64_t seconds_left(TimePoint deadline, TimePoint now) noexcept {
    if (deadline <= now) return 0;
    // Not ceil(deadline - now): no_deadline is near the end of the representation.
    std::int64_t const ms = (deadline - now).count();
    return ms / 1'000 + (ms % 1'000 != 0 ? 1 : 0);
}

}  // namespace holdfast::api
