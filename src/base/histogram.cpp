#include <holdfast/base/histogram.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

namespace holdfast {
namespace {

// Values under 2^sub_bits have a bucket each; every later octave is cut into 2^sub_bits buckets,
// so a bucket is at most 1/64 of its values wide.
std::size_t bucket_of(std::uint32_t value, unsigned sub_bits) noexcept {
    auto const width = static_cast<unsigned>(std::bit_width(value));
    if (width <= sub_bits) return value;
    unsigned const shift = width - 1 - sub_bits;
    std::uint32_t const within = (value >> shift) & ((1U << sub_bits) - 1);
    return (std::size_t{shift + 1} << sub_bits) + within;
}

std::uint64_t highest_in_bucket(std::size_t bucket, unsigned sub_bits) noexcept {
    std::size_t const octave = bucket >> sub_bits;
    if (octave == 0) return bucket;
    std::uint64_t const within = bucket & ((std::size_t{1} << sub_bits) - 1);
    std::uint64_t const first = (std::uint64_t{1} << sub_bits) + within;
    return ((first + 1) << (octave - 1)) - 1;
}

}  // namespace

void Histogram::record(std::uint64_t value) noexcept {
    std::uint64_t const counted =
        std::min<std::uint64_t>(value, std::numeric_limits<std::uint32_t>::max());
    ++buckets_[bucket_of(static_cast<std::uint32_t>(counted), sub_bits)];
    ++count_;
    max_ = std::max(max_, counted);
}

void Histogram::merge(Histogram const& other) noexcept {
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
        buckets_[bucket] += other.buckets_[bucket];
    }
    count_ += other.count_;
    max_ = std::max(max_, other.max_);
}

std::uint64_t Histogram::percentile(double share) const noexcept {
    if (count_ == 0) return 0;
    double const wanted = std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(count_));
    std::uint64_t const rank =
        std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, count_);
    std::uint64_t seen = 0;
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
        seen += buckets_[bucket];
        if (seen >= rank) return std::min(highest_in_bucket(bucket, sub_bits), max_);
    }
    return max_;
}

}  // namespace holdfast
