#include "engine/mark_bytes.hpp"
#include "engine/replay_steps.hpp"

#include <holdfast/base/assert.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::engine {

using journal::RecordType;

std::string text(HoldKey const& key) {
    return fmt::format("event {} slot {} generation {}", key.event.value(), key.ref.slot().value(),
                       key.ref.generation());
}

std::string text(OrderId const& order) {
    return fmt::format("order {:016x}{:016x}", order.high, order.low);
}

std::string text(ReplayedHold const& entry) {
    std::string said = fmt::format("the hold of slot {} generation {}, CLAIM at LSN {}",
                                   entry.hold.ref.slot().value(), entry.hold.ref.generation(),
                                   entry.claimed.value());
    if (entry.hold.order != OrderId{}) {
        said += fmt::format(", sold to {} at LSN {}", text(entry.hold.order), entry.sold.value());
    }
    return said;
}

bool Replay::State::claim_record(RecordView const& record) {
    if (!decode_into(record.payload, claim)) return refuse_payload(record, "CLAIM");
    ReplayedEvent* const event = event_of(record, "CLAIM", claim.hold);
    if (event == nullptr) return false;
    SlotIndex const slot = claim.hold.ref.slot();
    if (event->in_slot(slot) != nullptr) {
        return refuse(record.lsn, fmt::format("CLAIM of {}: the slot is in use by {}",
                                              text(claim.hold), text(*event->in_slot(slot))));
    }
    if (claim.hold.ref.generation() <= event->generation(slot)) {
        return refuse(
            record.lsn,
            fmt::format("CLAIM of {}: the slot had generation {} already, last record "
                        "at LSN {}",
                        text(claim.hold), event->generation(slot), event->last_lsn(slot).value()));
    }
    if (!claim_seats(record, *event)) return false;
    event->claim(claim, record.lsn);
    event->touch(slot, record.lsn);
    return keep_mark(record, claim.mark, claim.hold, &claim);
}

bool Replay::State::claim_seats(RecordView const& record, ReplayedEvent& event) {
    std::optional<SeatIndex> before;
    for (SeatIndex const seat : claim.seats) {
        if (seat.value() >= event.places()) {
            return refuse(record.lsn, fmt::format("CLAIM of {}: place {} of an event of {} places",
                                                  text(claim.hold), seat.value(), event.places()));
        }
        if (before >= seat) {
            return refuse(record.lsn,
                          fmt::format("CLAIM of {}: place {} does not come after place {}",
                                      text(claim.hold), seat.value(), before->value()));
        }
        before = seat;
        ReplayedHold const* const owner = event.owner(seat);
        if (owner == nullptr) continue;
        return refuse(record.lsn,
                      fmt::format("CLAIM of {}: place {} would have two owners, it belongs to {}",
                                  text(claim.hold), seat.value(), text(*owner)));
    }
    return true;
}

bool Replay::State::end_record(RecordView const& record) {
    EndFact fact;
    if (!decode_into(record.payload, fact)) return refuse_payload(record, "END");
    ReplayedEvent* const event = event_of(record, "END", fact.hold);
    if (event == nullptr) return false;
    if (fact.hold.ref.generation() > event->generation(fact.hold.ref.slot())) {
        // Nobody can end a hold before its CLAIM has an LSN, so the CLAIM is missing.
        return refuse_not_live(record, "END", fact.hold, *event);
    }
    ReplayedHold const* const found = event->find(fact.hold.ref);
    bool const ends = found != nullptr && found->hold.order == OrderId{};
    if (!ends) {
        // END may stand twice (PROTOCOL F9), and an ORDER that came first has won.
        ++ignored_ends;
        return keep_mark(record, fact.mark, fact.hold);
    }
    event->end(*found);
    event->touch(fact.hold.ref.slot(), record.lsn);
    return keep_mark(record, fact.mark, fact.hold);
}

