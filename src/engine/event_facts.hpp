// EventFacts: the journal and the timer as one event's inventory sees them.
#pragma once

#include "engine/releases.hpp"

#include <holdfast/engine/facts.hpp>
#include <holdfast/inventory/atomics.hpp>
#include <holdfast/inventory/claims.hpp>
#include <holdfast/journal/journal.hpp>
#include <holdfast/timer/wheel.hpp>

#include <span>

namespace holdfast::engine {

using Atomics = inventory::StdAtomics;

class EventFacts {
public:
    EventFacts(journal::Journal& journal, EventId event, timer::Wheel<Atomics>& wheel)
        : journal_(journal), event_(event), wheel_(wheel) {}

    [[nodiscard]] bool reserve_claim(std::uint32_t seats) noexcept {
        return journal_.reserve(journal::record_header_bytes + claim_fact_bytes(seats));
    }
    void give_back_claim(std::uint32_t seats) noexcept {
        journal_.give_back(journal::record_header_bytes + claim_fact_bytes(seats));
    }
    Lsn claim(HoldRef ref, inventory::ClaimTerms const& terms,
              std::span<SeatIndex const> seats) noexcept;

    [[nodiscard]] bool reserve_end() noexcept {
        return journal_.reserve(journal::record_header_bytes + end_fact_bytes);
    }
    void give_back_end() noexcept {
        journal_.give_back(journal::record_header_bytes + end_fact_bytes);
    }
    /// Remembers a release, too: before the END, so before the places are free.
    Lsn end(HoldRef ref, inventory::State cause, MarkBytes mark = {}) noexcept;
    /// Whether the hold is remembered to have been released.
    [[nodiscard]] bool was_released(HoldRef ref) const noexcept { return releases_.has(ref); }

    void arm(SlotIndex slot) noexcept { wheel_.arm(slot); }

private:
    journal::Journal& journal_;
    EventId event_;
    timer::Wheel<Atomics>& wheel_;
    Releases releases_;
};

}  // namespace holdfast::engine
