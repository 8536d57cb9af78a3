#include "engine/holder.hpp"

#include <holdfast/engine/audit.hpp>
#include <holdfast/engine/server_key.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace holdfast::engine {

PlaceCounts& PlaceCounts::operator+=(PlaceCounts const& more) noexcept {
    free += more.free;
    held += more.held;
    sold += more.sold;
    blocked += more.blocked;
    return *this;
}

namespace {

using Place = Recount::Place;

/// Counts places by section; a place is taken by the first who has it.
class SectionCounts {
public:
    explicit SectionCounts(Layout const& layout)
        : layout_(layout), sections_(layout.sections().size()), taken_(layout.place_count()) {}

    /// False: there is no such place, or somebody has it.
    [[nodiscard]] bool take(SeatIndex seat, std::uint64_t PlaceCounts::* kind) {
        if (seat.value() >= taken_.size() || taken_[seat.value()]) return false;
        taken_[seat.value()] = true;
        ++(sections_[layout_.section_of(seat).value()].*kind);
        return true;
    }
    [[nodiscard]] std::vector<PlaceCounts> finish() && {
        for (std::uint32_t seat = 0; seat < taken_.size(); ++seat) {
            if (!taken_[seat]) ++sections_[layout_.section_of(SeatIndex{seat}).value()].free;
        }
        return std::move(sections_);
    }

private:
    Layout const& layout_;
    std::vector<PlaceCounts> sections_;
    std::vector<bool> taken_;
};

class Auditor {
public:
    explicit Auditor(AuditInput const& input) : input_(input) {
        for (EventSpec const& spec : input.catalogue) {
            specs_[spec.id] = &spec;
            recounted_.try_emplace(spec.id, spec.layout);
        }
    }
    [[nodiscard]] AuditFindings run() &&;

private:
    void note(std::string what) {
        if (findings_.contradictions.size() < AuditFindings::contradictions_max)
            findings_.contradictions.push_back(std::move(what));
        ++findings_.contradiction_count;
    }
    [[nodiscard]] std::string name_of(Place const& place) const;
    [[nodiscard]] std::map<Place, OrderId> replayed_sales() const;
    void take(Place const& place, std::uint64_t PlaceCounts::* kind);
    void count_places();
    void compare_sections();
    void compare_replay();
    void compare_holds();
    void compare_tickets();
    void compare_orders();
    void compare_order(store::OrderSum const& row);
    void check_sum(store::OrderSum const& row);
    void check_journaled_sum(OrderId const& id, Recount::Order const& order);

