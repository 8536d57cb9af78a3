#include "engine/sale.hpp"

#include <holdfast/base/assert.hpp>

namespace holdfast::engine {
namespace {

std::uint32_t slots_for(EventSpec const& spec) {
    return spec.layout.place_count() + limits::spare_slots(spec.policy.max_per_order);
}

std::unique_ptr<inventory::UserLimits<Atomics>> make_users(EventSpec const& spec) {
    EventPolicy const& policy = spec.policy;
    inventory::UserRules rules;
    if (policy.max_per_user) rules.max_units = *policy.max_per_user;
    if (policy.max_open_holds_per_user) rules.max_open_holds = *policy.max_open_holds_per_user;
    if (policy.hold_seconds_budget) rules.budget_ms = *policy.hold_seconds_budget * 1'000ULL;
    if (!rules.any()) return nullptr;
    auto const entries = inventory::UserTable<Atomics>::entries_for(spec.layout.place_count());
    return std::make_unique<inventory::UserLimits<Atomics>>(rules, entries);
}

std::unique_ptr<inventory::CoolDowns<Atomics>> make_cool_downs(EventSpec const& spec) {
    if (spec.policy.rehold_cooldown.count() == 0) return nullptr;
    return std::make_unique<inventory::CoolDowns<Atomics>>(spec.layout.place_count(),
                                                           spec.policy.rehold_cooldown);
}

void put_back(SaleInventory& inventory, RestoredEvent const& restored,
              std::uint64_t first_generation) {
    std::vector<inventory::StoredHold> stored;
    stored.reserve(restored.holds.size());
    for (RestoredHold const& hold : restored.holds)
        stored.push_back(
            {hold.ref, hold.holder, hold.created_at, hold.expires_at, hold.order, hold.seats});
    inventory::Restore<Atomics> restore(inventory.places, restored.generations, first_generation);
    restore.reserve_heads(stored);
    for (inventory::StoredHold const& hold : stored) restore.put(hold);
    restore.finish();
    for (inventory::StoredHold const& hold : stored) {
        if (hold.order == OrderId{} && hold.expires_at != no_deadline)
            inventory.wheel.arm(hold.ref.slot());
        std::uint64_t const account = inventory::account_of(hold.holder);
        if (inventory.users == nullptr || account == 0) continue;
        auto const units = static_cast<std::uint32_t>(hold.seats.size());
        if (hold.order != OrderId{})
            inventory.users->restore_sold(account, units);
        else
            inventory.users->restore(account, units);
    }
}

}  // namespace

PlaceState state_of(inventory::HoldLook const& look) noexcept {
    if (look.word.state() == inventory::State::sold) return PlaceState::sold;
    return Holder{look.holder}.is_block() ? PlaceState::blocked : PlaceState::held;
}

SaleInventory::SaleInventory(EventSpec const& spec, journal::Journal& journal,
                             Milliseconds shortest_hold)
    : geometry(spec.layout),
      places(geometry, slots_for(spec)),
      wheel(slots_for(spec), shortest_hold),
      facts(journal, spec.id, wheel),
      users(make_users(spec)),
      cool_downs(make_cool_downs(spec)),
      claims(places, facts, {users.get(), cool_downs.get()}),
      search(claims, spec.layout, shortest_hold),
      holds(claims),
      edits(claims, holds) {
    search.ask_when_none_is_due([this](TimePoint now) { return none_due(now); });
}

bool SaleInventory::settle_due(TimePoint now) {
    std::size_t ended = 0;
    return wheel.settle(
        now, limits::settled_per_claim_max,
        [&](SlotIndex slot) { return holds.fire(slot, now, now, ended); },
        [&](SlotIndex slot) { return holds.needs_timer(slot); });
}

bool SaleInventory::none_due(TimePoint now) {
    std::size_t ended = 0;
    bool const done = wheel.settle(
        now, limits::settled_per_claim_max,
        [&](SlotIndex slot) { return holds.fire(slot, now, now, ended, false); },
        [&](SlotIndex slot) { return holds.needs_timer(slot); });
    // Another thread may be just looking.
    return done && wheel.settled(now);
}

Sale::Sale(std::shared_ptr<EventSpec const> spec)
    : spec_(std::move(spec)),
      opens_at_(spec_->opens_at ? spec_->opens_at->at : TimePoint::min()),
      closes_at_(spec_->closes_at ? spec_->closes_at->at : TimePoint::max()),
      life_(spec_->publish ? LifeStep::published : LifeStep::drafted) {}

void Sale::build(journal::Journal& journal, EngineOptions const& options,
                 RestoredEvent const& restored) {
    HOLDFAST_ASSERT(!ready());
    inventory_ = std::make_unique<SaleInventory>(*spec_, journal, options.hold_ttl_min);
    turn_wait_ = options.turn_wait;
    put_back(*inventory_, restored, options.first_generation);
    if (restored.life) set_life(*restored.life);  // before anybody can claim
    live_.set(inventory_.get());
}

EventState Sale::state_after(LifeStep life, TimePoint now) const noexcept {
    if (life == LifeStep::published && ready() && now >= opens_at_ && now < closes_at_) [[likely]]
        return EventState::open;
    if (life == LifeStep::cancelled) return EventState::cancelled;
    if (life == LifeStep::closed) return EventState::closed;
    if (life == LifeStep::drafted) return EventState::draft;
    if (now >= closes_at_) return EventState::closed;
    if (life == LifeStep::paused) return EventState::paused;  // before its seats exist, too
    if (!ready()) return EventState::preparing;
    return EventState::scheduled;
}

PlaceState Sale::place(SeatIndex seat, TimePoint now) const noexcept {
    if (!inventory_->geometry.for_sale(seat.value())) return PlaceState::blocked;
    auto const look = inventory_->holds.display(seat.value(), now);
    return look ? state_of(*look) : PlaceState::free;
}

/// For a document that goes with a number of the journal: the fact of a change may be there before
/// its places show it, so this waits for it. Nothing: it took too long.
std::optional<PlaceState> Sale::settled(SeatIndex place, TimePoint now, Patience& patience) const {
    if (!inventory_->geometry.for_sale(place.value())) return PlaceState::blocked;
    do {
        auto const look = inventory_->holds.display(place.value(), now);
        // Its END is in the journal or comes after whatever the reader knows.
        if (!look || is_ending(look->word.state())) return PlaceState::free;
        using inventory::State;
        State const state = look->word.state();
        bool const changes =
            state == State::won || state == State::editing || state == State::confirming;
        if (!changes) return state_of(*look);
    } while (patience.lasts());
    return std::nullopt;
}

SeatReason Sale::reason(SeatIndex seat, TimePoint now) const noexcept {
    if (!inventory_->geometry.for_sale(seat.value())) return SeatReason::not_for_sale;
    auto const look = inventory_->holds.display(seat.value(), now);
    if (!look) return SeatReason::none;
    if (look->word.state() == inventory::State::sold) return SeatReason::sold;
    switch (Holder{look->holder}.kind()) {
        case HolderKind::staff_block:
            return SeatReason::blocked;
        case HolderKind::staff_not_for_sale:
            return SeatReason::not_for_sale;
        case HolderKind::buyer:
            break;
    }
    return SeatReason::held;
}

namespace {

SectionCount count_of(Layout const& layout, std::uint32_t section) {
    return {SectionIndex{section}, layout.sections()[section].capacity, 0, 0, 0, 0};
}

void add(SectionCount& count, PlaceState state) {
    switch (state) {
        case PlaceState::free:
            ++count.free;
            break;
        case PlaceState::held:
            ++count.held;
            break;
        case PlaceState::sold:
            ++count.sold;
            break;
        case PlaceState::blocked:
            ++count.blocked;
            break;
    }
}

}  // namespace

std::vector<SectionCount> Sale::availability(TimePoint now) const {
    std::vector<SectionCount> counts;
    auto const sections = static_cast<std::uint32_t>(spec_->layout.sections().size());
    for (std::uint32_t index = 0; index < sections; ++index) {
        Section const& section = spec_->layout.sections()[index];
        SectionCount count = count_of(spec_->layout, index);
        // Before the seats are built nothing is taken.
        if (!ready()) count.free = section.capacity;
        for (std::uint32_t i = 0; ready() && i < section.capacity; ++i)
            add(count, place(SeatIndex{section.first.value() + i}, now));
        HOLDFAST_ASSERT(count.free + count.held + count.sold + count.blocked == count.capacity);
        counts.push_back(count);
    }
    return counts;
}

bool Sale::seat_states(TimePoint now, SeatStates& states) const {
    std::uint32_t const seats = spec_->layout.labelled_count();
    states.seats.assign((seats + 3) / 4, 0);
    states.general.clear();
    Patience patience(turn_wait_);
    for (std::uint32_t seat = 0; ready() && seat < seats; ++seat) {
        auto const state = settled(SeatIndex{seat}, now, patience);
        if (!state) return false;
        auto const bits = static_cast<unsigned>(*state) << (2 * (seat % 4));
        states.seats[seat / 4] = static_cast<std::uint8_t>(states.seats[seat / 4] | bits);
    }
    for (std::uint32_t index = 0; Section const& section : spec_->layout.sections()) {
        SectionCount count = count_of(spec_->layout, index++);
        if (!section.general) continue;
        if (!ready()) count.free = section.capacity;
        for (std::uint32_t i = 0; ready() && i < section.capacity; ++i) {
            auto const state = settled(SeatIndex{section.first.value() + i}, now, patience);
            if (!state) return false;
            add(count, *state);
        }
        states.general.push_back(count);
    }
    return true;
}

}  // namespace holdfast::engine
