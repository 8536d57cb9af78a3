// The least pace of whoever reads replies.
//
// Thread safety: pure. Cost: a multiplication.
#pragma once

#include <holdfast/base/clock.hpp>

#include <cstdint>

namespace holdfast::http {

/// Whether a reader that has taken so many bytes since it was last given `timeout` gets it anew:
/// 1 KiB a second. One that takes less is cut off, however often it takes something.
[[nodiscard]] bool keeps_pace(std::uint64_t taken, Milliseconds timeout) noexcept;

}  // namespace holdfast::http
