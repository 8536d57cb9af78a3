// Restored state: what a data folder says, before any thread is started.
//
// Purpose: the first half of the start: store, journal and key are read and must agree
// (RELIABILITY.md 3.4). Thread safety: one thread. Invariants: nothing is repaired by guess; a
// failure carries the exit code of RELIABILITY.md 3.7. Cost: one read of the whole journal.
#pragma once

#include "app/data_folder.hpp"

#include <holdfast/domain/event.hpp>
#include <holdfast/engine/replay.hpp>
#include <holdfast/engine/server_key.hpp>
#include <holdfast/journal/recovery.hpp>
#include <holdfast/store/store.hpp>

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace holdfast::app {

struct RestoredState {
    std::unique_ptr<store::Store> store;
    std::vector<EventSpec> catalogue;
    journal::Recovered journal;
    std::map<EventId, engine::RestoredEvent> events;
    std::vector<engine::MarkEntry> marks;
    engine::ServerKey key;
};

/// `lost`, if not null: which event the failure is about, if it is that store.db has lost one.
[[nodiscard]] ResultOf<RestoredState, journal::Failure> restore_state(
    DataFolder const& folder, journal::Disk& disk,
    std::size_t mark_bytes_max = limits::mark_bytes_default, EventId* lost = nullptr);

/// With the exit code of RELIABILITY.md 3.7 for SQLite's; of damage nothing about what to do.
[[nodiscard]] journal::Failure bare_store_failure(std::filesystem::path const& file,
                                                  store::StoreError const& error);
/// Of rows that the journal has, too: `rebuild` makes them anew.
[[nodiscard]] journal::Failure store_failure(std::filesystem::path const& file,
                                             store::StoreError const& error);
/// Of identity or events, which nothing else has.
[[nodiscard]] journal::Failure events_failure(std::filesystem::path const& file,
                                              store::StoreError const& error);
inline constexpr char const* remedy_without_events =
    "`holdfast rebuild --from BACKUP --lose-events` makes it anew from a backup and the journal, "
    "without events that were made after the backup";

}  // namespace holdfast::app
