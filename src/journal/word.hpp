// The one word by which producers share out the filling buffer: {lsn: 40, sequence: 4, filled: 20}.
//
// Purpose: a single compare-and-swap gives a record its LSN and its place, and also moves on to the
// next buffer. These are the pure steps on the word; buffer.cpp runs them on an atomic.
// Invariants: the word is all there is to a step, so a word that comes back bit for bit (after 2^40
// records) is no hazard: the step on it is right then too.
#pragma once

#include <cstddef>
#include <cstdint>

namespace holdfast::journal {

class FillWord {
public:
    static constexpr unsigned filled_bits = 20;
    static constexpr unsigned sequence_bits = 4;
    static constexpr unsigned lsn_bits = 40;
    static_assert(filled_bits + sequence_bits + lsn_bits == 64);
    static constexpr std::uint64_t lsn_mask = (std::uint64_t{1} << lsn_bits) - 1;
    static constexpr std::uint32_t sequence_mask = (1U << sequence_bits) - 1;

    explicit constexpr FillWord(std::uint64_t bits) noexcept : bits_(bits) {}
    constexpr FillWord(std::uint64_t lsn, std::uint32_t sequence, std::uint32_t filled) noexcept
        : bits_(((lsn & lsn_mask) << (sequence_bits + filled_bits)) |
                (std::uint64_t{sequence & sequence_mask} << filled_bits) | filled) {}

    [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }
    /// Low bits of the newest LSN handed out.
    [[nodiscard]] constexpr std::uint64_t lsn_low() const noexcept {
        return bits_ >> (sequence_bits + filled_bits);
    }
    /// Number of the filling buffer, modulo 16.
    [[nodiscard]] constexpr std::uint32_t sequence() const noexcept {
        return static_cast<std::uint32_t>(bits_ >> filled_bits) & sequence_mask;
    }
    /// Bytes given out in the filling buffer.
    [[nodiscard]] constexpr std::uint32_t filled() const noexcept {
        return static_cast<std::uint32_t>(bits_) & ((1U << filled_bits) - 1);
    }

    /// The word after one more record of `bytes`, in this buffer if it fits, else as the first of
    /// the next one.
    [[nodiscard]] constexpr FillWord with_record(std::size_t bytes,
                                                 std::size_t capacity) const noexcept {
        auto const size = static_cast<std::uint32_t>(bytes);
        if (filled() + bytes <= capacity) return {lsn_low() + 1, sequence(), filled() + size};
        return {lsn_low() + 1, sequence() + 1, size};
    }
    /// The word after closing the filling buffer without a record.
    [[nodiscard]] constexpr FillWord closed() const noexcept {
        return {lsn_low(), sequence() + 1, 0};
    }

    /// The LSN with these low bits that is nearest to `near` (within 2^39 either way).
    [[nodiscard]] static constexpr std::uint64_t extend(std::uint64_t low,
                                                        std::uint64_t near) noexcept {
        std::uint64_t const ahead = (low - near) & lsn_mask;
        std::uint64_t const half = std::uint64_t{1} << (lsn_bits - 1);
        return ahead < half ? near + ahead : near + ahead - (lsn_mask + 1);
    }

private:
    std::uint64_t bits_;
};

}  // namespace holdfast::journal
