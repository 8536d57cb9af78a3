// Accounts: where claims, ends and sales meet the limits of the account that makes them.
//
// Purpose: one event's UserLimits and CoolDowns, either of which may be missing, as the protocol
//   needs them; an event without such limits pays one predictable branch a call.
// Thread safety: every function by any thread, under the rules beside each.
// Invariants: what a claim reserves is live before its hold can end, and given back after its END
//   has its LSN and before its places are free (PROTOCOL.md F11). Only whoever took the hold into
//   `ending` gives back, so a helper that finishes an end may overtake it: the counts may trail an
//   end for a moment, they never run ahead of it. A cool-down is noted by every helper, too, so no
//   place is free without it.
// Cost: see user_limits.hpp and cool_downs.hpp; with a budget 8 bytes a slot.
//
// What a hold spends: the time of each of its places, from when the hold had one more until it has
//   one less. Places for as many others spend nothing by themselves, because the hold goes on with
//   as many; those it has fewer spend the average of its places. A hold keeps for this how much
//   time its places lack to have been its own since its claim. After a restart that is nothing.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/inventory/cool_downs.hpp>
#include <holdfast/inventory/places.hpp>
#include <holdfast/inventory/user_limits.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

namespace holdfast::inventory {

/// The account in a hold's holder word: its low 48 bits, if the top byte says that a buyer has the
/// hold (0). 0 is nobody: a guest, or staff.
[[nodiscard]] constexpr std::uint64_t account_of(std::uint64_t holder) noexcept {
    return holder >> 56 == 0 ? holder & limits::account_max : 0;
}

/// What an event counts by account; null: not at all. They outlive the claims.
template <class A>
struct AccountRules {
    UserLimits<A>* users{};
    CoolDowns<A>* cool_downs{};
};

/// How many places more (or fewer) an account has after an edit of its holds.
struct AccountShift {
    std::uint64_t account{};
    std::int64_t units{};
    bool takes{};  // an open hold of it gets a place that it did not have
};

template <class A>
class Accounts {
public:
    using Ticket = typename UserLimits<A>::Ticket;
    /// What a hold looked like just before its end. Raw: only the CAS that ends the hold makes sure
    /// that all of it was of one hold. Account 0: nobody who is counted.
    struct Leaver {
        std::uint64_t account{};
        std::uint32_t units{};
        std::int64_t asked{}, deadline{};
        std::int64_t late{};  // ms that its places lack since `asked`, together
        TimePoint now{};
    };

    Accounts(SlotPool<A>& pool, AccountRules<A> const& rules)
        : pool_(pool), users_(rules.users), cool_downs_(rules.cool_downs) {
        if (users_ != nullptr && users_->rules().budget_ms != UserRules::no_budget)
            late_ = std::make_unique<Late[]>(std::size_t{pool.count()} + 1);
    }

    /// Before a claim touches a place. `granted` may come with an empty ticket.
    [[nodiscard]] UserVerdict reserve(std::uint64_t holder, std::uint32_t units, Ticket& ticket) {
        if (users_ == nullptr) return UserVerdict::granted;
        return users_->reserve_claim(account_of(holder), units, ticket);
    }
    void lose(Ticket& ticket) {
        if (ticket) users_->lose(ticket);
    }
    /// While the claim is `won`: nobody can end it yet.
    void win(HoldRef ref, Ticket& ticket) {
        if (!ticket) return;
        if (late_ != nullptr) late_of(ref).store(0, A::release);  // release: payload store
        users_->win(ticket);
    }

    /// Before the CAS into `ending`.
    [[nodiscard]] Leaver leaver(HoldRef ref, TimePoint now) const {
        std::uint64_t const account = counted(ref);
        if (account == 0) return {};
        auto& slot = pool_[ref.slot().value()];
        // acquire: payload loads.
        return {account,
                ListShape{slot.shape.load(A::acquire)}.count(),
                slot.asked.load(A::acquire),
                slot.expires_at.load(A::acquire),
                late_ != nullptr ? late_of(ref).load(A::acquire) : 0,
                now};
    }
    /// By the thread whose CAS made the hold `ending`, after its END and before its places are
    /// free. What has ended was held for nothing, until `leaver.now` or its deadline, whichever
    /// came first, whoever ended it.
    void see_off(HoldRef ref, HoldWord ending, Leaver const& leaver) {
        if (leaver.account == 0) return;
        cool(ref, ending, leaver);
        if (users_ == nullptr) return;
        std::int64_t const held = (until(leaver) - TimePoint{Milliseconds{leaver.asked}}).count();
        std::int64_t const spent = leaver.units * held - leaver.late;
        users_->end_hold(leaver.account, leaver.units, Milliseconds{spent});
    }
    /// By everybody who finishes an end that another thread began, before the places are free: the
    /// cool-downs only. `now`: the helper's.
    void see_off_helped(HoldRef ref, HoldWord ending, TimePoint now) {
        if (cool_downs_ == nullptr) return;
        Leaver const seen = leaver(ref, now);
        // If the word has changed meanwhile this is of another hold, and nothing is noted.
        if (seen.account != 0) cool(ref, ending, seen);
    }

