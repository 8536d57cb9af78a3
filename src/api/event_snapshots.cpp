#include "api/event_snapshots.hpp"

#include "api/event_documents.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::api {

Milliseconds EventSnapshots::max_age(std::uint32_t places) noexcept {
    return Milliseconds{places / 25'000};
}

SnapshotPointer EventSnapshots::fresh(Kept const& kept, Moment const& moment,
                                      std::uint32_t places) const {
    if (!kept.document) return nullptr;
    Milliseconds const oldest = std::max(max_age(places), allowed_age_(moment.at));
    bool const same = kept.moment.at == moment.at && kept.moment.seq == moment.seq;
    bool const young = moment.at >= kept.moment.at && moment.at - kept.moment.at < oldest;
    return same || young ? kept.document : nullptr;
}

SnapshotPointer EventSnapshots::find(engine::LiveEvent const& event, Kept Documents::* which,
                                     Moment const& moment, Lsn least) {
    std::lock_guard const lock(mutex_);
    Kept const& kept = documents_[event.spec().id].*which;
    if (kept.moment.seq < least) return nullptr;
    return fresh(kept, moment, event.spec().layout.place_count());
}

SnapshotPointer EventSnapshots::keep(engine::LiveEvent const& event, Kept Documents::* which,
                                     Moment const& moment, Snapshot made) {
    auto document = std::make_shared<Snapshot const>(std::move(made));
    std::lock_guard const lock(mutex_);
    auto& kept = documents_[event.spec().id].*which;
    // Another thread may have kept a newer one meanwhile.
    bool const newer = !kept.document || kept.moment.at <= moment.at;
    if (newer) kept = {moment, document};
    return document;
}

SnapshotPointer EventSnapshots::map(engine::LiveEvent const& event) {
    auto const id = event.spec().id;
    {
        std::lock_guard const lock(mutex_);
        if (auto const& known = documents_[id].map) return known;
    }
    auto made = std::make_shared<Snapshot>();
    made->body = map_document(event.spec());
    made->tag = entity_tag(made->body);
    std::lock_guard const lock(mutex_);
    auto& known = documents_[id].map;
    if (!known) known = std::move(made);
    return known;
}

SnapshotPointer EventSnapshots::view(engine::LiveEvent const& event, TimePoint now) {
    Moment const moment{now, journal_.appended_lsn()};
    // Until the seats are built the state changes without a fact and at no known time.
    bool const steady = event.ready();
    if (auto known = steady ? find(event, &Documents::view, moment) : nullptr) return known;
    Snapshot made;
    made.body = event_document(event, now);
    made.tag = entity_tag(made.body);
    if (!steady) return std::make_shared<Snapshot const>(std::move(made));
    return keep(event, &Documents::view, moment, std::move(made));
}

SnapshotPointer EventSnapshots::state(engine::LiveEvent const& event, TimePoint now) {
    // Read before the scan: what happens during it is told again by the stream, never missed. What
    // is appended by now is in the places, or the scan waits for it.
    Lsn const told = streams_ != nullptr ? streams_->told(event.spec().id) : no_lsn;
    Moment const moment{now, journal_.appended_lsn()};
    bool const steady = event.ready();
    if (auto known = steady ? find(event, &Documents::state, moment, told) : nullptr) return known;
    engine::SeatStates states;
    if (!event.seat_states(now, states)) return nullptr;
    Snapshot made;
    Sequence const sequence = streams_ != nullptr ? streams_->sequence() : Sequence{};
    // Seats that are built later change without a fact: nobody goes on from what was before.
    made.body = state_document(event, states, steady ? sequence.number(moment.seq) : 0);
    // Weak and without the number: a state that did not change is the same at a later fact.
    auto const content = std::string_view{made.body};
    made.tag = "W/" + entity_tag(content.substr(std::min(content.find(','), content.size())));
    if (!steady) return std::make_shared<Snapshot const>(std::move(made));
    return keep(event, &Documents::state, moment, std::move(made));
}

}  // namespace holdfast::api
