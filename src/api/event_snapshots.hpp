// Event snapshots: documents of events, made once for many readers.
//
// Purpose: during a sale thousands ask for the same state; the places are scanned once for a
// moment.
// Thread safety: any thread; one mutex, held to look up and to store, never while a document is
// made. Those of large events are to be made off the io threads.
// Invariants: a document is never older than max_age() or `allowed_age` say, or than
// age_while_made while another thread makes a newer one; of a small event never older than the
// newest fact, unless there is overload; and a state never older than what a stream of the event
// has told. Cost: a look-up and a shared pointer; a miss costs the document, up to 8 ns a place.
#pragma once

#include "api/conditional_reply.hpp"

#include <holdfast/api/seat_streams.hpp>
#include <holdfast/engine/engine.hpp>
#include <holdfast/journal/journal.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace holdfast::api {

using Snapshot = TaggedBytes;
using SnapshotPointer = std::shared_ptr<Snapshot const>;

class EventSnapshots {
public:
    /// `allowed_age`: how old a document may be at that time, whatever the event; under overload
    /// one that is ready is better than one that is new. `streams` may be null.
    EventSnapshots(journal::Journal const& journal,
                   std::function<Milliseconds(TimePoint)> allowed_age, SeatStreams const* streams)
        : journal_(journal), allowed_age_(std::move(allowed_age)), streams_(streams) {}

    [[nodiscard]] SnapshotPointer view(engine::LiveEvent const& event, TimePoint now);
    /// Null: a change under way took too long; busy.
    [[nodiscard]] SnapshotPointer state(engine::LiveEvent const& event, TimePoint now);
    /// Without a look at the places; null: they must be looked at, and who got null is to do that,
    /// by view() or state(). Others get the old one meanwhile.
    [[nodiscard]] SnapshotPointer ready_view(engine::LiveEvent const& event, TimePoint now);
    [[nodiscard]] SnapshotPointer ready_state(engine::LiveEvent const& event, TimePoint now);
    /// Its places are so few that an io thread may look at them all.
    [[nodiscard]] static bool is_small(engine::LiveEvent const& event) noexcept;

    /// How long a document of an event with so many places may be given again though facts may
    /// have come since: about four times what scanning it takes, so that scans of one event
    /// never cost more than a quarter of a core. 0 for events under 25,000 places.
    [[nodiscard]] static Milliseconds max_age(std::uint32_t places) noexcept;
    /// A reader who was to make a new one may be refused before it does: then another one is sent.
    static constexpr Milliseconds making_max{100};
    static constexpr Milliseconds age_while_made{250};

private:
    struct Moment {
        TimePoint at{};
        Lsn seq{};
    };
    struct Kept {
        Moment moment;
        SnapshotPointer document;
        std::optional<TimePoint> making_since;  // a newer one
    };
    struct Documents {
        Kept view;
        Kept state;
    };
    [[nodiscard]] SnapshotPointer fresh(Kept const& kept, Moment const& moment,
                                        std::uint32_t places) const;
    [[nodiscard]] SnapshotPointer keep(engine::LiveEvent const& event, Kept Documents::* which,
                                       Moment const& moment, Snapshot made);
    [[nodiscard]] SnapshotPointer find(engine::LiveEvent const& event, Kept Documents::* which,
                                       Moment const& moment, Lsn least = no_lsn);
    [[nodiscard]] SnapshotPointer ready(engine::LiveEvent const& event, Kept Documents::* which,
                                        Moment const& moment, Lsn least = no_lsn);
    [[nodiscard]] Lsn told(engine::LiveEvent const& event) const;

    journal::Journal const& journal_;
    std::function<Milliseconds(TimePoint)> allowed_age_;
    SeatStreams const* streams_;
    std::mutex mutex_;
    std::map<EventId, Documents> documents_;
};

}  // namespace holdfast::api
