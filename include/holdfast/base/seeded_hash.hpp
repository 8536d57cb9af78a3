// SeededHash: spreads what clients choose with a secret.
//
// Purpose: the hash of tables whose keys come from outside. Nobody who does not know the seed can
//   choose keys that meet in one bucket, and so turn a look-up into a walk.
// Thread safety: a value. Invariants: copies agree; two that were made apart do not.
// Cost: two multiplications a word; a system call to make one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace holdfast {

class SeededHash {
public:
    /// With a new seed.
    SeededHash();
    explicit constexpr SeededHash(std::uint64_t seed) noexcept : seed_(seed) {}

    [[nodiscard]] std::size_t operator()(std::uint64_t word) const noexcept {
        return mix(word ^ seed_);
    }
    [[nodiscard]] std::size_t operator()(std::array<std::uint8_t, 16> const& bytes) const noexcept {
        std::uint64_t words[2];
        std::memcpy(words, bytes.data(), sizeof words);
        return mix(mix(words[0] ^ seed_) ^ words[1]);
    }
    [[nodiscard]] std::size_t operator()(std::string_view text) const noexcept {
        // The length first: a text that ends with zeros is not the shorter one.
        std::uint64_t hash = mix(text.size() ^ seed_);
        while (!text.empty()) {
            std::uint64_t word = 0;
            auto const bytes = text.size() < sizeof word ? text.size() : sizeof word;
            std::memcpy(&word, text.data(), bytes);
            hash = mix(hash ^ word);
            text.remove_prefix(bytes);
        }
        return hash;
    }

private:
    [[nodiscard]] static constexpr std::uint64_t mix(std::uint64_t word) noexcept {
        word = (word ^ (word >> 31)) * 0x9E3779B97F4A7C15U;
        word = (word ^ (word >> 29)) * 0xBF58476D1CE4E5B9U;
        return word ^ (word >> 32);
    }

    std::uint64_t seed_;
};

}  // namespace holdfast
