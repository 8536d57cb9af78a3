// SeatFollower: what somebody who follows an event knows of its places, from look to look.
//
// Purpose: the deltas of a stream. A look (LiveEvent::follow) finds every place that was touched
//   since the look before, also if it looks the same again: who read the places in between would
//   keep what they were then.
// Thread safety: one thread at a time.
// Invariants: a look that succeeded knows every fact of the event that was in the journal when it
//   began, and no change whose fact was not in the journal when it ended. Deadlines do not count: a
//   place is free to a follower when the end of its hold is a fact.
// Cost: 12 bytes a place. A look is two loads a place, and a consistent look at those that changed.
#pragma once

#include <holdfast/engine/engine.hpp>

#include <cstdint>
#include <vector>

namespace holdfast::engine {

class Sale;

class SeatFollower {
public:
    /// Labelled seats that were touched since forget(), ascending, each once.
    [[nodiscard]] std::vector<SeatIndex> touched() const;
    /// General-admission sections with a touched place, as they are now.
    [[nodiscard]] std::vector<SectionCount> touched_general() const;
    [[nodiscard]] bool any_touched() const noexcept;
    /// What was touched has been told.
    void forget() noexcept;

    [[nodiscard]] PlaceState state(SeatIndex place) const noexcept {
        return static_cast<PlaceState>(kept_[place.value()].mark >> state_shift);
    }
    /// All places, as the document of them has them.
    [[nodiscard]] SeatStates states() const;

private:
    friend class Sale;

    static constexpr unsigned state_shift = 24;  // over state and version of the hold's word

    struct Kept {
        std::uint32_t owner_high{}, owner_low{};
        std::uint32_t mark{};
    };
    static_assert(sizeof(Kept) == 12);

    std::vector<Kept> kept_;  // of each place; empty before the first look
    std::uint32_t labelled_{};
    std::vector<SeatIndex> touched_;  // some may be there twice
    std::vector<SectionCount> general_;
    std::vector<bool> general_touched_;
};

}  // namespace holdfast::engine