bool Replay::State::order_record(RecordView const& record) {
    if (!decode_into(record.payload, order)) return refuse_payload(record, "ORDER");
    for (HoldKey const& key : order.holds) {
        ReplayedEvent* const event = event_of(record, "ORDER", key);
        if (event == nullptr) return false;
        ReplayedHold* const found = event->find(key.ref);
        if (found == nullptr) return refuse_not_live(record, text(order.order), key, *event);
        if (found->hold.order != OrderId{}) {
            return refuse_not_live(record, text(order.order), key, *event);
        }
        found->hold.order = order.order;
        found->sold = record.lsn;
        event->touch(key.ref.slot(), record.lsn);
    }
    return keep_mark(record, order.mark, order.order);
}

bool Replay::State::cancel_record(RecordView const& record) {
    if (!decode_into(record.payload, cancel)) return refuse_payload(record, "CANCEL");
    std::string const name = "CANCEL for " + text(cancel.order);
    for (HoldKey const& key : cancel.holds) {
        ReplayedEvent* const event = event_of(record, name, key);
        if (event == nullptr) return false;
        ReplayedHold const* const found = event->find(key.ref);
        if (found == nullptr) return refuse_not_live(record, name, key, *event);
        if (found->hold.order != cancel.order) {
            return refuse(record.lsn, fmt::format("{} of {}: that order did not buy it; it is {}",
                                                  name, text(key), text(*found)));
        }
        event->end(*found);
        event->touch(key.ref.slot(), record.lsn);
    }
    return keep_mark(record, cancel.mark, cancel.order);
}

bool Replay::State::event_record(RecordView const& record) {
    EventFact fact;
    if (!decode_into(record.payload, fact)) return refuse_payload(record, "EVENT");
    ReplayedEvent* const event = find(fact.event);
    if (event == nullptr) {
        missing = fact.event;
        return refuse(record.lsn,
                      fmt::format("EVENT {}: the catalogue has no such event", fact.event.value()));
    }
    event->take_step(fact.step, fact.at);
    return keep_mark(record, fact.mark, fact.event);
}

bool Replay::State::clock_record(RecordView const& record) {
    ClockFact fact;
    if (!decode_into(record.payload, fact)) return refuse_payload(record, "CLOCK");
    for (auto& [id, event] : events) event.raise_deadlines(fact.at);
    return keep_mark(record, fact.mark, {});
}

bool Replay::State::unknown_record(RecordView const& record) {
    auto const type = static_cast<std::uint8_t>(record.type);
    return refuse(
        record.lsn,
        fmt::format("record of type {} version {}, which this holdfast does not know: a "
                    "newer holdfast with record version {} or later wrote it and is "
                    "needed to read it",
                    type, record.version, std::max<unsigned>(record.version, fact_version + 1U)));
}

bool Replay::State::put_mark(RecordView const& record, MarkBytes mark, MarkSubject const& subject,
                             ClaimFact const* of_claim) {
    auto const fact = decode_mark(mark);
    bool const whole = fact && fact->answer.empty() == (of_claim != nullptr);
    if (!whole) return refuse(record.lsn, "a record with an idempotency mark that is none");
    AnswerBytes answer(fact->answer.begin(), fact->answer.end());
    if (of_claim != nullptr) answer = encode(Answer{answer_of(*of_claim)});
    return put_entry({fact->mark, fact->at, fact->keep_until, record.lsn, std::move(answer)},
                     subject);
}

namespace {

MarkSubject subject_of(Answer const& answer) {
    if (auto const* const hold = std::get_if<HoldAnswer>(&answer))
        return HoldKey{hold->hold.event, hold->hold.ref};
    if (auto const* const end = std::get_if<EndAnswer>(&answer))
        return HoldKey{end->hold.event, end->hold.ref};
    if (auto const* const bought = std::get_if<OrderAnswer>(&answer)) return bought->order;
    if (auto const* const change = std::get_if<ChangeAnswer>(&answer)) return change->order;
    return std::get<StepAnswer>(answer).event;
}

}  // namespace