    /// By the thread that entered `confirming`, before the hold is sold.
    void sell(HoldRef ref) {
        if (users_ == nullptr) return;
        if (auto const account = account_in(ref); account != 0) users_->sell_hold(account);
    }
    /// By the thread that entered the edit of a sold hold, before all its places are free.
    void refund(HoldRef ref) {
        if (users_ == nullptr) return;
        auto const account = account_in(ref);
        // acquire: payload load; the edit is the caller's, so it is this hold's.
        ListShape const shape{pool_[ref.slot().value()].shape.load(A::acquire)};
        if (account != 0) users_->refund_hold(account, shape.count());
    }

    /// Edits: the account of a hold that the caller has entered; 0: nobody who is counted.
    [[nodiscard]] std::uint64_t counted(HoldRef ref) const {
        return users_ != nullptr || cool_downs_ != nullptr ? account_in(ref) : 0;
    }
    /// Reserves what accounts get more, all or nothing, before any new place is touched. An account
    /// with a spent budget gets no place for an open hold that the hold did not have, not even for
    /// another.
    [[nodiscard]] UserVerdict reserve(std::span<AccountShift const> shifts) {
        for (std::size_t i = 0; users_ != nullptr && i < shifts.size(); ++i) {
            UserVerdict verdict = UserVerdict::granted;
            if (shifts[i].takes && users_->is_spent(shifts[i].account))
                verdict = UserVerdict::budget;
            else if (shifts[i].units > 0)
                verdict = users_->reserve(shifts[i].account, units_of(shifts[i]));
            if (verdict == UserVerdict::granted) continue;
            cancel(shifts.first(i));
            return verdict;
        }
        return UserVerdict::granted;
    }
    void cancel(std::span<AccountShift const> shifts) {
        for (AccountShift const& shift : shifts)
            if (users_ != nullptr && shift.units > 0)
                users_->cancel(shift.account, units_of(shift));
    }
    /// The edit happens: its record has an LSN, its holds are still `editing`, and the places that
    /// go are not free yet.
    void settle(std::span<AccountShift const> shifts) {
        for (AccountShift const& shift : shifts) {
            if (users_ == nullptr || shift.units == 0) continue;
            if (shift.units > 0)
                users_->keep(shift.account, units_of(shift));
            else
                users_->give_back(shift.account, units_of(shift));
        }
    }
    /// A place of an open hold goes back unbought by an edit at `now`; before it is free.
    void drop(HoldRef ref, SeatIndex seat, TimePoint now) {
        auto const account = counted(ref);
        if (account == 0 || cool_downs_ == nullptr) return;
        cool_downs_->note(seat.value(), account, now, [] { return true; });
    }
    /// An edit at `now` leaves an open hold with `after` places instead of `before`.
    void resize(HoldRef ref, std::size_t before, std::size_t after, TimePoint now) {
        if (late_ == nullptr || before == after) return;
        auto const account = counted(ref);
        if (account == 0) return;
        auto const had = static_cast<std::int64_t>(before);
        auto const has = static_cast<std::int64_t>(after);
        // acquire: payload load; the edit is the caller's, so it is this hold's.
        TimePoint const asked{Milliseconds{pool_[ref.slot().value()].asked.load(A::acquire)}};
        std::int64_t const life = std::max<std::int64_t>((now - asked).count(), 0);
        std::int64_t late = late_of(ref).load(A::relaxed);  // relaxed: ours
        if (has > had) {
            late += (has - had) * life;
        } else {
            std::int64_t const lacked = late * (had - has) / had;  // by those that go
            users_->charge(account, Milliseconds{(had - has) * life - lacked});
            late -= lacked;
        }
        late_of(ref).store(late, A::release);  // release: payload store
    }

private:
    [[nodiscard]] static std::uint32_t units_of(AccountShift const& shift) noexcept {
        return static_cast<std::uint32_t>(shift.units < 0 ? -shift.units : shift.units);
    }
    [[nodiscard]] std::uint64_t account_in(HoldRef ref) const {
        return account_of(pool_[ref.slot().value()].holder.load(A::acquire));  // payload load
    }
    [[nodiscard]] static TimePoint until(Leaver const& leaver) noexcept {
        return std::min(leaver.now, TimePoint{Milliseconds{leaver.deadline}});
    }
    /// Notes the places of a hold that is `ending`, as long as it is: once it is not, whoever
    /// finished the end has noted them all, and the list may be another hold's.
    void cool(HoldRef ref, HoldWord ending, Leaver const& leaver) {
        if (cool_downs_ == nullptr) return;
        auto& word = pool_[ref.slot().value()].word;
        // relaxed: after acquire loads.
        auto const still = [&] { return HoldWord{word.load(A::relaxed)} == ending; };
        SeatCursor<A> cursor;
        cursor.start(pool_, ref.slot().value());
        for (std::uint32_t i = 0; i < leaver.units; ++i) {
            std::uint32_t const place = cursor.next();
            if (!still()) return;  // before the place is used as an index
            cool_downs_->note(place, leaver.account, until(leaver), still);
        }
    }

    using Late = typename A::template Atomic<std::int64_t>;
    [[nodiscard]] Late& late_of(HoldRef ref) const { return late_[ref.slot().value()]; }

    SlotPool<A>& pool_;
    UserLimits<A>* users_;
    CoolDowns<A>* cool_downs_;
    std::unique_ptr<Late[]> late_;  // by slot, part of its payload; null without a budget
};

}  // namespace holdfast::inventory
