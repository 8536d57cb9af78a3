// UserLimits: how much each account has and may have of one event.
//
// Purpose: the limits that a claim meets in the same step: places held and sold (max_units), holds
//   not bought yet (max_open_holds), and the place-milliseconds of holds that ended unbought
//   (budget_ms). A limit's word is {live: 32, in_flight: 32}, after PROTOCOL.md F11: a claim
//   reserves in flight before it touches a place, its win makes that live, its loss takes it back.
// Thread safety: every function by any thread; restore() by one, before the event is shared.
// Invariants: live never exceeds its limit (I12); a refusal means that live + asked was over the
//   limit at one instant of the call: what other claims have only in flight is waited for briefly
//   and then answered `busy`. At rest live = held + sold. An entry changes hands only while its
//   account has nothing: see user_table.hpp. Spent time is never told too high; the least of it is
//   forgotten when more accounts come than the table has entries.
// Cost: a claim is one RMW for its pin and two a limit, an end one each; the table is made with the
//   event.
#pragma once

#include <holdfast/base/assert.hpp>
#include <holdfast/base/clock.hpp>
#include <holdfast/domain/limits.hpp>
#include <holdfast/inventory/user_table.hpp>

#include <cstdint>

namespace holdfast::inventory {

/// What one event allows each account.
struct UserRules {
    static constexpr std::uint32_t no_limit = ~0U;
    static constexpr std::uint64_t no_budget = ~std::uint64_t{0};
    std::uint32_t max_units{no_limit};
    std::uint32_t max_open_holds{no_limit};
    std::uint64_t budget_ms{no_budget};

    [[nodiscard]] bool any() const noexcept {
        return max_units != no_limit || max_open_holds != no_limit || budget_ms != no_budget;
    }
};

/// What somebody wants more than the account has.
struct UserWish {
    std::uint32_t units{};
    std::uint32_t holds{};  // 1: a claim; 0: other or more places for a hold that is there
};

enum class UserVerdict : std::uint8_t {
    granted,
    units,       // live units + asked > max_units
    open_holds,  // live holds + 1 > max_open_holds
    budget,      // all of it is spent
    busy,        // other claims of the account are in flight, or the table is full
};

/// What an account has now. For people and tests: the numbers need not be of one instant.
struct UserCounts {
    std::uint32_t units{}, units_in_flight{};
    std::uint32_t open_holds{}, open_holds_in_flight{};
    std::uint64_t spent_ms{};
};

template <class A>
class UserLimits {
public:
    template <class T>
    using Atomic = typename A::template Atomic<T>;
    using Entry = UserEntry<A>;

    /// A claim's reservation, which it must win or lose.
    class Ticket {
    public:
        [[nodiscard]] explicit operator bool() const noexcept { return entry_ != nullptr; }

    private:
        friend UserLimits;
        Entry* entry_{};
        std::uint32_t units_{};
    };

    /// `entries`: a power of two.
    UserLimits(UserRules const& rules, std::size_t entries) : rules_(rules), table_(entries) {}

    [[nodiscard]] UserRules const& rules() const noexcept { return rules_; }

    /// Before a claim of `units` places touches any. Not granted: there is nothing to end. An
    /// account of 0 has no limits and gets an empty ticket.
    [[nodiscard]] UserVerdict reserve_claim(std::uint64_t account, std::uint32_t units,
                                            Ticket& ticket) {
        if (account == 0) return UserVerdict::granted;
        Entry* const entry = table_.pin(account);
        if (entry == nullptr) return UserVerdict::busy;
        UserVerdict const verdict = reserve_in(*entry, units);
        if (verdict != UserVerdict::granted) {
            table_.unpin(*entry);
            return verdict;
        }
        ticket.entry_ = entry;
        ticket.units_ = units;
        return UserVerdict::granted;
    }
    /// The claim is won: after this, and before anybody may end the hold, what it has counts as
    /// live. The pin stays with the hold.
    void win(Ticket& ticket) {
        Entry& entry = *ticket.entry_;
        if (counts_units()) change(entry.units, live(ticket.units_) - ticket.units_);
        change(entry.holds, live(1) - 1);
        ticket = {};
    }
    /// The claim has got nothing.
    void lose(Ticket& ticket) {
        Entry& entry = *ticket.entry_;
        if (counts_units()) change(entry.units, -std::int64_t{ticket.units_});
        change(entry.holds, -1);
        table_.unpin(entry);
        ticket = {};
    }

