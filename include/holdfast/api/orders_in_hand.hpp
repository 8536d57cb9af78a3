// Orders in hand: which orders a request of staff is changing.
//
// Purpose: such a request reads the order's tickets from the store, which trails the journal, and
//   then names their places to the engine. Between the two nobody else may move a ticket.
// Thread safety: any thread, but take() waits, so workers only. Invariants: an order is in one hand
//   at most.
// Cost: a mutex, held for one look-up; a wait for who has the order, up to the bound.
#pragma once

#include <holdfast/domain/ids.hpp>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>

namespace holdfast::api {

class OrdersInHand {
public:
    /// `turn_wait`: how long a request waits for its turn. Only one waits at a time, so that the
    /// other workers go on.
    explicit OrdersInHand(std::chrono::milliseconds turn_wait = std::chrono::seconds{2})
        : turn_wait_(turn_wait) {}

    struct PutBack {
        OrdersInHand* hand{};
        void operator()(OrderId const* order) const {
            {
                std::scoped_lock const lock(hand->mutex_);
                hand->orders_.erase(*order);
            }
            hand->put_back_.notify_all();
        }
    };
    using Taken = std::unique_ptr<OrderId const, PutBack>;

    /// Null if another request has it for longer than the wait, or somebody else waits already.
    [[nodiscard]] Taken take(OrderId const& order) {
        std::unique_lock lock(mutex_);
        if (orders_.contains(order) && (is_awaited_ || !await(lock, order)))
            return Taken(nullptr, PutBack{this});
        return Taken(&*orders_.insert(order).first, PutBack{this});
    }
    /// Whether a request waits for its turn now.
    [[nodiscard]] bool is_awaited() {
        std::scoped_lock const lock(mutex_);
        return is_awaited_;
    }

private:
    [[nodiscard]] bool await(std::unique_lock<std::mutex>& lock, OrderId const& order) {
        is_awaited_ = true;
        bool const mine =
            put_back_.wait_for(lock, turn_wait_, [&] { return !orders_.contains(order); });
        is_awaited_ = false;
        return mine;
    }

    std::chrono::milliseconds turn_wait_;
    std::mutex mutex_;
    std::condition_variable put_back_;
    std::set<OrderId> orders_;  // guarded by mutex_
    bool is_awaited_{};         // guarded by mutex_
};

}  // namespace holdfast::api
