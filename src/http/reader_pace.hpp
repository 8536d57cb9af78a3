// The least pace of whoever reads replies.
//
// Purpose: 1 KiB a second keeps a connection. A reader is asked for it once in its time, for a
// window that was full opens in large steps: at a pace of 8 KiB a second with the usual 128 KiB of
// a receiver that are 8 to 16 s. So whoever has gone on after a standstill has shown that somebody
// reads there, and each KiB from then on buys a second in which the next may come; before that
// nobody can be told from one that never reads.
// Thread safety: pure, of one session. Cost: some comparisons.
#pragma once

#include "http/deadline_wheel.hpp"

#include <holdfast/base/clock.hpp>

#include <cstdint>
#include <optional>

namespace holdfast::http {

/// Whether a reader that has taken so many bytes since it was last given `timeout` gets it anew:
/// 1 KiB a second. One that takes less is cut off, however often it takes something.
[[nodiscard]] bool keeps_pace(std::uint64_t taken, Milliseconds timeout) noexcept;

class ReaderPace {
public:
    static constexpr int looks = 16;  // in `timeout`, of whoever asks
    static constexpr Milliseconds ahead_max{64'000};

    /// From here on it is waited for, and has `timeout`. What it has taken may be below 0.
    void begin(std::int64_t taken, Tick now) noexcept;
    /// Nothing: it has not taken enough to get `timeout` anew. Else it gets that from now on, and
    /// its end is so much later, as long as that is within `ahead_max`.
    [[nodiscard]] std::optional<Milliseconds> look(std::int64_t taken, Tick now,
                                                   Milliseconds timeout) noexcept;

private:
    std::int64_t given_at_{};  // taken then
    std::int64_t seen_{};      // taken at a look some time ago
    Tick seen_at_{};
    bool stood_still_{};
};

}  // namespace holdfast::http
