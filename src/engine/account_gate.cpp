#include "engine/account_gate.hpp"

#include "engine/engine_core.hpp"

#include <holdfast/base/assert.hpp>

#include <algorithm>
#include <iterator>

namespace holdfast::engine {

using inventory::UserVerdict;

std::optional<Refusal> AccountGate::foresee_exchange(std::size_t added, std::size_t dropped) const {
    if (added == 0) return std::nullopt;
    return foresee({static_cast<std::uint32_t>(added - std::min(added, dropped)), 0});
}

std::optional<Refusal> AccountGate::foresee_counted(inventory::UserWish const& wish) const {
    auto* const users = sale_.inventory().users.get();
    UserVerdict verdict = users->foresee(account_, wish);
    if (verdict == UserVerdict::budget) return refusal_of(verdict);
    // What has expired is not held any more, and its time is spent, whether the timer has come to
    // it or not.
    bool const may_change = verdict != UserVerdict::granted ||
                            (users->rules().budget_ms != inventory::UserRules::no_budget &&
                             users->counts(account_).open_holds > 0);
    if (!may_change) return std::nullopt;
    SaleInventory& inventory = sale_.inventory();
    bool by_another = false;  // another thread is just ending what is due
    do {
        bool const done = inventory.settle_due(now_);
        bool const settled = inventory.wheel.settled(now_);
        verdict = users->foresee(account_, wish);
        if (verdict == UserVerdict::granted) return std::nullopt;
        // Spent time only grows; anything else may be different when all that is due is ended.
        if (settled || verdict == UserVerdict::budget) return refusal_of(verdict);
        by_another = done;
    } while (by_another && patience_.lasts());
    return refusal_of(UserVerdict::busy);
}

std::optional<Refusal> AccountGate::refuse_limited(UserVerdict verdict,
                                                   std::uint32_t places) const {
    // Another claim of the account has taken the room since, and an own hold that is due may still
    // count; or (`busy`) only claims under way are in the way.
    if (verdict != UserVerdict::busy) {
        if (auto refusal = foresee(places)) return refusal;
    }
    if (patience_.lasts()) return std::nullopt;
    return refusal_of(UserVerdict::busy);
}

std::optional<Refusal> AccountGate::spent() const {
    return foresee(inventory::UserWish{});
}

std::uint32_t AccountGate::room() const {
    if (!counted_) return inventory::UserRules::no_limit;
    auto const& users = sale_.inventory().users;
    std::uint32_t const most = users->rules().max_units;
    if (most == inventory::UserRules::no_limit) return most;
    return most - std::min(most, users->counts(account_).units);
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

std::optional<Refusal> AccountGate::refuse_named(SeatIndex seat) const {
    auto const refusal = cooling(seat);
    if (refusal && sale_.reason(seat, now_) != SeatReason::none)
        return unavailable(sale_, seat, now_);
    return refusal;
}

std::optional<Refusal> AccountGate::until_all_cooled(std::span<SeatIndex const> places) const {
    std::optional<Refusal> last;
    for (SeatIndex const seat : places) {
        auto const refusal = cooling(seat);
        if (refusal && (!last || refusal->at > last->at)) last = refusal;
    }
    return last;
}

Refusal AccountGate::until_enough_cooled(std::span<SeatIndex const> places,
                                         std::size_t lacking) const {
    HOLDFAST_ASSERT(lacking > 0);
    std::vector<Refusal> cool;
    for (SeatIndex const seat : places) {
        auto const refusal = cooling(seat);
        if (refusal && sale_.reason(seat, now_) == SeatReason::none) cool.push_back(*refusal);
    }
    if (cool.size() < lacking) return refuse(RefusalCode::busy);  // they have changed meanwhile
    std::ranges::sort(cool, {}, &Refusal::at);
    return cool[lacking - 1];
}

bool AccountGate::leave_out_cooling(std::span<SeatIndex const> places) {
    bool met = false;
    for (SeatIndex const seat : places) {
        if (!cooling(seat)) continue;
        met = true;
        if (!std::ranges::binary_search(cooling_, seat)) leave_out_around(seat);
    }
    return met;
}

void AccountGate::leave_out_around(SeatIndex seat) {
    std::vector<SeatIndex> met;
    sale_.inventory().cool_downs->collect(seat.value(), account_, now_, met);
    // What another account has held since, and let expire, is noted as that one's when it is ended.
    std::erase_if(met, [this](SeatIndex near) { return !cooling(near); });
    std::vector<SeatIndex> all;
    std::ranges::set_union(cooling_, met, std::back_inserter(all));
    cooling_ = std::move(all);
}

}  // namespace holdfast::engine
