// Replay: turns the journal's records back into the state they describe.
//
// Purpose: the sink of journal::recover. Keeps, per event, every live or sold hold with its slot,
//   generation, seats and deadline, the newest generation of each slot, and the event's life step;
//   and the idempotency marks, within a bound.
// Thread safety: one thread: at start, in the keeper, in a tool.
// Invariants: no clock is looked at; an END of a hold that is not live is counted and ignored; a
//   record that would give a seat two owners, or names a hold or event that cannot be, stops the
//   replay (R12).
// Cost: arrays by slot and seat; no look-up by hash but that of the event.
#pragma once

#include <holdfast/engine/facts.hpp>
#include <holdfast/engine/marks.hpp>
#include <holdfast/journal/recovery.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace holdfast::engine {

struct RestoredHold {
    HoldRef ref{};
    std::uint64_t holder{};
    TimePoint created_at{};
    TimePoint expires_at{};
    OrderId order{};               // not zero: sold
    std::vector<SeatIndex> seats;  // ascending
};

struct FirstStep {
    LifeStep step{};
    TimePoint at{};
};

struct RestoredEvent {
    std::vector<RestoredHold> holds;  // live and sold, any order
    std::vector<std::uint64_t>
        generations;                      // by slot number: newest generation seen, 0 = never used
    std::optional<LifeStep> life;         // the newest EVENT record
    std::optional<FirstStep> first_step;  // EVENT record; none once its segment was deleted
};

class Replay final : public journal::RecordSink {
public:
    /// The catalogue's events with their number of places; records of other events stop the replay.
    explicit Replay(std::map<EventId, std::uint32_t> places,
                    std::size_t mark_bytes_max = limits::mark_bytes_default);
    ~Replay() override;
    bool record(journal::RecordView const& record) override;
    /// The whole state as bytes, for a base file; load() of them on a fresh replay of the same
    /// catalogue is as good as all the records.
    [[nodiscard]] std::vector<std::byte> save() const;
    /// Before the first record. False leaves a breach.
    [[nodiscard]] bool load(std::span<std::byte const> bytes);
    /// Empty if all went well, else what broke, with the LSN and both records: exit 78.
    [[nodiscard]] std::string const& breach() const noexcept;
    /// The event of which it is the first to hear, if that is the breach: the catalogue lacks it.
    [[nodiscard]] std::optional<EventId> missing_event() const noexcept;
    [[nodiscard]] std::uint64_t ignored_ends() const noexcept;
    /// The marks of requests with a key, in the order of their records. Before take().
    [[nodiscard]] std::vector<MarkEntry> marks() const;
    /// The same without a copy; none are left.
    [[nodiscard]] std::vector<MarkEntry> take_marks();
    /// Moves the result out; ends the replay.
    [[nodiscard]] std::map<EventId, RestoredEvent> take();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace holdfast::engine
