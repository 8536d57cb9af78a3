// Engine::Core: what the engine's source files share.
#pragma once

#include "engine/patience.hpp"
#include "engine/registry.hpp"

#include <mutex>

namespace holdfast::engine {

struct Engine::Core {
    journal::Journal& journal;
    EngineOptions options;
    Registry registry{};
    std::mutex steps{};  // of the life of any event: memory and journal see them in one order
    Marks marks{options.marks, [this](HoldName const& hold) { return lives(hold); }};

    [[nodiscard]] bool lives(HoldName const& hold) const {
        Sale const* const sale = registry.find(hold.event);
        return sale != nullptr && sale->ready() &&
               sale->inventory().holds.look(hold.ref, nullptr).has_value();
    }
};

[[nodiscard]] inline Refusal refuse(RefusalCode code) {
    Refusal refusal;
    refusal.code = code;
    return refusal;
}

/// Why the journal has no room: it is not writable, or just full.
[[nodiscard]] inline Refusal no_space(journal::Journal const& journal) {
    if (journal.mode() == journal::Mode::running) return refuse(RefusalCode::overloaded);
    return journal::read_only(journal);
}

/// Why a buyer's verb is refused on a staff block, which has neither a deadline nor a buyer.
[[nodiscard]] inline std::optional<Refusal> refuse_block(inventory::HoldLook const& look,
                                                         HeldAs to) {
    if (!Holder{look.holder}.is_block()) return std::nullopt;
    Refusal refusal = refuse(RefusalCode::illegal_transition);
    refusal.from = place_state(HeldAs::blocked);
    refusal.to = place_state(to);
    return refusal;
}
/// That a newcomer cannot have the place, and why.
[[nodiscard]] Refusal unavailable(Sale const& sale, SeatIndex seat, TimePoint now);
/// Why a sale in `state`, which is not open, takes no claim.
[[nodiscard]] Refusal sale_is_shut(Sale const& sale, EventState state, TimePoint now);
/// A lost race is somebody else's success and tells us that a hint was wrong: a claim or a block
/// chooses anew so often before it says `busy`.
inline constexpr int lost_races_max = 64;

/// The sale of a hold and a look at it in state held or sold, or why there is none. A hold met past
/// its deadline is ended here and now, so that no verb with an earlier clock can still use it.
struct FoundHold {
    Sale* sale{};
    inventory::HoldLook look;
};
/// `seats` may be null.
[[nodiscard]] Result<FoundHold> find_hold(Engine::Core& core, HoldName const& hold, TimePoint now,
                                          std::vector<SeatIndex>* seats, Patience& patience);

class Marking;

/// Ends a hold that is still what `found` says, with the cause that a buyer's hold is released and
/// a block is ended by staff. `lost`: it has changed since, look again; so nothing ends that the
/// caller has not seen.
[[nodiscard]] inventory::EndOutcome end_as_seen(FoundHold const& found, HoldRef ref, TimePoint now,
                                                Marking& marking);

/// Ends a hold that somebody asks to end: the LSN of the END, no_lsn if it had ended before.
/// `objection`: why a hold that was found is not ended.
[[nodiscard]] Result<Lsn> end_hold(Engine::Core& core, HoldName const& hold, TimePoint now,
                                   std::optional<Refusal> (*objection)(inventory::HoldLook const&),
                                   Mark const* mark);

}  // namespace holdfast::engine
