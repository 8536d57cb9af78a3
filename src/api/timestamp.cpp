#include "api/timestamp.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>

namespace holdfast::api {
namespace {

using std::chrono::sys_days;
using std::chrono::year;

constexpr TimePoint first_time = sys_days{year{1} / 1 / 1};
constexpr TimePoint last_time = sys_days{year{9999} / 12 / 31} + std::chrono::hours{23};

/// The `Width` last digits, from `to` on; the place behind them.
template <int Width>
char* write_digits(char* to, std::int64_t value) noexcept {
    for (int at = Width - 1; at >= 0; --at) {
        to[at] = static_cast<char>('0' + value % 10);
        value /= 10;
    }
    return to + Width;
}

/// `2027-05-01T`. A thread keeps the day that it wrote last, which is nearly always the next one.
char* write_day(char* to, sys_days day) noexcept {
    struct WrittenDay {
        sys_days day{std::chrono::days{-1'000'000}};  // none that is ever written
        std::array<char, 11> text{};
    };
    thread_local WrittenDay last;
    if (last.day != day) {
        std::chrono::year_month_day const date{day};
        char* at = write_digits<4>(last.text.data(), static_cast<int>(date.year()));
        *at++ = '-';
        at = write_digits<2>(at, static_cast<unsigned>(date.month()));
        *at++ = '-';
        at = write_digits<2>(at, static_cast<unsigned>(date.day()));
        *at = 'T';
        last.day = day;
    }
    std::memcpy(to, last.text.data(), last.text.size());
    return to + last.text.size();
}

}  // namespace

void append_rfc3339(std::string& out, TimePoint at, std::int32_t offset_minutes) {
    // Clamped before the offset is added: no_deadline must not overflow.
    TimePoint const local =
        std::clamp(at, first_time + std::chrono::hours{24}, last_time - std::chrono::hours{24}) +
        std::chrono::minutes{offset_minutes};
    auto const day = std::chrono::floor<std::chrono::days>(local);
    std::int64_t const ms = (local - day).count();
    std::array<char, 32> text;
    char* to = write_day(text.data(), day);
    to = write_digits<2>(to, ms / 3'600'000);
    *to++ = ':';
    to = write_digits<2>(to, ms / 60'000 % 60);
    *to++ = ':';
    to = write_digits<2>(to, ms / 1'000 % 60);
    *to++ = '.';
    to = write_digits<3>(to, ms % 1'000);
    if (offset_minutes == 0) {
        *to++ = 'Z';
    } else {
        *to++ = offset_minutes < 0 ? '-' : '+';
        std::int32_t const offset = std::abs(offset_minutes);
        to = write_digits<2>(to, offset / 60);
        *to++ = ':';
        to = write_digits<2>(to, offset % 60);
    }
    out.append(text.data(), static_cast<std::size_t>(to - text.data()));
}

std::int64_t seconds_left(TimePoint deadline, TimePoint now) noexcept {
    if (deadline <= now) return 0;
    // Not ceil(deadline - now): no_deadline is near the end of the representation.
    std::int64_t const ms = (deadline - now).count();
    return ms / 1'000 + (ms % 1'000 != 0 ? 1 : 0);
}

}  // namespace holdfast::api
