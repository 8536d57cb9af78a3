#include <holdfast/api/in_flight.hpp>
#include <holdfast/base/assert.hpp>

namespace holdfast::api {

bool InFlight::take_one(std::uint64_t key) {
    Shard& shard = shard_of(key);
    std::scoped_lock const lock(shard.mutex);
    std::uint32_t& count = shard.counts[key];
    if (count < most_) {
        ++count;
        return true;
    }
    ++shard.refused;
    return false;
}

std::optional<http::Lease> InFlight::take(http::Lease::Keys const& keys) {
    if (most_ == 0) return http::Lease{};
    if (keys[0] != 0 && !take_one(keys[0])) return std::nullopt;
    // Gives the first back if there is no place for the second, nor memory to look for one.
    http::Lease lease(*this, {keys[0], 0});
    if (keys[1] != 0 && !take_one(keys[1])) return std::nullopt;
    lease.add(keys[1]);
    return lease;
}

void InFlight::give_back(std::uint64_t key) noexcept {
    Shard& shard = shard_of(key);
    std::scoped_lock const lock(shard.mutex);
    auto const found = shard.counts.find(key);
    HOLDFAST_ASSERT(found != shard.counts.end());
    if (--found->second == 0) shard.counts.erase(found);
}

std::uint64_t InFlight::refused() {
    std::uint64_t sum = 0;
    for (Shard& shard : shards_) {
        std::scoped_lock const lock(shard.mutex);
        sum += shard.refused;
    }
    return sum;
}

std::size_t InFlight::principals() {
    std::size_t count = 0;
    for (Shard& shard : shards_) {
        std::scoped_lock const lock(shard.mutex);
        count += shard.counts.size();
    }
    return count;
}

}  // namespace holdfast::api
