#include <holdfast/api/rate_limits.hpp>

#include <algorithm>

namespace holdfast::api {

Network network_of(std::array<std::uint8_t, 16> const& peer) noexcept {
    Network network = peer;
    network.back() = 0;
    return network;
}

RateLimits::RateLimits(Rates const& rates) : rates_(rates) {
    for (Shard& shard : shards_) shard.buckets = Known(16, hash_);
}

RateLimits::Verdict RateLimits::take(Network const& network, Class of, TimePoint now) {
    using std::chrono::ceil;
    using std::chrono::seconds;
    auto const which = static_cast<std::size_t>(of);
    std::uint32_t const per_s = of == Class::read ? rates_.reads_per_s : rates_.writes_per_s;
    if (per_s == 0) return {};
    Micros const interval{1'000'000 / per_s};
    Instant const instant = std::chrono::time_point_cast<Micros>(now);
    Shard& shard = shards_[hash_(network) % shard_count];
    std::scoped_lock const lock(shard.mutex);
    Instant& full_again = buckets_of(shard, network, instant)[which];
    Micros const lacking = std::max(full_again, instant) + interval - instant;
    Verdict verdict;
    verdict.quota = static_cast<std::uint32_t>(window / interval);
    verdict.admitted = lacking <= window;
    if (verdict.admitted) {
        full_again = instant + lacking;
        verdict.remaining = static_cast<std::uint32_t>((window - lacking) / interval);
        verdict.reset_s = static_cast<std::uint32_t>(ceil<seconds>(lacking).count());
    } else {
        verdict.reset_s = static_cast<std::uint32_t>(ceil<seconds>(lacking - interval).count());
        verdict.wait_s = static_cast<std::uint32_t>(ceil<seconds>(lacking - window).count());
        ++shard.refused[which];
    }
    return verdict;
}

/// A full shard forgets whoever could make all their requests at once again.
RateLimits::Buckets& RateLimits::buckets_of(Shard& shard, Network const& network, Instant now) {
    if (auto const known = shard.buckets.find(network); known != shard.buckets.end())
        return known->second;
    if (shard.buckets.size() >= networks_per_shard_max) {
        std::erase_if(shard.buckets, [now](auto const& entry) {
            return std::ranges::all_of(entry.second, [now](Instant full) { return full <= now; });
        });
    }
    if (shard.buckets.size() >= networks_per_shard_max) return shard.others;
    return shard.buckets[network];
}

std::uint64_t RateLimits::refused(Class of) {
    std::uint64_t sum = 0;
    for (Shard& shard : shards_) {
        std::scoped_lock const lock(shard.mutex);
        sum += shard.refused[static_cast<std::size_t>(of)];
    }
    return sum;
}

std::size_t RateLimits::networks() {
    std::size_t count = 0;
    for (Shard& shard : shards_) {
        std::scoped_lock const lock(shard.mutex);
        count += shard.buckets.size();
    }
    return count;
}

}  // namespace holdfast::api
