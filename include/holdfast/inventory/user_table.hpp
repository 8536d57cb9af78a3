// UserTable: finds the numbers of an account of one event, in a fixed table.
//
// Purpose: open addressing by account number; an entry without a pin may become another account's.
// Thread safety: every function by any thread; restore() by one, before the event is shared.
// Invariants: an account has at most one entry; an entry keeps its place, a used one stays used and
//   a pinned one keeps its account. The table never grows: when all entries within reach have pins,
//   so while as many others hold, have bought or claim, there is no pin and the claim is `busy`.
// Cost: 64 bytes an entry. A pin is one CAS; an account without an entry looks at up to
//   limits::user_probes_max entries, and takes the lock of its stripe, which is waited for no
//   longer than limits::user_spin_rounds.
//
// Why an entry may change hands: every claim in flight and every hold, open or sold, has one pin,
//   and whoever changes the numbers acts for one of these. So without a pin the counts are zero and
//   nobody is on the way to them. A CAS of the key makes the entry nobody's, its time is forgotten,
//   and only then it becomes the newcomer's; that the CAS may meet the same key after a pin came
//   and went is harmless, the counts are zero again.
// Time that was held unbought is kept without a pin, as long as there is room: a newcomer takes the
//   entry with the least of it, so what is forgotten in a crowd is the smallest part of a budget,
//   and no number of former visitors keeps a buyer out.
#pragma once

#include <holdfast/base/assert.hpp>
#include <holdfast/domain/limits.hpp>
#include <holdfast/inventory/atomics.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>

namespace holdfast::inventory {

/// One account's numbers; what they mean is in user_limits.hpp.
template <class A>
struct alignas(64) UserEntry {
    template <class T>
    using Atomic = typename A::template Atomic<T>;
    Atomic<std::uint64_t> key{0};    // {account: 48, pins: 16}; 0: never used
    Atomic<std::uint64_t> units{0};  // {live: 32, in_flight: 32}
    Atomic<std::uint64_t> holds{0};  // {live: 32, in_flight: 32}
    Atomic<std::uint64_t> spent{0};  // place-milliseconds
};
static_assert(sizeof(UserEntry<StdAtomics>) == 64, "accounts do not share a line");

template <class A>
class UserTable {
public:
    using Entry = UserEntry<A>;
    template <class T>
    using Atomic = typename A::template Atomic<T>;

    /// `entries`: a power of two.
    explicit UserTable(std::size_t entries)
        : mask_(entries - 1), entries_(std::make_unique<Entry[]>(entries)) {
        HOLDFAST_ASSERT(std::has_single_bit(entries));
    }
    /// How many make the table of an event half full when each place is another account's.
    [[nodiscard]] static std::size_t entries_for(std::uint32_t places) noexcept {
        return std::bit_ceil(std::clamp(2 * std::size_t{places}, limits::user_entries_min,
                                        limits::user_entries_max));
    }

    /// The account's entry with one pin more, which the caller must unpin. Null: no room, no pin
    /// left, or another thread is making an entry in this stripe for too long.
    [[nodiscard]] Entry* pin(std::uint64_t account) {
        bool full = false;
        Entry* const entry = pin_known(account, full);
        if (entry != nullptr || full) return entry;
        // Two first claims of one account must not make two entries. Others never come here, and
        // nobody waits long: a stalled holder of the lock makes newcomers of its stripe `busy`.
        auto& lock = locks_[mixed(account) % locks_.size()];
        for (int round = 0; round < limits::user_spin_rounds; ++round) {
            // acquire: the entries made under the lock before are seen.
            if (lock.exchange(1, A::acquire) != 0) continue;
            Entry* made = pin_known(account, full);
            if (made == nullptr && !full) made = take_entry(account, limits::user_probes_max);
            lock.store(0, A::release);  // release: the entry made is seen by the next holder
            return made;
        }
        return nullptr;
    }

    /// `full`: the account has an entry, but no pin is left.
    [[nodiscard]] Entry* pin_known(std::uint64_t account, bool& full) {
        for (std::size_t i = 0, end = reach(); i < end; ++i) {
            Entry& entry = at(account, i);
            std::uint64_t key = entry.key.load(A::acquire);  // acquire: as the CAS below
            // An entry lies behind used ones only, and they stay used.
            if (key == 0) return nullptr;
            while (owner_of(key) == account) {
                full = pins_of(key) == pins_max;
                if (full) return nullptr;
                // acquire: the words that the last unpin left are seen; release: continues the
                // chain of unpins for the next owner.
                if (entry.key.compare_exchange_weak(key, key + 1, A::acq_rel, A::acquire))
                    return &entry;
            }
        }
        return nullptr;
    }
    /// Nothing of the entry may be touched after this.
    void unpin(Entry& entry) {
        // release: who pins or takes the entry next sees the words as this one left them.
        entry.key.fetch_add(~std::uint64_t{0}, A::acq_rel);
    }

