#include "engine/holder.hpp"

#include <holdfast/engine/audit.hpp>

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
    void check_capacities();
    void compare_replay();
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

/// free + held + sold + blocked = capacity, and as the replay has it, section by section.
void Auditor::check_capacities() {
    static RestoredEvent const never_used;
    for (auto& [event, counts] : recounted_) {
        EventSpec const& spec = *specs_.at(event);
        auto const restored = input_.replayed.find(event);
        auto const replayed = counts_of(
            spec.layout, restored == input_.replayed.end() ? never_used : restored->second);
        auto const recounted = std::move(counts).finish();
        for (std::size_t at = 0; at < recounted.size(); ++at) {
            Section const& section = spec.layout.sections()[at];
            std::string const name = "event " + spec.slug + ", section " + section.id;
            if (recounted[at].free + recounted[at].taken() != section.capacity)
                note(name + ": its places do not add up to its capacity");
            if (recounted[at] != replayed[at])
                note(name + ": recount and replay differ in its held, sold or blocked places");
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
    check_capacities();
    compare_replay();
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
