// Keeper: deletes old segments of the journal once the store has all they say.
//
// Purpose: looks every second whether segments could go, has the store make a checkpoint, has the
//   compaction write the next base file, and deletes on the store thread, where nobody reads them.
// Thread safety: try_pause() from any thread, stop() by the owner; the rest is its own thread.
// Invariants: those of engine::Compaction. After a failure nothing is deleted; it is logged once
//   and tried again, a deletion that failed before anything else is.
// Cost: one thread; a look lists one folder. A deletion takes syncs and a core from a sale, so it
//   begins when the journal has rested for a second, and in a sale only when many segments can go
//   or space is scarce.
#pragma once

#include <holdfast/base/published.hpp>
#include <holdfast/engine/compaction.hpp>
#include <holdfast/engine/projector.hpp>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace holdfast::app {

struct KeeperRests {
    Milliseconds between_looks{1'000};
    Milliseconds after_failure{60'000};
};

class Keeper {
public:
    Keeper(engine::Projector& projector, journal::Journal& journal, engine::Compaction compaction,
           journal::Options const& options, KeeperRests const& rests = {});
    ~Keeper();
    Keeper(Keeper const&) = delete;
    Keeper& operator=(Keeper const&) = delete;
    /// Ends its thread, also in the middle of a replay, of a base file, or of waiting for META.
    void stop();
    /// No segment is deleted while it is held, nor is a stop kept waiting. It is not held if a look
    /// is under way, which may take minutes: ask again.
    [[nodiscard]] std::unique_lock<std::mutex> try_pause() {
        return std::unique_lock(looking_, std::try_to_lock);
    }

private:
    void run();
    [[nodiscard]] std::optional<journal::Failure> look_unless_paused();
    [[nodiscard]] std::optional<journal::Failure> look();
    /// Has the store make a checkpoint if need be, and waits a moment for it.
    [[nodiscard]] bool is_stored(Lsn before);
    [[nodiscard]] bool is_time_for(journal::SegmentStart const& start);
    [[nodiscard]] std::optional<journal::Failure> prepare(journal::SegmentStart const& start);
    [[nodiscard]] std::optional<journal::Failure> remove(journal::SegmentStart const& start);
    [[nodiscard]] bool wait_for(std::chrono::milliseconds time);

    engine::Projector& projector_;
    journal::Journal& journal_;
    engine::Compaction compaction_;
    std::uint64_t free_bytes_min_;
    std::uint64_t segment_bytes_;
    KeeperRests rests_;
    Lsn seen_;  // durable at the look before
    std::string told_;
    std::mutex looking_;
    std::mutex mutex_;
    std::condition_variable changed_;
    Published<bool> stopping_{false};  // set under mutex_
    std::thread thread_;
};

}  // namespace holdfast::app
