// Histogram: latencies in log-linear buckets (the idea of HdrHistogram, see hdrhistogram.org).
//
// Purpose: percentiles with at most 1.6 % relative error over 1 us ... 1 h in 13.5 KiB.
// Thread safety: one writer; merge() is for the owner of both.
// Cost: record() is a few instructions, no allocation.
#pragma once

#include <array>
#include <cstdint>

namespace holdfast {

class Histogram {
public:
    /// `value` in any unit the caller likes; over 2^32 - 1 it counts as that.
    void record(std::uint64_t value) noexcept;
    void merge(Histogram const& other) noexcept;
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t max() const noexcept { return max_; }
    /// Smallest bucket bound with at least `share` (0 ... 1) of the values at or below it; 0 if
    /// empty.
    [[nodiscard]] std::uint64_t percentile(double share) const noexcept;

private:
    static constexpr unsigned sub_bits = 6;
    std::array<std::uint64_t, (32 - sub_bits + 1) << sub_bits> buckets_{};
    std::uint64_t count_{};
    std::uint64_t max_{};
};

}  // namespace holdfast
