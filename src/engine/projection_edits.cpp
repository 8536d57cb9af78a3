// Projection of EDIT records: the map of holds follows exchanges, tickets end or move.
#include "engine/projection.hpp"

#include <algorithm>

namespace holdfast::engine {

using journal::RecordView;

bool Projection::edit_record(RecordView const& record) {
    auto const kind = edit_kind_of(record.payload);
    if (!kind) return fail(record.lsn, "a malformed EDIT");
    switch (*kind) {
        case EditKind::extend:  // Moves a deadline, which has no row.
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

bool Projection::exchange(RecordView const& record) {
    auto const fact = decode_exchange(record.payload);
    if (!fact) return fail(record.lsn, "a malformed EDIT");
    auto const found = seats_.find(fact->hold);
    if (!found) return fail(record.lsn, "an EDIT of a hold that is not live");
    std::vector<SeatIndex> seats(found->begin(), found->end());
    std::erase_if(seats, [&](SeatIndex const seat) {
        return std::ranges::binary_search(fact->dropped, seat);  // a decoded list is ascending
    });
    seats.insert(seats.end(), fact->added.begin(), fact->added.end());
    std::ranges::sort(seats);
    seats_.put(fact->hold, seats);
    return true;
}

bool Projection::reseat(RecordView const& record) {
    auto const fact = decode_reseat(record.payload);
    if (!fact) return fail(record.lsn, "a malformed EDIT");
    if (!is_new(record.lsn)) return true;
    std::vector<store::ReseatRow> rows;
    for (ReseatFact::Part const& part : fact->parts) {
        EventSpec const* const spec = find_spec_(part.hold.event);
        if (spec == nullptr) return fail(record.lsn, "an EDIT of a hold that has no event");
        Layout const& layout = spec->layout;
        for (auto const& [from, to] : part.moves) {
            if (to.value() >= layout.place_count())
                return fail(record.lsn, "an EDIT to a place that does not exist");
            rows.push_back({part.hold.event, from, to, std::string{layout.name_of(to)},
                            layout.sections()[layout.section_of(to).value()].id});
        }
    }
    if (!begin()) return false;
    return check(record.lsn,
                 store_.apply_reseat(rows, {record.lsn, fact->at, fact->order, "reseated"}));
}

bool Projection::refund(RecordView const& record) {
    auto const fact = decode_refund(record.payload);
    if (!fact) return fail(record.lsn, "a malformed EDIT");
    if (!is_new(record.lsn)) return true;
    std::vector<std::pair<EventId, SeatIndex>> places;
    for (RefundFact::Part const& part : fact->parts)
        for (SeatIndex const seat : part.seats) places.emplace_back(part.hold.event, seat);
    if (!begin()) return false;
    return check(record.lsn,
                 store_.apply_refund(places, {record.lsn, fact->at, fact->order, "refunded"}));
}

}  // namespace holdfast::engine
