// Audit: compares four accounts of the same sale, made in different ways, as of one LSN.
//
// Purpose: the auditor's recount of the journal, the state a start replays, the store's rows, and
//   the catalogue's prices must agree on every place, hold, order and sum.
// Thread safety: a pure function. Invariants: an account that is silent on something (an order
//   cancelled before the base file) is not compared; all else is. Cost: linear in places and
//   orders.
#pragma once

#include <holdfast/engine/recount.hpp>
#include <holdfast/engine/replay.hpp>
#include <holdfast/store/store.hpp>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace holdfast::engine {

struct PlaceCounts {
    std::uint64_t free{};
    std::uint64_t held{};
    std::uint64_t sold{};
    std::uint64_t blocked{};
    PlaceCounts& operator+=(PlaceCounts const& more) noexcept;
    [[nodiscard]] std::uint64_t taken() const noexcept { return held + sold + blocked; }
    friend bool operator==(PlaceCounts const&, PlaceCounts const&) = default;
};

struct AuditInput {
    std::span<EventSpec const> catalogue;
    std::map<EventId, RestoredEvent> const& replayed;
    Recount const& recount;
    Lsn counted_from{};  // the recount knows every record after it
    std::span<store::LiveTicket const> tickets;
    std::span<store::OrderSum const> orders;
};

struct AuditFindings {
    /// What contradicts what, one line each; at most contradictions_max of them.
    static constexpr std::size_t contradictions_max = 20;
    std::vector<std::string> contradictions;
    std::uint64_t contradiction_count{};
    PlaceCounts places;
    std::uint64_t confirmed{};
    std::uint64_t cancelled{};
};

[[nodiscard]] AuditFindings audit(AuditInput const& input);

/// By section, as the replayed holds have them.
[[nodiscard]] std::vector<PlaceCounts> counts_of(Layout const& layout, RestoredEvent const& event);

}  // namespace holdfast::engine