    /// Before an edit adds `units` places to a hold of the account. Granted: then keep or cancel.
    [[nodiscard]] UserVerdict reserve(std::uint64_t account, std::uint32_t units) {
        if (!counts_units()) return UserVerdict::granted;
        return fly(table_.known(account).units, units, rules_.max_units, UserVerdict::units);
    }
    /// Whether the account, which has a hold, has spent its budget. It only grows, so whoever looks
    /// before a change needs no reservation.
    [[nodiscard]] bool is_spent(std::uint64_t account) {
        // acquire: as change().
        return rules_.budget_ms != UserRules::no_budget &&
               table_.known(account).spent.load(A::acquire) >= rules_.budget_ms;
    }
    void keep(std::uint64_t account, std::uint32_t units) {
        if (counts_units()) change(table_.known(account).units, live(units) - units);
    }
    void cancel(std::uint64_t account, std::uint32_t units) {
        if (counts_units()) change(table_.known(account).units, -std::int64_t{units});
    }
    /// A hold, open or sold, goes on with `units` fewer; the record of it has its LSN.
    void give_back(std::uint64_t account, std::uint32_t units) {
        if (counts_units()) change(table_.known(account).units, -live(units));
    }
    /// Places of an open hold go back unbought while it goes on, after `spent` place-time.
    void charge(std::uint64_t account, Milliseconds spent) {
        charge_to(table_.known(account), spent);
    }

    /// An open hold of `units` has ended; its END is journaled and its places are not free yet.
    /// `spent`: place-time held for nothing, of all its places together.
    void end_hold(std::uint64_t account, std::uint32_t units, Milliseconds spent) {
        Entry& entry = table_.known(account);
        charge_to(entry, spent);
        change(entry.holds, -live(1));
        if (counts_units()) change(entry.units, -live(units));
        table_.unpin(entry);
    }
    /// An open hold is sold: it is no longer open, its units stay.
    void sell_hold(std::uint64_t account) { change(table_.known(account).holds, -live(1)); }
    /// A sold hold is given back whole.
    void refund_hold(std::uint64_t account, std::uint32_t units) {
        Entry& entry = table_.known(account);
        if (counts_units()) change(entry.units, -live(units));
        table_.unpin(entry);
    }

    /// A hold found in the journal.
    void restore(std::uint64_t account, std::uint32_t units) {
        Entry& entry = table_.restore(account);
        if (counts_units()) change(entry.units, live(units));
        change(entry.holds, live(1));
    }
    void restore_sold(std::uint64_t account, std::uint32_t units) {
        Entry& entry = table_.restore(account);
        if (counts_units()) change(entry.units, live(units));
    }

    /// Whether a wish would be refused whatever others have in flight: so that nobody at a limit
    /// costs a search. `busy` is not foreseen.
    [[nodiscard]] UserVerdict foresee(std::uint64_t account, UserWish const& wish) {
        UserVerdict const seen = judge(counts(account), wish);
        if (seen == UserVerdict::granted) return seen;
        // The entry may have been another account's between two looks at its key: with a pin the
        // numbers are this one's for sure.
        bool full = false;
        Entry* const entry = table_.pin_known(account, full);
        if (entry == nullptr) return UserVerdict::granted;
        UserVerdict const verdict = judge(counts_of(*entry), wish);
        table_.unpin(*entry);
        return verdict;
    }
    [[nodiscard]] UserCounts counts(std::uint64_t account) const {
        Entry const* const entry = account != 0 ? table_.find(account) : nullptr;
        if (entry == nullptr) return {};
        UserCounts const counts = counts_of(*entry);
        // Another account's by now: then this one has nothing.
        return table_.belongs(*entry, account) ? counts : UserCounts{};
    }

private:
    [[nodiscard]] static constexpr std::uint32_t high(std::uint64_t word) {
        return static_cast<std::uint32_t>(word >> 32);
    }
    [[nodiscard]] static constexpr std::uint32_t low(std::uint64_t word) {
        return static_cast<std::uint32_t>(word);
    }
    [[nodiscard]] static constexpr std::int64_t live(std::uint32_t count) {
        return static_cast<std::int64_t>(std::uint64_t{count} << 32);
    }
    [[nodiscard]] bool counts_units() const noexcept {
        return rules_.max_units != UserRules::no_limit;
    }

