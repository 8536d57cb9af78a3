// Recount: who has which place and what each order is, from the journal alone.
//
// Purpose: the auditor's own count. It shares no state and no rule with replay or projection, which
//   it is there to check: plain maps, one entry a hold, a sold place and an order.
// Thread safety: one thread. Invariants: never looks at the store; what a deleted segment said and
//   no base file keeps (prices and totals of its orders) is said to be unknown, not guessed.
// Cost: a few map look-ups a record; some 200 bytes a hold, sold place or order.
#pragma once

#include <holdfast/engine/facts.hpp>
#include <holdfast/engine/find_spec.hpp>
#include <holdfast/journal/recovery.hpp>

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace holdfast::engine {

class Recount final : public journal::RecordSink {
public:
    struct Place {
        EventId event{};
        SeatIndex seat{};
        friend auto operator<=>(Place const&, Place const&) = default;
    };
    struct Hold {
        bool block{};                  // of staff
        std::vector<SeatIndex> seats;  // in any order
        friend bool operator==(Hold const&, Hold const&) = default;
    };
    struct Sold {
        OrderId order;
        std::optional<std::int64_t> price;  // unknown: sold before the base file
    };
    struct Order {
        Lsn lsn{};  // no_lsn: older than the base file
        bool cancelled{};
        std::optional<std::int64_t> total;  // less what was refunded
        std::vector<Place> places;          // that it still has
    };

    /// What `find_spec` knows is the catalogue: capacities and prices.
    explicit Recount(FindSpec find_spec);
    /// The state of a base file, before the first record. False: see failure().
    [[nodiscard]] bool load(std::span<std::byte const> base);
    bool record(journal::RecordView const& record) override;
    /// What made load() or record() give up; empty if nothing did.
    [[nodiscard]] std::string const& failure() const noexcept { return failure_; }

    [[nodiscard]] std::map<HoldKey, Hold> const& holds() const noexcept { return holds_; }
    [[nodiscard]] std::map<Place, Sold> const& sold() const noexcept { return sold_; }
    [[nodiscard]] std::map<OrderId, Order> const& orders() const noexcept { return orders_; }

private:
    bool claim(journal::RecordView const& record);
    bool edit(journal::RecordView const& record);
    bool exchange(journal::RecordView const& record);
    bool reseat(journal::RecordView const& record);
    bool refund(journal::RecordView const& record);
    bool order(journal::RecordView const& record);
    bool cancel(journal::RecordView const& record);
    bool fail(Lsn lsn, std::string const& what);
    [[nodiscard]] std::optional<std::int64_t> price_of(Place const& place) const;
    /// Takes the place from its order; nothing if it is not the order's.
    [[nodiscard]] std::optional<Sold> take(Place const& place, OrderId const& order);

    FindSpec find_spec_;
    std::map<HoldKey, Hold> holds_;  // live, not sold
    std::map<Place, Sold> sold_;
    std::map<OrderId, Order> orders_;
    std::string failure_;
};

}  // namespace holdfast::engine
