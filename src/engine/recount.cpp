#include "engine/base_state.hpp"
#include "engine/holder.hpp"

#include <holdfast/engine/recount.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::engine {

using journal::RecordType;
using journal::RecordView;

Recount::Recount(FindSpec find_spec) : find_spec_(std::move(find_spec)) {}

bool Recount::load(std::span<std::byte const> base) {
    BaseStateReader reader(base);
    BaseEvent event;
    BaseHold entry;
    for (std::uint32_t events = reader.events(); reader.good() && events > 0; --events) {
        reader.event(event);
        for (std::uint32_t count = event.holds; reader.good() && count > 0; --count) {
            reader.hold(entry);
            RestoredHold const& hold = entry.hold;
            if (hold.order == OrderId{}) {
                holds_[{event.id, hold.ref}] = {Holder{hold.holder}.is_block(), hold.seats};
                continue;
            }
            for (SeatIndex const seat : hold.seats) {
                bool const fresh = sold_.try_emplace({event.id, seat}, Sold{hold.order, {}}).second;
                if (!fresh) return fail(no_lsn, "the base file sells a place twice");
                orders_[hold.order].places.push_back({event.id, seat});
            }
        }
    }
    return reader.ends_behind_marks() || fail(no_lsn, "the base file is no state of a replay");
}

bool Recount::record(RecordView const& record) {
    if ((static_cast<std::uint8_t>(record.type) & journal::ignorable_type_bit) != 0) return true;
    switch (record.type) {
        case RecordType::claim:
            return claim(record);
        case RecordType::edit:
            return edit(record);
        case RecordType::end: {
            auto const fact = decode_end(record.payload);
            if (!fact) return fail(record.lsn, "a malformed END");
            holds_.erase(fact->hold);  // It may stand twice, or come after the ORDER.
            return true;
        }
        case RecordType::order:
            return order(record);
        case RecordType::cancel:
            return cancel(record);
        case RecordType::event:
        case RecordType::clock:
        case RecordType::seal:
            return true;  // They move no place and no money.
        case RecordType::refund:
        case RecordType::credit:
        case RecordType::debit:
        case RecordType::reservation:
        case RecordType::queue:
        case RecordType::outbox_done:
        case RecordType::mark:  // may be skipped
            break;
    }
    return fail(record.lsn, "a record of a type that cannot be counted");
}

bool Recount::claim(RecordView const& record) {
    auto fact = decode_claim(record.payload);
    if (!fact) return fail(record.lsn, "a malformed CLAIM");
    Hold hold{Holder{fact->holder}.is_block(), std::move(fact->seats)};
    if (holds_.try_emplace(fact->hold, std::move(hold)).second) return true;
    return fail(record.lsn, "a CLAIM of a hold that is live");
}

bool Recount::edit(RecordView const& record) {
    auto const kind = edit_kind_of(record.payload);
    if (!kind) return fail(record.lsn, "a malformed EDIT");
    switch (*kind) {
        case EditKind::extend:
            return true;
        case EditKind::exchange:
            return exchange(record);
        case EditKind::reseat:
            return reseat(record);
        case EditKind::refund:
            return refund(record);
    }
    return fail(record.lsn, "a malformed EDIT");
}

bool Recount::exchange(RecordView const& record) {
    auto const fact = decode_exchange(record.payload);
    if (!fact) return fail(record.lsn, "a malformed EDIT");
    auto const found = holds_.find(fact->hold);
    if (found == holds_.end()) return fail(record.lsn, "an exchange of a hold that is not live");
    std::vector<SeatIndex>& seats = found->second.seats;
    for (SeatIndex const seat : fact->dropped) {
        if (std::erase(seats, seat) != 1)
            return fail(record.lsn, "an exchange of a place that the hold has not");
    }
    seats.insert(seats.end(), fact->added.begin(), fact->added.end());
    return true;
}

