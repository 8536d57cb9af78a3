// Changed orders: which orders have changes that the store may not have yet.
//
// Purpose: an order is read from the store, which trails the journal. While it trails too far to
//   wait for, an order that was changed meanwhile (cancelled, refunded, reseated) must not be told
//   as it was before an answer that somebody has had.
// Thread safety: any thread. Invariants: a change is noted before its answer leaves; who asks
//   before the read of the store misses none.
// Cost: a mutex and a look-up, only on the way of changes and of reads that found the store behind;
//   of a change a walk along the table while that is full. Without memory, or room for more orders
//   than limits::changed_orders_max, any order may have changed.
#pragma once

#include <holdfast/domain/ids.hpp>
#include <holdfast/domain/limits.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <new>

namespace holdfast::api {

class ChangedOrders {
public:
    struct Change {
        OrderId order;
        Lsn changed;
        Lsn applied;  // what the store has at least
    };

    /// Up to `unknown_up_to`, where the journal ended at the start, any order may have changed.
    explicit ChangedOrders(Lsn unknown_up_to = no_lsn)
        : any_up_to_(unknown_up_to), highest_(unknown_up_to) {}

    void note(Change const& change) noexcept {
        std::scoped_lock const lock(mutex_);
        highest_ = std::max(highest_, change.changed);
        if (!keep(change)) any_up_to_ = std::max(any_up_to_, change.changed);
    }
    /// Whether a store at `applied` may lack a change of this order.
    [[nodiscard]] bool may_be_newer(OrderId const& order, Lsn applied) const {
        std::scoped_lock const lock(mutex_);
        auto const found = changes_.find(order);
        return any_up_to_ > applied || (found != changes_.end() && found->second > applied);
    }
    /// The same of any order at all.
    [[nodiscard]] bool any_may_be_newer(Lsn applied) const {
        std::scoped_lock const lock(mutex_);
        return highest_ > applied;
    }

private:
    [[nodiscard]] bool keep(Change const& change) noexcept try {
        if (changes_.size() >= limits::changed_orders_max) forget_until(change.applied);
        bool const room = changes_.size() < limits::changed_orders_max;
        if (!room && !changes_.contains(change.order)) return false;
        Lsn& last = changes_[change.order];
        last = std::max(last, change.changed);
        return true;
    } catch (std::bad_alloc const&) {
        return false;
    }

    /// Should the store lose some of it again, any order may have been one of these.
    void forget_until(Lsn applied) {
        std::erase_if(changes_, [&](auto const& each) {
            if (each.second > applied) return false;
            any_up_to_ = std::max(any_up_to_, each.second);
            return true;
        });
    }

    mutable std::mutex mutex_;
    std::map<OrderId, Lsn> changes_;  // guarded by mutex_; so is
    Lsn any_up_to_;
    Lsn highest_;  // of all changes
};

}  // namespace holdfast::api
