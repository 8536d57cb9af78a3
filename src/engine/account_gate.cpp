#include "engine/account_gate.hpp"

#include "engine/engine_core.hpp"

#include <holdfast/base/assert.hpp>

#include <algorithm>

namespace holdfast::engine {

using inventory::UserVerdict;

std::optional<Refusal> AccountGate::foresee(std::uint32_t places) const {
    auto* const users = sale_.inventory().users.get();
    if (account_ == 0 || users == nullptr) return std::nullopt;
    sale_.inventory().holds.end_due(account_, now_);
    UserVerdict const verdict = users->foresee(account_, places);
    if (verdict == UserVerdict::granted) return std::nullopt;
    return refusal_of(verdict);
}

std::optional<Refusal> AccountGate::spent() const {
    auto const budget = sale_.spec().policy.hold_seconds_budget;
    if (account_ == 0 || !budget) return std::nullopt;
    SaleInventory& inventory = sale_.inventory();
    inventory.holds.end_due(account_, now_);
    if (inventory.users->counts(account_).spent_ms < *budget * 1'000ULL) return std::nullopt;
    return refusal_of(UserVerdict::budget);
}

Refusal AccountGate::refusal_of(UserVerdict verdict) const {
    EventPolicy const& policy = sale_.spec().policy;
    inventory::UserCounts const has = sale_.inventory().users->counts(account_);
    Refusal refusal;
    switch (verdict) {
        case UserVerdict::units:
            refusal.code = RefusalCode::user_limit;
            refusal.limit = LimitKind::places;
            refusal.number = policy.max_per_user.value_or(0);
            refusal.have = has.units;
            return refusal;
        case UserVerdict::open_holds:
            refusal.code = RefusalCode::user_limit;
            refusal.limit = LimitKind::open_holds;
            refusal.number = policy.max_open_holds_per_user.value_or(0);
            refusal.have = has.open_holds;
            return refusal;
        case UserVerdict::budget:
            refusal.code = RefusalCode::hold_budget;
            refusal.number = policy.hold_seconds_budget.value_or(0);
            // It does not come back in this event; told all the same, so that bots come rarely.
            refusal.at = now_ + limits::hold_budget_retry;
            return refusal;
        case UserVerdict::busy:
            refusal.code = RefusalCode::busy;
            return refusal;
        case UserVerdict::granted:
            break;
    }
    HOLDFAST_ASSERT(!"a granted claim is not refused");
    return refusal;
}

std::optional<Refusal> AccountGate::cooling(SeatIndex seat) const {
    if (!cools_) return std::nullopt;
    SaleInventory& inventory = sale_.inventory();
    // Whether there is room in the journal shows when the claim itself needs it.
    static_cast<void>(inventory.claims.settle(seat.value(), now_));
    auto const until = inventory.cool_downs->cooling(seat.value(), account_, now_);
    if (!until) return std::nullopt;
    Refusal refusal;
    refusal.code = RefusalCode::hold_budget;
    refusal.seat = seat;
    refusal.seat_reason = SeatReason::cooling_down;
    refusal.at = *until;
    return refusal;
}

bool AccountGate::meets_cooling(std::span<SeatIndex const> places) {
    if (!cools_) return false;
    if (std::ranges::none_of(places, [this](SeatIndex seat) { return cooling(seat).has_value(); }))
        return false;
    cooling_.clear();
    sale_.inventory().cool_downs->collect(account_, now_, cooling_);
    return true;
}

}  // namespace holdfast::engine