bool Recount::reseat(RecordView const& record) {
    auto const fact = decode_reseat(record.payload);
    if (!fact) return fail(record.lsn, "a malformed EDIT");
    // Tickets may change places with each other: all leave before one arrives.
    auto const known = orders_.find(fact->order);
    if (known == orders_.end()) return fail(record.lsn, "a reseat of an order that is not known");
    std::vector<std::pair<Place, Sold>> moved;
    for (ReseatFact::Part const& part : fact->parts) {
        for (auto const& [from, to] : part.moves) {
            auto const left = take({part.hold.event, from}, fact->order);
            if (!left) return fail(record.lsn, "a reseat from a place that the order has not");
            moved.emplace_back(Place{part.hold.event, to}, *left);
        }
    }
    for (auto const& [to, ticket] : moved) {
        if (!sold_.try_emplace(to, ticket).second)
            return fail(record.lsn, "a reseat to a place that is sold");
        known->second.places.push_back(to);
    }
    return true;
}

bool Recount::refund(RecordView const& record) {
    auto const fact = decode_refund(record.payload);
    if (!fact) return fail(record.lsn, "a malformed EDIT");
    auto const known = orders_.find(fact->order);
    if (known == orders_.end()) return fail(record.lsn, "a refund of an order that is not known");
    Order& order = known->second;
    for (RefundFact::Part const& part : fact->parts) {
        for (SeatIndex const seat : part.seats) {
            auto const ended = take({part.hold.event, seat}, fact->order);
            if (!ended) return fail(record.lsn, "a refund of a place that the order has not");
            if (order.total && ended->price)
                *order.total -= *ended->price;
            else
                order.total.reset();
        }
    }
    return true;
}

bool Recount::order(RecordView const& record) {
    auto const fact = decode_order(record.payload);
    if (!fact) return fail(record.lsn, "a malformed ORDER");
    auto const [made, fresh] =
        orders_.try_emplace(fact->order, Order{record.lsn, false, fact->total, {}});
    if (!fresh) return fail(record.lsn, "an ORDER whose id is in use");
    for (HoldKey const& key : fact->holds) {
        auto const hold = holds_.find(key);
        if (hold == holds_.end()) return fail(record.lsn, "an ORDER of a hold that is not live");
        for (SeatIndex const seat : hold->second.seats) {
            Place const place{key.event, seat};
            auto const price = price_of(place);
            if (!price) return fail(record.lsn, "an ORDER of a place that no event has");
            if (!sold_.try_emplace(place, Sold{fact->order, price}).second)
                return fail(record.lsn, "an ORDER of a place that is sold");
            made->second.places.push_back(place);
        }
        holds_.erase(hold);
    }
    return true;
}

bool Recount::cancel(RecordView const& record) {
    auto const fact = decode_cancel(record.payload);
    if (!fact) return fail(record.lsn, "a malformed CANCEL");
    auto const found = orders_.find(fact->order);
    if (found == orders_.end()) return fail(record.lsn, "a CANCEL of an order that is not known");
    found->second.cancelled = true;
    for (Place const& place : found->second.places) sold_.erase(place);
    found->second.places.clear();
    return true;
}

std::optional<std::int64_t> Recount::price_of(Place const& place) const {
    EventSpec const* const spec = find_spec_(place.event);
    if (spec == nullptr) return std::nullopt;
    if (place.seat.value() >= spec->layout.place_count()) return std::nullopt;
    return spec->layout.price_of(place.seat);
}

std::optional<Recount::Sold> Recount::take(Place const& place, OrderId const& order) {
    auto const found = sold_.find(place);
    if (found == sold_.end()) return std::nullopt;
    if (found->second.order != order) return std::nullopt;
    Sold const sold = found->second;
    sold_.erase(found);
    std::erase(orders_.at(order).places, place);
    return sold;
}

bool Recount::fail(Lsn lsn, std::string const& what) {
    failure_ = "LSN " + std::to_string(lsn.value()) + ": " + what;
    return false;
}

}  // namespace holdfast::engine
