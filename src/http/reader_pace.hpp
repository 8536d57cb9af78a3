// The least pace of whoever reads replies.
//
// Purpose: 1 KiB a second keeps a connection. A reader is asked for it once in its time, for a
// window that was full opens in large steps: at a pace of 8 KiB a second with the usual 128 KiB of
// a receiver that are 8 to 16 s. So whoever takes a step after a standstill has shown that somebody
// reads there, and gets as much time for the next one as the step was worth; before that nobody can
// be told from one that never reads.
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

    /// From here on it is waited for, and has `timeout`. What it has taken may be below 0.
    void begin(std::int64_t taken, Tick now) noexcept;
    /// The time that it gets from now on for what it has taken since it was last given some;
    /// nothing: that is not enough. Never more than 64 s, unless `timeout` is.
    [[nodiscard]] std::optional<Milliseconds> look(std::int64_t taken, Tick now,
                                                   Milliseconds timeout) noexcept;

private:
    std::int64_t given_at_{};  // taken then
    std::int64_t seen_{};      // taken at the last look that saw more than the one before
    Tick seen_at_{};
    bool stood_still_{};
};

}  // namespace holdfast::http
