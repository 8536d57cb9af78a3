// Claim terms: what a claim or an end of a hold is asked with, and what it answers.
//
// Thread safety: values. Cost: none of note.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/domain/ids.hpp>
#include <holdfast/inventory/user_limits.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace holdfast::inventory {

/// What a claim asks for besides its places.
struct ClaimTerms {
    TimePoint now{};
    TimePoint expires_at{};             // no_deadline: never
    std::uint64_t holder{};             // opaque to the inventory
    std::span<std::byte const> mark{};  // goes with the fact, in room of the caller's; opaque, too
};

struct ClaimOutcome {
    enum class Kind : std::uint8_t { won, lost, busy, limited } kind{};
    HoldRef ref{};        // won
    Lsn lsn{};            // won by claim()
    SeatIndex seat{};     // lost: a place that was taken
    UserVerdict limit{};  // limited: which limit of the account, or busy
};

struct EndOutcome {
    enum class Kind : std::uint8_t { ended, lost, no_space } kind{};
    Lsn lsn{};  // ended
};

[[nodiscard]] inline std::int64_t to_ms(TimePoint time) noexcept {
    return time.time_since_epoch().count();
}
[[nodiscard]] inline TimePoint from_ms(std::int64_t ms) noexcept {
    return TimePoint{Milliseconds{ms}};
}

}  // namespace holdfast::inventory