    [[nodiscard]] static UserCounts counts_of(Entry const& entry) {
        // acquire: as change().
        std::uint64_t const units = entry.units.load(A::acquire);
        std::uint64_t const holds = entry.holds.load(A::acquire);
        return {high(units), low(units), high(holds), low(holds), entry.spent.load(A::acquire)};
    }
    [[nodiscard]] UserVerdict judge(UserCounts const& has, UserWish const& wish) const {
        if (has.spent_ms >= rules_.budget_ms) return UserVerdict::budget;
        if (wish.units > 0 && std::uint64_t{has.units} + wish.units > rules_.max_units)
            return UserVerdict::units;
        if (wish.holds > 0 && std::uint64_t{has.open_holds} + wish.holds > rules_.max_open_holds)
            return UserVerdict::open_holds;
        return UserVerdict::granted;
    }

    /// Adds to a word. One RMW, so that no reader sees units in neither half or in both.
    void change(Atomic<std::uint64_t>& word, std::int64_t by) {
        // acq_rel: who reserves what an ended hold gave back has its CLAIM after that END in the
        // journal, so that no beginning of the journal has an account above its limit.
        word.fetch_add(static_cast<std::uint64_t>(by), A::acq_rel);
    }
    [[nodiscard]] UserVerdict reserve_in(Entry& entry, std::uint32_t units) {
        // acquire: as change(). Spent time only grows, so a look is enough.
        if (entry.spent.load(A::acquire) >= rules_.budget_ms) return UserVerdict::budget;
        UserVerdict verdict = UserVerdict::granted;
        if (counts_units()) verdict = fly(entry.units, units, rules_.max_units, UserVerdict::units);
        if (verdict != UserVerdict::granted) return verdict;
        verdict = fly(entry.holds, 1, rules_.max_open_holds, UserVerdict::open_holds);
        if (verdict != UserVerdict::granted && counts_units())
            change(entry.units, -std::int64_t{units});
        return verdict;
    }

    /// Adds to the half in flight if both halves together leave room.
    [[nodiscard]] UserVerdict fly(Atomic<std::uint64_t>& word, std::uint32_t count,
                                  std::uint32_t most, UserVerdict over) {
        std::uint64_t now = word.load(A::acquire);  // acquire, and acq_rel below: as change()
        for (int round = 0; round < limits::user_spin_rounds;) {
            if (std::uint64_t{high(now)} + count > most) return over;
            if (std::uint64_t{high(now)} + low(now) + count > most) {
                ++round;  // those in flight land soon, one way or the other
                now = word.load(A::acquire);
                continue;
            }
            if (word.compare_exchange_weak(now, now + count, A::acq_rel, A::acquire))
                return UserVerdict::granted;
        }
        return UserVerdict::busy;
    }

    void charge_to(Entry& entry, Milliseconds spent) {
        if (rules_.budget_ms == UserRules::no_budget || spent.count() <= 0) return;
        // acq_rel: as change()
        entry.spent.fetch_add(static_cast<std::uint64_t>(spent.count()), A::acq_rel);
    }

    UserRules rules_;
    UserTable<A> table_;
};

}  // namespace holdfast::inventory
