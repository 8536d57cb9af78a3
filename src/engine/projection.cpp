#include "engine/projection.hpp"

#include "engine/base_state.hpp"
#include "engine/fact_codec.hpp"

#include <holdfast/base/assert.hpp>

#include <utility>

namespace holdfast::engine {

using journal::RecordType;
using journal::RecordView;

namespace {

[[nodiscard]] std::string name_of(PaymentMethod method) {
    switch (method) {
        case PaymentMethod::none:
            return "none";
        case PaymentMethod::wallet:
            return "wallet";
        case PaymentMethod::external:
            return "external";
    }
    HOLDFAST_ASSERT(false);
    return {};
}

}  // namespace

Projection::Projection(store::Store& store, FindSpec find_spec, ServerKey const& key)
    : store_(store),
      find_spec_(std::move(find_spec)),
      key_(key),
      applied_(store.identity().applied_lsn) {}

bool Projection::load(std::span<std::byte const> base) {
    BaseStateReader reader(base);
    BaseEvent event;
    BaseHold entry;
    for (std::uint32_t events = reader.events(); reader.good() && events > 0; --events) {
        reader.event(event);
        for (std::uint32_t holds = event.holds; reader.good() && holds > 0; --holds) {
            reader.hold(entry);
            if (entry.hold.order != OrderId{}) continue;
            seats_.put({event.id, entry.hold.ref}, entry.hold.seats);
        }
    }
    return reader.ends_behind_marks();
}

bool Projection::record(RecordView const& record) {
    HOLDFAST_ASSERT(!failure_);
    if ((static_cast<std::uint8_t>(record.type) & journal::ignorable_type_bit) != 0) return true;
    if (record.version == fact_version) return project(record);
    return fail(record.lsn, "a record of version " + std::to_string(record.version));
}

bool Projection::project(RecordView const& record) {
    switch (record.type) {
        case RecordType::claim:
            return claim_record(record);
        case RecordType::end:
            return end_record(record);
        case RecordType::order:
            return order_record(record);
        case RecordType::cancel:
            return cancel_record(record);
        case RecordType::event:
            return event_record(record);
        case RecordType::edit:
            return edit_record(record);
        case RecordType::clock:
        case RecordType::seal:
            return true;
        case RecordType::refund:
        case RecordType::credit:
        case RecordType::debit:
        case RecordType::reservation:
        case RecordType::queue:
        case RecordType::outbox_done:
        case RecordType::mark:  // may be skipped
            break;
    }
    return fail(record.lsn, "a record of type " +
                                std::to_string(static_cast<unsigned>(record.type)) +
                                ", which has no rows yet");
}

bool Projection::claim_record(RecordView const& record) {
    if (!decode_into(record.payload, claim_)) return fail(record.lsn, "a malformed CLAIM");
    seats_.put(claim_.hold, claim_.seats);
    return true;
}

bool Projection::end_record(RecordView const& record) {
    EndFact fact;
    if (!decode_into(record.payload, fact)) return fail(record.lsn, "a malformed END");
    // An END may stand twice (PROTOCOL F9), and an ORDER that came first has won.
    seats_.erase(fact.hold);
    return true;
}

bool Projection::order_record(RecordView const& record) {
    OrderFact fact;
    if (!decode_into(record.payload, fact)) return fail(record.lsn, "a malformed ORDER");
    if (!is_new(record.lsn)) {
        for (HoldKey const& hold : fact.holds) seats_.erase(hold);
        return true;
    }
    store::OrderRow row;
    row.order = fact.order;
    row.event = fact.holds.front().event;
    row.payment_method = name_of(fact.method);
    row.total = fact.total;
    row.created_at = fact.created_at;
    row.lsn = record.lsn;
    for (HoldKey const& hold : fact.holds) {
        row.holds.emplace_back(hold.event, hold.ref);
        if (!add_tickets(fact, hold, row)) {
            return fail(record.lsn, "an ORDER of a hold that is not live or has no event");
        }
        seats_.erase(hold);
    }
    if (!begin()) return false;
    return check(record.lsn, store_.apply_order(row));
}

bool Projection::add_tickets(OrderFact const& fact, HoldKey const& hold, store::OrderRow& row) {
    auto const found = seats_.find(hold);
    EventSpec const* const spec = find_spec_(hold.event);
    if (!found) return false;
    if (spec == nullptr) return false;
    if (row.currency.empty()) row.currency = spec->currency;
    Layout const& layout = spec->layout;
    for (SeatIndex const seat : *found) {
        if (seat.value() >= layout.place_count()) return false;
        store::TicketRow ticket;
        ticket.ticket = key_.ticket_id(fact.order, hold.event, seat);
        ticket.event = hold.event;
        ticket.seat = seat;
        ticket.seat_name = layout.name_of(seat);
        ticket.section = layout.sections()[layout.section_of(seat).value()].id;
        ticket.price = layout.price_of(seat);
        row.tickets.push_back(std::move(ticket));
    }
    return true;
}

bool Projection::cancel_record(RecordView const& record) {
    CancelFact fact;
    if (!decode_into(record.payload, fact)) return fail(record.lsn, "a malformed CANCEL");
    if (!is_new(record.lsn)) return true;
    if (!begin()) return false;
    store::HistoryRow const history{record.lsn, fact.at, fact.order, "cancelled"};
    return check(record.lsn, store_.apply_cancel(fact.order, history));
}

bool Projection::event_record(RecordView const& record) {
    EventFact fact;
    if (!decode_into(record.payload, fact)) return fail(record.lsn, "a malformed EVENT");
    if (!is_new(record.lsn)) return true;
    if (!begin()) return false;
    return check(record.lsn, store_.apply_life_step(fact.event, fact.step, record.lsn));
}

bool Projection::begin() {
    if (begun_) return true;
    auto const done = store_.begin();
    if (!done) return check(applied_, done);
    begun_ = true;
    return true;
}

bool Projection::commit(Lsn last, std::uint32_t chain) {
    HOLDFAST_ASSERT(!failure_);
    if (!is_new(last)) return true;
    // Claims and ends alone have no rows, but applied_lsn moves over them.
    if (!begin()) return false;
    if (!check(last, store_.commit(last, chain))) return false;
    begun_ = false;
    applied_ = last;
    return true;
}

bool Projection::check(Lsn lsn, store::StoreResult<void> const& done) {
    if (done) return true;
    store_failure_ = done.error().kind;
    return fail(lsn,
                done.error().message + " (SQLite code " + std::to_string(done.error().code) + ")");
}

bool Projection::fail(Lsn lsn, std::string const& what) {
    failure_ = "LSN " + std::to_string(lsn.value()) + ": " + what;
    store_.roll_back();
    begun_ = false;
    return false;
}

}  // namespace holdfast::engine
