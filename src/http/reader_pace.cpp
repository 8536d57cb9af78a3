#include "http/reader_pace.hpp"

#include <algorithm>

namespace holdfast::http {
namespace {

constexpr std::uint64_t write_bytes_per_second_min = 1'024;
/// Kernels that are busy stop for some hundredths of a second, too, in the middle of what they take
/// by themselves.
constexpr Milliseconds standstill_min{500};

/// How long so many bytes may take.
Milliseconds time_of(std::uint64_t bytes) noexcept {
    return Milliseconds{static_cast<std::int64_t>(bytes * 1'000 / write_bytes_per_second_min)};
}

}  // namespace

bool keeps_pace(std::uint64_t taken, Milliseconds timeout) noexcept {
    auto const time = static_cast<std::uint64_t>(timeout.count());
    return taken >= time * write_bytes_per_second_min / 1'000;
}

void ReaderPace::begin(std::int64_t taken, Tick now) noexcept {
    given_at_ = seen_ = taken;
    seen_at_ = now;
    stood_still_ = false;
}

std::optional<Milliseconds> ReaderPace::look(std::int64_t taken, Tick now,
                                             Milliseconds timeout) noexcept {
    Tick const passed = now - seen_at_;
    Milliseconds const span = std::max(timeout / looks, standstill_min);
    if (passed > static_cast<Tick>(span / tick_length)) {
        // What its kernel takes by itself it takes at once, before that.
        auto const more = static_cast<std::uint64_t>(std::max<std::int64_t>(taken - seen_, 0));
        stood_still_ |= !keeps_pace(more, static_cast<std::int64_t>(passed) * tick_length);
        seen_ = taken;
        seen_at_ = now;
    }
    auto const since = static_cast<std::uint64_t>(std::max<std::int64_t>(taken - given_at_, 0));
    if (!keeps_pace(since, timeout)) return std::nullopt;
    given_at_ = taken;
    return stood_still_ ? time_of(since) : Milliseconds{0};
}

}  // namespace holdfast::http
