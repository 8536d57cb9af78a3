// Changed orders: which orders have changes that the store may not have yet.
//
// Purpose: an order is read from the store, which trails the journal. While it trails too far to
//   wait for, an order that was changed meanwhile (cancelled, refunded, reseated) must not be told
//   as it was before an answer that somebody has had.
// Thread safety: any thread. Invariants: a change is noted before its answer leaves; who asks
//   before the read of the store misses none.
// Cost: a mutex and a look-up, only on the way of changes and of reads that found the store behind.
#pragma once

#include <holdfast/domain/ids.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>

namespace holdfast::api {

class ChangedOrders {
public:
    static constexpr std::size_t orders_max = 4'096;

    /// Up to `unknown_up_to`, where the journal ended at the start, any order may have changed.
    explicit ChangedOrders(Lsn unknown_up_to = no_lsn) : any_up_to_(unknown_up_to) {}

    /// `applied`: what the store has at least.
    void note(OrderId const& order, Lsn changed, Lsn applied) {
        std::scoped_lock const lock(mutex_);
        if (changes_.size() >= orders_max)
            std::erase_if(changes_, [applied](auto const& each) { return each.second <= applied; });
        if (changes_.size() < orders_max || changes_.contains(order)) {
            changes_[order] = changed;
        } else {
            any_up_to_ = std::max(any_up_to_, changed);
        }
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
        return any_up_to_ > applied || std::ranges::any_of(changes_, [applied](auto const& each) {
                   return each.second > applied;
               });
    }

private:
    mutable std::mutex mutex_;
    std::map<OrderId, Lsn> changes_;  // guarded by mutex_; so is
    Lsn any_up_to_;
};

}  // namespace holdfast::api
