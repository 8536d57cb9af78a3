#include "loadgen/checks.hpp"

#include <unordered_set>

namespace holdfast::loadgen {
namespace {

constexpr std::size_t told_max = 5;

std::vector<std::uint32_t> orders_per_seat(Venue const& venue, Ledger const& ledger) {
    std::vector<std::uint32_t> count(venue.seats.size());
    for (auto const& order : ledger.orders) {
        for (auto const seat : order.places.seats) ++count[seat];
    }
    return count;
}

std::vector<std::uint64_t> places_per_area(Venue const& venue, Ledger const& ledger) {
    std::vector<std::uint64_t> count(venue.areas.size());
    for (auto const& order : ledger.orders) {
        for (auto const& [area, places] : order.places.general) count[area] += places;
    }
    return count;
}

std::string numbers(Counts const& counts) {
    return std::to_string(counts.free) + " free + " + std::to_string(counts.held) + " held + " +
           std::to_string(counts.sold) + " sold + " + std::to_string(counts.blocked) + " blocked";
}

bool same_order(OrderEntry const& entry, OrderReply const& reply) {
    return reply.id == entry.id && reply.state == "confirmed" && reply.places == entry.places &&
           reply.tickets == entry.tickets && reply.total == entry.total;
}

}  // namespace

void Check::fail(std::string what) {
    look(false);
    if (first.size() < told_max) first.push_back(std::move(what));
}

Check check_no_seat_twice(Venue const& venue, Ledger const& ledger) {
    Check check{.name = "no-seat-in-two-orders",
                .promise = "no seat is in two orders, no area is sold beyond its capacity"};
    auto const seats = orders_per_seat(venue, ledger);
    for (std::size_t seat = 0; seat < seats.size(); ++seat) {
        if (seats[seat] <= 1) {
            check.look(true);
        } else {
            check.fail(venue.seats[seat] + " is in " + std::to_string(seats[seat]) + " orders");
        }
    }
    auto const areas = places_per_area(venue, ledger);
    for (std::size_t area = 0; area < areas.size(); ++area) {
        if (areas[area] <= venue.areas[area].capacity) {
            check.look(true);
        } else {
            check.fail(venue.areas[area].section + " has " + std::to_string(areas[area]) +
                       " places in orders");
        }
    }
    return check;
}

namespace {

/// As many places as were wanted, or all of a larger table that is sold as a whole.
bool fits_party(Venue const& venue, Places const& places, std::uint32_t party) {
    if (places.count() == party) return true;
    bool const table = places.count() > party && places.general.empty();
    if (!table) return false;
    for (std::size_t i = 1; i < places.seats.size(); ++i) {
        bool const follows = places.seats[i] == places.seats[i - 1] + 1;
        if (!follows || !venue.joined[places.seats[i]]) return false;
    }
    return true;
}

}  // namespace

Check check_all_or_nothing(Venue const& venue, Ledger const& ledger) {
    Check check{
        .name = "all-or-nothing",
        .promise = "a hold has exactly what was asked for, or a whole table; an order its hold"};
    for (auto const& hold : ledger.holds) {
        bool const exact = hold.wish.best > 0 ? fits_party(venue, hold.places, hold.wish.best)
                                              : hold.places == hold.wish.places;
        if (exact) {
            check.look(true);
        } else {
            check.fail("hold " + hold.id + " has " + std::to_string(hold.places.count()) +
                       " places, other than what was asked for");
        }
    }
    for (auto const& order : ledger.orders) {
        auto const& hold = ledger.holds[order.hold];
        if (order.places == hold.places && order.total == hold.total) {
            check.look(true);
        } else {
            check.fail("order " + order.id + " differs from its hold " + hold.id);
        }
    }
    return check;
}

Check check_sold_out(Venue const& venue, Ledger const& ledger, Snapshot const& state,
                     std::uint64_t blocked_at_start) {
    Check check{.name = "sold-out",
                .promise = "every place is sold, once, with a ticket of its own"};
    auto const total = state.total();
    auto const for_sale = venue.capacity() - blocked_at_start;
    bool const all_sold = total.sold == for_sale && total.blocked == blocked_at_start;
    if (all_sold) {
        check.look(true);
    } else {
        check.fail("at the end: " + numbers(total) + " of " + std::to_string(venue.capacity()));
    }
    if (ledger.places_ordered == for_sale) {
        check.look(true);
    } else {
        check.fail("the orders have " + std::to_string(ledger.places_ordered) + " places of " +
                   std::to_string(for_sale));
    }
    std::unordered_set<std::string_view> tickets;
    for (auto const& order : ledger.orders) {
        if (order.tickets.size() != order.places.count()) {
            check.fail("order " + order.id + " has not one ticket a place");
        }
        for (auto const& ticket : order.tickets) {
            if (tickets.insert(ticket.id).second) {
                check.look(true);
            } else {
                check.fail("ticket " + ticket.id + " exists twice");
            }
        }
    }
    return check;
}

Check check_sold_by_orders(Venue const& venue, Ledger const& ledger, Snapshot const& state) {
    Check check{.name = "sold-by-orders",
                .promise = "what is sold is in an order, what is in an order is sold"};
    auto const in_orders = orders_per_seat(venue, ledger);
    std::vector<bool> perhaps(venue.seats.size());
    auto const area_orders = places_per_area(venue, ledger);
    auto area_perhaps = area_orders;
    for (auto const& hold : ledger.holds) {
        if (hold.fate != Fate::ordering) continue;
        for (auto const seat : hold.places.seats) perhaps[seat] = true;
        for (auto const& [area, places] : hold.places.general) area_perhaps[area] += places;
    }
    for (std::size_t seat = 0; seat < venue.seats.size(); ++seat) {
        bool const sold = state.seats[seat] == SeatState::sold;
        if (sold && in_orders[seat] == 0 && !perhaps[seat]) {
            check.fail(venue.seats[seat] + " is sold without an order");
        } else if (!sold && in_orders[seat] > 0) {
            check.fail(venue.seats[seat] + " is in an order and not sold");
        } else {
            check.look(true);
        }
    }
    for (std::size_t area = 0; area < venue.areas.size(); ++area) {
        auto const sold = state.areas[area].sold;
        if (sold < area_orders[area] || sold > area_perhaps[area]) {
            check.fail(venue.areas[area].section + ": " + std::to_string(sold) + " sold, " +
                       std::to_string(area_orders[area]) + " in orders");
        } else {
            check.look(true);
        }
    }
    return check;
}

Check new_sums_check() {
    return {.name = "places-add-up",
            .promise = "free + held + sold + blocked = capacity, whenever it is looked at"};
}

void add_sums(Check& check, Venue const& venue, EventReply const& event) {
    for (auto const& [section, capacity] : venue.section_capacity) {
        auto const found = event.sections.find(section);
        if (found == event.sections.end()) {
            check.fail("the availability has no section " + section);
            continue;
        }
        if (found->second.sum() == capacity && event.capacity.at(section) == capacity) {
            check.look(true);
        } else {
            check.fail(section + ": " + numbers(found->second) + ", not " +
                       std::to_string(capacity));
        }
    }
    if (event.sections.size() != venue.section_capacity.size()) {
        check.fail("the availability has sections that the map has not");
    }
}

void add_sums(Check& check, Venue const& venue, Snapshot const& state) {
    for (std::size_t area = 0; area < venue.areas.size(); ++area) {
        if (state.areas[area].sum() == venue.areas[area].capacity) {
            check.look(true);
        } else {
            check.fail(venue.areas[area].section + " in the state: " + numbers(state.areas[area]));
        }
    }
}

Check check_orders_found(Venue const& venue, Ledger const& ledger,
                         std::vector<ReadBack> const& read) {
    Check check{.name = "orders-found",
                .promise = "every acknowledged order is found again, unchanged"};
    std::vector<bool> seen(ledger.orders.size());
    for (auto const& item : read) {
        auto const& entry = ledger.orders[item.entry];
        seen[item.entry] = true;
        if (item.status != 200) {
            check.fail("order " + entry.id + ": answer " + std::to_string(item.status));
            continue;
        }
        auto const reply = read_order(item.body, venue);
        if (reply.has_value() && same_order(entry, *reply)) {
            check.look(true);
        } else {
            check.fail("order " + entry.id + " is " + (reply ? "changed" : reply.error().text));
        }
    }
    for (std::size_t order = 0; order < seen.size(); ++order) {
        if (!seen[order]) check.fail("order " + ledger.orders[order].id + " was not read again");
    }
    return check;
}

Check check_holds_found(Venue const& venue, Ledger const& ledger,
                        std::vector<ReadBack> const& read) {
    Check check{.name = "holds-found",
                .promise = "every acknowledged hold that was alive at the stop is alive after it",
                .may_be_empty = true};
    for (auto const& item : read) {
        auto const& entry = ledger.holds[item.entry];
        if (item.status != 200) {
            check.fail("hold " + entry.id + ": answer " + std::to_string(item.status));
            continue;
        }
        auto const reply = read_hold(item.body, venue);
        // An order whose answer was lost may have gone through.
        bool const state_fits =
            reply.has_value() && (reply->state == "held" ||
                                  (entry.fate == Fate::ordering && reply->state == "confirmed"));
        if (state_fits && reply->id == entry.id && reply->places == entry.places) {
            check.look(true);
        } else {
            check.fail("hold " + entry.id + " is " + (reply ? "changed" : reply.error().text));
        }
    }
    return check;
}

Check check_releases_kept(Ledger const& ledger, std::vector<ReadBack> const& read) {
    Check check{.name = "releases-kept",
                .promise = "a hold whose release was acknowledged stays ended",
                .may_be_empty = true};
    for (auto const& item : read) {
        bool const ended = item.status == 409 || item.status == 410;
        if (ended) {
            check.look(true);
        } else {
            check.fail("released hold " + ledger.holds[item.entry].id + ": answer " +
                       std::to_string(item.status));
        }
    }
    return check;
}

}  // namespace holdfast::loadgen