/// Whether there are the event, the slot and the places that an answer names: a repeat shows them.
bool Replay::State::can_be_shown(Answer const& answer) {
    auto const places = [this](EventId id, std::span<SeatIndex const> seats) {
        ReplayedEvent const* const event = find(id);
        return event != nullptr && std::ranges::all_of(seats, [event](SeatIndex seat) {
                   return seat.value() < event->places();
               });
    };
    auto const hold = [this](HoldName const& name) {
        ReplayedEvent const* const event = find(name.event);
        return event != nullptr && event->has_slot(name.ref.slot());
    };
    if (auto const* const held = std::get_if<HoldAnswer>(&answer))
        return hold(held->hold) && places(held->hold.event, held->seats);
    if (auto const* const ended = std::get_if<EndAnswer>(&answer)) return hold(ended->hold);
    if (auto const* const step = std::get_if<StepAnswer>(&answer)) return places(step->event, {});
    if (auto const* const bought = std::get_if<OrderAnswer>(&answer))
        return std::ranges::all_of(bought->parts, [&places](OrderAnswer::Part const& part) {
            return places(part.event, part.seats);
        });
    return true;  // of a change of an order: only the store knows its events
}

bool Replay::State::put_entry(MarkEntry entry, MarkSubject const& subject) {
    auto const answer = decode_answer(entry.answer);
    bool const speaks_of_it = subject.index() == 0 || (answer && subject_of(*answer) == subject);
    if (!speaks_of_it) return refuse(entry.lsn, "an idempotency mark of something else");
    bool const shown = answer && can_be_shown(*answer);
    if (!shown)
        return refuse(entry.lsn, "an idempotency mark of an event or a place that is not there");
    MarkShelf::Items gone;
    auto const lives = [this](HoldName const& hold) {
        ReplayedEvent* const event = find(hold.event);
        return event != nullptr && event->find(hold.ref) != nullptr;
    };
    marks.put(std::move(entry), lives, gone);
    return true;
}

Replay::Replay(std::map<EventId, std::uint32_t> places, std::size_t mark_bytes_max)
    : state_(std::make_unique<State>(mark_bytes_max)) {
    for (auto const& [id, count] : places) state_->events.try_emplace(id, count);
}

Replay::~Replay() = default;

bool Replay::record(RecordView const& record) {
    HOLDFAST_ASSERT(state_->breach.empty());
    if (record.type == RecordType::mark && record.version == fact_version)
        return state_->put_mark(record, record.payload, {}, nullptr);
    if ((static_cast<std::uint8_t>(record.type) & journal::ignorable_type_bit) != 0) return true;
    if (record.version != fact_version) return state_->unknown_record(record);
    switch (record.type) {
        case RecordType::claim:
            return state_->claim_record(record);
        case RecordType::edit:
            return state_->edit_record(record);
        case RecordType::end:
            return state_->end_record(record);
        case RecordType::order:
            return state_->order_record(record);
        case RecordType::cancel:
            return state_->cancel_record(record);
        case RecordType::event:
            return state_->event_record(record);
        case RecordType::clock:
            return state_->clock_record(record);
        case RecordType::seal:
            return true;  // The journal's own: where a run ended.
        case RecordType::refund:
        case RecordType::credit:
        case RecordType::debit:
        case RecordType::reservation:
        case RecordType::queue:
        case RecordType::outbox_done:
        case RecordType::mark:  // above
            break;
    }
    return state_->unknown_record(record);
}

std::string const& Replay::breach() const noexcept {
    return state_->breach;
}

std::optional<EventId> Replay::missing_event() const noexcept {
    return state_->missing;
}

std::uint64_t Replay::ignored_ends() const noexcept {
    return state_->ignored_ends;
}

std::vector<MarkEntry> Replay::marks() const {
    std::vector<MarkEntry> marks;
    for (MarkEntry const* const entry : state_->marks.in_order()) marks.push_back(*entry);
    return marks;
}

std::vector<MarkEntry> Replay::take_marks() {
    std::vector<MarkEntry> marks;
    auto const entries = state_->marks.in_order();
    marks.reserve(entries.size());
    for (MarkEntry* const entry : entries) marks.push_back(std::move(*entry));
    state_->marks = MarkShelf({0, 0});
    return marks;
}

std::map<EventId, RestoredEvent> Replay::take() {
    std::map<EventId, RestoredEvent> restored;
    for (auto& [id, event] : state_->events) restored.emplace(id, event.take());
    state_->events.clear();
    state_->last_id = EventId{};
    state_->last_event = nullptr;
    return restored;
}

}  // namespace holdfast::engine
