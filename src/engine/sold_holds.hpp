// Sold holds: what an order still has, for the verbs that change it.
//
// Purpose: looks at the holds of an order, and enters them for one change.
// Thread safety: any thread. Invariants: a hold that is being changed is waited for, so the looks
//   are of holds that were sold to this order at some instant of the call.
// Cost: a look for each hold.
#pragma once

#include "engine/engine_core.hpp"
#include "engine/entered.hpp"

#include <optional>
#include <span>
#include <vector>

namespace holdfast::engine {

/// A hold that the order still has, as it looked.
struct SoldHold {
    Sale* sale{};
    HoldName name;
    inventory::HoldLook look;
    std::vector<SeatIndex> seats;
};

/// What the order still has; not empty. already_released if nothing is left.
[[nodiscard]] Result<std::vector<SoldHold>> holds_of(Engine::Core& core, OrderId const& order,
                                                     std::span<HoldName const> names);

class Marking;
/// The mark of a change of the order that has these holds; kept as long as that of the order.
[[nodiscard]] MarkBytes mark_of_change(Marking& marking, std::span<SoldHold const> holds,
                                       ChangeAnswer const* after);

/// Enters all of them, or none and false.
[[nodiscard]] bool enter_all(std::span<SoldHold const> holds, Entered& entered,
                             std::vector<inventory::Edit>& edits);

/// Why an order cannot be left with these of an event's seats: a group would lose a part. Sorts.
[[nodiscard]] std::optional<Refusal> refuse_parted(Sale const& sale, std::vector<SeatIndex>& seats);

}  // namespace holdfast::engine
