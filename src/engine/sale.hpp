// Sale: one event with its seats; the LiveEvent behind the engine's face.
#pragma once

#include "engine/event_facts.hpp"
#include "engine/holder.hpp"
#include "engine/patience.hpp"

#include <holdfast/base/published.hpp>
#include <holdfast/engine/engine.hpp>
#include <holdfast/inventory/edits.hpp>
#include <holdfast/inventory/restore.hpp>
#include <holdfast/inventory/search.hpp>

namespace holdfast::engine {

/// The inventory of one event: made in one piece when its seats are built.
struct SaleInventory {
    SaleInventory(EventSpec const& spec, journal::Journal& journal, Milliseconds shortest_hold);

    /// Ends what is due at `now`, which the timer may not have come to, so that no limit refuses
    /// for what has expired. False: so much is due that some of it is left.
    [[nodiscard]] bool settle_due(TimePoint now);
    /// Whether nothing is due at `now`; ends nothing. False also if that could not be found out.
    [[nodiscard]] bool none_due(TimePoint now);

    inventory::Geometry geometry;
    inventory::Places<Atomics> places;
    timer::Wheel<Atomics> wheel;
    EventFacts facts;
    std::unique_ptr<inventory::UserLimits<Atomics>> users;      // null: no such limits
    std::unique_ptr<inventory::CoolDowns<Atomics>> cool_downs;  // null: none
    inventory::Claims<Atomics, EventFacts> claims;
    inventory::Search<Atomics, EventFacts> search;
    inventory::Holds<Atomics, EventFacts> holds;
    inventory::Edits<Atomics, EventFacts> edits;
};

/// What a place of a taken hold shows.
[[nodiscard]] PlaceState state_of(inventory::HoldLook const& look) noexcept;

class Sale final : public LiveEvent {
public:
    explicit Sale(std::shared_ptr<EventSpec const> spec);

    [[nodiscard]] EventSpec const& spec() const noexcept override { return *spec_; }
    [[nodiscard]] EventState state(TimePoint now) const noexcept override {
        return state_after(life_.get(), now);
    }
    /// As it is at `now` once that step is the newest.
    [[nodiscard]] EventState state_after(LifeStep life, TimePoint now) const noexcept;
    /// The inventory while state() is open, else null; a few loads, because every sold-out refusal
    /// asks it.
    [[nodiscard]] SaleInventory* if_open(TimePoint now) const noexcept {
        bool const in_time = now >= opens_at_ && now < closes_at_;
        return in_time && life_.get() == LifeStep::published ? live_.get() : nullptr;
    }
    [[nodiscard]] bool ready() const noexcept override { return live_.get() != nullptr; }
    [[nodiscard]] std::vector<SectionCount> availability(TimePoint now) const override;
    [[nodiscard]] bool seat_states(TimePoint now, SeatStates& states) const override;
    [[nodiscard]] bool follow(SeatFollower& follower) const override;
    [[nodiscard]] PlaceState place(SeatIndex seat, TimePoint now) const noexcept override;
    [[nodiscard]] SeatReason reason(SeatIndex seat, TimePoint now) const noexcept override;

    /// Makes the seats, with restored holds in place, and then makes them visible. Once.
    void build(journal::Journal& journal, EngineOptions const& options,
               RestoredEvent const& restored);
    /// EngineOptions::turn_wait; only if ready().
    [[nodiscard]] Milliseconds turn_wait() const noexcept { return turn_wait_; }
    /// Only if ready().
    [[nodiscard]] SaleInventory& inventory() const noexcept { return *live_.get(); }

    void set_life(LifeStep step) noexcept { life_.set(step); }

private:
    [[nodiscard]] std::optional<PlaceState> settled(SeatIndex place, TimePoint now,
                                                    Patience& patience) const;
    // following.cpp
    void begin_following(SeatFollower& follower) const;
    [[nodiscard]] bool follow_range(SeatFollower& follower, std::uint32_t first,
                                    std::uint32_t count, SectionCount* general,
                                    Patience& patience) const;
    /// Of a place that was touched; nothing: it took too long.
    [[nodiscard]] std::optional<PlaceState> look_again(SeatFollower& follower, SeatIndex place,
                                                       Patience& patience) const;

    std::shared_ptr<EventSpec const> spec_;
    Milliseconds turn_wait_{};  // set before live_
    TimePoint opens_at_;  // of the spec; the earliest and latest time there is if it names none
    TimePoint closes_at_;
    std::unique_ptr<SaleInventory> inventory_;
    Published<SaleInventory*> live_;  // inventory_, once others may see it
    Published<LifeStep> life_;
};

}  // namespace holdfast::engine
