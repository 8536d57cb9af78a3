#include "http/peer_limits.hpp"

#include <holdfast/base/assert.hpp>

#include <cstring>
#include <random>

namespace holdfast::http {
namespace {

std::uint64_t random_word() {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device();
}

std::uint64_t mix(std::uint64_t word) noexcept {
    word = (word ^ (word >> 31)) * 0x9E3779B97F4A7C15U;
    word = (word ^ (word >> 29)) * 0xBF58476D1CE4E5B9U;
    return word ^ (word >> 32);
}

}  // namespace

std::size_t PeerLimits::Hash::operator()(PeerKey const& key) const noexcept {
    std::uint64_t high{};
    std::uint64_t low{};
    std::memcpy(&high, key.bytes.data(), sizeof high);
    std::memcpy(&low, key.bytes.data() + sizeof high, sizeof low);
    return mix(mix(high ^ secret) ^ low);
}

PeerLimits::PeerLimits(std::size_t total_max, std::size_t per_address_max, bool limit_loopback)
    : total_max_(total_max),
      per_address_max_(per_address_max),
      limit_loopback_(limit_loopback),
      by_address_(64, Hash{random_word()}) {}

bool PeerLimits::admit(PeerKey const& peer) {
    std::lock_guard const lock{mutex_};
    if (total_ >= total_max_ || !count_address(peer)) return false;
    ++total_;
    return true;
}

bool PeerLimits::settle(PeerKey const& client) {
    std::lock_guard const lock{mutex_};
    return count_address(client);
}

bool PeerLimits::count_address(PeerKey const& peer) {
    if (!counted(peer)) return true;
    std::size_t& count = by_address_[peer];
    if (count >= per_address_max_) {
        if (count == 0) by_address_.erase(peer);
        return false;
    }
    ++count;
    return true;
}

void PeerLimits::leave(PeerKey const& peer) {
    std::lock_guard const lock{mutex_};
    HOLDFAST_ASSERT(total_ > 0);
    --total_;
    if (!counted(peer)) return;
    auto const found = by_address_.find(peer);
    HOLDFAST_ASSERT(found != by_address_.end());
    if (--found->second == 0) by_address_.erase(found);
}

}  // namespace holdfast::http
