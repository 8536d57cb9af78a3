// RateLimits: how many requests one network, or one holder, may make.
//
// Purpose: a client that hammers is told to wait before its request costs anything. A network is an
//   IPv4 /24 or an IPv6 /64, a holder a hold whose token the request has; reads and all other
//   requests are counted apart. A bucket holds what is allowed in ten seconds and fills at the rate
//   (GCRA: one time stands for the whole bucket).
// Thread safety: any thread; one mutex of many, chosen by the key, held for one look-up.
// Invariants: bounded memory: a shard that is full of keys in use counts all others as one.
// Cost: a hash look-up. Nothing for who is spared.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/base/seeded_hash.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace holdfast::api {

using RateKey = std::array<std::uint8_t, 16>;  // who is counted
using Network = RateKey;                       // as http::Request::peer, cut to the network

/// `peer` with its last byte (IPv4) left out; an IPv6 address has been cut to its /64 before.
[[nodiscard]] Network network_of(std::array<std::uint8_t, 16> const& peer) noexcept;

class RateLimits {
public:
    enum class Class : std::uint8_t { read, write };
    static constexpr std::chrono::seconds window{10};

    struct Rates {
        std::uint32_t reads_per_s{};   // 0: no limit
        std::uint32_t writes_per_s{};  // 0: no limit
    };
    struct Verdict {
        bool admitted{true};
        std::uint32_t quota{};      // requests in `window`; 0: no limit
        std::uint32_t remaining{};  // of them, now
        std::uint32_t reset_s{};    // until all of them may be made at once again, rounded up
        std::uint32_t wait_s{};     // refused: until one is admitted, rounded up; at least 1
    };

    explicit RateLimits(Rates const& rates);
    [[nodiscard]] bool has_limit(Class of) const noexcept { return rate(of) != 0; }
    /// Takes one request out of the bucket, or says how long to wait.
    [[nodiscard]] Verdict take(RateKey const& key, Class of, TimePoint now);
    /// Undoes a take() a moment ago that admitted: something else refused the request.
    void give_back(RateKey const& key, Class of);
    /// Requests refused since the start.
    [[nodiscard]] std::uint64_t refused(Class of);
    /// Networks, or holders, that are known now.
    [[nodiscard]] std::size_t known();

private:
    using Micros = std::chrono::microseconds;
    using Instant = std::chrono::sys_time<Micros>;
    /// When each bucket is full again.
    using Buckets = std::array<Instant, 2>;
    using Known = std::unordered_map<RateKey, Buckets, SeededHash>;
    struct Shard {
        std::mutex mutex;
        Known buckets;
        Buckets others{};  // of keys for which there is no room
        std::array<std::uint64_t, 2> refused{};
    };
    static constexpr std::size_t shard_count = 64;
    static constexpr std::size_t keys_per_shard_max = 1'024;

    [[nodiscard]] std::uint32_t rate(Class of) const noexcept {
        return of == Class::read ? rates_.reads_per_s : rates_.writes_per_s;
    }
    [[nodiscard]] Micros interval(Class of) const noexcept { return Micros{1'000'000 / rate(of)}; }
    [[nodiscard]] Shard& shard_of(RateKey const& key) noexcept {
        return shards_[hash_(key) % shard_count];
    }
    [[nodiscard]] static Buckets& buckets_of(Shard& shard, RateKey const& key, Instant now);

    Rates rates_;
    SeededHash hash_;
    std::array<Shard, shard_count> shards_;
};

}  // namespace holdfast::api
