// Replay of EDIT records: a hold gets another deadline or another list.
#include "engine/replay_steps.hpp"

#include <algorithm>

namespace holdfast::engine {

bool Replay::State::edit_record(RecordView const& record) {
    auto const kind = edit_kind_of(record.payload);
    if (!kind) return refuse_payload(record, "EDIT");
    switch (*kind) {
        case EditKind::extend:
            return extend(record);
        case EditKind::exchange:
            return exchange(record);
        case EditKind::reseat:
            return reseat(record);
        case EditKind::refund:
            return refund(record);
    }
    return refuse_payload(record, "EDIT");
}

bool Replay::State::extend(RecordView const& record) {
    EditFact fact;
    if (!decode_into(record.payload, fact)) return refuse_payload(record, "EDIT");
    ReplayedEvent* const event = event_of(record, "EDIT", fact.hold);
    if (event == nullptr) return false;
    ReplayedHold* const found = event->find(fact.hold.ref);
    if (found == nullptr) return refuse_not_live(record, "EDIT", fact.hold, *event);
    if (found->hold.order != OrderId{}) {
        return refuse_not_live(record, "EDIT", fact.hold, *event);
    }
    found->hold.holder = fact.holder;
    found->hold.expires_at = fact.expires_at;
    event->touch(fact.hold.ref.slot(), record.lsn);
    return keep_mark(record, fact.mark, fact.hold);
}

bool Replay::State::free_place(RecordView const& record, std::string_view name,
                               ReplayedHold const& hold, ReplayedEvent& event, SeatIndex seat) {
    bool const has = seat.value() < event.places() && event.owner(seat) == &hold;
    if (has) {
        event.set_owner(seat, nullptr);
        return true;
    }
    return refuse(record.lsn,
                  fmt::format("{}: place {} is not in {}", name, seat.value(), text(hold)));
}

bool Replay::State::take_place(RecordView const& record, std::string_view name,
                               ReplayedHold const& hold, ReplayedEvent& event, SeatIndex seat) {
    if (seat.value() >= event.places()) {
        return refuse(record.lsn, fmt::format("{}: place {} of an event of {} places", name,
                                              seat.value(), event.places()));
    }
    if (ReplayedHold const* const owner = event.owner(seat); owner != nullptr) {
        return refuse(record.lsn,
                      fmt::format("{}: place {} would have two owners, it belongs to {}", name,
                                  seat.value(), text(*owner)));
    }
    event.set_owner(seat, &hold);
    return true;
}

bool Replay::State::exchange(RecordView const& record) {
    auto const fact = decode_exchange(record.payload);
    if (!fact) return refuse_payload(record, "EDIT");
    std::string const name = "EDIT of " + text(fact->hold);
    ReplayedEvent* const event = event_of(record, "EDIT", fact->hold);
    if (event == nullptr) return false;
    ReplayedHold* const found = event->find(fact->hold.ref);
    bool const held = found != nullptr && found->hold.order == OrderId{};
    if (!held) return refuse_not_live(record, "EDIT", fact->hold, *event);
    // What is added was free before anything was dropped, so it comes first.
    for (SeatIndex const seat : fact->added)
        if (!take_place(record, name, *found, *event, seat)) return false;
    for (SeatIndex const seat : fact->dropped)
        if (!free_place(record, name, *found, *event, seat)) return false;
    event->set_seats(*found, fact->added);
    if (found->hold.seats.empty())
        return refuse(record.lsn, fmt::format("{}: it would have no places", name));
    event->touch(fact->hold.ref.slot(), record.lsn);
    return keep_mark(record, fact->mark, fact->hold);
}

ReplayedHold* Replay::State::sold_to(RecordView const& record, std::string_view name,
                                     HoldKey const& key, OrderId const& order_of) {
    ReplayedEvent* const event = event_of(record, name, key);
    if (event == nullptr) return nullptr;
    ReplayedHold* const found = event->find(key.ref);
    if (found == nullptr) {
        refuse_not_live(record, name, key, *event);
    } else if (found->hold.order != order_of) {
        refuse(record.lsn, fmt::format("{} of {}: that order did not buy it; it is {}", name,
                                       text(key), text(*found)));
    } else {
        event->touch(key.ref.slot(), record.lsn);
        return found;
    }
    return nullptr;
}

bool Replay::State::reseat(RecordView const& record) {
    auto const fact = decode_reseat(record.payload);
    if (!fact) return refuse_payload(record, "EDIT");
    std::string const name = "reseat for " + text(fact->order);
    // Tickets may change places with each other, so all places are left before one is taken.
    for (ReseatFact::Part const& part : fact->parts) {
        ReplayedHold const* const found = sold_to(record, name, part.hold, fact->order);
        if (found == nullptr) return false;
        for (auto const& move : part.moves)
            if (!free_place(record, name, *found, *find(part.hold.event), move.from)) return false;
    }
    std::vector<SeatIndex> taken;
    for (ReseatFact::Part const& part : fact->parts) {
        ReplayedEvent& event = *find(part.hold.event);
        ReplayedHold* const found = event.find(part.hold.ref);
        taken.clear();
        for (auto const& move : part.moves) {
            if (!take_place(record, name, *found, event, move.to)) return false;
            taken.push_back(move.to);
        }
        event.set_seats(*found, taken);
    }
    return keep_mark(record, fact->mark, fact->order);
}

bool Replay::State::refund(RecordView const& record) {
    auto const fact = decode_refund(record.payload);
    if (!fact) return refuse_payload(record, "EDIT");
    std::string const name = "refund for " + text(fact->order);
    for (RefundFact::Part const& part : fact->parts) {
        ReplayedHold* const found = sold_to(record, name, part.hold, fact->order);
        if (found == nullptr) return false;
        ReplayedEvent& event = *find(part.hold.event);
        for (SeatIndex const seat : part.seats)
            if (!free_place(record, name, *found, event, seat)) return false;
        event.set_seats(*found, {});
        if (found->hold.seats.empty()) event.end(*found);
    }
    return keep_mark(record, fact->mark, fact->order);
}

}  // namespace holdfast::engine
