// TracedSale: one life of a server on a TracedDisk, from its start to its last operation.
//
// Purpose: a run for crash_states.hpp, of the real engine, journal, recovery and compaction.
// Thread safety: one thread. Invariants: the same chance gives the same calls.
#pragma once

#include "tests/engine/sale_fixture.hpp"
#include "tests/sim/sim_journal.hpp"
#include "tests/sim/traced_disk.hpp"
#include "tests/sim/world.hpp"

#include <holdfast/engine/compaction.hpp>
#include <holdfast/journal/recovery.hpp>

#include <optional>
#include <string>

namespace holdfast::sim {

/// What a start from a disk finds.
struct Found {
    std::string wrong;  // empty: all is as it must be
    std::optional<journal::Recovered> recovered;
    engine::RestoredEvent event;
    std::vector<engine::MarkEntry> marks;
    bool from_base{};
};

class TracedSale {
public:
    TracedSale(Files const& files, Tape& tape, std::uint64_t acknowledged, Chance& chance);
    ~TracedSale();

    /// Recovery and all that a start writes; what went wrong.
    [[nodiscard]] std::string start();
    /// Requests, groups, upkeep and compactions; so many of them.
    void run(std::uint64_t operations);
    void stop_well();

    [[nodiscard]] std::vector<DiskCall> const& calls() const { return disk_.calls(); }
    [[nodiscard]] std::uint64_t acknowledged() const { return acknowledged_; }
    [[nodiscard]] std::uint64_t compactions() const { return compactions_; }

    /// What is on `disk` is the beginning of `tape`, up to `acknowledged` at least; and a server
    /// that starts there comes up, writes a record, and can be started again.
    [[nodiscard]] static std::string judge(Files const& files, Tape const& tape,
                                           std::uint64_t acknowledged);

private:
    [[nodiscard]] static Found find(journal::Disk& disk, Tape const& tape,
                                    std::uint64_t acknowledged, Entropy& entropy);
    void request();
    [[nodiscard]] engine::Mark const* next_mark();
    [[nodiscard]] std::uint32_t requests_of_group();
    void write_group();
    /// The upkeep's work, while a group is written at one of its calls.
    void look();
    void compact();
    void settle();
    [[nodiscard]] std::uint32_t below(std::uint32_t limit) {
        return static_cast<std::uint32_t>(chance_() % limit);
    }

    Chance& chance_;
    SimEntropy entropy_{chance_};
    SimClock clock_;
    TracedDisk disk_;
    Tape& tape_;
    std::uint64_t acknowledged_{};
    std::shared_ptr<EventSpec const> spec_;
    std::unique_ptr<SimJournal> journal_;
    std::optional<engine::Engine> engine_;
    std::optional<engine::Compaction> compaction_;
    engine::LiveEvent* event_{};
    std::vector<engine::HoldName> holds_;
    std::vector<std::pair<OrderId, engine::HoldName>> orders_;
    std::vector<SeatIndex> seats_;
    engine::Mark mark_;
    std::uint64_t keys_{}, groups_{}, compactions_{};
};

}  // namespace holdfast::sim
