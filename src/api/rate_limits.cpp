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

RateLimits::Verdict RateLimits::take(RateKey const& key, Class of, TimePoint now) {
    using std::chrono::ceil;
    using std::chrono::seconds;
    auto const which = static_cast<std::size_t>(of);
    if (!has_limit(of)) return {};
    Micros const step = interval(of);
    Instant const instant = std::chrono::time_point_cast<Micros>(now);
    Shard& shard = shard_of(key);
    std::scoped_lock const lock(shard.mutex);
    Instant& full_again = buckets_of(shard, key, instant)[which];
    Micros const lacking = std::max(full_again, instant) + step - instant;
    Verdict verdict;
    verdict.quota = static_cast<std::uint32_t>(window / step);
    verdict.admitted = lacking <= window;
    if (verdict.admitted) {
        full_again = instant + lacking;
        verdict.remaining = static_cast<std::uint32_t>((window - lacking) / step);
        verdict.reset_s = static_cast<std::uint32_t>(ceil<seconds>(lacking).count());
    } else {
        verdict.reset_s = static_cast<std::uint32_t>(ceil<seconds>(lacking - step).count());
        verdict.wait_s = static_cast<std::uint32_t>(ceil<seconds>(lacking - window).count());
        ++shard.refused[which];
    }
    return verdict;
}

/// A full shard forgets whoever could make all their requests at once again.
RateLimits::Buckets& RateLimits::buckets_of(Shard& shard, RateKey const& key, Instant now) {
    if (auto const known = shard.buckets.find(key); known != shard.buckets.end())
        return known->second;
    if (shard.buckets.size() >= keys_per_shard_max) {
        std::erase_if(shard.buckets, [now](auto const& entry) {
            return std::ranges::all_of(entry.second, [now](Instant full) { return full <= now; });
        });
    }
    if (shard.buckets.size() >= keys_per_shard_max) return shard.others;
    return shard.buckets[key];
}

void RateLimits::give_back(RateKey const& key, Class of) {
    if (!has_limit(of)) return;
    Shard& shard = shard_of(key);
    std::scoped_lock const lock(shard.mutex);
    auto const known = shard.buckets.find(key);
    Buckets& buckets = known != shard.buckets.end() ? known->second : shard.others;
    buckets[static_cast<std::size_t>(of)] -= interval(of);
}

std::uint64_t RateLimits::refused(Class of) {
    std::uint64_t sum = 0;
    for (Shard& shard : shards_) {
        std::scoped_lock const lock(shard.mutex);
        sum += shard.refused[static_cast<std::size_t>(of)];
    }
    return sum;
}

std::size_t RateLimits::known() {
    std::size_t count = 0;
    for (Shard& shard : shards_) {
        std::scoped_lock const lock(shard.mutex);
        count += shard.buckets.size();
    }
    return count;
}

}  // namespace holdfast::api