    /// The entry of an account that has a pin: the caller's hold has one.
    [[nodiscard]] Entry& known(std::uint64_t account) {
        for (std::size_t i = 0, end = reach(); i < end; ++i) {
            Entry& entry = at(account, i);
            // acquire: pairs with the CAS that gave the account its entry.
            if (owner_of(entry.key.load(A::acquire)) == account) return entry;
        }
        HOLDFAST_ASSERT(!"a hold's account has an entry");
        return entries_[0];
    }

    /// The account's entry as it is now, without a pin; null if it has none.
    [[nodiscard]] Entry const* find(std::uint64_t account) const {
        for (std::size_t i = 0, end = reach(); i < end; ++i) {
            Entry const& entry = at(account, i);
            // acquire: the numbers read next are of this account, or of a later owner's.
            std::uint64_t const key = entry.key.load(A::acquire);
            if (key == 0) return nullptr;
            if (owner_of(key) == account) return &entry;
        }
        return nullptr;
    }
    [[nodiscard]] static bool belongs(Entry const& entry, std::uint64_t account) {
        return owner_of(entry.key.load(A::relaxed)) == account;  // relaxed: after acquire loads
    }
    /// The account's entry with one pin more, for a hold found in the journal.
    [[nodiscard]] Entry& restore(std::uint64_t account) {
        bool full = false;
        Entry* entry = pin_known(account, full);
        if (entry == nullptr) entry = take_entry(account, mask_ + 1);
        HOLDFAST_ASSERT(entry != nullptr);  // before the restart there were no more accounts
        return *entry;
    }

private:
    static constexpr std::uint64_t pins_max = 0xFFFF;
    static constexpr std::uint64_t nobodys = 1;  // of account 0, pinned: about to change hands

    [[nodiscard]] static constexpr std::uint64_t owner_of(std::uint64_t key) { return key >> 16; }
    [[nodiscard]] static constexpr std::uint64_t pins_of(std::uint64_t key) {
        return key & pins_max;
    }
    [[nodiscard]] static std::uint64_t mixed(std::uint64_t account) noexcept {
        // Accounts are numbered by us, one after another: any odd factor spreads them.
        return (account * 0x9E37'79B9'7F4A'7C15U) >> 24;
    }
    [[nodiscard]] Entry& at(std::uint64_t account, std::size_t distance) const noexcept {
        return entries_[(mixed(account) + distance) & mask_];
    }
    /// No entry lies further from its home than this. Raised before an entry is of use to anybody.
    [[nodiscard]] std::size_t reach() const noexcept {
        return reach_.load(A::acquire);  // acquire: pairs with the raise in take_entry
    }

    /// An entry without a pin becomes the account's, pinned. Under the account's lock.
    [[nodiscard]] Entry* take_entry(std::uint64_t account, std::size_t probes) {
        for (int round = 0; round < limits::user_spin_rounds; ++round) {
            std::size_t distance = 0;
            std::uint64_t key = 0;
            if (!find_spare(account, probes, distance, key)) return nullptr;
            raise_reach(distance + 1);
            Entry& entry = at(account, distance);
            // acq_rel: as in pin_known(). Lost: somebody pinned it meanwhile.
            if (!entry.key.compare_exchange_strong(key, nobodys, A::acq_rel, A::relaxed)) continue;
            // release: who reads this sees that the entry is its account's no longer.
            entry.spent.store(0, A::release);
            // release: who finds the account's entry sees its numbers as they are now, and reach.
            entry.key.store((account << 16) | 1, A::release);
            return &entry;
        }
        return nullptr;
    }
    /// The first entry without a pin and without spent time; else, of those without a pin, the one
    /// with the least. What is seen may have changed: the CAS of `key` decides.
    [[nodiscard]] bool find_spare(std::uint64_t account, std::size_t probes, std::size_t& distance,
                                  std::uint64_t& key) const {
        bool found = false;
        std::uint64_t least = 0;
        for (std::size_t i = 0; i < std::min(probes, mask_ + 1); ++i) {
            Entry const& entry = at(account, i);
            std::uint64_t const seen = entry.key.load(A::relaxed);  // relaxed: the CAS decides
            if (pins_of(seen) != 0) continue;
            std::uint64_t const spent = entry.spent.load(A::relaxed);  // relaxed: only a preference
            if (found && spent >= least) continue;
            found = true;
            distance = i;
            key = seen;
            least = spent;
            if (spent == 0) break;
        }
        return found;
    }
    void raise_reach(std::size_t to) {
        std::size_t seen = reach_.load(A::relaxed);  // relaxed: the CAS decides
        // release: pairs with reach(); the claims whose entry lies there come after it.
        while (seen < to && !reach_.compare_exchange_weak(seen, to, A::acq_rel, A::relaxed)) {
        }
    }

    std::size_t mask_;
    std::unique_ptr<Entry[]> entries_;
    Atomic<std::size_t> reach_{0};
    std::array<Atomic<std::uint32_t>, 64> locks_{};
};

}  // namespace holdfast::inventory
