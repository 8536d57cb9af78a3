// Ledger: every fact the server acknowledged to a simulated buyer.
//
// Purpose: what the checks hold the server to. An answer that never came is not a fact: such an
// order attempt stays `ordering` until a repeat of the request tells what became of it.
// Thread safety: one owner.
// Invariants: an entry is never removed; an order belongs to exactly one hold of the ledger.
#pragma once

#include "loadgen/client.hpp"
#include "loadgen/venue.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::loadgen {

/// What a buyer asked for: `best` places anywhere, or exactly `places`.
struct Wish {
    std::uint32_t best{};
    Places places;
};

enum class Fate : std::uint8_t {
    held,       // acknowledged, nothing else yet
    ordering,   // an order was sent and its answer was lost
    ordered,    // in the ledger of orders
    releasing,  // a release was sent and its answer was lost
    released,   // acknowledged
    abandoned,  // left to expire
    expired,    // the server said so, rightly
};

struct HoldEntry {
    std::string id, token;
    Wish wish;
    Places places;
    std::int64_t total{};
    Moment claimed_at{};  // when the claim was sent: the deadline is not earlier than ttl later
    std::uint32_t stops_seen{};  // abrupt stops before it; a restart moves deadlines
    Fate fate{Fate::held};
};

struct OrderEntry {
    std::string id;
    std::size_t hold{};  // index into Ledger::holds
    Places places;
    std::vector<Ticket> tickets;  // by id
    std::int64_t total{};
};

struct Ledger {
    std::vector<HoldEntry> holds;
    std::vector<OrderEntry> orders;
    std::uint64_t places_ordered{};
    std::uint64_t claims_unanswered{};  // lost answers to claims: such holds run into expiry

    void add_order(OrderEntry order) {
        places_ordered += order.places.count();
        holds[order.hold].fate = Fate::ordered;
        orders.push_back(std::move(order));
    }
};

}  // namespace holdfast::loadgen
