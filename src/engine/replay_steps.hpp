// Replay's state and its steps, one for each kind of record.
//
// Purpose: what replay.cpp and replay_edits.cpp share. Every step answers false, and leaves a
// breach, if its record cannot follow on those before it.
// Thread safety: one thread.
#pragma once

#include "engine/fact_codec.hpp"
#include "engine/mark_shelf.hpp"
#include "engine/replay_state.hpp"

#include <holdfast/engine/replay.hpp>

#include <fmt/format.h>
#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace holdfast::engine {

using journal::RecordView;

// For breaches.
[[nodiscard]] std::string text(HoldKey const& key);
[[nodiscard]] std::string text(OrderId const& order);
/// The other record of a breach: how the hold came to be what it is.
[[nodiscard]] std::string text(ReplayedHold const& entry);

/// What the answer of a mark must speak of: that of its record. Nothing: of anything.
using MarkSubject = std::variant<std::monostate, HoldKey, OrderId, EventId>;

struct Replay::State {
    explicit State(std::size_t mark_bytes_max) : marks({mark_bytes_max, 0}) {}

    MarkShelf marks;
    std::map<EventId, ReplayedEvent> events;
    std::string breach;
    std::optional<EventId> missing;  // that the breach is about
    std::uint64_t ignored_ends{};
    // The newest event looked up: records of one sale come in long runs.
    EventId last_id{};
    ReplayedEvent* last_event{};
    // Used again for each record, for the room of their lists.
    ClaimFact claim;
    OrderFact order;
    CancelFact cancel;

    bool refuse(Lsn lsn, std::string_view what) {
        breach = fmt::format("LSN {}: {}", lsn.value(), what);
        return false;
    }
    bool refuse_payload(RecordView const& record, std::string_view name) {
        return refuse(record.lsn, fmt::format("{} record of {} bytes that is no valid {} fact",
                                              name, record.payload.size(), name));
    }

    [[nodiscard]] ReplayedEvent* find(EventId id) noexcept {
        if (id == last_id) return last_event;
        auto const found = events.find(id);
        if (found == events.end()) return nullptr;
        last_id = id;
        last_event = &found->second;
        return last_event;
    }
    /// The event, if it exists and can have such a hold; else null and a breach.
    [[nodiscard]] ReplayedEvent* event_of(RecordView const& record, std::string_view name,
                                          HoldKey const& key) {
        ReplayedEvent* const event = find(key.event);
        if (event == nullptr) {
            missing = key.event;
            refuse(record.lsn,
                   fmt::format("{} of {}: the catalogue has no such event", name, text(key)));
            return nullptr;
        }
        if (event->has_slot(key.ref.slot())) return event;
        refuse(record.lsn, fmt::format("{} of {}: an event of {} places has no such slot", name,
                                       text(key), event->places()));
        return nullptr;
    }
    bool refuse_not_live(RecordView const& record, std::string_view name, HoldKey const& key,
                         ReplayedEvent& event) {
        SlotIndex const slot = key.ref.slot();
        ReplayedHold const* const other = event.in_slot(slot);
        std::string const why =
            other != nullptr ? text(*other)
                             : fmt::format("nothing; newest generation {}, last record at LSN {}",
                                           event.generation(slot), event.last_lsn(slot).value());
        return refuse(record.lsn, fmt::format("{} of {}: that hold is not live; the slot has {}",
                                              name, text(key), why));
    }

    /// The last step of a record: keeps its mark, if it has one. `claim`: the answer's.
    bool keep_mark(RecordView const& record, MarkBytes mark, MarkSubject const& subject,
                   ClaimFact const* of_claim = nullptr) {
        return mark.empty() || put_mark(record, mark, subject, of_claim);
    }
    bool put_mark(RecordView const& record, MarkBytes mark, MarkSubject const& subject,
                  ClaimFact const* of_claim);
    bool put_entry(MarkEntry entry, MarkSubject const& subject);
    [[nodiscard]] bool can_be_shown(Answer const& answer);

    bool claim_record(RecordView const& record);
    bool claim_seats(RecordView const& record, ReplayedEvent& event);
    bool edit_record(RecordView const& record);
    bool extend(RecordView const& record);
    bool exchange(RecordView const& record);
    bool reseat(RecordView const& record);
    bool refund(RecordView const& record);
    /// The sold hold of that order, or null and a breach.
    [[nodiscard]] ReplayedHold* sold_to(RecordView const& record, std::string_view name,
                                        HoldKey const& key, OrderId const& order_of);
    bool free_place(RecordView const& record, std::string_view name, ReplayedHold const& hold,
                    ReplayedEvent& event, SeatIndex seat);
    bool take_place(RecordView const& record, std::string_view name, ReplayedHold const& hold,
                    ReplayedEvent& event, SeatIndex seat);
    bool end_record(RecordView const& record);
    bool order_record(RecordView const& record);
    bool cancel_record(RecordView const& record);
    bool event_record(RecordView const& record);
    bool clock_record(RecordView const& record);
    bool unknown_record(RecordView const& record);
};

}  // namespace holdfast::engine
