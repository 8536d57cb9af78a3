// Orders in hand: which orders a request of staff is changing.
//
// Purpose: such a request reads the order's tickets from the store, which trails the journal, and
//   then names their places to the engine. Between the two nobody else may move a ticket.
// Thread safety: any thread. Invariants: an order is in one hand at most.
// Cost: a mutex, held for one look-up.
#pragma once

#include <holdfast/domain/ids.hpp>

#include <memory>
#include <mutex>
#include <set>

namespace holdfast::api {

class OrdersInHand {
public:
    struct PutBack {
        OrdersInHand* hand{};
        void operator()(OrderId const* order) const {
            std::scoped_lock const lock(hand->mutex_);
            hand->orders_.erase(*order);
        }
    };
    using Taken = std::unique_ptr<OrderId const, PutBack>;

    /// Null if another request has it.
    [[nodiscard]] Taken take(OrderId const& order) {
        std::scoped_lock const lock(mutex_);
        auto const [place, fresh] = orders_.insert(order);
        return Taken(fresh ? &*place : nullptr, PutBack{this});
    }

private:
    std::mutex mutex_;
    std::set<OrderId> orders_;  // guarded by mutex_
};

}  // namespace holdfast::api
