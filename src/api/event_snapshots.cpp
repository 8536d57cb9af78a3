#include "api/event_snapshots.hpp"

#include "api/event_documents.hpp"

#include <holdfast/domain/limits.hpp>

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
    // One made for a later reader is younger still.
    bool const young = oldest.count() > 0 && moment.at - kept.moment.at < oldest;
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
    if (newer) kept = {moment, document, {}};
    return document;
}

SnapshotPointer EventSnapshots::ready(engine::LiveEvent const& event, Kept Documents::* which,
                                      Moment const& moment, Lsn least) {
    if (!event.ready()) return nullptr;
    std::lock_guard const lock(mutex_);
    Kept& kept = documents_[event.spec().id].*which;
    bool const true_enough = kept.document != nullptr && kept.moment.seq >= least;
    if (true_enough) {
        if (auto known = fresh(kept, moment, event.spec().layout.place_count())) return known;
    }
    bool const young = true_enough && moment.at - kept.moment.at < age_while_made;
    bool const is_being_made = kept.making_since && moment.at - *kept.making_since < making_max;
    if (young && is_being_made) return kept.document;
    kept.making_since = moment.at;
    return nullptr;
}

Lsn EventSnapshots::told(engine::LiveEvent const& event) const {
    return streams_ != nullptr ? streams_->told(event.spec().id) : no_lsn;
}

bool EventSnapshots::is_small(engine::LiveEvent const& event) noexcept {
    return event.spec().layout.place_count() <= limits::scan_places_freely;
}

SnapshotPointer EventSnapshots::ready_view(engine::LiveEvent const& event, TimePoint now) {
    return ready(event, &Documents::view, {now, journal_.appended_lsn()});
}

SnapshotPointer EventSnapshots::ready_state(engine::LiveEvent const& event, TimePoint now) {
    Lsn const least = told(event);  // first, as in state()
    return ready(event, &Documents::state, {now, journal_.appended_lsn()}, least);
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
    Lsn const least = told(event);
    Moment const moment{now, journal_.appended_lsn()};
    bool const steady = event.ready();
    if (auto known = steady ? find(event, &Documents::state, moment, least) : nullptr) return known;
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
