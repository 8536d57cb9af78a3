// The ids of everything holdfast names.
//
// Thread safety: values.
#pragma once

#include <holdfast/base/strong_id.hpp>

#include <array>
#include <compare>
#include <cstdint>

namespace holdfast {

/// Key of an event in the catalogue and in the journal; dense from 1, never used again.
using EventId = StrongId<struct EventIdTag, std::uint32_t>;
/// 0 ... n-1 inside an event: labelled seats first, in section, row and array order; then the
/// places of the general-admission sections, section by section.
using SeatIndex = StrongId<struct SeatIndexTag, std::uint32_t>;
using SectionIndex = StrongId<struct SectionIndexTag, std::uint32_t>;
/// Rows are counted through the whole event, in section order.
using RowIndex = StrongId<struct RowIndexTag, std::uint32_t>;
using CategoryIndex = StrongId<struct CategoryIndexTag, std::uint32_t>;
/// A hold record of an event; 0 is never used.
using SlotIndex = StrongId<struct SlotIndexTag, std::uint32_t>;
/// Position of a record in the journal; the first record has 1.
using Lsn = StrongId<struct LsnTag, std::uint64_t>;
inline constexpr Lsn no_lsn{0};

/// Reference to one hold of one event: {generation: 40, slot: 24}. The generation grows with each
/// use of the slot and with each start, so an old reference fits no new hold. 0: "never held".
class HoldRef {
public:
    using Bits = std::uint64_t;
    static constexpr unsigned slot_bits = 24;
    static constexpr std::uint64_t generation_max = (std::uint64_t{1} << 40) - 1;

    constexpr HoldRef() = default;
    explicit constexpr HoldRef(std::uint64_t bits) noexcept : bits_(bits) {}
    constexpr HoldRef(std::uint64_t generation, SlotIndex slot) noexcept
        : bits_((generation << slot_bits) | slot.value()) {}
    [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }
    [[nodiscard]] constexpr std::uint64_t generation() const noexcept { return bits_ >> slot_bits; }
    [[nodiscard]] constexpr SlotIndex slot() const noexcept {
        return SlotIndex{static_cast<std::uint32_t>(bits_ & ((1U << slot_bits) - 1))};
    }
    friend constexpr auto operator<=>(HoldRef, HoldRef) noexcept = default;

private:
    std::uint64_t bits_{};
};

/// 128 random bits; an order's name. All zero means "no order".
struct OrderId {
    std::uint64_t high{};
    std::uint64_t low{};
    friend constexpr auto operator<=>(OrderId const&, OrderId const&) = default;
};

/// 128 bits derived from the order and the seat under the server's key.
struct TicketId {
    std::array<std::uint8_t, 16> bytes{};
    friend constexpr auto operator<=>(TicketId const&, TicketId const&) = default;
};

}  // namespace holdfast
