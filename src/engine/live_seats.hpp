// LiveSeats: which places each live hold has, as the records say; the projection's memory.
//
// Purpose: one look-up a CLAIM and one an END, at the pace of the journal. A slot has one live hold
// at a time, so an event's holds stand in pages by slot, and nothing is hashed or allocated for a
// hold of up to three places.
// Thread safety: one thread. Invariants: only the hold that was put last into a slot is found.
// Cost: 24 bytes a slot, in pages of 1,024 slots that were ever used.
#pragma once

#include <holdfast/engine/facts.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace holdfast::engine {

class LiveSeats {
public:
    /// The hold is live from now on, with these places.
    void put(HoldKey const& hold, std::span<SeatIndex const> seats);
    /// Nothing if the hold is not live. Good until the next put or erase.
    [[nodiscard]] std::optional<std::span<SeatIndex const>> find(HoldKey const& hold) const;
    /// If it is live.
    void erase(HoldKey const& hold);
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    static constexpr std::size_t kept_here = 3;
    static constexpr std::uint32_t no_hold = UINT32_MAX;
    static constexpr std::size_t page_slots = 1'024;
    struct Entry {
        HoldRef ref{};
        std::uint32_t count{no_hold};  // more than kept_here: the places are in many_
        std::array<SeatIndex, kept_here> seats{};
    };
    using Page = std::array<Entry, page_slots>;
    using Pages = std::vector<std::unique_ptr<Page>>;

    /// Of its slot; null if that was never used.
    [[nodiscard]] Entry* entry_of(HoldKey const& hold) const;
    [[nodiscard]] Entry& make_entry(HoldKey const& hold);
    [[nodiscard]] static bool has(Entry const* entry, HoldKey const& hold) noexcept {
        return entry != nullptr && entry->count != no_hold && entry->ref == hold.ref;
    }
    /// Ends the hold that the slot has, if any.
    void clear(HoldKey const& hold, Entry& entry);
    [[nodiscard]] static std::uint64_t place_of(HoldKey const& hold) noexcept {
        return std::uint64_t{hold.event.value()} << HoldRef::slot_bits | hold.ref.slot().value();
    }

    std::unordered_map<std::uint32_t, Pages> events_;
    std::unordered_map<std::uint64_t, std::vector<SeatIndex>> many_;  // by event and slot
    std::size_t size_{};
};

}  // namespace holdfast::engine
