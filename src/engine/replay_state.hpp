// What a replay knows of one event while it runs: by slot, by seat, and a pool of holds.
//
// Thread safety: one thread. Cost: nothing before the first hold; then 20 bytes for each slot up to
// the highest one used, 4 bytes a place, 90 bytes a hold. A hold's seat list keeps its room when
// the hold ends, so that a long journal of short holds allocates next to nothing.
#pragma once

#include <holdfast/engine/replay.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace holdfast::engine {

struct BaseEvent;
struct BaseHold;
class BaseStateWriter;

struct ReplayedHold {
    RestoredHold hold;
    Lsn claimed{};
    Lsn sold{};
};

class ReplayedEvent {
public:
    static constexpr std::uint32_t no_hold = ~std::uint32_t{0};

    explicit ReplayedEvent(std::uint32_t places);

    [[nodiscard]] std::uint32_t places() const noexcept { return places_; }
    /// Whether an event of so many places can have it.
    [[nodiscard]] bool has_slot(SlotIndex slot) const noexcept;
    [[nodiscard]] std::uint64_t generation(SlotIndex slot) const noexcept;
    /// The newest record that named the slot; no_lsn if none did.
    [[nodiscard]] Lsn last_lsn(SlotIndex slot) const noexcept;
    /// Of a slot that has had a hold.
    void touch(SlotIndex slot, Lsn lsn) noexcept;
    /// The live or sold hold of exactly this reference; null if there is none.
    [[nodiscard]] ReplayedHold* find(HoldRef ref) noexcept;
    /// The live or sold hold in the slot, of whatever generation; null if there is none.
    [[nodiscard]] ReplayedHold* in_slot(SlotIndex slot) noexcept;
    /// The live or sold hold that has the seat; null if it is free.
    [[nodiscard]] ReplayedHold* owner(SeatIndex seat) noexcept;

    /// The caller has checked that the slot is empty and the seats are free.
    void claim(ClaimFact const& fact, Lsn lsn);
    /// Frees the seats and the slot; `hold` is no longer valid.
    void end(ReplayedHold const& hold) noexcept;
    /// Half of a change of lists; set_seats is the other half.
    void set_owner(SeatIndex seat, ReplayedHold const* hold) noexcept;
    /// Makes the list of a hold what the places say: those of its list and of `more` that it owns.
    void set_seats(ReplayedHold& hold, std::span<SeatIndex const> more);
    /// Live deadlines before `at` become `at`.
    void raise_deadlines(TimePoint at) noexcept;
    void take_step(LifeStep step, TimePoint at) noexcept {
        if (!life_) first_step_ = FirstStep{step, at};
        life_ = step;
    }

    [[nodiscard]] RestoredEvent take();

    // replay_base.cpp: for base files.
    [[nodiscard]] BaseEvent base(EventId id) const;
    void save_holds(BaseStateWriter& writer) const;
    [[nodiscard]] std::size_t bytes_of_base() const noexcept;
    /// Before anything else.
    void load(BaseEvent const& event);
    /// False: it cannot be beside what was loaded before.
    [[nodiscard]] bool load(BaseHold&& entry);

private:
    [[nodiscard]] std::size_t slots_max() const noexcept;
    void have_slots(std::size_t wanted);

    std::uint32_t places_;
    std::vector<std::uint64_t> generations_;  // by slot, as far as slots were used
    std::vector<Lsn> last_lsns_;              // by slot, as far
    std::vector<std::uint32_t> hold_of_;      // by slot, as far: index into holds_, or no_hold
    std::vector<std::uint32_t> slot_of_;      // by seat: slot of its hold, 0 = free; empty at first
    std::vector<ReplayedHold> holds_;         // ref zero: not in use
    std::vector<std::uint32_t> unused_;       // indexes into holds_
    std::optional<LifeStep> life_;
    std::optional<FirstStep> first_step_;
};

}  // namespace holdfast::engine