    AuditInput const& input_;
    std::map<EventId, EventSpec const*> specs_;
    std::map<EventId, SectionCounts> recounted_;
    std::set<OrderId> stored_;
    AuditFindings findings_;
};

std::string Auditor::name_of(Place const& place) const {
    auto const spec = specs_.find(place.event);
    if (spec == specs_.end())
        return "a place of unknown event " + std::to_string(place.event.value());
    Layout const& layout = spec->second->layout;
    std::string name = "event " + spec->second->slug + ", place ";
    if (place.seat.value() >= layout.place_count() || layout.name_of(place.seat).empty())
        return name + std::to_string(place.seat.value());
    return name.append(layout.name_of(place.seat));
}

void Auditor::take(Place const& place, std::uint64_t PlaceCounts::* kind) {
    auto const counts = recounted_.find(place.event);
    bool const taken = counts != recounted_.end() && counts->second.take(place.seat, kind);
    if (!taken) note(name_of(place) + ": two owners, or there is no such place");
}

/// Every place of the recount, once.
void Auditor::count_places() {
    for (auto const& [place, sold] : input_.recount.sold()) take(place, &PlaceCounts::sold);
    for (auto const& [key, hold] : input_.recount.holds()) {
        auto const kind = hold.block ? &PlaceCounts::blocked : &PlaceCounts::held;
        for (SeatIndex const seat : hold.seats) take({key.event, seat}, kind);
    }
}

/// Section by section, as the replay has them.
void Auditor::compare_sections() {
    static RestoredEvent const never_used;
    for (auto& [event, counts] : recounted_) {
        EventSpec const& spec = *specs_.at(event);
        auto const restored = input_.replayed.find(event);
        auto const replayed = counts_of(
            spec.layout, restored == input_.replayed.end() ? never_used : restored->second);
        auto const recounted = std::move(counts).finish();
        for (std::size_t at = 0; at < recounted.size(); ++at) {
            Section const& section = spec.layout.sections()[at];
            if (recounted[at] != replayed[at])
                note("event " + spec.slug + ", section " + section.id +
                     ": recount and replay differ in its held, sold or blocked places");
            findings_.places += recounted[at];
        }
    }
}

std::map<Place, OrderId> Auditor::replayed_sales() const {
    std::map<Place, OrderId> sales;
    for (auto const& [event, restored] : input_.replayed) {
        for (RestoredHold const& hold : restored.holds) {
            if (hold.order == OrderId{}) continue;
            for (SeatIndex const seat : hold.seats) sales[{event, seat}] = hold.order;
        }
    }
    return sales;
}

void Auditor::compare_replay() {
    auto const sales = replayed_sales();
    for (auto const& [place, order] : sales) {
        auto const sold = input_.recount.sold().find(place);
        if (sold == input_.recount.sold().end() || sold->second.order != order)
            note(name_of(place) + ": replay sells it to " + to_text(order) +
                 ", the recount does not");
    }
    for (auto const& [place, sold] : input_.recount.sold()) {
        if (!sales.contains(place))
            note(name_of(place) + ": the journal sells it to " + to_text(sold.order) +
                 ", replay does not");
    }
}

/// Holds and blocks, by what an id names: which places it has, and whether it is staff's.
void Auditor::compare_holds() {
    std::map<HoldKey, Recount::Hold> replayed;
    for (auto const& [event, restored] : input_.replayed) {
        for (RestoredHold const& hold : restored.holds) {
            if (hold.order != OrderId{}) continue;
            replayed[{event, hold.ref}] = {Holder{hold.holder}.is_block(), hold.seats};
        }
    }
    auto const differ = [this](HoldKey const& key, std::string const& what) {
        auto const spec = specs_.find(key.event);
        note("event " +
             (spec == specs_.end() ? std::to_string(key.event.value()) : spec->second->slug) +
             ", hold of slot " + std::to_string(key.ref.slot().value()) + " generation " +
             std::to_string(key.ref.generation()) + what);
    };
    for (auto [key, hold] : input_.recount.holds()) {
        auto const found = replayed.find(key);
        std::ranges::sort(hold.seats);  // the replay's are ascending
        if (found == replayed.end())
            differ(key, ": the journal has it, replay does not");
        else if (found->second != hold)
            differ(key, ": replay gives it other places than the journal");
    }
    for (auto const& [key, hold] : replayed) {
        if (!input_.recount.holds().contains(key))
            differ(key, ": replay has it, the journal does not");
    }
}

void Auditor::compare_tickets() {
    std::map<Place, store::LiveTicket const*> tickets;
    for (store::LiveTicket const& ticket : input_.tickets) {
        Place const place{ticket.event, ticket.seat};
        if (!tickets.try_emplace(place, &ticket).second)
            note(name_of(place) + ": two live tickets");
        auto const sold = input_.recount.sold().find(place);
        if (sold == input_.recount.sold().end()) {
            note(name_of(place) + ": store.db has a live ticket of " + to_text(ticket.order) +
                 ", but by the journal it is not sold");
        } else if (sold->second.order != ticket.order) {
            note(name_of(place) + ": store.db has a live ticket of " + to_text(ticket.order) +
                 ", but by the journal it is of " + to_text(sold->second.order));
        } else if (sold->second.price.value_or(ticket.price) != ticket.price) {
            note(name_of(place) + ": its ticket says the price " + std::to_string(ticket.price) +
                 ", the catalogue " + std::to_string(*sold->second.price));
        }
    }
    for (auto const& [place, sold] : input_.recount.sold()) {
        if (!tickets.contains(place))
            note(name_of(place) + ": sold to " + to_text(sold.order) +
                 " by the journal, but store.db has no live ticket of it");
    }
}

/// What the store says of an order must be true within the store.
void Auditor::check_sum(store::OrderSum const& row) {
    bool const confirmed = row.state == store::OrderState::confirmed;
    ++(confirmed ? findings_.confirmed : findings_.cancelled);
    if (!confirmed && row.live_tickets != 0)
        note(to_text(row.order) + ": cancelled, but it has live tickets");
    if (confirmed && row.live_tickets == 0)
        note(to_text(row.order) + ": confirmed without tickets");
    if (confirmed && row.total != row.live_price)
        note(to_text(row.order) + ": its total is " + std::to_string(row.total) +
             ", its tickets cost " + std::to_string(row.live_price));
}

void Auditor::compare_order(store::OrderSum const& row) {
    auto const known = input_.recount.orders().find(row.order);
    bool const cancelled = row.state == store::OrderState::cancelled;
    if (known == input_.recount.orders().end()) {
        // Of an order cancelled before the base file the journal says nothing any more.
        if (cancelled && row.lsn <= input_.counted_from) return;
        return note(to_text(row.order) + ": in store.db, but not in the journal");
    }
    Recount::Order const& order = known->second;
    if (order.lsn != no_lsn && order.lsn != row.lsn)
        note(to_text(row.order) + ": store.db has it at LSN " + std::to_string(row.lsn.value()) +
             ", the journal at LSN " + std::to_string(order.lsn.value()));
    if (order.cancelled != cancelled)
        note(to_text(row.order) + ": " + (cancelled ? "cancelled" : "confirmed") +
             " in store.db, but not in the journal");
    if (order.total.value_or(row.total) != row.total)
        note(to_text(row.order) + ": its total is " + std::to_string(row.total) + " in store.db, " +
             std::to_string(*order.total) + " in the journal");
}

void Auditor::check_journaled_sum(OrderId const& id, Recount::Order const& order) {
    if (order.cancelled || !order.total) return;
    std::int64_t sum = 0;
    for (Place const& place : order.places) {
        auto const sold = input_.recount.sold().find(place);
        if (sold != input_.recount.sold().end()) sum += sold->second.price.value_or(0);
    }
    if (sum != *order.total)
        note(to_text(id) + ": the journal charges " + std::to_string(*order.total) +
             " for places that cost " + std::to_string(sum));
}

void Auditor::compare_orders() {
    for (store::OrderSum const& row : input_.orders) {
        stored_.insert(row.order);
        check_sum(row);
        compare_order(row);
    }
    for (auto const& [id, order] : input_.recount.orders()) {
        check_journaled_sum(id, order);
        if (!stored_.contains(id)) note(to_text(id) + ": in the journal, but not in store.db");
    }
}

AuditFindings Auditor::run() && {
    count_places();
    compare_sections();
    compare_replay();
    compare_holds();
    compare_tickets();
    compare_orders();
    return std::move(findings_);
}

}  // namespace

std::vector<PlaceCounts> counts_of(Layout const& layout, RestoredEvent const& event) {
    SectionCounts counts(layout);
    for (RestoredHold const& hold : event.holds) {
        auto kind = Holder{hold.holder}.is_block() ? &PlaceCounts::blocked : &PlaceCounts::held;
        if (hold.order != OrderId{}) kind = &PlaceCounts::sold;
        // Replay has refused what cannot be.
        for (SeatIndex const seat : hold.seats) static_cast<void>(counts.take(seat, kind));
    }
    return std::move(counts).finish();
}

AuditFindings audit(AuditInput const& input) {
    return Auditor(input).run();
}

}  // namespace holdfast::engine
