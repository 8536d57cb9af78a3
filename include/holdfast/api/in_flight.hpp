// InFlight: how many requests of one principal are being answered at one time.
//
// Purpose: nobody takes the workers, or the wait for the disk, for themselves. A principal is the
//   operator, the holder of a token, or the address (IPv4, or an IPv6 /64) of whoever is not the
//   operator; a holder counts as both, so that invented tokens do not hide an address.
// Thread safety: any thread; one mutex of many, chosen by the principal, held for one look-up.
// Invariants: bounded by the requests that are in flight at all. Cost: a look-up to take a place,
//   one to give it back.
#pragma once

#include <holdfast/base/seeded_hash.hpp>
#include <holdfast/http/lease.hpp>

#include <array>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace holdfast::api {

class InFlight final : public http::Lessor {
public:
    using Address = std::array<std::uint8_t, 16>;

    /// `most` of one principal; 0: no limit.
    explicit InFlight(std::uint32_t most) : most_(most) {}

    [[nodiscard]] std::uint64_t operator_key() const noexcept { return key(hash_(1), 1); }
    [[nodiscard]] std::uint64_t holder_key(std::string_view token) const noexcept {
        return key(hash_(token), 2);
    }
    [[nodiscard]] std::uint64_t address_key(Address const& peer) const noexcept {
        return key(hash_(peer), 3);
    }
    /// A place for each of the keys that is not 0; nothing if one has as many as it may.
    [[nodiscard]] std::optional<http::Lease> take(http::Lease::Keys const& keys);
    void give_back(std::uint64_t key) noexcept override;

    /// Requests refused since the start.
    [[nodiscard]] std::uint64_t refused();
    /// Principals that have requests in flight now.
    [[nodiscard]] std::size_t principals();

private:
    struct Shard {
        std::mutex mutex;
        std::unordered_map<std::uint64_t, std::uint32_t> counts;  // keys are hashes already
        std::uint64_t refused{};
    };
    [[nodiscard]] std::uint64_t key(std::uint64_t hash, std::uint64_t kind) const noexcept {
        std::uint64_t const made = hash_(hash ^ kind);
        return made == 0 ? 1 : made;
    }
    [[nodiscard]] Shard& shard_of(std::uint64_t key) noexcept {
        return shards_[key % shards_.size()];
    }
    [[nodiscard]] bool take_one(std::uint64_t key);

    std::uint32_t most_;
    SeededHash hash_;
    std::array<Shard, 64> shards_;
};

}  // namespace holdfast::api
