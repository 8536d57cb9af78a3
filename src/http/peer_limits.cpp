#include "http/peer_limits.hpp"

#include <holdfast/base/assert.hpp>

namespace holdfast::http {

PeerLimits::PeerLimits(std::size_t total_max, std::size_t per_address_max, bool limit_loopback)
    : total_max_(total_max),
      per_address_max_(per_address_max),
      limit_loopback_(limit_loopback),
      by_address_(64, Hash{}) {}

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
