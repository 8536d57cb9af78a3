// PeerLimits: how many connections are open, in all and from one address; or are in the middle of a
// head.
//
// Purpose: one client cannot take every connection. An IPv6 address counts with its /64, the
// smallest network anybody gets. Thread safety: any io thread; one mutex, taken when a connection
// comes, goes or waits for the rest of a head, and never for a request that came whole.
// Invariants: every true of admit() is followed by one leave(). Cost: a hash look-up.
#pragma once

#include <holdfast/base/seeded_hash.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace holdfast::http {

struct PeerKey {
    std::array<std::uint8_t, 16> bytes{};  // IPv4 as ::ffff:a.b.c.d; IPv6 cut to its /64
    bool loopback{};
    bool trusted{};  // a proxy of the list: everybody comes from there, so it is not counted
    friend bool operator==(PeerKey const&, PeerKey const&) = default;
};

class PeerLimits {
public:
    PeerLimits(std::size_t total_max, std::size_t per_address_max, bool limit_loopback);
    [[nodiscard]] bool admit(PeerKey const& peer);
    /// Of an admitted connection of a trusted proxy it turned out whose it is: counts it for that
    /// address, and leave() is for that address then. False: it has enough of them.
    [[nodiscard]] bool settle(PeerKey const& client);
    void leave(PeerKey const& peer);

private:
    struct Hash {
        SeededHash seeded;
        std::size_t operator()(PeerKey const& key) const noexcept { return seeded(key.bytes); }
    };
    [[nodiscard]] bool counted(PeerKey const& peer) const noexcept {
        return !peer.trusted && (limit_loopback_ || !peer.loopback);
    }
    [[nodiscard]] bool count_address(PeerKey const& peer);

    std::size_t total_max_;
    std::size_t per_address_max_;
    bool limit_loopback_;
    std::mutex mutex_;
    std::size_t total_{};
    std::unordered_map<PeerKey, std::size_t, Hash> by_address_;
};

}  // namespace holdfast::http
