// Holder: what the engine keeps in a hold's opaque holder word: {kind: 8, extensions used: 8,
// account: 48}.
#pragma once

#include <cstdint>

namespace holdfast::engine {

/// Part of the journal's records: numbers are never given another meaning.
enum class HolderKind : std::uint8_t { buyer = 0, staff_block = 1, staff_not_for_sale = 2 };

class Holder {
public:
    explicit constexpr Holder(std::uint64_t bits) noexcept : bits_(bits) {}
    constexpr Holder(HolderKind kind, std::uint64_t account) noexcept
        : bits_((std::uint64_t{static_cast<std::uint8_t>(kind)} << 56) | (account & account_mask)) {
    }
    [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }
    [[nodiscard]] constexpr HolderKind kind() const noexcept {
        return static_cast<HolderKind>(bits_ >> 56);
    }
    [[nodiscard]] constexpr bool is_block() const noexcept {
        return kind() == HolderKind::staff_block || kind() == HolderKind::staff_not_for_sale;
    }
    [[nodiscard]] constexpr std::uint32_t extensions() const noexcept {
        return static_cast<std::uint32_t>(bits_ >> 48) & 0xFF;
    }
    [[nodiscard]] constexpr std::uint64_t account() const noexcept { return bits_ & account_mask; }
    /// One extension more; the caller has checked the limit, which is below 255.
    [[nodiscard]] constexpr Holder extended() const noexcept {
        return Holder{bits_ + (std::uint64_t{1} << 48)};
    }

private:
    static constexpr std::uint64_t account_mask = (std::uint64_t{1} << 48) - 1;
    std::uint64_t bits_;
};

}  // namespace holdfast::engine
