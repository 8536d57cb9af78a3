// A world whose journal nobody runs: caught up and audited as the command line does it.
#pragma once

#include "tests/engine/projector_world.hpp"

#include <holdfast/engine/audit.hpp>
#include <holdfast/engine/catch_up.hpp>

namespace holdfast::engine::test {

inline std::optional<journal::Failure> catch_up_to(World& world, Lsn last) {
    return catch_up(
        *world.store, world.disk, "data", [&world](EventId id) { return world.find(id); },
        world.key, last);
}

/// An order with the total that its places cost.
inline Lsn sell_for_price(World& world, OrderId id, HoldKey const& key,
                          std::vector<std::uint32_t> const& seats) {
    std::int64_t total = 0;
    for (std::uint32_t const seat : seats)
        total += world.find(demo)->layout.price_of(SeatIndex{seat});
    return world.put(journal::RecordType::order,
                     OrderFact{id, at(200), PaymentMethod::external, total, {key}});
}

/// Of the whole journal, and of the store as it is.
inline AuditFindings audit_of(World& world) {
    auto const places = world.find(demo)->layout.place_count();
    Replay replay({{demo, places}});
    auto const recovered = journal::recover("data", world.disk, {}, replay);
    if (!recovered) throw std::runtime_error{recovered.error().message};
    Recount recount([&world](EventId id) { return world.find(id); });
    journal::TailReader reader("data", world.disk, no_lsn);
    auto const read = reader.read(recovered->tail.last_lsn, 1'000'000, recount);
    if (!recount.failure().empty()) throw std::runtime_error{recount.failure()};
    if (!read) throw std::runtime_error{read.error().message};
    auto const tickets = world.store->live_tickets();
    auto const orders = world.store->order_sums();
    if (!tickets || !orders) throw std::runtime_error{"the store cannot be read"};
    return audit({.catalogue = world.specs,
                  .replayed = replay.take(),
                  .recount = recount,
                  .counted_from = no_lsn,
                  .tickets = *tickets,
                  .orders = *orders});
}

}  // namespace holdfast::engine::test
